// In-place dynamic-update-slice on a grid: each thread finds the starts, then stores its elements of the window.
#include "emit/grid_update_slice.h"

#include "emit/grid_ranges.h"
#include "emit/update_slice.h"

heddle_status emit_grid_update_slice_entry(kernel_emitter *k, const target_description *target) {
  const hero_grid_update_slice *plan = &k->plan->details.grid_update_slice;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  const update_starts starts = emit_update_starts(&entry, plan->slices);
  TRY(emit_grid_ranges(&entry, 1, &plan->window, NULL, emit_update_window, (const void *[]){&starts}));
  emit_entry_end(&entry);
  return status_ok();
}
