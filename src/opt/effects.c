// Propagates side effects from called computations to their callers.
#include "opt/effects.h"
#include "hlo/open_size.h"

bool effects_has(const ptr_map *with_side_effects, bool custom_calls, const instruction *i) {
  for (int k = 0; k < i->called_count; k++)
    if (ptr_map_has(with_side_effects, i->called[k])) return true;
  if (i->attributes->custom_call_has_side_effect) return true;
  if (open_size_is(i)) return false;
  if (i->opcode == HLO_CUSTOM_CALL) return custom_calls;
  return (hlo_ops[i->opcode].traits & (TRAIT_SIDE_EFFECT | TRAIT_COLLECTIVE)) != 0;
}

heddle_status effects_find(arena *scratch, const module *m, bool custom_calls, ptr_map *with_side_effects) {
  computation **order;
  int count;
  TRY(module_call_order(scratch, m, &order, &count));
  for (int c = 0; c < count; c++)
    for (int k = 0; k < order[c]->instructions.size; k++) {
      if (!effects_has(with_side_effects, custom_calls, order[c]->instructions.data[k])) continue;
      ptr_map_put(scratch, with_side_effects, order[c], order[c]);
      break;
    }
  return status_ok();
}
