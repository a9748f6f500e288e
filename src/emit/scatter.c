// Scatter: for each update in order, if its window lies within the operand, the window's elements are combined into
// memory, row of contiguous elements by row.
//
// Within a window no element is met twice, so that rows are computed in vectors.
#include "emit/scatter.h"

#include "emit/entry.h"
#include "index/hlo_indexing.h"

typedef struct scatter_window {
  const hero_scatter *plan;
  MlirValue update, row, tile;  // which update, which row of its window; the entry's tile
  MlirValue *starts;            // by dim of the operand; null values: 0
} scatter_window;

static const shape *operand_shape(const hero_scatter *h) { return h->scatter->operands[0]->shape; }

static interval room_of(const hero_scatter *h, int d) {
  return (interval){0, operand_shape(h)->dims[d] - h->updates->dims[1 + d]};
}

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// --- the elements of a row

// (row, chunk)[i] -> index within the window.
static const indexing_map *run_map(arena *a, const hero_scatter *h) {
  int rank = operand_shape(h)->rank;
  bool by_column = h->tiling == SCATTER_BY_COLUMN;
  int64_t chunk = by_column ? h->chunk : h->contiguous;
  int64_t chunks = h->contiguous / chunk + (h->contiguous % chunk != 0);
  bool is_uneven = h->contiguous % chunk != 0;
  const int64_t *sizes = h->updates->dims + 1;
  indexing_map *m = indexing_map_create(a, 2, 1, 0, rank, is_uneven);
  m->dims[0] = sized("row", h->rows);
  m->dims[1] = sized("chunk", chunks);
  m->ranges[0] = sized("i", chunk);
  const affine_expr *position = affine_add(a, affine_mul_constant(a, affine_dim(a, 1), chunk), affine_symbol(a, 0));
  affine_delinearize(a, h->split, sizes, affine_dim(a, 0), m->results);
  affine_delinearize(a, rank - h->split, sizes + h->split, position, m->results + h->split);
  if (is_uneven) m->constraints[0] = (indexing_constraint){position, {0, h->contiguous - 1}};
  return indexing_map_simplify(a, m);
}

// (window's index, starts) -> the operand's index, as one map, so that neighbours stay neighbours to later passes.
static const indexing_map *element_map(arena *a, const hero_scatter *h) {
  int rank = operand_shape(h)->rank;
  indexing_map *m = indexing_map_create(a, 2 * rank, 0, 0, rank, 0);
  for (int d = 0; d < rank; d++) {
    m->dims[d].bounds = (interval){0, h->updates->dims[1 + d] - 1};
    m->dims[rank + d].bounds = room_of(h, d);
    m->results[d] = affine_add(a, affine_dim(a, d), affine_dim(a, rank + d));
  }
  return indexing_map_simplify(a, m);
}

static heddle_status combine(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                             const void *argument) {
  const scatter_window *w = argument;
  const kernel_plan *plan = e->kernel->plan;
  int rank = point->count, count = plan->output_count;
  MlirValue *indices = arena_array(b->arena, MlirValue, 1 + rank), *dims = arena_array(b->arena, MlirValue, 2 * rank);
  indices[0] = w->update;
  for (int d = 0; d < rank; d++) {
    indices[1 + d] = dims[d] = point->values[d];
    dims[rank + d] = w->starts[d];
  }
  const MlirValue *updates = emit_part(e->kernel, b, 0, e->inputs, &(index_vector){1 + rank, indices}, NULL);
  ir_values inside = ir_apply_indexing(b, element_map(b->arena, w->plan), dims, NULL);
  MlirValue *operands = arena_array(b->arena, MlirValue, 2 * count);
  ir_values *to = arena_array(b->arena, ir_values, count);
  for (int n = 0; n < count; n++) {
    to[n] = inside;
    if (!shape_same_dims(plan->outputs[n].shape, operand_shape(w->plan))) {
      const indexing_map *map = hlo_indexing_reshape(b->arena, operand_shape(w->plan), plan->outputs[n].shape);
      to[n] = ir_apply_indexing(b, map, inside.data, NULL);
    }
    operands[n] = emit_extract(b, outputs[n], to[n].size, to[n].data);
    operands[count + n] = updates[n];
  }
  const partition_function *combiner = partition_entry(e->kernel->partition, w->plan->scatter->called[0]);
  const MlirValue *values = emit_call(e->kernel, b, combiner, operands, NULL, NULL);
  for (int n = 0; n < count; n++) outputs[n] = emit_insert(b, values[n], outputs[n], to[n].size, to[n].data);
  return status_ok();
}

// --- rows, updates

static heddle_status walk_row(kernel_entry *e, ir_builder *b, const index_vector *row, MlirValue *outputs,
                              const void *argument) {
  scatter_window w = *(const scatter_window *)argument;
  bool by_column = w.plan->tiling == SCATTER_BY_COLUMN;
  w.row = row->values[0];
  MlirValue dims[] = {w.row, by_column ? w.tile : ir_index(b, 0)};
  return emit_entry_inner_loop(e, b, outputs, run_map(b->arena, w.plan), dims, combine, &w);
}

