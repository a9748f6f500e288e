// Several sweeps over rows that stay in the cache.
#include "kernel/hero_rows.h"

#include "kernel/row_kernel.h"

bool hero_rows_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  if (!row_kernel_take(a, k, body, target, true)) return false;
  const hero_reduction *d = &k->details.reduction;
  k->reason = arena_printf(a, "%d sweeps over each row", d->sweeps.sweep_count);
  return true;
}

bool hero_rows_fits(int member_count, instruction *const *members, int output_count, instruction *const *outputs) {
  arena *scratch = arena_create();
  row_output *wanted = arena_array(scratch, row_output, output_count);
  for (int o = 0; o < output_count; o++) {
    const shape *s = outputs[o]->shape;
    wanted[o] = (row_output){.root = outputs[o], .shape = shape_is_tuple(s) ? s->elements[0] : s};
  }
  row_analysis r;
  bool fits = row_analysis_of(scratch, member_count, members, output_count, wanted, &r) && !r.repeats;
  arena_destroy(scratch);
  return fits;
}
