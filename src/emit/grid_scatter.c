// Scatter on a grid of threads, in the form that the plan says.
//
// plain, atomic: a thread takes some neighbouring elements of one update. The window is checked once for all of them.
// runs: a thread goes through some updates, with its element of the window in a register; what was combined goes to
// memory when the next window lies elsewhere. in order: a thread goes through all updates and combines those that lie
// in what it owns.
#include "emit/grid_scatter.h"

#include "emit/loop.h"
#include "emit/scatter_window.h"

typedef struct walk {
  const hero_grid_scatter *plan;
  scatter_window window;
  index_vector at;           // the thread: indices of what it takes
  const MlirValue *before;   // plain: the outputs before the thread's loop, which does not meet what it has written
  int first_carried;         // runs: whether a result is open, its starts, the combined elements
  const MlirValue *updates;  // runs: the update's elements
} walk;

static int operand_count(const hero_grid_scatter *h) { return h->scatter->operand_count / 2; }
static const shape *operand_shape(const hero_grid_scatter *h) { return h->scatter->operands[0]->shape; }

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// (launch ids)[] -> indices in [0, rows) and [0, columns) of the thread, columns innermost.
static const indexing_map *thread_map(arena *a, const kernel_entry *e, int64_t rows, int64_t columns) {
  launch_plan launch = e->kernel->plan->launch;
  launch.elements /= launch.unroll;
  launch.unroll = 1;
  return emit_loop_map(a, e->target, &launch, shape_array(a, DTYPE_S64, 2, (int64_t[]){rows, columns}));
}

// ()[name] -> (name)
static const indexing_map *count_up(arena *a, const char *name, int64_t count) {
  indexing_map *m = indexing_map_create(a, 0, 1, 0, 1, 0);
  m->ranges[0] = sized(name, count);
  m->results[0] = affine_symbol(a, 0);
  return m;
}

// (row, column) -> index within the window, whose dims from `split` on are the column's.
static ir_values window_index(ir_builder *b, const hero_grid_scatter *h, int split, MlirValue row, MlirValue column) {
  const int rank = operand_shape(h)->rank;
  const int64_t *sizes = h->updates->dims + 1;
  int64_t rows = 1, columns = 1;
  for (int d = 0; d < rank; d++) *(d < split ? &rows : &columns) *= sizes[d];
  indexing_map *m = indexing_map_create(b->arena, 2, 0, 0, rank, 0);
  m->dims[0] = sized("row", rows);
  m->dims[1] = sized("column", columns);
  affine_delinearize(b->arena, split, sizes, affine_dim(b->arena, 0), m->results);
  affine_delinearize(b->arena, rank - split, sizes + split, affine_dim(b->arena, 1), m->results + split);
  return ir_apply_indexing(b, indexing_map_simplify(b->arena, m), (MlirValue[]){row, column}, NULL);
}

// --- atomically

// The element of output n at `to` becomes what the computation makes of it and the updates. Only operand n's own
// matter.
static MlirValue atomic_update(const kernel_entry *e, ir_builder *b, const instruction *scatter, MlirValue tensor,
                               const ir_values *to, int n, const MlirValue *updates) {
  const int count = scatter->operand_count / 2;
  MlirType element = ir_element_type(mlirValueGetType(tensor)), type = mlirValueGetType(tensor);
  MlirValue *operands = arena_array(b->arena, MlirValue, 1 + to->size);
  MlirValue *elements = arena_array(b->arena, MlirValue, count);
  operands[0] = tensor;
  for (int d = 0; d < to->size; d++) operands[1 + d] = to->data[d];
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(1, &element, &b->location);
  mlirRegionAppendOwnedBlock(region, block);
  MlirOperation op = ir_build(b, (ir_op_state){.name = "xla_gpu.atomic_rmw",
                                               .operand_count = 1 + to->size,
                                               .operands = operands,
                                               .result_count = 1,
                                               .results = &type,
                                               .region_count = 1,
                                               .regions = &region});
  ir_builder inner = ir_builder_at_end(b->context, block, b->arena);
  for (int k = 0; k < count; k++) elements[k] = k == n ? mlirBlockGetArgument(block, 0) : updates[k];
  const MlirValue *values = scatter_window_combine(e, &inner, scatter, elements, updates);
  ir_build(&inner, (ir_op_state){.name = "xla_gpu.yield", .operand_count = 1, .operands = &values[n]});
  return ir_result(op, 0);
}

