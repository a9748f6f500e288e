// Optimization-barrier expander. Barriers are there for the passes before; after those they are in the way of fusion.
#include "opt/barrier_expander.h"

#include "opt/rewrite.h"
#include "opt/tuple_simplifier.h"

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
heddle_status barrier_expander_run(module *m) {
  TRY(rewrite_each(m, is_barrier, expand));
  return tuple_simplifier_run(m);
}
