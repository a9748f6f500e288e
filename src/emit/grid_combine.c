// Partial results of threads become results.
//
//   rows      shuffles within the row's part of a warp; if a row has several warps, their results go through shared
//             memory and shuffles once more, in every warp
//   columns   through shared memory, in which neighbours read down a column; shuffles; results into shared memory
//
// Initial values meet the results last, once.
//
// In order, a partial result comes with the number of the first span that it is made of. Of two that meet, the one with
// the lower number comes first; one without elements, whose number is beyond the spans, leaves the other as it is.
#include "emit/grid_combine.h"

#include "base/int64.h"
#include "emit/grid_reduction_maps.h"
#include "emit/neutral.h"

typedef struct combine_work {
  row_pass_emitter *s;
  const row_reduction *reduction;
  const char *function;      // of two partial results
  const MlirValue *partial;  // the thread's
  int *tensors;              // in which partial results lie, by value
} combine_work;

static kernel_emitter *kernel_of(const row_pass_emitter *s) { return s->entry->kernel; }

static const hero_grid_reduction *hero_of(const row_pass_emitter *s) {
  return &kernel_of(s)->plan->details.grid_reduction;
}

static bool is_in_order(const row_pass_emitter *s) { return hero_of(s)->spans > 0; }

// Values that threads exchange: the reduction's, then the number of the first span.
static int exchanged(const row_pass_emitter *s, const row_reduction *r) { return r->count + is_in_order(s); }

static int64_t warp_of(const row_pass_emitter *s) { return s->entry->target->subgroup_size; }

// --- vectors

static MlirNamedAttribute any_position(MlirContext c) {
  return ir_named(c, "static_position", mlirDenseI64ArrayGet(c, 1, (int64_t[]){INT64_MIN}));
}

// Narrow integers are words in vectors: several in one register go through memory to be told apart.
static MlirValue as_lane(ir_builder *b, MlirValue x) {
  const MlirType t = mlirValueGetType(x);
  const bool is_narrow = mlirTypeIsAInteger(t) && ir_bit_width(t) < 32;
  return is_narrow ? ir_cast(b, "arith.extui", mlirIntegerTypeGet(b->context, 32), x) : x;
}

MlirValue grid_combine_spread(ir_builder *b, MlirValue x, int64_t lanes) {
  x = as_lane(b, x);
  return ir_value(b, "vector.broadcast", mlirVectorTypeGet(1, &lanes, mlirValueGetType(x)), 1, &x);
}

MlirValue grid_combine_get(ir_builder *b, MlirValue vector, MlirValue lane, MlirType type) {
  const MlirNamedAttribute position = any_position(b->context);
  const MlirType element = ir_element_type(mlirValueGetType(vector));
  const MlirValue x = ir_value_with(b, "vector.extract", element, 2, (MlirValue[]){vector, lane}, 1, &position);
  return mlirTypeEqual(type, element) ? x : ir_cast(b, "arith.trunci", type, x);
}

MlirValue grid_combine_put(ir_builder *b, MlirValue x, MlirValue vector, MlirValue lane) {
  const MlirNamedAttribute position = any_position(b->context);
  const MlirValue operands[] = {as_lane(b, x), vector, lane};
  return ir_value_with(b, "vector.insert", mlirValueGetType(vector), 3, operands, 1, &position);
}

// --- initial values

static MlirType accumulator_type(const row_pass_emitter *s, const row_reduction *r, int value) {
  return emit_element_type(kernel_of(s)->context, r->accumulators[value]);
}

MlirValue grid_combine_start(row_pass_emitter *s, const row_reduction *r, int value) {
  ir_builder *b = &s->entry->b;
  if (r->how.form != REDUCER_BINARY || hero_of(s)->spans == 1)
    return row_passes_to_accumulator(b, r, value, s->inits[r->first_init + value]);
  const MlirType type = accumulator_type(s, r, value);
  if (!mlirTypeIsAComplex(type)) return neutral_value(b, row_passes_combiner(r, value), type);
  const MlirValue zero = neutral_value(b, "arith.addf", mlirComplexTypeGetElementType(type));
  return ir_value(b, "complex.create", type, 2, (MlirValue[]){zero, zero});
}

static void meet_initial(const combine_work *w, ir_builder *b, MlirValue *values) {
  const row_reduction *r = w->reduction;
  if (r->how.form != REDUCER_BINARY || hero_of(w->s)->spans == 1) return;
  MlirValue *first = arena_array(b->arena, MlirValue, r->count);
  for (int v = 0; v < r->count; v++) first[v] = row_passes_to_accumulator(b, r, v, w->s->inits[r->first_init + v]);
  row_passes_meet(w->s, b, r, first, values, values);
}

// --- functions

