// One pass over the members, operands first; shapes say all there is to know, since whatever moves elements of a value
// that depends on a reduction ends the analysis.
#include "kernel/row_analysis.h"

#include "base/int64.h"

enum { MAX_PASSES = 8, MAX_REDUCTIONS = 16 };

row_value row_analysis_value(const row_analysis *r, const instruction *i) {
  const row_value *v = ptr_map_get(&r->values, i);
  return v ? *v : (row_value){ROW_INVARIANT, 0, false};
}

static int64_t class_size(const row_analysis *r, row_class c) {
  return c == ROW_PER_ROW ? r->space.kept : r->space.kept * r->space.reduced;
}

// The class that all operands which are not free agree on, and their highest level.
static bool join_operands(const row_analysis *r, const instruction *i, int count, row_value *out) {
  *out = (row_value){ROW_INVARIANT, 0, false};
  for (int k = 0; k < count; k++) {
    row_value v = row_analysis_value(r, i->operands[k]);
    if (v.class == ROW_INVARIANT) continue;
    if (out->class != ROW_INVARIANT && out->class != v.class) return false;
    out->class = v.class;
    out->level = int64_max(out->level, v.level);
  }
  return true;
}

static bool is_free(const row_analysis *r, const instruction *i) {
  row_value v;
  return join_operands(r, i, i->operand_count, &v) && v.class == ROW_INVARIANT;
}

// --- what a value becomes

static bool keeps_dims(const instruction *i) {
  for (int k = 0; k < i->operand_count; k++) {
    const shape *s = i->operands[k]->shape;
    if (!shape_same_dims(s, i->shape) && s->rank > 0) return false;  // scalars: select's condition, clamp's bounds
    if (s->rank == 0 && i->shape->rank > 0 && i->opcode != HLO_SELECT && i->opcode != HLO_CLAMP) return false;
  }
  return true;
}

// Element numbers stay what they are.
static bool keeps_order(const instruction *i) {
  const shape *from = i->operands[0]->shape, *to = i->shape;
  if (i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY) return true;
  if (i->opcode == HLO_BITCAST)
    return from->dtype == to->dtype && shape_layout_is_default(from) && shape_layout_is_default(to) &&
           shape_element_count(from) == shape_element_count(to);
  int64_t last = -1;
  for (int d = 0; d < to->rank; d++) {
    int64_t source = i->attributes->dimensions.data[d];
    if (to->dims[d] == 1) continue;
    if (source < last) return false;
    last = source;
  }
  return true;
}

static bool broadcast_class(const row_analysis *r, const instruction *i, row_value *v) {
  int64_t size = shape_element_count(i->shape);
  if (v->class == ROW_PER_ROW && size == class_size(r, ROW_PER_ELEMENT)) {
    v->class = ROW_PER_ELEMENT;
    return reduction_space_is_spread(&r->space, i);
  }
  const int_list *dimensions = &i->attributes->dimensions;
  for (int d = 1; d < dimensions->size; d++)
    if (dimensions->data[d - 1] >= dimensions->data[d]) return false;
  return size == class_size(r, v->class);
}

static bool reduce_class(row_analysis *r, const instruction *i, row_value *v) {
  int count = i->operand_count / 2;
  for (int k = count; k < i->operand_count; k++)
    if (row_analysis_value(r, i->operands[k]).class != ROW_INVARIANT) return false;
  reduction_space space;
  bool is_same = reduction_space_of(i, &space) && reduction_space_equal(&space, &r->space);
  if (v->class == ROW_INVARIANT && !is_same) {
    r->repeats |= space.reduced > 1;
    return true;
  }
  if (v->class == ROW_PER_ROW || !is_same) return false;
  *v = (row_value){ROW_PER_ROW, v->level + 1, true};
  return ++r->reduction_count <= MAX_REDUCTIONS && v->level <= MAX_PASSES;
}

bool row_analysis_keeps_order(const instruction *i) {
  switch (i->opcode) {
    case HLO_RESHAPE:
    case HLO_BITCAST:
    case HLO_COPY:
    case HLO_TRANSPOSE: return keeps_order(i);
    default:
      return (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->opcode == HLO_MAP) &&
             hlo_ops[i->opcode].index_rule == INDEX_RULE_ELEMENTWISE && keeps_dims(i);
  }
}

// A select's condition and a clamp's bounds may be scalars: the value of the only row, for every element.
static bool elementwise_class(const row_analysis *r, const instruction *i, row_value *v) {
  int64_t size = shape_element_count(i->shape);
  if (v->class == ROW_PER_ROW && size != class_size(r, ROW_PER_ROW)) v->class = ROW_PER_ELEMENT;
  return size == class_size(r, v->class) && row_analysis_keeps_order(i);
}

// False if the value depends on rows in a way that passes cannot follow.
static bool classify(row_analysis *r, const instruction *i, row_value *v) {
  if (i->opcode == HLO_REDUCE) return join_operands(r, i, i->operand_count / 2, v) && reduce_class(r, i, v);
  if (is_free(r, i)) {
    *v = (row_value){ROW_INVARIANT, 0, false};
    return true;
  }
  if (i->opcode == HLO_TUPLE) {  // the root; the outputs say what of it is wanted
    *v = (row_value){ROW_INVARIANT, 0, false};
    return true;
  }
  if (!join_operands(r, i, i->operand_count, v) || !(shape_is_array(i->shape) && shape_is_static(i->shape)))
    return false;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) return true;
  return i->opcode == HLO_BROADCAST ? broadcast_class(r, i, v) : elementwise_class(r, i, v);
}

// --- the space

// The reduction of the most elements; the first of equals.
static bool find_space(int count, instruction *const *members, reduction_space *out) {
  int64_t most_elements = 0;
  for (int n = 0; n < count; n++) {
    reduction_space s;
    if (members[n]->opcode != HLO_REDUCE || !reduction_space_of(members[n], &s)) continue;
    if (s.kept * s.reduced <= most_elements) continue;
    most_elements = s.kept * s.reduced;
    *out = s;
  }
  return most_elements > 0;
}

bool row_analysis_output(const row_analysis *r, const row_output *output, row_value *out) {
  *out = row_analysis_value(r, output->root);
  if (out->class != ROW_INVARIANT) return true;
  int64_t size = shape_element_count(output->shape);
  out->class = size == class_size(r, ROW_PER_ROW) ? ROW_PER_ROW : ROW_PER_ELEMENT;
  return size == class_size(r, out->class);
}

bool row_analysis_of(arena *a, int member_count, instruction *const *members, int output_count,
                     const row_output *outputs, row_analysis *out) {
  *out = (row_analysis){0};
  if (!find_space(member_count, members, &out->space)) return false;
  for (int n = 0; n < member_count; n++) {
    row_value v;
    if (!classify(out, members[n], &v)) return false;
    if (v.is_reduction) out->pass_count = int64_max(out->pass_count, v.level);
    if (v.class == ROW_INVARIANT) continue;
    row_value *kept = arena_new(a, row_value);
    *kept = v;
    ptr_map_put(a, &out->values, members[n], kept);
  }
  for (int k = 0; k < output_count; k++) {
    row_value v;
    if (!row_analysis_output(out, &outputs[k], &v)) return false;
    if (v.class == ROW_PER_ELEMENT) out->pass_count = int64_max(out->pass_count, v.level + 1);
  }
  return true;
}
