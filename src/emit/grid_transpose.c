// Transposes on a grid of threads, through memory that a block's threads share.
//
// A block's threads bring a tile of the operands into shared memory, in the order in which the operands lie in memory,
// with the producers' work done on the way; after a barrier they take it from there in the order of the result, and
// store it through the consumers. Outputs that are computed where the operands are, are stored on the way in. Tiles
// within the arrays may have loops of their own that check nothing. The barrier stands between the loops, where all
// threads come by.
#include "emit/grid_transpose.h"

#include "emit/entry.h"
#include "emit/grid_transpose_maps.h"
#include "emit/register_transpose.h"

typedef struct tile_emitter {
  const hero_grid_transpose *plan;
  const int *shared;    // by hero: number of a carried tensor
  MlirValue is_full;    // i1 of the block; null: all tiles have the same loops
  int group;            // of the loop over operands being emitted
  const bool *changes;  // by carried tensor: whether that loop, or the one over results, writes it
} tile_emitter;

// --- elements in shared memory

static MlirValue to_shared(ir_builder *b, MlirType element, MlirValue value) {
  const MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, element)) return value;
  return ir_cast(b, emit_is_float(from) ? "arith.bitcast" : "arith.extui", element, value);
}

static MlirValue from_shared(ir_builder *b, MlirType element, MlirValue value) {
  if (mlirTypeEqual(mlirValueGetType(value), element)) return value;
  return ir_cast(b, emit_is_float(element) ? "arith.bitcast" : "arith.trunci", element, value);
}

// --- into shared memory

// A part that both kinds of tiles call is inlined into both: within its loop its accesses can be wide.
static const MlirValue *part(const kernel_entry *e, ir_builder *b, const tile_emitter *t, int number,
                             const index_vector *at, const MlirValue *given) {
  const MlirValue *values = emit_part(e->kernel, b, number, e->inputs, at, given);
  if (!mlirValueIsNull(t->is_full)) ir_set(ir_defining_op(values[0]), "inline", mlirUnitAttrGet(b->context));
  return values;
}

// At indices of the group's operands, then of shared memory.
static heddle_status bring_in(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                              const void *argument) {
  const tile_emitter *t = argument;
  const hero_grid_transpose *h = t->plan;
  const int indices = h->to_operand[t->group]->result_count;
  const index_vector at = {.count = indices, .values = point->values};
  const MlirValue *values = part(e, b, t, t->group, &at, NULL);
  for (int n = 0; n < h->hero_count; n++) {
    if (h->in_shared[n].group != t->group) continue;
    MlirValue *tile = &outputs[t->shared[n]];
    const MlirValue value = to_shared(b, ir_element_type(mlirValueGetType(*tile)), *values++);
    *tile = emit_insert(b, value, *tile, point->count - indices, point->values + indices);
  }
  for (int n = 0; n < e->kernel->plan->output_count; n++)
    if (h->side_outputs[n].group == t->group)
      outputs[n] = emit_insert_at(b, *values++, outputs[n], h->side_outputs[n].map, &at);
  return status_ok();
}

static heddle_status walk_in(kernel_entry *e, const tile_emitter *t, bool is_full) {
  const indexing_map *map = emit_grid_transpose_in(e->kernel->arena, e->kernel->plan, t->group, is_full);
  return emit_entry_loop_changing(e, map, e->ids.data, t->changes, bring_in, t);
}

// --- out of shared memory

static void store(kernel_entry *e, ir_builder *b, const tile_emitter *t, const index_vector *point,
                  const MlirValue *heroes, MlirValue *outputs) {
  const hero_grid_transpose *h = t->plan;
  const MlirValue *values = part(e, b, t, h->group_count, point, heroes);
  for (int n = 0; n < e->kernel->plan->output_count; n++)
    if (h->side_outputs[n].group < 0) outputs[n] = emit_insert_at(b, *values++, outputs[n], h->epilogue.maps[n], point);
}

static MlirType hero_type(const kernel_entry *e, const hero_grid_transpose *h, int hero) {
  return emit_element_type(e->b.context, h->heroes[hero]->shape->dtype);
}

