// Collects what the entry reaches through while, conditional and call.
#include "hlo/program_order.h"

void program_list_add_called(arena *a, const instruction *i, ptr_map *seen, program_list *out) {
  if (!hlo_op_has(i->opcode, TRAIT_CONTROL)) return;
  for (int c = 0; c < i->called_count; c++) {
    if (ptr_map_has(seen, i->called[c])) continue;
    ptr_map_put(a, seen, i->called[c], a);
    vec_push(a, out, i->called[c]);
  }
}

static void find(arena *a, const module *m, ptr_map *seen, program_list *out) {
  ptr_map_put(a, seen, m->entry, a);
  vec_push(a, out, m->entry);
  for (int next = 0; next < out->size; next++) {
    const instruction_list *all = &out->data[next]->instructions;
    for (int k = 0; k < all->size; k++) program_list_add_called(a, all->data[k], seen, out);
  }
}

void program_list_find(arena *a, const module *m, program_list *out) {
  ptr_map seen = {0};
  find(a, m, &seen, out);
}

heddle_status program_order(arena *a, const module *m, program_list *out) {
  computation **order;
  int count;
  ptr_map programs = {0};
  program_list found = {0};
  TRY(module_call_order(a, m, &order, &count));
  find(a, m, &programs, &found);
  for (int k = 0; k < count; k++)
    if (ptr_map_has(&programs, order[k])) vec_push(a, out, order[k]);
  return status_ok();
}
