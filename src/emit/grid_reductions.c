// A decision tree over the block's number, the same way for all threads of a block, then the group's reduction as if it
// were a kernel of its own: with its outputs, and blocks counted from its first one.
#include "emit/grid_reductions.h"

#include "emit/choose.h"
#include "emit/grid_ranges.h"
#include "emit/grid_reduction.h"

static heddle_status emit_group(kernel_entry *e, int number, const void *argument) {
  const MlirValue *block = argument;
  const hero_grid_reductions *h = &e->kernel->plan->details.grid_reductions;
  const grid_group *group = &h->groups[number];
  const kernel_plan *plan = group->plan;
  kernel_emitter k = *e->kernel;
  k.plan = plan;
  kernel_entry own = *e;
  own.kernel = &k;
  own.carried = plan->output_count;
  own.outputs = arena_array(k.arena, MlirValue, plan->output_count);
  for (int o = 0; o < plan->output_count; o++) own.outputs[o] = e->outputs[group->outputs[o]];
  own.ids = (ir_values){0};
  vec_push(k.arena, &own.ids, e->ids.data[0]);
  vec_push(k.arena, &own.ids, emit_grid_ranges_number(&own, *block, group->first_block, plan->launch.blocks_x));
  TRY(emit_grid_reduction(&own));
  e->b = own.b;
  for (int o = 0; o < plan->output_count; o++) e->outputs[group->outputs[o]] = own.outputs[o];
  return status_ok();
}

heddle_status emit_grid_reductions_entry(kernel_emitter *k, const target_description *target) {
  const hero_grid_reductions *h = &k->plan->details.grid_reductions;
  kernel_entry e;
  TRY(emit_entry_begin(k, target, &e));
  int64_t *firsts = arena_array(k->arena, int64_t, h->group_count);
  for (int g = 0; g < h->group_count; g++) firsts[g] = h->groups[g].first_block;
  const MlirValue block = emit_grid_ranges_block(&e);
  TRY(emit_choose(&e, block, h->group_count, firsts, emit_group, &block));
  emit_entry_end(&e);
  return status_ok();
}
