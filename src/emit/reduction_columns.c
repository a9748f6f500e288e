// Columns: what is kept lies innermost, and neighbouring results are accumulated side by side.
//
//   for each index of the tile (of the kept dims but the innermost):
//     for each pass:
//       accumulators of the tile's columns, in memory that stays in the first-level cache: initial values
//       loops over the reduced dims, several of the innermost at once:
//         for each column: body, combine, store
//     for each column: what is computed of its results
//
// Every loop over columns is contiguous and has no order, so the ordinary vectorizer takes it. Elements of one column
// are combined in the order of the program, or several first where the reducer allows.
#include "emit/reduction_columns.h"

#include "emit/row_passes.h"

typedef struct column_loops {
  row_pass_emitter *s;
  const row_pass *pass;
  const MlirValue *major;  // indices of the kept dims but the innermost
  MlirValue first_column, column_count;
  int tensor_count;  // carried by all loops
  int *tensors;
  int depth;           // reduced groups entered so far
  MlirValue *reduced;  // their indices
} column_loops;

static const reduction_space *space_of(const column_loops *l) { return &l->s->plan->passes.space; }

// --- points

static MlirValue plus_constant(ir_builder *b, MlirValue x, int64_t constant, int64_t largest) {
  if (constant == 0) return x;
  indexing_map *m = indexing_map_create(b->arena, 1, 0, 0, 1, 0);
  m->dims[0].bounds = (interval){0, largest};
  m->results[0] = affine_add(b->arena, affine_dim(b->arena, 0), affine_constant(b->arena, constant));
  return ir_apply_indexing(b, m, &x, NULL).data[0];
}

static MlirValue sum_of(ir_builder *b, MlirValue x, MlirValue y, int64_t size) {
  indexing_map *m = indexing_map_create(b->arena, 2, 0, 0, 1, 0);
  for (int d = 0; d < 2; d++) m->dims[d].bounds = (interval){0, size - 1};
  m->results[0] = affine_add(b->arena, affine_dim(b->arena, 0), affine_dim(b->arena, 1));
  return ir_apply_indexing(b, m, (MlirValue[]){x, y}, NULL).data[0];
}

// At column number `column` of the tile; with_reduced: the element `ahead` behind the innermost loop's.
static row_point point_of(const column_loops *l, ir_builder *b, MlirValue column, bool with_reduced, int64_t ahead) {
  const reduction_space *space = space_of(l);
  MlirValue *at = arena_array(b->arena, MlirValue, space->group_count);
  int count = 0, kept = 0, reduced = 0, last = space->group_count - 1;
  for (int g = 0; g < last; g++) {
    if (!space->is_reduced[g]) {
      at[count++] = l->major[kept++];
    } else if (with_reduced) {
      bool is_innermost = reduced == l->depth - 1;
      MlirValue here = l->reduced[reduced++];
      at[count++] = is_innermost ? plus_constant(b, here, ahead, space->sizes[g] - 1 - ahead) : here;
    }
  }
  at[count++] = sum_of(b, l->first_column, column, space->sizes[last]);
  return (row_point){.at = {.count = count, .values = at}, .is_element = with_reduced, .column = column};
}

// --- loops

typedef void (*column_body)(column_loops *l, ir_builder *b, MlirValue column, int64_t argument);

static void take_tensors(const column_loops *l, MlirOperation loop, bool inside) {
  for (int t = 0; t < l->tensor_count; t++)
    l->s->tensors[l->tensors[t]] = inside ? mlirBlockGetArgument(ir_body(loop, 0), t + 1) : ir_result(loop, t);
}

static MlirValue *carried_tensors(const column_loops *l) {
  MlirValue *carried = arena_array(l->s->entry->kernel->arena, MlirValue, l->tensor_count);
  for (int t = 0; t < l->tensor_count; t++) carried[t] = l->s->tensors[l->tensors[t]];
  return carried;
}

static MlirOperation open_loop(column_loops *l, ir_builder *b, MlirValue lower, MlirValue upper, int64_t step,
                               ir_builder *inner) {
  MlirValue by = ir_index(b, step);
  MlirOperation loop = ir_for(b, lower, upper, by, l->tensor_count, carried_tensors(l));
  *inner = ir_builder_at_end(b->context, ir_body(loop, 0), b->arena);
  take_tensors(l, loop, true);
  return loop;
}

static void close_loop(column_loops *l, ir_builder *inner, MlirOperation loop) {
  ir_yield(inner, l->tensor_count, carried_tensors(l));
  take_tensors(l, loop, false);
}

static void for_columns(column_loops *l, ir_builder *b, column_body body, int64_t argument) {
  ir_builder inner;
  MlirOperation loop = open_loop(l, b, ir_index(b, 0), l->column_count, 1, &inner);
  body(l, &inner, mlirBlockGetArgument(ir_body(loop, 0), 0), argument);
  close_loop(l, &inner, loop);
}

// --- what happens in one column

