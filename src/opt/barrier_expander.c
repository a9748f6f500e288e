// Optimization-barrier expander. Barriers are there for the passes before; after those they are in the way of fusion.
#include "opt/barrier_expander.h"

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

heddle_status barrier_expander_run(module *m) { return rewrite_each(m, is_barrier, expand); }