// Two partial results as one; in order, y follows x.
static void meet_next(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *x,
                      const MlirValue *y, MlirValue *out) {
  const int count = r->count;
  MlirValue *both = arena_array(b->arena, MlirValue, count);
  row_passes_meet(s, b, r, x, y, both);
  if (is_in_order(s)) out[count] = x[count];
  if (is_in_order(s) && hero_of(s)->spans < hero_of(s)->threads) {
    const MlirValue spans = ir_int(b, mlirValueGetType(y[count]), hero_of(s)->spans);
    const MlirValue has_elements = ir_cmpi(b, "ult", y[count], spans);
    for (int v = 0; v < count; v++) both[v] = ir_select(b, has_elements, both[v], x[v]);
  }
  for (int v = 0; v < count; v++) out[v] = both[v];
}

// The same where either may come first.
static void meet(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *x, const MlirValue *y,
                 MlirValue *out) {
  const int count = exchanged(s, r);
  MlirValue *first = arena_array(b->arena, MlirValue, 2 * count), *second = first + count;
  const MlirValue swaps = is_in_order(s) ? ir_cmpi(b, "ugt", x[r->count], y[r->count]) : (MlirValue){0};
  for (int v = 0; v < count; v++) {
    first[v] = is_in_order(s) ? ir_select(b, swaps, y[v], x[v]) : x[v];
    second[v] = is_in_order(s) ? ir_select(b, swaps, x[v], y[v]) : y[v];
  }
  meet_next(s, b, r, first, second, out);
}

static const char *make_function(row_pass_emitter *s, const row_reduction *r, const char *name) {
  kernel_emitter *k = kernel_of(s);
  const int count = exchanged(s, r);
  MlirType *types = arena_array(k->arena, MlirType, 2 * count);
  for (int v = 0; v < count; v++)
    types[v] = types[count + v] = v < r->count ? accumulator_type(s, r, v) : mlirIntegerTypeGet(k->context, 32);
  const MlirOperation f = ir_function(&k->module_body, name, 2 * count, types, count, types, true);
  ir_builder b = ir_builder_at_end(k->context, ir_body(f, 0), k->arena);
  MlirValue *values = arena_array(k->arena, MlirValue, 2 * count);
  for (int v = 0; v < 2 * count; v++) values[v] = mlirBlockGetArgument(b.block, v);
  meet(s, &b, r, values, values + count, values);
  ir_return(&b, count, values);
  return name;
}

// --- shuffles

// In each of `lanes` neighbouring lanes the results of all of them.
static void shuffle(const combine_work *w, ir_builder *b, int64_t lanes, MlirValue *values) {
  if (lanes == 1) return;
  const int count = exchanged(w->s, w->reduction);
  const MlirContext c = b->context;
  MlirType *types = arena_array(b->arena, MlirType, count);
  for (int v = 0; v < count; v++) types[v] = mlirValueGetType(values[v]);
  const MlirNamedAttribute attributes[] = {
      ir_named(c, "combiner", mlirFlatSymbolRefAttrGet(c, mlirStringRefCreateFromCString(w->function))),
      ir_named(c, "max_distance", mlirIntegerAttrGet(mlirIntegerTypeGet(c, 64), lanes / 2)),
      ir_named(c, "xla.to_all", mlirUnitAttrGet(c)), ir_named(c, "xla.in_order", mlirUnitAttrGet(c))};
  const MlirOperation op = ir_build(b, (ir_op_state){.name = "xla_gpu.shuffle_reduce",
                                                     .operand_count = count,
                                                     .operands = values,
                                                     .result_count = count,
                                                     .results = types,
                                                     .attribute_count = 3 + is_in_order(w->s),
                                                     .attributes = attributes});
  for (int v = 0; v < count; v++) values[v] = ir_result(op, v);
}

// --- shared memory

static const indexing_map *map_of(const row_pass_emitter *s, grid_partial which) {
  return emit_grid_reduction_partial(kernel_of(s)->arena, kernel_of(s)->plan, s->entry->target, which);
}

// The number of a span, with what the map wants to know.
static MlirValue span_at(const row_pass_emitter *s, ir_builder *b, grid_partial which, const MlirValue *symbols) {
  const MlirValue at = ir_apply_indexing(b, map_of(s, which), s->entry->ids.data, symbols).data[0];
  return ir_cast(b, "arith.index_castui", mlirIntegerTypeGet(b->context, 32), at);
}

static void allocate(const combine_work *w, int64_t size) {
  row_pass_emitter *s = w->s;
  kernel_entry e = *s->entry;
  e.carried = s->tensor_count;
  e.outputs = s->tensors;
  for (int v = 0; v < w->reduction->count; v++)
    w->tensors[v] = emit_entry_allocate(&e, accumulator_type(s, w->reduction, v), size);
  s->tensors = e.outputs;
  s->tensor_count = e.carried;
}

