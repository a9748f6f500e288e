// Reached from the entry through while, conditional and call.
#include "lhlo/program_order.h"

heddle_status program_order(arena *a, const module *m, program_list *out) {
  computation **order;
  int count;
  ptr_map programs = {0};
  TRY(module_call_order(a, m, &order, &count));
  ptr_map_put(a, &programs, m->entry, a);
  for (int k = count; k-- > 0;) {
    if (!ptr_map_has(&programs, order[k])) continue;
    for (int n = 0; n < order[k]->instructions.size; n++) {
      const instruction *i = order[k]->instructions.data[n];
      if (!hlo_op_has(i->opcode, TRAIT_CONTROL)) continue;
      for (int j = 0; j < i->called_count; j++) ptr_map_put(a, &programs, i->called[j], a);
    }
  }
  for (int k = 0; k < count; k++)
    if (ptr_map_has(&programs, order[k])) vec_push(a, out, order[k]);
  return status_ok();
}
