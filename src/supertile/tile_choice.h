// Which tiles an operation gets: along which dim, how large, and with which producers.
#ifndef HEDDLE_SUPERTILE_TILE_CHOICE_H_
#define HEDDLE_SUPERTILE_TILE_CHOICE_H_

#include "supertile/fuse_groups.h"
#include "supertile/tile_group.h"

typedef struct tile_budget {
  int64_t needed;   // bytes that may live and be resident while the loop runs
  int64_t touched;  // that one step may touch
  int64_t across;   // of temporaries that live then and are not the operation's
} tile_budget;

// The operation to tile where a step computes `i` last: of an update in place what it writes, if that is computed.
// Null: none.
instruction *tile_choice_bottom(instruction *i);

// The cheapest tiling that fits: tiles are halved until the estimate fits and then grown by binary search; the most
// producers are tried first, and as many join as repeat little work. Where none fits but would with a loop in the loop,
// which reads other arrays in small parts, it is taken. False if there is none.
bool tile_choice_find(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out);

// The outer of two loops, one in the other, that cut the same operation along two of its dims and fit together. False
// if there are none.
bool tile_choice_find_nested(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out);

// A tiling that fits and computes `with` again among its producers, which is needed outside, too. False if there is
// none.
bool tile_choice_find_with(tile_search *s, instruction *bottom, const instruction *with, const tile_budget *budget,
                           tile_group *out);

// What a group leaves to do: the bytes of the largest step that does not fit and is none of its members.
typedef struct tile_choice_rest {
  const instruction *step;  // that has to be a member
  int64_t (*bytes)(const void *argument, const tile_group *g);
  const void *argument;
} tile_choice_rest;

// The tiling that leaves least bytes to any step, with all producers that can join, whether it fits or its body has to
// be tiled in turn. *least and *best are those of other bottoms and are set if this one has a better one: then true.
bool tile_choice_find_deep(tile_search *s, instruction *bottom, const tile_choice_rest *rest, const tile_budget *budget,
                           tile_group *best, int64_t *least);

// What such a loop would compute twice it leaves behind, or those who need it are computed in it, if it takes no more
// room for that.
void tile_choice_leave_more(tile_search *s, const tile_budget *budget, tile_group *best);

bool tile_choice_is_member(const tile_group *g, const instruction *i);

// What was chosen, as --emit=tiling prints it.
void tile_choice_print(text *out, const fuse_groups *groups, const tile_group *g);

#endif
