// The two sides of a transpose: along which the operand lies in memory, and along which the result does.
#ifndef HEDDLE_KERNEL_TRANSPOSE_SIDES_H_
#define HEDDLE_KERNEL_TRANSPOSE_SIDES_H_

#include "base/target.h"
#include "hlo/module.h"
#include "index/indexing_map.h"

// Dims of the result that stay together, in the operand and in the result.
typedef struct transpose_axis {
  int first, count;  // of the result's dims
  int64_t size;
} transpose_axis;

// How many of an order's last axes a side takes, and how many elements they are.
typedef struct transpose_side {
  int count;
  int64_t size;
  bool is_short;  // one axis is not enough to turn blocks of
} transpose_side;

// From which sizes on tiles are of use.
typedef struct transpose_limits {
  int short_side;        // elements of an axis, below which a side takes the next one, too …
  int side;              // … until it has so many
  int min_side_a;        // elements of the operand's side
  int min_side;          // and of the result's
  int64_t min_elements;  // of the array
  int max_kept_bytes;    // of the innermost axis if it stays where it is
  bool shares_batches;   // an axis that both sides would take next is left to tiles of several batches
} transpose_limits;

typedef struct transpose_sides {
  transpose_limits limits;
  int axis_count;  // but for the kept one
  transpose_axis axes[SHAPE_MAX_RANK];
  int order[SHAPE_MAX_RANK];  // of the axes in the first operand
  transpose_side a, b;        // the operand's and the result's
  transpose_axis kept;        // the innermost axis of all operands and results; of size 1: there is none
} transpose_sides;

// Why the transposes, which have the same dims, gain nothing from tiles; null if they do.
const char *transpose_sides_lack(const target_description *target, int count, const instruction *const *transposes,
                                 transpose_sides *out);

// Whether they do.
bool transpose_sides_find(const target_description *target, int count, const instruction *const *transposes,
                          transpose_sides *out);

// Whether one pass over tiles makes both: transposes to the same dims whose sides are the same. l and r may be the
// same: whether tiles are of use at all.
bool transpose_sides_alike(const target_description *target, const instruction *l, const instruction *r);

// The first transpose and those of its permutation are moved to the front; returns how many.
int transpose_sides_keep_same_order(instruction_list *transposes);

// Whether the axis before side b in the result is the one before side a in each operand: neighbouring batches' rows
// then follow each other in memory, on both sides.
bool transpose_sides_share_batches(const transpose_sides *s, int count, const instruction *const *transposes);

// Whether rows of side a follow each other along side b in each operand, and rows of side b along side a in the result.
bool transpose_sides_share_rows(const transpose_sides *s, int count, const instruction *const *transposes);

// Gives transposes of one permutation one number; returns how many there are.
int transpose_sides_groups(int count, const instruction *const *transposes, int *groups);

// Axes of the first operand that lie before, between and behind the sides, each told by one of these.
typedef enum transpose_label { TRANSPOSE_BATCH, TRANSPOSE_A, TRANSPOSE_B } transpose_label;
// The transpose's operand, from major to minor, without the kept axis; neighbours of one label are one. Returns how
// many labels there are.
int transpose_sides_labels(const transpose_sides *s, const instruction *transpose, transpose_label *out);

// (batch, a, b) -> indices, with a dim `kept` behind if there is such an axis: of the result and of the operand.
const indexing_map *transpose_sides_to_result(arena *a, const transpose_sides *s, const instruction *transpose);
const indexing_map *transpose_sides_to_operand(arena *a, const transpose_sides *s, const instruction *transpose);

#endif
