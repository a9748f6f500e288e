// Concatenate: tiles of one operand after another, or shares of rows, each without asking whose element it is.
#include "emit/concatenate.h"

#include "emit/blocks.h"
#include "emit/epilogue.h"

typedef struct operand_block {
  const hero_concatenate *plan;
  int number;
} operand_block;

// From the operand's index to the output's.
static const indexing_map *element_map(arena *a, const hero_concatenate *c, int block) {
  const shape *s = c->blocks[block].space;
  indexing_map *m = indexing_map_identity(a, s->rank, s->dims);
  m->results[c->dim] = affine_add_constant(a, m->results[c->dim], c->offsets[block]);
  return m;
}

static heddle_status store_element(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                   const void *argument) {
  const operand_block *o = argument;
  const MlirValue *values = emit_part(e->kernel, b, o->number, e->inputs, point, NULL);
  ir_values indices = ir_apply_indexing(b, element_map(b->arena, o->plan, o->number), point->values, NULL);
  index_vector at = {.count = indices.size, .values = indices.data};
  emit_epilogue(e, b, &o->plan->epilogue, o->plan->block_count, &at, values, outputs);
  return status_ok();
}

static heddle_status store_block(kernel_entry *e, int block, MlirValue tile, const void *argument) {
  const hero_concatenate *c = argument;
  return emit_block(e, &c->blocks[block], tile, store_element, &(operand_block){c, block});
}

static heddle_status store_rows(kernel_entry *e, const hero_concatenate *c) {
  operand_block *operands = arena_array(e->kernel->arena, operand_block, c->block_count);
  const void **arguments = arena_array(e->kernel->arena, const void *, c->block_count);
  for (int n = 0; n < c->block_count; n++) {
    operands[n] = (operand_block){c, n};
    arguments[n] = &operands[n];
  }
  return emit_rows_of_blocks(e, c->block_count, c->blocks, e->ids.data[0], store_element, arguments);
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
