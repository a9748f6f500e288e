// Rng expander: the state of rng is the run's, and how often a loop has drawn from it no HLO can say.
//
// The instruction changes in place: draws stay in the order in which they are written.
#include "opt/passes.h"

static void expand(arena *a, instruction *i) {
  const hlo_attributes *x = i->attributes;
  hlo_attributes *to = attributes_create(a);
  const str *metadata = attributes_raw(x, "metadata");
  if (metadata) {
    attributes_add_raw(a, to, STR("metadata"), *metadata);
    attributes_mark(to, HLO_ATTRIBUTE_METADATA);
  }
  if (i->opcode == HLO_RNG_GET_AND_UPDATE_STATE) {
    to->custom_call_target = STR("heddle.rng_get_and_update_state");
    to->backend_config = str_from(arena_printf(a, "{delta = %lld : i64}", (long long)x->delta));
    attributes_mark(to, HLO_ATTRIBUTE_BACKEND_CONFIG);
  } else {
    to->custom_call_target = x->distribution == RANDOM_NORMAL ? STR("heddle.rng_normal") : STR("heddle.rng_uniform");
  }
  to->custom_call_has_side_effect = true;
  attributes_mark(to, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET);
  attributes_mark(to, HLO_ATTRIBUTE_CUSTOM_CALL_HAS_SIDE_EFFECT);
  i->opcode = HLO_CUSTOM_CALL;
  i->attributes = to;
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++) {
      instruction *i = m->computations.data[c]->instructions.data[k];
      if (i->opcode != HLO_RNG && i->opcode != HLO_RNG_GET_AND_UPDATE_STATE) continue;
      expand(m->arena, i);
      context->changed = true;
    }
  return status_ok();
}

const pass opt_rng_expander = {
    .name = "rng-expander",
    .summary = "random numbers without a state of the program's become calls of the runtime",
    .order_reason = "before anything is merged or moved: as calls with effects the draws keep their order",
    .use = PASS_NEEDED,
    .run = run,
};
