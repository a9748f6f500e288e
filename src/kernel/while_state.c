// Reads a loop: which leaf of its state has which role, and whether the body needs other elements than its own.
#include "kernel/while_state.h"

#include "hlo/combiner.h"
#include "kernel/same_bytes.h"
#include "opt/while_loop.h"
#include "opt/while_trip_count.h"

bool while_state_has(const instruction *i) {
  if (i->opcode == HLO_WHILE) return true;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) return i->operands[0]->opcode == HLO_WHILE;
  return i->opcode == HLO_TUPLE && i->users.size == 1 && i->users.data[0]->opcode == HLO_WHILE;
}

// --- roles

static const instruction *parameter_of(const while_state *s) { return s->loop->called[1]->parameters.data[0]; }

// The leaf that the body's instruction takes from the state; -1 if it is none.
static int leaf_of(const while_state *s, const instruction *i) {
  const bool is_leaf = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0] == parameter_of(s);
  return is_leaf ? (int)i->attributes->index : -1;
}

static bool integer_of(const instruction *i, int64_t *value) {
  i = same_bytes_origin(i);
  if (i->opcode != HLO_CONSTANT || !shape_is_scalar(i->shape) || !dtype_is_integer(i->shape->dtype)) return false;
  *value = literal_get_int(i->literal, 0);
  return true;
}

// The row of turn t as first + by * t: sums and differences of the counter and constants.
static bool read_row(const while_state *s, const instruction *start, while_leaf *leaf) {
  start = same_bytes_origin(start);
  const int of = leaf_of(s, start);
  if (of >= 0 && s->leaves[of].role == WHILE_COUNTER) {
    leaf->first_row = s->start;
    leaf->by_row = s->step;
    return true;
  }
  if (integer_of(start, &leaf->first_row)) return leaf->by_row = 0, true;
  if (start->opcode != HLO_ADD && start->opcode != HLO_SUBTRACT) return false;
  while_leaf l = {0}, r = {0};
  if (!read_row(s, start->operands[0], &l) || !read_row(s, start->operands[1], &r)) return false;
  const int sign = start->opcode == HLO_SUBTRACT ? -1 : 1;
  return !__builtin_mul_overflow(r.first_row, sign, &r.first_row) &&
         !__builtin_mul_overflow(r.by_row, sign, &r.by_row) &&
         !__builtin_add_overflow(l.first_row, r.first_row, &leaf->first_row) &&
         !__builtin_add_overflow(l.by_row, r.by_row, &leaf->by_row);
}

// Whether the rows go from the first to the last or back, and so does the counter's type without wrapping around.
static bool covers_all_rows(const while_state *s, const while_leaf *leaf, int64_t rows) {
  const bool up = leaf->by_row == 1 && leaf->first_row == 0, down = leaf->by_row == -1 && leaf->first_row == rows - 1;
  return s->turns == rows && (up || down);
}

// The leaf's next value is the leaf with a row written over, which is all that anybody does with it.
static bool read_stacked(const while_state *s, int number, while_leaf *leaf) {
  const instruction *update = s->loop->called[1]->root->operands[number];
  if (update->opcode != HLO_DYNAMIC_UPDATE_SLICE || update->users.size != 1) return false;
  const shape *whole = update->shape, *row = update->operands[1]->shape;
  if (leaf_of(s, update->operands[0]) != number || update->operands[0]->users.size != 1) return false;
  if (whole->rank == 0 || update->operand_count != 2 + whole->rank || row->dims[0] != 1) return false;
  for (int d = 1; d < whole->rank; d++)
    if (row->dims[d] != whole->dims[d]) return false;
  if (!read_row(s, update->operands[2], leaf) || !covers_all_rows(s, leaf, whole->dims[0])) return false;
  leaf->role = WHILE_STACKED;
  leaf->next = update->operands[1];
  return true;
}

// The body may take the same leaf several times.
static bool is_taken_once(const while_state *s, int number) {
  int times = 0;
  const instruction *parameter = parameter_of(s);
  for (int u = 0; u < parameter->users.size; u++) times += leaf_of(s, parameter->users.data[u]) == number;
  return times == 1;
}

static bool read_leaf(while_state *s, int number, int counter) {
  while_leaf *leaf = &s->leaves[number];
  const shape *shape = s->loop->shape->elements[number];
  if (!shape_is_array(shape) || !shape_is_static(shape)) return false;
  if (number == counter) return true;
  if (while_loop_keeps(s->loop, number)) {
    leaf->role = WHILE_KEPT;
  } else if (is_taken_once(s, number) && read_stacked(s, number, leaf)) {
    leaf->number = s->stacked_count++;
  } else {
    leaf->role = WHILE_CARRIED;
    leaf->next = s->loop->called[1]->root->operands[number];
    leaf->number = s->carried_count++;
  }
  return true;
}

// --- the space

// Dims of a carried array, or of a stacked row without the dim of rows.
static const shape *space_of(arena *a, const while_state *s) {
  const shape *row = NULL;
  for (int k = 0; k < s->leaf_count; k++) {
    const shape *shape = s->loop->shape->elements[k];
    if (s->leaves[k].role == WHILE_CARRIED && shape->rank > 0) return shape;
    if (s->leaves[k].role == WHILE_STACKED && !row) row = shape;
  }
  return row ? shape_array(a, row->dtype, row->rank - 1, row->dims + 1) : shape_scalar(a, DTYPE_PRED);
}

