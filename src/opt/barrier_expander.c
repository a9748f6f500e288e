// Optimization-barrier expander. Barriers are there for the passes before; after those they are in the way of fusion.
#include "opt/passes.h"

#include "opt/rewrite.h"

static instruction *expand(instruction *i) {
  if (i->opcode == HLO_ADD_DEPENDENCY)
    for (int k = 0; k < i->users.size; k++)
      vec_push(i->parent->module->arena, &i->users.data[k]->control_predecessors, i->operands[1]);
  return i->operands[0];
}

static bool is_barrier(const instruction *i) {
  return i->opcode == HLO_OPT_BARRIER || i->opcode == HLO_DOMAIN || i->opcode == HLO_ADD_DEPENDENCY;
}

// Tuples that went through a barrier meet those who take them apart.
static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  TRY(rewrite_each(context, m, is_barrier, expand));
  return opt_tuple_simplifier.run(context, m);
}

const pass opt_barrier_expander = {
    .name = "barrier-expander",
    .summary = "barriers, domains and added dependencies become their operand",
    .order_reason =
        "behind the first cse, for barriers stand until nothing more is merged across "
        "them, and before sorts are looked at",
    .use = PASS_NEEDED,
    .run = run,
};
