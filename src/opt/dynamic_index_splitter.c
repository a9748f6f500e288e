// Dynamic index splitter. Older modules give the start indices of a dynamic slice or update as one vector; all rules
// and kernels know one scalar for each dim.
#include "opt/dynamic_index_splitter.h"

#include "opt/passes.h"
#include "opt/rewrite.h"

static int first_index(const instruction *i) { return i->opcode == HLO_DYNAMIC_SLICE ? 1 : 2; }

bool dynamic_index_is_vector(const instruction *i) {
  if (i->opcode != HLO_DYNAMIC_SLICE && i->opcode != HLO_DYNAMIC_UPDATE_SLICE) return false;
  return i->operand_count == first_index(i) + 1 && i->operands[first_index(i)]->shape->rank == 1;
}

static instruction *split(instruction *i) {
  const builder b = builder_for(i);
  const int first = first_index(i), rank = i->operands[0]->shape->rank;
  instruction **operands = arena_array(b.arena, instruction *, first + rank);
  for (int k = 0; k < first; k++) operands[k] = i->operands[k];
  for (int d = 0; d < rank; d++) {
    const slice_dim one = {d, d + 1, 1};
    operands[first + d] = builder_reshape(&b, builder_slice(&b, i->operands[first], &one), 0, NULL);
  }
  instruction *to = builder_add(&b, i->opcode, i->shape, first + rank, operands);
  to->attributes = attributes_copy(b.arena, i->attributes);
  return to;
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, dynamic_index_is_vector, split);
}

const pass opt_dynamic_index_splitter = {
    .name = "dynamic-index-splitter",
    .summary = "start indices in one vector become scalars",
    .order_reason = "near the front: rules and kernels know one scalar for each dim",
    .use = PASS_NEEDED,
    .run = run,
};
