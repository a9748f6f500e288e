// Rounds of an attempt: each tiles all steps of a plan that do not fit, and the module is planned again.
#ifndef HEDDLE_SUPERTILE_TILE_ROUNDS_H_
#define HEDDLE_SUPERTILE_TILE_ROUNDS_H_

#include "base/memory_limit.h"
#include "supertile/fuse_groups.h"
#include "supertile/plan_steps.h"

// What an attempt does with a step that does not fit. Near: the loop ends at the step, or as little behind it as helps,
// and fits. Deep: it ends where it leaves least to do and takes in all that it can; its body is tiled in turn. Hard:
// deep for those steps that do not fit in a near loop, which come first; the others' loops are near.
typedef enum tile_reach { REACH_NEAR, REACH_DEEP, REACH_HARD, REACHES } tile_reach;

// The rounds in which an attempt may be told along which dim its deep loops are cut.
enum { TILE_FIRST_ROUNDS = 2 };

typedef struct tile_manner {
  double share;  // of the limit, that estimates are held to
  tile_reach reach;
  double loosened;              // the limit that is aimed at, as a multiple of the one that there is; 0: that one
  bool is_nested;               // where no loop fits, one in whose turns another loop does
  bool slices_inside;           // loops slice parameters themselves
  bool takes_all;               // the first round's deep loops compute what is the same in all turns in each of them
  bool is_apart;                // products are not written to their places by one kernel (fuse/tile_loops.h)
  bool in_kernels;              // and no library multiplies, which would need copies of slices
  int dims[TILE_FIRST_ROUNDS];  // along which deep loops are cut in these rounds, plus one; 0: any
} tile_manner;

// What rounds share, and what attempts learn from each other.
typedef struct tile_rounds {
  arena *arena;                  // of what attempts learn
  int64_t limit[MEMORY_LEVELS];  // that is aimed at
  bool exact;                    // sums keep their order
  ptr_map done;          // bodies of loops, and tiles beside them, that were made to fit: the name of what is tiled
  str_map excess;        // by such a name: loop_excess *
  ptr_map choices;       // by bottom: a known_choice, of this round
  ptr_map hard;          // bottoms of this round's steps that no near loop helps; with REACH_HARD
  ptr_map kept;          // values that were looked at in this round, to be computed again
  fuse_groups groups;    // of the round at hand
  text tiled;            // the report of the attempt at hand
  int64_t instructions;  // of the module that is given
  int64_t asked;         // regions, by all attempts
  int64_t most_asked;    // before the attempt at hand tiles no more steps
  int64_t most_in_all;   // before the step that is being tiled is given up, too
  bool is_given_up;      // something was not tried, because so much had been done
} tile_rounds;

// Tiles the steps of `plan`, which is that of `m`, that do not fit, in round `round` of an attempt, counted from 0.
// *changed: some were.
heddle_status tile_rounds_run(tile_rounds *t, arena *scratch, module *m, const lhlo_program *plan, tile_manner how,
                              int round, bool *changed);

// Takes over for the next attempt what this one's estimates were too low by. False if nothing was learned.
bool tile_rounds_settle(const tile_rounds *t);

// What may be done in all, where `each` instruction of the program that is given may take so much.
int64_t tile_rounds_bound(const tile_rounds *t, int64_t all, int64_t each);

// Whether no more is tried where so much is done; that is noted.
bool tile_rounds_give_up(tile_rounds *t, bool is_much);

int64_t tile_rounds_count(const module *m);  // instructions

// Whether so much code was made that the attempt is given up.
bool tile_rounds_is_too_large(const tile_rounds *t, const module *m);

#endif
