// Concatenate: tiles of one operand after another, or shares of rows, each without asking whose element it is.
#include "emit/concatenate.h"

#include "emit/blocks.h"
#include "emit/epilogue.h"

// From the operand's index to the output's.
static const indexing_map *element_map(arena *a, const concatenated *c) {
  indexing_map *m = indexing_map_identity(a, c->space->rank, c->space->dims);
  m->results[c->dim] = affine_add_constant(a, m->results[c->dim], c->offset);
  return m;
}

heddle_status emit_concatenated(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                const void *argument) {
  const concatenated *c = argument;
  const MlirValue *values = emit_part(e->kernel, b, c->part, e->inputs, point, NULL);
  ir_values indices = ir_apply_indexing(b, element_map(b->arena, c), point->values, NULL);
  index_vector at = {.count = indices.size, .values = indices.data};
  emit_epilogue(e, b, c->epilogue, e->kernel->plan->part_count - 1, &at, values, outputs);
  return status_ok();
}

static concatenated operand_of(const hero_concatenate *c, int block) {
  return (concatenated){c->blocks[block].space, c->dim, c->offsets[block], block, &c->epilogue};
}

static heddle_status store_block(kernel_entry *e, int block, MlirValue tile, const void *argument) {
  const hero_concatenate *c = argument;
  const concatenated operand = operand_of(c, block);
  return emit_block(e, &c->blocks[block], tile, emit_concatenated, &operand);
}

static heddle_status store_rows(kernel_entry *e, const hero_concatenate *c) {
  concatenated *operands = arena_array(e->kernel->arena, concatenated, c->block_count);
  const void **arguments = arena_array(e->kernel->arena, const void *, c->block_count);
  for (int n = 0; n < c->block_count; n++) {
    operands[n] = operand_of(c, n);
    arguments[n] = &operands[n];
  }
  return emit_rows_of_blocks(e, c->block_count, c->blocks, e->ids.data[0], emit_concatenated, arguments);
}

heddle_status emit_concatenate_entry(kernel_emitter *k, const target_description *target) {
  const hero_concatenate *c = &k->plan->details.concatenate;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  if (c->by_row) TRY(store_rows(&entry, c));
  else TRY(emit_blocks(&entry, c->block_count, c->blocks, store_block, c));
  emit_entry_end(&entry);
  return status_ok();
}