static void put_accumulator(column_loops *l, ir_builder *b, int number, MlirValue column, MlirValue value) {
  row_pass_emitter *s = l->s;
  int tensor = s->tensor_of[number];
  s->tensors[tensor] = emit_insert(b, value, s->tensors[tensor], 1, &column);
}

static void start_column(column_loops *l, ir_builder *b, MlirValue column, int64_t argument) {
  (void)argument;
  for (int i = 0; i < l->pass->reductions.size; i++) {
    const row_reduction *r = &l->pass->reductions.data[i];
    for (int v = 0; v < r->count; v++) {
      MlirValue init = row_passes_to_accumulator(b, r, v, l->s->inits[r->first_init + v]);
      put_accumulator(l, b, r->first_carried + v, column, init);
    }
  }
}

// x: the reduction's inputs at `count` elements.
static void accumulate(column_loops *l, ir_builder *b, const row_reduction *r, MlirValue column, int count,
                       MlirValue *const *x) {
  row_pass_emitter *s = l->s;
  MlirValue *sum = arena_array(b->arena, MlirValue, r->count), *now = arena_array(b->arena, MlirValue, r->count);
  for (int v = 0; v < r->count; v++)
    now[v] = emit_extract(b, s->tensors[s->tensor_of[r->first_carried + v]], 1, &column);
  if (row_passes_combiner(r, 0) && count > 1) {
    for (int v = 0; v < r->count; v++) sum[v] = row_passes_to_accumulator(b, r, v, x[0][r->first_result + v]);
    for (int e = 1; e < count; e++) row_passes_combine(s, b, r, sum, x[e] + r->first_result, sum);
    row_passes_meet(s, b, r, now, sum, now);
  } else {
    for (int e = 0; e < count; e++) row_passes_combine(s, b, r, now, x[e] + r->first_result, now);
  }
  for (int v = 0; v < r->count; v++) put_accumulator(l, b, r->first_carried + v, column, now[v]);
}

static void visit_column(column_loops *l, ir_builder *b, MlirValue column, int64_t elements) {
  MlirValue **results = arena_array(b->arena, MlirValue *, elements);
  for (int64_t e = 0; e < elements; e++) {
    row_point point = point_of(l, b, column, true, e);
    results[e] = row_passes_call(l->s, b, l->pass->body, &point);
    row_passes_store(l->s, b, l->pass, results[e], &point);
  }
  for (int i = 0; i < l->pass->reductions.size; i++)
    accumulate(l, b, &l->pass->reductions.data[i], column, (int)elements, results);
}

static void end_column(column_loops *l, ir_builder *b, MlirValue column, int64_t argument) {
  (void)argument;
  row_point point = point_of(l, b, column, false, 0);
  const MlirValue *results = row_passes_call(l->s, b, l->pass->body, &point);
  row_passes_store(l->s, b, l->pass, results, &point);
}

// --- passes

static void visit_range(column_loops *l, ir_builder *b, int64_t first, int64_t last, int64_t step) {
  if (first == last) return;
  ir_builder inner;
  MlirValue lower = ir_index(b, first), upper = ir_index(b, last);
  MlirOperation loop = open_loop(l, b, lower, upper, step, &inner);
  l->reduced[l->depth++] = mlirBlockGetArgument(ir_body(loop, 0), 0);
  for_columns(l, &inner, visit_column, step);
  l->depth--;
  close_loop(l, &inner, loop);
}

static int next_reduced(const reduction_space *space, int group) {
  while (group < space->group_count && !space->is_reduced[group]) group++;
  return group;
}

// Loops over the reduced groups from `group` on; as deep as an array has dims.
static void visit_groups(column_loops *l, ir_builder *b, int group) {
  const reduction_space *space = space_of(l);
  int64_t size = space->sizes[group];
  int next = next_reduced(space, group + 1);
  if (next == space->group_count) {
    int64_t step = l->pass->elements_at_once, end = size - size % step;
    visit_range(l, b, 0, end, step);
    visit_range(l, b, end, size, 1);
    return;
  }
  ir_builder inner;
  MlirValue lower = ir_index(b, 0), upper = ir_index(b, size);
  MlirOperation loop = open_loop(l, b, lower, upper, 1, &inner);
  l->reduced[l->depth++] = mlirBlockGetArgument(ir_body(loop, 0), 0);
  visit_groups(l, &inner, next);
  l->depth--;
  close_loop(l, &inner, loop);
}

// The tensors that loops of the pass write.
static void choose_tensors(column_loops *l) {
  row_pass_emitter *s = l->s;
  arena *a = s->entry->kernel->arena;
  bool *written = arena_array(a, bool, s->tensor_count);
  row_passes_written(s, l->pass, written);
  for (int i = 0; i < l->pass->reductions.size; i++) {
    const row_reduction *r = &l->pass->reductions.data[i];
    for (int v = 0; v < r->count; v++) written[s->tensor_of[r->first_carried + v]] = true;
  }
  l->tensors = arena_array(a, int, s->tensor_count);
  for (int t = 0; t < s->tensor_count; t++)
    if (written[t]) l->tensors[l->tensor_count++] = t;
}

