// Reductions in one sweep.
#include "kernel/hero_reduction.h"

#include "kernel/row_kernel.h"

bool hero_reduction_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  if (!row_kernel_take(a, k, body, target, false)) return false;
  const hero_reduction *d = &k->details.reduction;
  k->reason = d->is_column ? "one sweep, accumulators side by side" : "one sweep over each row, partial accumulators";
  return true;
}
