// Rows that a turn of a tile loop leaves for the next one.
//
// A window reads rows that the turn before had read, too: a chain of windows would compute the rows between two tiles
// again in each turn, and more of them in each producer. Instead a producer keeps the last rows of its tile in the
// loop's state and computes only those behind them. Producers run ahead of the loop's result for that, so that there
// are turns before the first tile, and what is read late (a residual beside a chain of windows) is kept until then.
// This is the line buffer of image processing pipelines: a stencil's rolling storage, as schedules with sliding windows
// fold it (Ragan-Kelley et al., "Halide", PLDI 2013, section 4.3), and fused convolutional layers reuse it (Alwani et
// al., "Fused-layer CNN accelerators", MICRO 2016).
//
// Turns beside the loop (in front of it, where windows hang out of the array or only producers run, and behind it) are
// the same turns with numbers in the place of the turn: of what a member has in a turn of the loop they have the rows
// that exist.
#ifndef HEDDLE_SUPERTILE_TILE_CARRY_H_
#define HEDDLE_SUPERTILE_TILE_CARRY_H_

#include "hlo/builder.h"
#include "supertile/tile_group.h"

// Decides what of the member's region a turn of the loop computes: all, or, if it may carry and tiles of two turns
// overlap along the one dim that moves, what the turn before has not left behind.
void tile_carry_split(arena *a, tile_member *m, bool may_carry);

// The member that carries has in turn `turn`, beside the loop, those of its rows that exist.
void tile_carry_place(arena *a, tile_member *m, int64_t turn);

// Whether all of `in`, without steps, is what the member has in that turn.
bool tile_carry_has(arena *a, const tile_member *m, int64_t turn, const region *in);

// The first turn in which a producer has rows; at most 0.
int64_t tile_carry_first_turn(const tile_group *g);

int64_t tile_carry_begin(const tile_member *m, int64_t turn);  // the first of its rows in that turn that exists
int64_t tile_carry_rows(const tile_member *m);                 // that the next turn needs; 0: it does not carry
region tile_carry_kept(arena *a, const tile_member *m);        // those in a turn of the loop

// Rows base … base + size - 1 of a member, along the dim that it carries.
typedef struct carried_rows {
  instruction *value;
  int64_t base, size;
} carried_rows;

// Of those rows `size` from `base` on.
instruction *tile_carry_slice(const builder *to, const tile_member *m, const carried_rows *of, int64_t base,
                              int64_t size);

// What the member has in a turn: rows that were kept and rows that were made; null: none.
instruction *tile_carry_join(const builder *to, const tile_member *m, const carried_rows *kept, instruction *made);

#endif
