// The loop emitter. Flat, consecutive points of the index space are consecutive elements of the first output in memory,
// so stores are contiguous whatever its layout is; the other outputs have as many elements and are reached through
// bitcast maps. With a block, the loop is over the tiles of a block.
#include "emit/loop.h"

#include "emit/blocks.h"

// --- the map

void emit_loop_indices(arena *a, const shape *s, const affine_expr *linear, const affine_expr **indices) {
  int64_t order[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK];
  const affine_expr *physical[SHAPE_MAX_RANK];
  shape_minor_to_major(s, order);
  for (int i = 0; i < s->rank; i++) sizes[i] = s->dims[order[s->rank - 1 - i]];
  affine_delinearize(a, s->rank, sizes, linear, physical);
  for (int i = 0; i < s->rank; i++) indices[order[s->rank - 1 - i]] = physical[i];
}

static indexing_variable variable(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

static const affine_expr *gpu_position(arena *a, const launch_plan *l, indexing_map *m) {
  m->dims[0] = variable("th_x", l->threads);
  m->dims[1] = variable("bl_x", l->blocks_x);
  const affine_expr *block = affine_dim(a, 1);
  if (l->blocks_y > 1) {
    m->dims[2] = variable("bl_y", l->blocks_y);
    block = affine_add(a, affine_mul_constant(a, affine_dim(a, 2), l->blocks_x), block);
  }
  m->ranges[0] = variable("vector_index", l->unroll);
  const affine_expr *thread = affine_add(a, affine_mul_constant(a, block, l->threads), affine_dim(a, 0));
  return affine_add(a, affine_mul_constant(a, thread, l->unroll), affine_symbol(a, 0));
}

static const affine_expr *cpu_position(arena *a, const launch_plan *l, indexing_map *m) {
  m->dims[0] = variable("tile", l->tiles);
  m->ranges[0] = variable("i", l->tile);
  return affine_add(a, affine_mul_constant(a, affine_dim(a, 0), l->tile), affine_symbol(a, 0));
}

const indexing_map *emit_loop_map(arena *a, const target_description *target, const launch_plan *l,
                                  const shape *output) {
  bool is_gpu = target->has_grid;
  int64_t covered = is_gpu ? l->threads * l->blocks_x * l->blocks_y * l->unroll : l->tile * l->tiles;
  int dims = !is_gpu ? 1 : l->blocks_y > 1 ? 3 : 2, constraints = covered > l->elements;
  indexing_map *m = indexing_map_create(a, dims, 1, 0, output->rank, constraints);
  const affine_expr *linear = is_gpu ? gpu_position(a, l, m) : cpu_position(a, l, m);
  emit_loop_indices(a, output, linear, m->results);
  if (constraints) m->constraints[0] = (indexing_constraint){linear, {0, l->elements - 1}};
  return indexing_map_simplify(a, m);
}

// --- the entry function

// What the partition's first function yields at the point, stored.
static heddle_status fill_body(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                               const void *argument) {
  (void)argument;
  kernel_emitter *k = e->kernel;
  const partition_function *f = k->partition->functions[0];
  const MlirValue *values = emit_call(k, b, f, e->inputs, point, 0);
  for (int i = 0; i < f->result_count; i++)
    outputs[i] = emit_insert_at(b, values[i], outputs[i], f->results[i].map, point);
  return status_ok();
}

static heddle_status fill_block(kernel_entry *e, int block, MlirValue tile, const void *argument) {
  (void)block;
  return emit_block(e, argument, tile, fill_body, NULL);
}

heddle_status emit_loop_entry(kernel_emitter *k, const target_description *target) {
  const hero_loop *h = &k->plan->details.loop;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  if (h->is_blocked) {
    TRY(emit_blocks(&entry, 1, &h->block, fill_block, &h->block));
  } else {
    const indexing_map *map = emit_loop_map(k->arena, target, &k->plan->launch, k->plan->outputs[0].shape);
    TRY(emit_entry_loop(&entry, map, entry.ids.data, fill_body, NULL));
  }
  emit_entry_end(&entry);
  return status_ok();
}