static void update_atomically(const kernel_entry *e, ir_builder *b, const scatter_window *w, const MlirValue *at,
                              const MlirValue *updates, MlirValue *outputs) {
  for (int n = 0; n < w->scatter->operand_count / 2; n++) {
    const ir_values to = scatter_window_target(e, b, w, at, n);
    outputs[n] = atomic_update(e, b, w->scatter, outputs[n], &to, n, updates);
  }
}

// --- element by element

// `point` is the index of an update's element.
static heddle_status take_element(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  walk w = *(const walk *)argument;
  w.window.update = point->values[0];
  if (w.plan->form == GRID_SCATTER_PLAIN) {
    scatter_window_update(e, b, &w.window, point->values + 1, w.before, outputs);
    return status_ok();
  }
  const MlirValue *updates = scatter_window_updates(e, b, &w.window, point->values + 1);
  update_atomically(e, b, &w.window, point->values + 1, updates, outputs);
  return status_ok();
}

static heddle_status take_elements(kernel_entry *e, ir_builder *b, const index_vector *none, MlirValue *outputs,
                                   const void *argument) {
  (void)none;
  walk w = *(const walk *)argument;
  MlirValue *before = arena_array(b->arena, MlirValue, e->carried);
  for (int n = 0; n < e->carried; n++) before[n] = outputs[n];
  w.before = before;
  const indexing_map *map = emit_loop_map(b->arena, e->target, &e->kernel->plan->launch, w.plan->updates);
  return emit_entry_inner_loop(e, b, outputs, map, e->ids.data, take_element, &w);
}

static heddle_status share_elements(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                    const void *argument) {
  walk w = *(const walk *)argument;
  const index_vector none = {0};
  w.window = scatter_window_find(e, b, w.plan->scatter, point->values[0]);
  if (mlirValueIsNull(w.window.is_inside)) return take_elements(e, b, &none, outputs, &w);
  return emit_entry_branch(e, b, outputs, w.window.is_inside, take_elements, &none, &w);
}

// --- in order

// The row of the operand that the window's element lies in, counted through the dims before `split`.
static MlirValue row_of(ir_builder *b, const walk *w, const ir_values *at) {
  const int64_t *dims = operand_shape(w->plan)->dims;
  MlirValue row = ir_index(b, 0);
  for (int d = 0; d < w->plan->split; d++) {
    MlirValue index = ir_binary(b, "arith.addi", w->window.starts[d], at->data[d]);
    row = ir_binary(b, "arith.addi", ir_binary(b, "arith.muli", row, ir_index(b, dims[d])), index);
  }
  return row;
}

static heddle_status take_owned(kernel_entry *e, ir_builder *b, const index_vector *place, MlirValue *outputs,
                                const void *argument) {
  const walk *w = argument;
  const ir_values at = window_index(b, w->plan, w->plan->split, place->values[0], place->values[1]);
  const index_vector point = {at.size, at.data};
  if (w->plan->owners == 1) return scatter_window_update_in_place(e, b, &point, outputs, &w->window);
  MlirValue first = ir_binary(b, "arith.muli", w->at.values[0], ir_index(b, w->plan->rows_per_owner));
  MlirValue within = ir_binary(b, "arith.subi", row_of(b, w, &at), first);
  MlirValue is_own = ir_cmpi(b, "ult", within, ir_index(b, w->plan->rows_per_owner));
  return emit_entry_branch(e, b, outputs, is_own, scatter_window_update_in_place, &point, &w->window);
}

// (chunk of columns)[row, column] -> row and column of the window
static const indexing_map *window_map(arena *a, const hero_grid_scatter *h) {
  indexing_map *m = indexing_map_create(a, 1, 2, 0, 2, 0);
  m->dims[0] = sized("chunk", h->columns / h->columns_per_thread);
  m->ranges[0] = sized("row", h->window_rows);
  m->ranges[1] = sized("column", h->columns_per_thread);
  m->results[0] = affine_symbol(a, 0);
  m->results[1] = affine_add(a, affine_mul_constant(a, affine_dim(a, 0), h->columns_per_thread), affine_symbol(a, 1));
  return m;
}

static heddle_status walk_window(kernel_entry *e, ir_builder *b, const index_vector *none, MlirValue *outputs,
                                 const void *argument) {
  (void)none;
  const walk *w = argument;
  return emit_entry_inner_loop(e, b, outputs, window_map(b->arena, w->plan), &w->at.values[1], take_owned, w);
}

