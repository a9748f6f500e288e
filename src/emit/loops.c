// One block of tiles per group of outputs; at each point of it the group's values are stored.
#include "emit/loops.h"

#include "emit/blocks.h"

heddle_status emit_output_group(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                const void *argument) {
  const output_group *g = argument;
  const kernel_part *part = &e->kernel->plan->parts[g->number];
  const MlirValue *values = emit_part(e->kernel, b, g->number, e->inputs, point, NULL);
  for (int n = 0; n < e->kernel->plan->output_count; n++) {
    if (g->group_of[n] != g->number) continue;
    int v = g->value_of[n];
    outputs[n] = emit_insert_at(b, values[v], outputs[n], part->results[v].map, point);
  }
  return status_ok();
}

static heddle_status store_block(kernel_entry *e, int block, MlirValue tile, const void *argument) {
  const hero_loops *h = argument;
  const output_group group = {block, h->block_of, h->value_of};
  return emit_block(e, &h->blocks[block], tile, emit_output_group, &group);
}

heddle_status emit_loops_entry(kernel_emitter *k, const target_description *target) {
  const hero_loops *h = &k->plan->details.loops;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  TRY(emit_blocks(&entry, h->block_count, h->blocks, store_block, h));
  emit_entry_end(&entry);
  return status_ok();
}
