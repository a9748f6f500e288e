// Scatter: for each update in order, if its window lies within the operand, the window's elements are combined into
// memory, row of contiguous elements by row.
//
// Within a window no element is met twice, so that rows are computed in vectors.
#include "emit/scatter.h"

#include "emit/scatter_window.h"

// Where the loops are: which window, which row of it, which tile.
typedef struct walk {
  const hero_scatter *plan;
  scatter_window window;
  MlirValue row, tile;
} walk;

static const shape *operand_shape(const hero_scatter *h) { return h->scatter->operands[0]->shape; }

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

// --- rows, updates

static heddle_status walk_row(kernel_entry *e, ir_builder *b, const index_vector *row, MlirValue *outputs,
                              const void *argument) {
  walk w = *(const walk *)argument;
  bool by_column = w.plan->tiling == SCATTER_BY_COLUMN;
  w.row = row->values[0];
  MlirValue dims[] = {w.row, by_column ? w.tile : ir_index(b, 0)};
  return emit_entry_inner_loop(e, b, outputs, run_map(b->arena, w.plan), dims, scatter_window_update_in_place,
                               &w.window);
}

static heddle_status walk_window(kernel_entry *e, ir_builder *b, const index_vector *none, MlirValue *outputs,
                                 const void *argument) {
  (void)none;
  const walk *w = argument;
  if (w->plan->rows == 1) {
    MlirValue zero = ir_index(b, 0);
    return walk_row(e, b, &(index_vector){1, &zero}, outputs, w);
  }
  indexing_map *rows = indexing_map_create(b->arena, 0, 1, 0, 1, 0);
  rows->ranges[0] = sized("row", w->plan->rows);
  rows->results[0] = affine_symbol(b->arena, 0);
  return emit_entry_inner_loop(e, b, outputs, rows, NULL, walk_row, w);
}

// Whether the window starts in the tile's part of the operand's first dim.
static MlirValue is_own(ir_builder *b, const walk *w) {
  MlirValue start = w->window.starts[0], first = ir_binary(b, "arith.muli", w->tile, ir_index(b, w->plan->chunk));
  MlirValue last = ir_binary(b, "arith.addi", first, ir_index(b, w->plan->chunk - 1));
  MlirValue above = ir_cmpi(b, "sge", start, first);
  return ir_binary(b, "arith.andi", above, ir_cmpi(b, "sle", start, last));
}

static heddle_status walk_update(kernel_entry *e, ir_builder *b, const index_vector *number, MlirValue *outputs,
                                 const void *argument) {
  walk w = *(const walk *)argument;
  w.window = scatter_window_find(e, b, w.plan->scatter, number->values[0]);
  if (w.plan->tiling == SCATTER_BY_OWNER)
    w.window.is_inside = scatter_window_both(b, w.window.is_inside, is_own(b, &w));
  const index_vector none = {0};
  if (mlirValueIsNull(w.window.is_inside)) return walk_window(e, b, &none, outputs, &w);
  return emit_entry_branch(e, b, outputs, w.window.is_inside, walk_window, &none, &w);
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
    walk w = {.plan = h, .tile = entry.ids.data[0]};
    TRY(emit_entry_loop(&entry, updates_map(k->arena, h, k->plan->launch.tiles), &w.tile, walk_update, &w));
  }
  emit_entry_end(&entry);
  return status_ok();
}