static heddle_status bring_out(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                               const void *argument) {
  const tile_emitter *t = argument;
  const hero_grid_transpose *h = t->plan;
  MlirValue *values = arena_array(b->arena, MlirValue, h->hero_count);
  MlirValue trips[2];
  for (int r = 0; r < 1 + (h->lanes_out > 1); r++) trips[r] = mlirBlockGetArgument(b->block, r);
  for (int n = 0; n < h->hero_count; n++) {
    const indexing_map *map = emit_grid_transpose_from_shared(b->arena, e->kernel->plan, n);
    const ir_values at = ir_apply_indexing(b, map, e->ids.data, trips);
    values[n] = from_shared(b, hero_type(e, h, n), emit_extract(b, outputs[t->shared[n]], at.size, at.data));
  }
  store(e, b, t, point, values, outputs);
  return status_ok();
}

// --- out of shared memory, a square of elements at once

typedef struct square {
  const tile_emitter *tile;
  const MlirValue *elements;  // by hero: all of the square, a vector
} square;

static MlirValue element_at(ir_builder *b, MlirValue vector, MlirValue number) {
  MlirNamedAttribute position =
      ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){INT64_MIN}));
  return ir_value_with(b, "vector.extract", ir_element_type(mlirValueGetType(vector)), 2, (MlirValue[]){vector, number},
                       1, &position);
}

// Where the element of row k of the result lies in the square, which is made of shared memory's rows.
static MlirValue number_in_square(ir_builder *b, const hero_grid_transpose *h) {
  indexing_map *m = indexing_map_create(b->arena, 2, 0, 0, 1, 0);
  m->dims[0] = (indexing_variable){{0, h->lanes_in - 1}, STR("k")};
  m->dims[1] = (indexing_variable){{0, h->lanes_out - 1}, STR("vector_index")};
  m->results[0] = affine_add(b->arena, affine_mul_constant(b->arena, affine_dim(b->arena, 1), h->lanes_in),
                             affine_dim(b->arena, 0));
  const MlirValue dims[] = {mlirBlockGetArgument(b->block, 0), mlirBlockGetArgument(b->block, 1)};
  return ir_apply_indexing(b, m, dims, NULL).data[0];
}

static heddle_status store_square(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  const square *s = argument;
  const hero_grid_transpose *h = s->tile->plan;
  MlirValue *values = arena_array(b->arena, MlirValue, h->hero_count);
  const MlirValue number = number_in_square(b, h);
  for (int n = 0; n < h->hero_count; n++)
    values[n] = from_shared(b, hero_type(e, h, n), element_at(b, s->elements[n], number));
  store(e, b, s->tile, point, values, outputs);
  return status_ok();
}

// All rows of the square as one vector.
static MlirValue read_square(kernel_entry *e, ir_builder *b, const hero_grid_transpose *h, int hero, MlirValue shared,
                             const index_vector *point) {
  MlirValue rows[8];
  for (int64_t line = 0; line < h->lanes_out; line++) {
    const indexing_map *map = emit_grid_transpose_line(b->arena, e->kernel->plan, hero, line);
    const ir_values at = ir_apply_indexing(b, map, point->values, NULL);
    rows[line] = emit_read_vector(b, shared, (int)h->lanes_in, at.size, at.data);
  }
  return emit_joined_vectors(b, (int)h->lanes_out, rows);
}

static heddle_status bring_out_square(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                      const void *argument) {
  const tile_emitter *t = argument;
  const hero_grid_transpose *h = t->plan;
  MlirValue *elements = arena_array(b->arena, MlirValue, h->hero_count);
  for (int n = 0; n < h->hero_count; n++) elements[n] = read_square(e, b, h, n, outputs[t->shared[n]], point);
  const MlirValue dims[] = {e->ids.data[1], point->values[0], point->values[1]};
  return emit_entry_inner_loop_changing(e, b, outputs, emit_grid_transpose_square(b->arena, e->kernel->plan), dims,
                                        t->changes, store_square, &(square){t, elements});
}

static heddle_status walk_out(kernel_entry *e, const tile_emitter *t, bool is_full) {
  arena *a = e->kernel->arena;
  const kernel_plan *k = e->kernel->plan;
  const bool is_packed = t->plan->is_packed;
  const indexing_map *map =
      is_packed ? emit_grid_transpose_squares(a, k, is_full) : emit_grid_transpose_out(a, k, is_full);
  return emit_entry_loop_changing(e, map, e->ids.data, t->changes, is_packed ? bring_out_square : bring_out, t);
}

