// Tuples are built and taken apart without work: values are followed leaf by leaf.
#include "fuse/leaf_flow.h"

#include "fuse/leaves.h"

leaf_numbers leaf_flow_operands(leaf_flow *f, const instruction *i, int first) {
  leaf_numbers v = {0};
  for (int k = first; k < i->operand_count; k++) v.count += f->values[i->operands[k]->mark].count;
  v.numbers = arena_array(f->arena, int, v.count);
  for (int k = first, at = 0; k < i->operand_count; k++) {
    const leaf_numbers *x = &f->values[i->operands[k]->mark];
    if (x->count) memcpy(v.numbers + at, x->numbers, (size_t)x->count * sizeof *v.numbers);
    at += x->count;
  }
  return v;
}

static leaf_numbers element(leaf_flow *f, const instruction *i) {
  leaf_numbers *from = &f->values[i->operands[0]->mark];
  const shape *s = i->operands[0]->shape;
  if (!from->starts) {
    from->starts = arena_array(f->arena, int, s->tuple_size);
    for (int k = 0, at = 0; k < s->tuple_size; k++) {
      from->starts[k] = at;
      at += leaves_count(s->elements[k]);
    }
  }
  return (leaf_numbers){.count = leaves_count(i->shape), .numbers = from->numbers + from->starts[i->attributes->index]};
}

bool leaf_flow_name(leaf_flow *f, const instruction *i, leaf_numbers *out) {
  switch (i->opcode) {
    case HLO_TUPLE: *out = leaf_flow_operands(f, i, 0); return true;
    case HLO_GET_TUPLE_ELEMENT: *out = element(f, i); return true;
    case HLO_BITCAST:
    case HLO_OPT_BARRIER:
    case HLO_ADD_DEPENDENCY: *out = f->values[i->operands[0]->mark]; return true;
    case HLO_AFTER_ALL: *out = (leaf_numbers){0}; return true;
    default: return false;
  }
}