static bool fits_space(const while_state *s, int number) {
  const shape *shape = s->loop->shape->elements[number];
  const int64_t elements = shape_element_count(s->space);
  switch (s->leaves[number].role) {
    case WHILE_CARRIED: return shape->rank == 0 || shape_same_dims(shape, s->space);
    case WHILE_STACKED: return shape_element_count(shape) == elements * s->turns;
    default: return true;
  }
}

// --- elements of their own

// The value has an element for each point, in the same order, and is not the same for all of them.
static bool is_per_point(const while_state *s, const instruction *i) {
  const int leaf = leaf_of(s, i);
  return leaf >= 0 && s->leaves[leaf].role == WHILE_CARRIED && i->shape->rank > 0;
}

static bool keeps_order(const instruction *i, const instruction *operand) {
  if (shape_element_count(i->shape) != shape_element_count(operand->shape)) return false;
  if (same_bytes_kept(i)) return dtypes[i->shape->dtype].bits == dtypes[operand->shape->dtype].bits;
  return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && shape_same_dims(i->shape, operand->shape);
}

static bool has_elemental_form(const instruction *i) {
  const hlo_index_rule rule = hlo_ops[i->opcode].index_rule;
  const bool calls =
      i->called_count > 0 && (i->opcode != HLO_REDUCE || combiner_opcode(i->called[0]) == HLO_OPCODE_COUNT);
  return rule != INDEX_RULE_NONE && rule != INDEX_RULE_SCATTER && !calls && shape_is_array(i->shape) &&
         shape_is_static(i->shape) && shape_layout_is_default(i->shape);
}

// Whether a kernel can compute what the body does. `order` holds all of it.
static bool can_be_emitted(const while_state *s, const instruction_list *order) {
  for (int n = 0; n < order->size; n++) {
    const instruction *i = order->data[n];
    if (i == parameter_of(s) || i == s->loop->called[1]->root || leaf_of(s, i) >= 0) continue;
    if (!has_elemental_form(i)) return false;
  }
  return true;
}

// Whether the body computes values of points from values of the same points.
static bool stays_in_place(const while_state *s, const instruction_list *order) {
  for (int n = 0; n < order->size; n++) {
    instruction *i = order->data[n];
    const bool is_row_update = i->opcode == HLO_DYNAMIC_UPDATE_SLICE && leaf_of(s, i->operands[0]) >= 0 &&
                               s->leaves[leaf_of(s, i->operands[0])].role == WHILE_STACKED;
    i->mark = is_per_point(s, i);
    if (i == parameter_of(s) || i == s->loop->called[1]->root || leaf_of(s, i) >= 0 || is_row_update) continue;
    for (int k = 0; k < i->operand_count; k++) {
      if (!i->operands[k]->mark) continue;
      if (!keeps_order(i, i->operands[k])) return false;
      i->mark = true;
    }
  }
  return true;
}

// What points carry on is one value for each of them, or one for all.
static bool yields_points(const while_state *s) {
  const int64_t elements = shape_element_count(s->space);
  for (int k = 0; k < s->leaf_count; k++) {
    const while_leaf *leaf = &s->leaves[k];
    if (leaf->role == WHILE_STACKED && shape_element_count(leaf->next->shape) != elements) return false;
  }
  return true;
}

// Nothing but numbers is computed to know whether a turn follows, so that nobody misses the condition.
static bool only_decides(const computation *condition) {
  for (int n = 0; n < condition->instructions.size; n++) {
    const instruction *i = condition->instructions.data[n];
    const bool is_state = i->opcode == HLO_PARAMETER || i->opcode == HLO_GET_TUPLE_ELEMENT;
    if (!is_state && !has_elemental_form(i)) return false;
  }
  return true;
}

bool while_state_of(arena *a, const instruction *loop, while_state *out) {
  int counter;
  *out = (while_state){.loop = loop};
  if (!while_loop_is_open(loop) || !while_trip_count(loop, &counter, &out->start, &out->step, &out->turns))
    return false;
  if (out->turns == 0 || loop->called[1]->parameters.data[0]->users.size == 0) return false;
  out->leaf_count = loop->shape->tuple_size;
  out->leaves = arena_array(a, while_leaf, out->leaf_count);
  out->values = arena_array(a, const instruction *, out->leaf_count);
  out->leaves[counter].role = WHILE_COUNTER;
  out->counter = loop->shape->elements[counter]->dtype;
  for (int k = 0; k < out->leaf_count; k++) {
    out->values[k] = loop->operands[0]->operands[k];
    if (!read_leaf(out, k, counter)) return false;
  }
  instruction_list order = {0};
  heddle_status sorted = computation_post_order(a, loop->called[1], &order);
  const bool is_sorted = status_is_ok(sorted);
  heddle_status_free(sorted);
  if (!is_sorted || !only_decides(loop->called[0]) || !can_be_emitted(out, &order)) return false;
  out->space = space_of(a, out);
  out->is_pointwise = shape_element_count(out->space) > 0 && stays_in_place(out, &order) && yields_points(out);
  for (int k = 0; k < out->leaf_count; k++) out->is_pointwise &= fits_space(out, k);
  return true;
}
