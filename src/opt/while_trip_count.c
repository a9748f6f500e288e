// Trip counts: condition `i < bound` and body `i + step`, and what is like them.
//
// All is done on integers of the leaf's type as they are, without wrapping around: a loop that would leave the type's
// range before it ends is not counted.
#include "opt/while_trip_count.h"

typedef struct loop {
  const instruction *op;
  const computation *condition, *body;
} loop;

static const instruction *skip_copies(const instruction *i) {
  while (i->opcode == HLO_COPY ||
         (i->opcode == HLO_RESHAPE && shape_is_scalar(i->operands[0]->shape) && shape_is_scalar(i->shape)))
    i = i->operands[0];
  return i;
}

// The leaf of the state that `i` is inside of the condition or body; -1 if none.
static int leaf_of(const instruction *i) {
  i = skip_copies(i);
  if (i->opcode != HLO_GET_TUPLE_ELEMENT || i->operands[0]->opcode != HLO_PARAMETER) return -1;
  return (int)i->attributes->index;
}

static const instruction *next_of(const loop *l, int leaf) {
  const instruction *root = l->body->root;
  return root->opcode == HLO_TUPLE ? root->operands[leaf] : NULL;
}

static const instruction *start_of(const loop *l, int leaf) {
  const instruction *state = l->op->operands[0];
  return state->opcode == HLO_TUPLE ? skip_copies(state->operands[leaf]) : NULL;
}

static bool integer_constant(const instruction *i, int64_t *value) {
  if (!i || i->opcode != HLO_CONSTANT || !shape_is_scalar(i->shape) || !dtype_is_integer(i->shape->dtype)) return false;
  *value = literal_get_int(i->literal, 0);
  return i->shape->dtype != DTYPE_U64 || *value >= 0;
}

// A constant, or a leaf that never changes and starts as one.
static bool fixed_integer(const loop *l, const instruction *i, int64_t *value) {
  i = skip_copies(i);
  const int leaf = leaf_of(i);
  if (leaf < 0) return integer_constant(i, value);
  const instruction *next = next_of(l, leaf);
  return next && leaf_of(next) == leaf && integer_constant(start_of(l, leaf), value);
}

static comparison_direction swapped(comparison_direction d) {
  switch (d) {
    case COMPARE_LT: return COMPARE_GT;
    case COMPARE_LE: return COMPARE_GE;
    case COMPARE_GT: return COMPARE_LT;
    case COMPARE_GE: return COMPARE_LE;
    default: return d;
  }
}

// leaf `direction` bound
static bool read_condition(const loop *l, int *leaf, comparison_direction *direction, int64_t *bound) {
  const instruction *root = l->condition->root;
  if (root->opcode != HLO_COMPARE || !dtype_is_integer(root->operands[0]->shape->dtype)) return false;
  *direction = root->attributes->direction;
  for (int side = 0; side < 2; side++) {
    *leaf = leaf_of(root->operands[side]);
    if (*leaf >= 0 && fixed_integer(l, root->operands[1 - side], bound)) {
      const instruction *next = next_of(l, *leaf);
      if (next && leaf_of(next) != *leaf) {
        if (side == 1) *direction = swapped(*direction);
        return true;
      }
    }
  }
  return false;
}

// leaf + step, step + leaf, leaf - step
static bool read_step(const loop *l, int leaf, int64_t *step) {
  const instruction *next = skip_copies(next_of(l, leaf));
  if (next->opcode != HLO_ADD && next->opcode != HLO_SUBTRACT) return false;
  if (leaf_of(next->operands[0]) == leaf && fixed_integer(l, next->operands[1], step)) {
    if (next->opcode == HLO_SUBTRACT) return !__builtin_sub_overflow((int64_t)0, *step, step);
    return true;
  }
  return next->opcode == HLO_ADD && leaf_of(next->operands[1]) == leaf && fixed_integer(l, next->operands[0], step);
}

static bool holds(__int128 x, comparison_direction direction, int64_t bound) {
  switch (direction) {
    case COMPARE_LT: return x < bound;
    case COMPARE_LE: return x <= bound;
    case COMPARE_GT: return x > bound;
    case COMPARE_GE: return x >= bound;
    case COMPARE_EQ: return x == bound;
    default: return x != bound;
  }
}

// Whether the type has the value.
static bool has_value(dtype t, __int128 x) {
  const int bits = dtypes[t].bits;
  const __int128 top = (__int128)1 << (dtype_is_signed(t) ? bits - 1 : bits);
  return x < top && x >= (dtype_is_signed(t) ? -top : 0);
}

// The number of steps until the condition fails, if it does at all.
static bool count_steps(int64_t start, int64_t step, comparison_direction direction, int64_t bound, __int128 *count) {
  *count = 0;
  if (!holds(start, direction, bound)) return true;
  if (step == 0) return false;
  const __int128 distance = (__int128)bound - start;
  switch (direction) {
    case COMPARE_LT: *count = step > 0 ? (distance + step - 1) / step : -1; break;
    case COMPARE_LE: *count = step > 0 ? distance / step + 1 : -1; break;
    case COMPARE_GT: *count = step < 0 ? (-distance - step - 1) / -(__int128)step : -1; break;
    case COMPARE_GE: *count = step < 0 ? -distance / -(__int128)step + 1 : -1; break;
    case COMPARE_EQ: *count = 1; break;
    default: *count = distance % step == 0 ? distance / step : -1; break;
  }
  return *count >= 0 && *count <= INT64_MAX;
}

bool while_trip_count(const instruction *while_op, int *induction_leaf, int64_t *start, int64_t *step, int64_t *count) {
  const loop l = {while_op, while_op->called[0], while_op->called[1]};
  if (!shape_is_tuple(while_op->shape)) return false;
  int leaf;
  comparison_direction direction;
  int64_t bound, from, by;
  if (!read_condition(&l, &leaf, &direction, &bound) || !read_step(&l, leaf, &by)) return false;
  if (!integer_constant(start_of(&l, leaf), &from)) return false;
  __int128 steps;
  if (!count_steps(from, by, direction, bound, &steps)) return false;
  if (!has_value(while_op->shape->elements[leaf]->dtype, from + steps * by)) return false;
  *induction_leaf = leaf;
  *start = from;
  *step = by;
  *count = (int64_t)steps;
  return true;
}