static heddle_status walk_update(kernel_entry *e, ir_builder *b, const index_vector *number, MlirValue *outputs,
                                 const void *argument) {
  walk w = *(const walk *)argument;
  const index_vector none = {0};
  w.window = scatter_window_find(e, b, w.plan->scatter, number->values[0]);
  if (mlirValueIsNull(w.window.is_inside)) return walk_window(e, b, &none, outputs, &w);
  return emit_entry_branch(e, b, outputs, w.window.is_inside, walk_window, &none, &w);
}

static heddle_status share_owners(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  walk w = *(const walk *)argument;
  w.at = *point;
  return emit_entry_inner_loop(e, b, outputs, count_up(b->arena, "n", w.plan->updates->dims[0]), NULL, walk_update, &w);
}

// --- runs

// Behind the outputs, a loop over a run carries: i1, whether anything was combined; where its window starts, by entry
// of the index vector; what was combined, by operand.
static int entry_count(const walk *w) { return w->plan->scatter->attributes->scatter_dims_to_operand_dims.size; }
static MlirValue *open_flag(const walk *w, MlirValue *carried) { return &carried[w->first_carried]; }
static MlirValue *open_start(const walk *w, MlirValue *carried, int j) { return &carried[w->first_carried + 1 + j]; }
static MlirValue *open_element(const walk *w, MlirValue *carried, int n) {
  return &carried[w->first_carried + 1 + entry_count(w) + n];
}

static MlirValue flag(ir_builder *b, bool v) { return ir_int(b, mlirIntegerTypeGet(b->context, 1), v); }

static MlirValue zero(ir_builder *b, MlirType type) {
  if (mlirTypeIsAFloat(type)) return ir_float(b, type, 0);
  if (!mlirTypeIsAComplex(type)) return ir_int(b, type, 0);
  MlirValue part = ir_float(b, mlirComplexTypeGetElementType(type), 0);
  return ir_value(b, "complex.create", type, 2, (MlirValue[]){part, part});
}

static heddle_status flush(kernel_entry *e, ir_builder *b, const index_vector *at, MlirValue *carried,
                           const void *argument) {
  const walk *w = argument;
  const int_list *moved = &w->plan->scatter->attributes->scatter_dims_to_operand_dims;
  scatter_window window = {.scatter = w->plan->scatter};
  window.starts = arena_array(b->arena, MlirValue, operand_shape(w->plan)->rank);
  for (int d = 0; d < operand_shape(w->plan)->rank; d++) window.starts[d] = ir_index(b, 0);
  for (int j = 0; j < moved->size; j++) window.starts[moved->data[j]] = *open_start(w, carried, j);
  update_atomically(e, b, &window, at->values, open_element(w, carried, 0), carried);
  return status_ok();
}

static heddle_status continue_run(kernel_entry *e, ir_builder *b, const index_vector *at, MlirValue *carried,
                                  const void *argument) {
  (void)at;
  const walk *w = argument;
  const MlirValue *values = scatter_window_combine(e, b, w->plan->scatter, open_element(w, carried, 0), w->updates);
  for (int n = 0; n < operand_count(w->plan); n++) *open_element(w, carried, n) = values[n];
  return status_ok();
}

static heddle_status begin_run(kernel_entry *e, ir_builder *b, const index_vector *at, MlirValue *carried,
                               const void *argument) {
  const walk *w = argument;
  const int_list *moved = &w->plan->scatter->attributes->scatter_dims_to_operand_dims;
  TRY(emit_entry_branch(e, b, carried, *open_flag(w, carried), flush, at, w));
  *open_flag(w, carried) = flag(b, true);
  for (int j = 0; j < moved->size; j++) *open_start(w, carried, j) = w->window.starts[moved->data[j]];
  for (int n = 0; n < operand_count(w->plan); n++) *open_element(w, carried, n) = w->updates[n];
  return status_ok();
}

static heddle_status take_update(kernel_entry *e, ir_builder *b, const index_vector *at, MlirValue *carried,
                                 const void *argument) {
  walk w = *(const walk *)argument;
  const int_list *moved = &w.plan->scatter->attributes->scatter_dims_to_operand_dims;
  MlirValue is_open = *open_flag(&w, carried), stays = is_open;
  for (int j = 0; j < moved->size; j++) {
    MlirValue start = w.window.starts[moved->data[j]];
    stays = scatter_window_both(b, stays, ir_cmpi(b, "eq", start, *open_start(&w, carried, j)));
  }
  MlirValue moves = ir_binary(b, "arith.xori", stays, flag(b, true));
  w.updates = scatter_window_updates(e, b, &w.window, at->values);
  TRY(emit_entry_branch(e, b, carried, stays, continue_run, at, &w));
  return emit_entry_branch(e, b, carried, moves, begin_run, at, &w);
}

