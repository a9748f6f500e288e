// A kernel keeps no array of its own: what a reduction reads is computed for each element it reads. Two reductions on
// top of each other multiply their sizes, a network of ten layers does not end. The estimate finds that before any code
// is made.
#include "kernel/work_estimate.h"

static const shape *first_array(const instruction *i) {
  return shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
}

double work_estimate_terms(const instruction *i) {
  const hlo_attributes *x = i->attributes;
  double product = 1;
  switch (hlo_ops[i->opcode].index_rule) {
    case INDEX_RULE_DOT:
      for (int d = 0; d < x->lhs_contracting_dims.size; d++)
        product *= (double)i->operands[0]->shape->dims[x->lhs_contracting_dims.data[d]];
      return product;
    case INDEX_RULE_CONVOLUTION:
      product = (double)i->operands[1]->shape->dims[x->dim_labels.kernel_input_feature];
      break;
    case INDEX_RULE_REDUCE_WINDOW: break;
    default: return 1;
  }
  for (int d = 0; d < x->window.rank; d++) product *= (double)x->window.dims[d].size;
  return product;
}

// Elements of the operand that one result element reads.
static double elements_read(const instruction *i, int operand) {
  double results = (double)shape_element_count(first_array(i));
  const shape *s = i->operands[operand]->shape;
  if (results == 0 || !shape_is_array(s)) return 1;
  if (hlo_ops[i->opcode].index_rule != INDEX_RULE_REDUCE) return work_estimate_terms(i);
  double each = (double)shape_element_count(s) / results;
  return each > 1 ? each : 1;
}

int64_t work_estimate_operations(const instruction *i) {
  double each = hlo_op_has(i->opcode, TRAIT_EXPENSIVE) ? WORK_EXPENSIVE : 1;
  if (i->operand_count > 0) each *= elements_read(i, 0);
  return each < 1e15 ? (int64_t)each : (int64_t)1e15;
}

double work_estimate(arena *scratch, const instruction_list *body) {
  double *times = arena_array(scratch, double, body->size);
  for (int n = 0; n < body->size; n++) body->data[n]->mark = (uint64_t)n;
  for (int n = 0; n < body->size; n++)
    if (body->data[n]->users.size == 0 || body->data[n] == body->data[n]->parent->root) times[n] = 1;
  double total = 0;
  for (int n = body->size - 1; n >= 0; n--) {
    const instruction *i = body->data[n];
    if (times[n] == 0) times[n] = 1;  // an output that others use too
    total += times[n] * (double)work_estimate_operations(i);
    bool shares = hlo_op_has(i->opcode, TRAIT_ELEMENTWISE);
    for (int o = 0; o < i->operand_count; o++) {
      uint64_t m = i->operands[o]->mark;
      if (m >= (uint64_t)body->size || body->data[m] != i->operands[o]) continue;
      double reads = times[n] * elements_read(i, o);
      times[m] = shares ? (reads > times[m] ? reads : times[m]) : times[m] + reads;
    }
  }
  for (int n = 0; n < body->size; n++) body->data[n]->mark = 0;
  return total;
}