static void sync(row_pass_emitter *s, int first) {
  kernel_entry e = *s->entry;
  e.carried = s->tensor_count;
  e.outputs = s->tensors;
  emit_entry_sync(&e, first);
}

static MlirValue insert_if(ir_builder *b, MlirValue value, MlirValue tensor, MlirValue at, MlirValue condition) {
  return ir_value(b, "xla_gpu.predicated_insert", mlirValueGetType(tensor), 4,
                  (MlirValue[]){value, tensor, at, condition});
}

// Whether the thread is the first of so many neighbours.
static MlirValue is_first_lane(const row_pass_emitter *s, ir_builder *b, int64_t lanes) {
  indexing_map *m = indexing_map_create(b->arena, 1, 0, 0, 1, 0);
  m->dims[0].bounds = (interval){0, kernel_of(s)->plan->launch.threads - 1};
  m->results[0] = affine_mod(b->arena, affine_dim(b->arena, 0), lanes);
  return ir_cmpi(b, "eq", ir_apply_indexing(b, m, s->entry->ids.data, NULL).data[0], ir_index(b, 0));
}

// --- rows

static void leave_row(const combine_work *w, MlirValue *values) {
  row_pass_emitter *s = w->s;
  ir_builder *b = &s->entry->b;
  const int64_t warps = hero_of(s)->threads / warp_of(s);
  allocate(w, hero_of(s)->on_tiles.tile * warps);
  const MlirValue at = ir_apply_indexing(b, map_of(s, GRID_PARTIAL_OF_WARP), s->entry->ids.data, NULL).data[0];
  const MlirValue is_first = is_first_lane(s, b, warp_of(s));
  for (int v = 0; v < w->reduction->count; v++)
    s->tensors[w->tensors[v]] = insert_if(b, values[v], s->tensors[w->tensors[v]], at, is_first);
}

static void take_row(const combine_work *w, MlirValue *values) {
  row_pass_emitter *s = w->s;
  ir_builder *b = &s->entry->b;
  const MlirValue at = ir_apply_indexing(b, map_of(s, GRID_PARTIAL_OF_OTHER), s->entry->ids.data, NULL).data[0];
  const int count = w->reduction->count;
  for (int v = 0; v < count; v++) values[v] = emit_extract(b, s->tensors[w->tensors[v]], 1, &at);
  if (is_in_order(s)) values[count] = span_at(s, b, GRID_PARTIAL_SPAN_OF_OTHER, NULL);
  shuffle(w, b, hero_of(s)->threads / warp_of(s), values);
}

// Every thread of the row knows the result; of rows in order it lies in memory.
static void put_row(const combine_work *w, const MlirValue *values) {
  row_pass_emitter *s = w->s;
  ir_builder *b = &s->entry->b;
  const row_reduction *r = w->reduction;
  if (!s->plan->is_column) {
    for (int v = 0; v < r->count; v++)
      s->carried[r->first_carried + v] = row_passes_from_accumulator(b, r, v, values[v]);
    return;
  }
  const MlirValue at = ir_apply_indexing(b, map_of(s, GRID_PARTIAL_RESULT), s->entry->ids.data, NULL).data[0];
  const MlirValue is_first = is_first_lane(s, b, hero_of(s)->threads);
  for (int v = 0; v < r->count; v++) {
    MlirValue *results = &s->tensors[s->tensor_of[r->first_carried + v]];
    *results = insert_if(b, values[v], *results, at, is_first);
  }
}

static void combine_rows(row_pass_emitter *s, int count, const combine_work *works) {
  ir_builder *b = &s->entry->b;
  const int64_t threads = hero_of(s)->threads, warp = warp_of(s);
  const int first = s->tensor_count;
  MlirValue **values = arena_array(b->arena, MlirValue *, count);
  for (int n = 0; n < count; n++) {
    const row_reduction *r = works[n].reduction;
    values[n] = arena_array(b->arena, MlirValue, r->count + 1);
    for (int v = 0; v < r->count; v++) values[n][v] = works[n].partial[v];
    if (is_in_order(s)) values[n][r->count] = span_at(s, b, GRID_PARTIAL_SPAN, NULL);
    shuffle(&works[n], b, int64_min(threads, warp), values[n]);
    if (threads > warp) leave_row(&works[n], values[n]);
  }
  if (threads > warp) sync(s, first);
  for (int n = 0; n < count; n++) {
    if (threads > warp) take_row(&works[n], values[n]);
    meet_initial(&works[n], b, values[n]);
    put_row(&works[n], values[n]);
  }
  if (s->plan->is_column) sync(s, kernel_of(s)->plan->output_count);
}

// --- columns