static void emit_pass(const column_loops *columns, ir_builder *b, const row_pass *pass) {
  if (pass->body < 0) return;
  column_loops l = *columns;
  l.pass = pass;
  l.reduced = arena_array(b->arena, MlirValue, space_of(&l)->group_count);
  choose_tensors(&l);
  if (pass == &l.s->plan->passes.row_results) {
    for_columns(&l, b, end_column, 0);
    return;
  }
  if (pass->reductions.size > 0) for_columns(&l, b, start_column, 0);
  visit_groups(&l, b, next_reduced(space_of(&l), 0));
}

// --- tiles

static MlirValue mapped(ir_builder *b, int count, const int64_t *sizes, const affine_expr *e, const MlirValue *dims) {
  indexing_map *m = indexing_map_create(b->arena, count, 0, 0, 1, 0);
  for (int d = 0; d < count; d++) m->dims[d].bounds = (interval){0, sizes[d] - 1};
  m->results[0] = e;
  return ir_apply_indexing(b, indexing_map_simplify(b->arena, m), dims, NULL).data[0];
}

// Indices of the kept dims but the innermost, from their number.
static ir_values major_indices(ir_builder *b, const reduction_space *space, MlirValue number) {
  int64_t sizes[SHAPE_MAX_RANK], count = 1;
  int rank = 0;
  for (int g = 0; g < space->group_count - 1; g++) {
    if (space->is_reduced[g]) continue;
    sizes[rank++] = space->sizes[g];
    count *= space->sizes[g];
  }
  indexing_map *m = indexing_map_create(b->arena, 1, 0, 0, rank, 0);
  m->dims[0].bounds = (interval){0, count - 1};
  affine_delinearize(b->arena, rank, sizes, affine_dim(b->arena, 0), m->results);
  return ir_apply_indexing(b, indexing_map_simplify(b->arena, m), &number, NULL);
}

// The tile's columns, and the number of its first index of the other kept dims.
static MlirValue place_tile(column_loops *l, ir_builder *b, MlirValue tile, MlirValue in_tile) {
  const hero_reduction *plan = l->s->plan;
  const reduction_space *space = space_of(l);
  int64_t columns = space->sizes[space->group_count - 1], tiles = l->s->entry->kernel->plan->launch.tiles;
  arena *a = b->arena;
  if (plan->column_blocks == 1) {
    l->first_column = ir_index(b, 0);
    l->column_count = ir_index(b, columns);
    const affine_expr *first = affine_mul_constant(a, affine_dim(a, 0), plan->tile);
    return mapped(b, 2, (int64_t[]){tiles, plan->tile}, affine_add(a, first, affine_dim(a, 1)),
                  (MlirValue[]){tile, in_tile});
  }
  const affine_expr *block = affine_mod(a, affine_dim(a, 0), plan->column_blocks);
  l->first_column = mapped(b, 1, &tiles, affine_mul_constant(a, block, plan->columns), &tile);
  l->column_count = ir_index(b, plan->columns);
  if (columns % plan->columns != 0) {
    MlirValue left = ir_binary(b, "arith.subi", ir_index(b, columns), l->first_column);
    l->column_count = ir_binary(b, "arith.minsi", l->column_count, left);
  }
  return mapped(b, 1, &tiles, affine_floordiv(a, affine_dim(a, 0), plan->column_blocks), &tile);
}

heddle_status emit_reduction_columns(kernel_emitter *k, const target_description *target) {
  kernel_entry e;
  TRY(emit_entry_begin(k, target, &e));
  row_pass_emitter s;
  TRY(row_passes_begin(&s, &e, &k->plan->details.reduction));
  const row_passes *passes = &s.plan->passes;
  const int64_t others = passes->space.kept / passes->space.sizes[passes->space.group_count - 1];
  column_loops l = {.s = &s};
  MlirValue tile = e.ids.data[0], lower = ir_index(&e.b, 0);
  MlirValue upper = row_passes_in_tile(&e.b, others, s.plan->tile, tile);
  MlirValue step = ir_index(&e.b, 1);
  MlirOperation loop = ir_for(&e.b, lower, upper, step, s.tensor_count, s.tensors);
  MlirBlock body = ir_body(loop, 0);
  ir_builder b = ir_builder_at_end(k->context, body, k->arena);
  for (int t = 0; t < s.tensor_count; t++) s.tensors[t] = mlirBlockGetArgument(body, t + 1);
  MlirValue number = place_tile(&l, &b, tile, mlirBlockGetArgument(body, 0));
  l.major = major_indices(&b, &passes->space, number).data;
  for (int n = 0; n < passes->pass_count; n++) emit_pass(&l, &b, &passes->passes[n]);
  emit_pass(&l, &b, &passes->row_results);
  ir_yield(&b, s.tensor_count, s.tensors);
  for (int o = 0; o < k->plan->output_count; o++) e.outputs[o] = ir_result(loop, o);
  emit_entry_end(&e);
  return status_ok();
}
