// Concatenate on a grid: a range of blocks for each operand.
#include "emit/grid_concatenate.h"

#include "emit/concatenate.h"
#include "emit/grid_ranges.h"

heddle_status emit_grid_concatenate_entry(kernel_emitter *k, const target_description *target) {
  const hero_grid_concatenate *c = &k->plan->details.grid_concatenate;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  concatenated *operands = arena_array(k->arena, concatenated, c->range_count);
  const void **arguments = arena_array(k->arena, const void *, c->range_count);
  for (int r = 0; r < c->range_count; r++) {
    operands[r] = (concatenated){c->ranges[r].space, c->dim, c->offsets[r], r, &c->epilogue};
    arguments[r] = &operands[r];
  }
  TRY(emit_grid_ranges(&entry, c->range_count, c->ranges, NULL, emit_concatenated, arguments));
  emit_entry_end(&entry);
  return status_ok();
}