static heddle_status leave_lane(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                const void *argument) {
  (void)e;
  const combine_work *w = argument;
  const bool has_lanes = hero_of(w->s)->vector > 1;
  for (int v = 0; v < w->reduction->count; v++) {
    MlirValue x = w->partial[v];
    if (has_lanes)
      x = grid_combine_get(b, x, mlirBlockGetArgument(b->block, 0), accumulator_type(w->s, w->reduction, v));
    outputs[w->tensors[v]] = emit_insert(b, x, outputs[w->tensors[v]], 1, point->values);
  }
  return status_ok();
}

static heddle_status loop_changing(const combine_work *w, const indexing_map *map, const int *changed,
                                   entry_body body) {
  row_pass_emitter *s = w->s;
  kernel_entry e = *s->entry;
  e.carried = s->tensor_count;
  e.outputs = s->tensors;
  bool *changes = arena_array(e.kernel->arena, bool, e.carried);
  for (int v = 0; v < w->reduction->count; v++) changes[changed[v]] = true;
  return emit_entry_loop_changing(&e, map, s->entry->ids.data, changes, body, w);
}

static heddle_status leave_columns(const combine_work *w) {
  const hero_grid_reduction *h = hero_of(w->s);
  allocate(w, h->threads * (h->on_tiles.columns + h->pad));
  return loop_changing(w, map_of(w->s, GRID_PARTIAL_OF_THREAD), w->tensors, leave_lane);
}

// The thread's rows of a column, combined.
static void read_column(const combine_work *w, ir_builder *b, const MlirValue *outputs, MlirValue trip,
                        MlirValue *out) {
  row_pass_emitter *s = w->s;
  const row_reduction *r = w->reduction;
  const indexing_map *map = map_of(s, GRID_PARTIAL_OF_ROW);
  const int values = exchanged(s, r);
  MlirValue *next = arena_array(b->arena, MlirValue, values);
  for (int64_t row = 0; row < hero_of(s)->threads / hero_of(s)->lanes; row++) {
    const MlirValue symbols[] = {trip, ir_index(b, row)};
    const MlirValue at = ir_apply_indexing(b, map, s->entry->ids.data, symbols).data[0];
    for (int v = 0; v < r->count; v++) next[v] = emit_extract(b, outputs[w->tensors[v]], 1, &at);
    if (is_in_order(s)) next[r->count] = span_at(s, b, GRID_PARTIAL_SPAN, symbols + 1);
    if (row > 0) meet_next(s, b, r, out, next, next);
    for (int v = 0; v < values; v++) out[v] = next[v];
  }
}

static heddle_status combine_column(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                    const void *argument) {
  (void)e;
  const combine_work *w = argument;
  row_pass_emitter *s = w->s;
  const row_reduction *r = w->reduction;
  MlirValue *values = arena_array(b->arena, MlirValue, exchanged(s, r));
  read_column(w, b, outputs, mlirBlockGetArgument(b->block, 0), values);
  shuffle(w, b, hero_of(s)->lanes, values);
  meet_initial(w, b, values);
  const MlirValue is_first = is_first_lane(s, b, hero_of(s)->lanes);
  for (int v = 0; v < r->count; v++) {
    const int tensor = s->tensor_of[r->first_carried + v];
    outputs[tensor] = insert_if(b, values[v], outputs[tensor], point->values[0], is_first);
  }
  return status_ok();
}

static heddle_status combine_columns(row_pass_emitter *s, int count, const combine_work *works) {
  const int first = s->tensor_count;
  for (int n = 0; n < count; n++) TRY(leave_columns(&works[n]));
  sync(s, first);
  for (int n = 0; n < count; n++) {
    const int *results = s->tensor_of + works[n].reduction->first_carried;
    TRY(loop_changing(&works[n], map_of(s, GRID_PARTIAL_COLUMN), results, combine_column));
  }
  sync(s, kernel_of(s)->plan->output_count);
  return status_ok();
}

// --- a pass

heddle_status grid_combine_pass(row_pass_emitter *s, int pass, const MlirValue *partial) {
  const row_reductions *reductions = &s->plan->passes.passes[pass].reductions;
  arena *a = kernel_of(s)->arena;
  if (reductions->size == 0) return status_ok();
  combine_work *works = arena_array(a, combine_work, reductions->size);
  for (int i = 0; i < reductions->size; i++) {
    const row_reduction *r = &reductions->data[i];
    const char *name = arena_printf(a, "%s_pass_%d_combine_%d", kernel_of(s)->plan->name, pass, i);
    works[i] = (combine_work){s, r, make_function(s, r, name), partial, arena_array(a, int, r->count)};
    partial += r->count;
  }
  if (s->plan->is_column && hero_of(s)->piece == 0) return combine_columns(s, reductions->size, works);
  combine_rows(s, reductions->size, works);
  return status_ok();
}