// --- full tiles and those at the edge

typedef heddle_status (*walk_fn)(kernel_entry *e, const tile_emitter *t, bool is_full);

static heddle_status emit_side(kernel_entry *e, const tile_emitter *t, walk_fn walk, MlirOperation branch,
                               bool is_full) {
  kernel_entry side = *e;
  ir_values yielded = {0};
  side.b = ir_builder_at_end(e->b.context, ir_body(branch, is_full ? 0 : 1), e->kernel->arena);
  side.outputs = arena_array(e->kernel->arena, MlirValue, e->carried);
  for (int i = 0; i < e->carried; i++) side.outputs[i] = e->outputs[i];
  TRY(walk(&side, t, is_full));
  for (int i = 0; i < e->carried; i++)
    if (t->changes[i]) vec_push(e->kernel->arena, &yielded, side.outputs[i]);
  ir_yield(&side.b, yielded.size, yielded.data);
  return status_ok();
}

static heddle_status emit_either(kernel_entry *e, const tile_emitter *t, walk_fn walk) {
  if (mlirValueIsNull(t->is_full)) return walk(e, t, false);
  MlirType *types = arena_array(e->kernel->arena, MlirType, e->carried);
  int count = 0;
  for (int i = 0; i < e->carried; i++)
    if (t->changes[i]) types[count++] = mlirValueGetType(e->outputs[i]);
  const MlirOperation branch = ir_if(&e->b, t->is_full, count, types);
  TRY(emit_side(e, t, walk, branch, true));
  TRY(emit_side(e, t, walk, branch, false));
  for (int i = 0, next = 0; i < e->carried; i++)
    if (t->changes[i]) e->outputs[i] = ir_result(branch, next++);
  return status_ok();
}

// Whether the block's tile lies within the arrays.
static MlirValue tile_is_full(kernel_entry *e, const hero_grid_transpose *h) {
  const int64_t whole[] = {h->batches / h->tile_batches, h->a / h->tile_a, h->b / h->tile_b};
  const int64_t tiles[] = {h->tiles_batches, h->tiles_a, h->tiles_b};
  const indexing_map *map = emit_grid_transpose_block(e->kernel->arena, e->kernel->plan);
  const ir_values where = ir_apply_indexing(&e->b, map, &e->ids.data[1], NULL);
  MlirValue is_full = {NULL};
  for (int d = 0; d < 3; d++) {
    if (whole[d] == tiles[d]) continue;
    const MlirValue holds = ir_cmpi(&e->b, "slt", where.data[d], ir_index(&e->b, whole[d]));
    is_full = mlirValueIsNull(is_full) ? holds : ir_binary(&e->b, "arith.andi", is_full, holds);
  }
  return is_full;
}

// Of the loop over a group's operands: their tiles and what is stored beside them. Group -1: of the one over results.
static const bool *changes_of(const kernel_entry *e, const hero_grid_transpose *h, const int *shared, int group) {
  bool *changes = arena_array(e->kernel->arena, bool, e->carried);
  for (int n = 0; n < e->kernel->plan->output_count; n++) changes[n] = h->side_outputs[n].group == group;
  for (int n = 0; n < h->hero_count; n++) changes[shared[n]] = h->in_shared[n].group == group;
  return changes;
}

heddle_status emit_grid_transpose_entry(kernel_emitter *k, const target_description *target) {
  const hero_grid_transpose *h = &k->plan->details.grid_transpose;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  const int first = entry.carried;
  int *shared = arena_array(k->arena, int, h->hero_count);
  for (int n = 0; n < h->hero_count; n++) shared[n] = emit_entry_allocate_array(&entry, h->in_shared[n].shape);
  tile_emitter t = {.plan = h, .shared = shared};
  if (h->peels) t.is_full = tile_is_full(&entry, h);
  for (; t.group < h->group_count; t.group++) {
    t.changes = changes_of(&entry, h, shared, t.group);
    TRY(emit_either(&entry, &t, walk_in));
  }
  emit_entry_sync(&entry, first);
  t.changes = changes_of(&entry, h, shared, -1);
  TRY(emit_either(&entry, &t, walk_out));
  emit_entry_end(&entry);
  return status_ok();
}