static heddle_status walk_run(kernel_entry *e, ir_builder *b, const index_vector *number, MlirValue *carried,
                              const void *argument) {
  walk w = *(const walk *)argument;
  w.window = scatter_window_find(e, b, w.plan->scatter, number->values[0]);
  const ir_values at = window_index(b, w.plan, 0, ir_index(b, 0), w.at.values[1]);
  const index_vector point = {at.size, at.data};
  if (mlirValueIsNull(w.window.is_inside)) return take_update(e, b, &point, carried, &w);
  return emit_entry_branch(e, b, carried, w.window.is_inside, take_update, &point, &w);
}

// (run)[n] -> number of the update
static const indexing_map *run_map(arena *a, const hero_grid_scatter *h, int64_t runs) {
  const int64_t count = h->updates->dims[0], each = h->updates_per_thread;
  const bool is_uneven = count % each != 0;
  indexing_map *m = indexing_map_create(a, 1, 1, 0, 1, is_uneven);
  m->dims[0] = sized("run", runs);
  m->ranges[0] = sized("n", each);
  m->results[0] = affine_add(a, affine_mul_constant(a, affine_dim(a, 0), each), affine_symbol(a, 0));
  if (is_uneven) m->constraints[0] = (indexing_constraint){m->results[0], {0, count - 1}};
  return m;
}

static heddle_status share_runs(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                const void *argument) {
  walk w = *(const walk *)argument;
  kernel_entry inner = *e;
  w.at = *point;
  w.first_carried = e->carried;
  inner.carried = e->carried + 1 + entry_count(&w) + operand_count(w.plan);
  MlirValue *carried = arena_array(b->arena, MlirValue, inner.carried);
  for (int n = 0; n < e->carried; n++) carried[n] = outputs[n];
  *open_flag(&w, carried) = flag(b, false);
  for (int j = 0; j < entry_count(&w); j++) *open_start(&w, carried, j) = ir_index(b, 0);
  for (int n = 0; n < operand_count(w.plan); n++)
    *open_element(&w, carried, n) = zero(b, ir_element_type(mlirValueGetType(outputs[n])));
  const int64_t each = w.plan->updates_per_thread, count = w.plan->updates->dims[0];
  const indexing_map *map = run_map(b->arena, w.plan, (count - 1) / each + 1);
  TRY(emit_entry_inner_loop(&inner, b, carried, map, point->values, walk_run, &w));
  const ir_values at = window_index(b, w.plan, 0, ir_index(b, 0), point->values[1]);
  TRY(emit_entry_branch(&inner, b, carried, *open_flag(&w, carried), flush, &(index_vector){at.size, at.data}, &w));
  for (int n = 0; n < e->carried; n++) outputs[n] = carried[n];
  return status_ok();
}

// --- the entry function

heddle_status emit_grid_scatter_entry(kernel_emitter *k, const target_description *target) {
  const hero_grid_scatter *h = &k->plan->details.grid_scatter;
  const int64_t elements = k->plan->launch.elements, count = h->updates->dims[0];
  const walk w = {.plan = h};
  kernel_entry e;
  TRY(emit_entry_begin(k, target, &e));
  if (elements > 0 && (h->form == GRID_SCATTER_PLAIN || h->form == GRID_SCATTER_ATOMIC)) {
    const indexing_map *map = thread_map(k->arena, &e, count, elements / count / h->vector);
    TRY(emit_entry_loop(&e, map, e.ids.data, share_elements, &w));
  } else if (elements > 0 && h->form == GRID_SCATTER_RUNS) {
    const int64_t runs = (count - 1) / h->updates_per_thread + 1;
    TRY(emit_entry_loop(&e, thread_map(k->arena, &e, runs, elements / runs), e.ids.data, share_runs, &w));
  } else if (elements > 0) {
    TRY(emit_entry_loop(&e, thread_map(k->arena, &e, h->owners, h->columns / h->columns_per_thread), e.ids.data,
                        share_owners, &w));
  }
  emit_entry_end(&e);
  return status_ok();
}
