// One tile loop before it exists: the operation that is tiled, and the producers that are computed in the same loop.
//
// The bottom operation is cut along one of its dims. Producers join from the bottom up, in post-order of the data flow
// backwards, each when all of its consumers in the loop are known; the region that it computes in a turn is the
// smallest box that holds what they need, or several boxes if one would hold much that nobody needs: then it is a
// member for each. What does not move with the turns, cannot be cut, or is needed outside as well stays outside and is
// read where it lies.
#ifndef HEDDLE_SUPERTILE_TILE_GROUP_H_
#define HEDDLE_SUPERTILE_TILE_GROUP_H_

#include "supertile/plan_steps.h"
#include "supertile/region.h"

typedef struct tile_member {
  instruction *instruction;
  int order;          // in the computation's post-order
  bool is_stored;     // it is a step's result; others are computed within the step that reads them
  bool is_repeated;   // it is needed outside, too
  region region;      // what there is of it in a turn
  region computed;    // what of that the turn computes; the rest is what the turn before has left (tile_carry.h)
  int carry_dim;      // along which it leaves rows for the next turn; -1: none
  region_dim window;  // then its rows in turns of the loop
  bool is_idle;       // the turn, which is none of the loop, computes nothing of it
  bool is_copied;     // nothing is computed: its rows are copied from the instruction's own value outside
  int *operands;      // by operand: the number of the member that gives its tile; < 0: it is read from outside
} tile_member;

// A value that the loop leaves whole, cut into as many tiles as there are turns.
typedef struct tile_output {
  instruction *instruction;
  int dim;              // of the result; or, from its rank on, one of those that it sums over
  bool is_sum;          // the latter: turns add to the same result
  region_dim summed;    // then what a turn takes of that dim
  int member;           // its number
  instruction *array;   // in whose memory its tiles are written (tile_in_place.h); null: none that is there before
  instruction *update;  // what puts the instruction into the array: the loop leaves that; null: it is all of the array
} tile_output;

typedef VEC(tile_output) tile_output_list;

typedef struct tile_group {
  instruction *bottom;         // the first output
  int dim;                     // along which it is cut: see tile_output
  bool is_sum;                 // it sums over that dim
  tile_output_list outputs;    // the bottom, and what else the loop leaves behind
  int64_t tile;                // elements of a full tile along it
  int64_t turns, remainder;    // full tiles, and elements of the last one (0: none)
  int64_t first_turn;          // before the first tile there are turns that only compute what is kept
  region_turns inside;         // those that are one loop; the others are computed on their own
  bool may_carry;              // turns keep rows for the next
  VEC(tile_member) members;    // consumers before producers
  instruction_list externals;  // what is read from outside, but for scalar constants
  bool fits;                   // nothing in the loop has to be tiled once more
  int stored_count;            // of the members, without the outputs
  // Estimates: tile_estimate.h.
  int64_t operation_bytes;  // of one turn: its tiles and what it reads of other arrays
  int64_t needed_bytes;     // with what lives all the while
  int64_t touched_bytes;    // by one step
  int64_t least_bytes;      // what is needed if a loop in the loop reads other arrays in as small parts as one likes
  double more_work;         // of all turns, and of what stays outside, than if all were computed once
  double repeated;          // all that work as a multiple of the untiled work
} tile_group;

// A cut of the bottom inside of a loop's turn, as a loop in the loop would make it: of `tile` elements along dim `dim`,
// counted as tile_output does; 0: none.
typedef struct tile_inner_cut {
  int dim;
  int64_t tile;
} tile_inner_cut;

// What a search over one computation shares.
typedef struct tile_search {
  arena *arena;
  const plan_steps *steps;
  bool exact;               // sums keep their order
  bool may_carry;           // turns may keep rows for the next
  bool may_repeat;          // what is needed outside, too, may be computed once more in the loop
  bool slices_inside;       // a loop makes slices of what is there all the while itself, and takes none made before it
  bool takes_all;           // what is the same in all turns is computed in each, so that it can be tiled there
  bool in_kernels;          // what reads such slices is a kernel, and reads them where they lie
  int dim;                  // along which deep loops are cut, plus one; 0: any
  const instruction *with;  // a loop that does not compute it is none; null: any is
  const instruction *rows_of;  // an array outside of which turns keep rows that they read before they write over it
  tile_output_list further;    // what a loop has to leave behind beside its bottom
  tile_inner_cut inner;        // groups are grown for a turn of a loop in the loop; such groups are only estimated
  int64_t small_bytes;         // producers whose results take less stay outside: it would not help to cut them
  int64_t most_asked;          // regions that may be asked for before all further tries fail
  int64_t most_in_all;         // and before those of all operations do
  bool is_cut_short;           // some try failed for that
  bool has_joined;             // far boxes became one, because turns may keep rows: else groups would be others
  const ptr_map *taken;        // instructions that are no more tiled; may be null
  ptr_map donated;             // parameter of the entry: the result that takes over its memory
  ptr_map dead;                // instructions that only loops stand for by now
  region_maps *maps;
  ptr_map orders;  // instruction: position in its computation's post-order, plus one
} tile_search;

void tile_search_number(tile_search *s, const computation *c);

// Its position in the post-order of its computation; -1: it has none, since it was made later.
int tile_search_order(const tile_search *s, const instruction *i);

// The array whose dims are those of the instruction's tiles: of a tuple, its first.
const shape *tile_group_array(const instruction *i);

// How many dims of an operation can be cut: those of its result, then those that it sums over. Sums whose order counts
// are left alone where `exact` says so, and those of types that round after every turn.
int tile_group_dims(const instruction *bottom, bool exact);
int64_t tile_group_dim_size(const instruction *bottom, int dim);

// Into how many tiles the loop cuts its dim; the last one may be a part of one.
double tile_group_tiling_factor(const tile_group *g);

// Whether a turn takes for the operand what the last one has made: of a sum, tile_sum_goes_on.
bool tile_group_goes_on(const tile_group *g, const instruction *i, int operand);

// Whether nobody has to compute or read the operand for a turn: that, or a scalar constant.
bool tile_group_is_given(const tile_group *g, const instruction *i, int operand);

// The output that the instruction is; null: none.
tile_output *tile_group_output(const tile_group *g, const instruction *i);

// The output that is written over the array outside; null: none.
const tile_output *tile_group_over(const tile_group *g, const instruction *array);

// The region that member `member` needs of an operand.
region_answer tile_group_operand(tile_search *s, const tile_group *g, const tile_member *m, region_turns turns,
                                 int operand, region *in);

// Grows the group that tiles `bottom` along `dim` in tiles of `tile` elements, or of fewer where operations only allow
// multiples of a number, with at most `most_stored` stored producers. False if there are no such tiles.
bool tile_group_grow(tile_search *s, instruction *bottom, int dim, int64_t tile, int most_stored, tile_group *out);

// A copy that has all that it is made of in `a`.
tile_group tile_group_copy(arena *a, const tile_group *g);

// Sets the regions of the members for turns of the loop.
region_answer tile_group_regions(tile_search *s, tile_group *g);

// Sets them for one turn beside the loop. Members that it does not need are idle then.
region_answer tile_group_regions_of_turn(tile_search *s, tile_group *g, int64_t turn);

#endif
