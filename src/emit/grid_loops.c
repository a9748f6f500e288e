// Loops on a grid: a range of blocks for each group of outputs.
#include "emit/grid_loops.h"

#include "emit/grid_ranges.h"
#include "emit/loops.h"

heddle_status emit_grid_loops_entry(kernel_emitter *k, const target_description *target) {
  const hero_grid_loops *h = &k->plan->details.grid_loops;
  const int outputs = k->plan->output_count;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  output_group *groups = arena_array(k->arena, output_group, h->range_count);
  const void **arguments = arena_array(k->arena, const void *, h->range_count);
  const bool **changes = arena_array(k->arena, const bool *, h->range_count);
  for (int r = 0; r < h->range_count; r++) {
    groups[r] = (output_group){r, h->range_of, h->value_of};
    arguments[r] = &groups[r];
    bool *own = arena_array(k->arena, bool, outputs);
    for (int n = 0; n < outputs; n++) own[n] = h->range_of[n] == r;
    changes[r] = own;
  }
  TRY(emit_grid_ranges(&entry, h->range_count, h->ranges, changes, emit_output_group, arguments));
  emit_entry_end(&entry);
  return status_ok();
}