static heddle_status walk_window(kernel_entry *e, const scatter_window *w) {
  if (w->plan->rows == 1) {
    MlirValue zero = ir_index(&e->b, 0);
    return walk_row(e, &e->b, &(index_vector){1, &zero}, e->outputs, w);
  }
  indexing_map *rows = indexing_map_create(e->kernel->arena, 0, 1, 0, 1, 0);
  rows->ranges[0] = sized("row", w->plan->rows);
  rows->results[0] = affine_symbol(e->kernel->arena, 0);
  return emit_entry_loop(e, rows, NULL, walk_row, w);
}

static MlirValue both(ir_builder *b, MlirValue x, MlirValue y) {
  return mlirValueIsNull(x) ? y : ir_binary(b, "arith.andi", x, y);
}

static MlirValue is_between(ir_builder *b, MlirValue x, MlirValue low, MlirValue high) {
  MlirValue above = ir_cmpi(b, "sge", x, low);
  return ir_binary(b, "arith.andi", above, ir_cmpi(b, "sle", x, high));
}

// Fills in w->starts; returns whether the window lies within the operand, null for always.
static MlirValue find_starts(kernel_entry *e, scatter_window *w) {
  const hero_scatter *h = w->plan;
  const int_list *moved = &h->scatter->attributes->scatter_dims_to_operand_dims;
  ir_builder *b = &e->b;
  MlirValue inside = {NULL};
  w->starts = arena_array(b->arena, MlirValue, operand_shape(h)->rank);
  for (int d = 0; d < operand_shape(h)->rank; d++) w->starts[d] = ir_index(b, 0);
  if (moved->size == 0) return inside;
  const MlirValue *entries = emit_part(e->kernel, b, 1, e->inputs, &(index_vector){1, &w->update}, NULL);
  dtype t = h->scatter->operands[h->scatter->operand_count / 2]->shape->dtype;
  const char *cast = dtypes[t].class == CLASS_SIGNED ? "arith.index_cast" : "arith.index_castui";
  for (int j = 0; j < moved->size; j++) {
    int d = (int)moved->data[j];
    MlirValue start = ir_cast(b, cast, mlirIndexTypeGet(b->context), entries[j]);
    MlirValue low = ir_index(b, 0), high = ir_index(b, room_of(h, d).upper);
    inside = both(b, inside, is_between(b, start, low, high));
    w->starts[d] = start;
    if (d > 0 || h->tiling != SCATTER_BY_OWNER) continue;
    MlirValue first = ir_binary(b, "arith.muli", w->tile, ir_index(b, h->chunk));
    MlirValue last = ir_binary(b, "arith.addi", first, ir_index(b, h->chunk - 1));
    inside = both(b, inside, is_between(b, start, first, last));
  }
  return inside;
}

static heddle_status walk_update(kernel_entry *e, ir_builder *b, const index_vector *number, MlirValue *outputs,
                                 const void *argument) {
  scatter_window w = *(const scatter_window *)argument;
  kernel_entry inner = *e;
  int count = e->kernel->plan->output_count;
  inner.b = *b;
  inner.outputs = outputs;
  w.update = number->values[0];
  MlirValue inside = find_starts(&inner, &w);
  if (mlirValueIsNull(inside)) {
    TRY(walk_window(&inner, &w));
    *b = inner.b;
    return status_ok();
  }
  MlirType *types = arena_array(b->arena, MlirType, count);
  for (int n = 0; n < count; n++) types[n] = mlirValueGetType(outputs[n]);
  MlirOperation branch = ir_if(&inner.b, inside, count, types);
  *b = inner.b;
  ir_builder otherwise = ir_builder_at_end(b->context, ir_body(branch, 1), b->arena);
  ir_yield(&otherwise, count, outputs);
  inner.b = ir_builder_at_end(b->context, ir_body(branch, 0), b->arena);
  TRY(walk_window(&inner, &w));
  ir_yield(&inner.b, count, inner.outputs);
  for (int n = 0; n < count; n++) outputs[n] = ir_result(branch, n);
  return status_ok();
}

// (tile)[n] -> update number: all of them, or the tile's share.
static const indexing_map *updates_map(arena *a, const hero_scatter *h, int64_t tiles) {
  int64_t count = h->updates->dims[0];
  bool by_update = h->tiling == SCATTER_BY_UPDATE, is_uneven = by_update && count % h->chunk != 0;
  indexing_map *m = indexing_map_create(a, 1, 1, 0, 1, is_uneven);
  m->dims[0] = sized("tile", tiles);
  m->ranges[0] = sized("n", by_update ? h->chunk : count);
  m->results[0] = affine_symbol(a, 0);
  if (by_update) m->results[0] = affine_add(a, affine_mul_constant(a, affine_dim(a, 0), h->chunk), m->results[0]);
  if (is_uneven) m->constraints[0] = (indexing_constraint){m->results[0], {0, count - 1}};
  return m;
}

heddle_status emit_scatter_entry(kernel_emitter *k, const target_description *target) {
  const hero_scatter *h = &k->plan->details.scatter;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  if (k->plan->launch.tiles > 0) {
    scatter_window w = {.plan = h, .tile = entry.ids.data[0]};
    TRY(emit_entry_loop(&entry, updates_map(k->arena, h, k->plan->launch.tiles), &w.tile, walk_update, &w));
  }
  emit_entry_end(&entry);
  return status_ok();
}
