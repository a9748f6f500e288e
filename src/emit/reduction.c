// Rows: what is reduced lies innermost.
//
//   for each row of the tile:
//     for each pass:
//       loops over the reduced dims, carrying scalar accumulators: body, combine, store
//     what is computed of the row's results
//
// The innermost loop says in `xla.reductions` how each value it carries is combined, so that the vectorizer may give
// every lane an accumulator of its own (lower/vectorize_reductions.c). Entries are, by carried value: the combining
// operation, the reducer's symbol for the first of several values and "index", "value" or "more" for the others, "" for
// tensors.
#include "emit/reduction.h"

#include "emit/reduction_columns.h"
#include "emit/row_passes.h"

// One pass being emitted: what its loops carry is the accumulators, then the tensors it writes.
typedef struct pass_loops {
  row_pass_emitter *s;
  const row_pass *pass;
  const index_vector *kept;  // the row
  int accumulator_count;
  int carried_count;
  int *tensors;        // which tensor a carried value is, by position behind the accumulators
  int depth;           // reduced groups entered so far
  MlirValue *reduced;  // their indices
} pass_loops;

static const reduction_space *space_of(const pass_loops *l) { return &l->s->plan->passes.space; }

// --- points

// The row's indices and the loops', in the order of the groups; in_row counts the elements of the row.
static row_point point_of(const pass_loops *l, ir_builder *b) {
  const reduction_space *space = space_of(l);
  MlirValue *at = arena_array(b->arena, MlirValue, space->group_count);
  indexing_map *m = indexing_map_create(b->arena, l->depth, 0, 0, 1, 0);
  const affine_expr *in_row = NULL;
  for (int g = 0, kept = 0, reduced = 0; g < space->group_count; g++) {
    if (!space->is_reduced[g]) {
      at[g] = l->kept->values[kept++];
      continue;
    }
    m->dims[reduced].bounds = (interval){0, space->sizes[g] - 1};
    const affine_expr *here = affine_dim(b->arena, reduced);
    if (in_row) here = affine_add(b->arena, affine_mul_constant(b->arena, in_row, space->sizes[g]), here);
    in_row = here;
    at[g] = l->reduced[reduced++];
  }
  m->results[0] = in_row;
  row_point p = {.at = {.count = space->group_count, .values = at}, .is_element = true};
  p.in_row = ir_apply_indexing(b, m, l->reduced, NULL).data[0];
  return p;
}

// --- the innermost loop's mark

static bool has_order(const row_pass *pass) {
  for (int i = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    const reducer_form form = r->how.form;
    if (form == REDUCER_ORDERED || form == REDUCER_CHUNKS || (form == REDUCER_BINARY && !row_passes_combiner(r, 0)))
      return true;
  }
  return false;
}

static MlirAttribute text_attribute(MlirContext c, const char *s) {
  return mlirStringAttrGet(c, mlirStringRefCreateFromCString(s));
}

static void mark_reductions(const pass_loops *l, MlirOperation loop) {
  if (has_order(l->pass)) return;
  kernel_emitter *k = l->s->entry->kernel;
  MlirAttribute *marks = arena_array(k->arena, MlirAttribute, l->carried_count);
  for (int c = 0; c < l->carried_count; c++) marks[c] = text_attribute(k->context, "");
  int next = 0;
  for (int i = 0; i < l->pass->reductions.size; i++) {
    const row_reduction *r = &l->pass->reductions.data[i];
    for (int v = 0; v < r->count; v++, next++) {
      const char *combiner = row_passes_combiner(r, v);
      if (combiner) marks[next] = text_attribute(k->context, combiner);
      if (combiner) continue;
      if (v > 0) {
        const char *order = r->how.form == REDUCER_FREE ? "more" : r->how.index_value == 1 ? "index" : "value";
        marks[next] = text_attribute(k->context, order);
        continue;
      }
      const char *symbol = partition_entry(k->partition, r->reduce->called[0])->name;
      marks[next] = mlirFlatSymbolRefAttrGet(k->context, mlirStringRefCreateFromCString(symbol));
    }
  }
  ir_set(loop, "xla.reductions", mlirArrayAttrGet(k->context, l->carried_count, marks));
}

// --- loops

static void take_tensors(const pass_loops *l, const MlirValue *carried) {
  for (int c = l->accumulator_count; c < l->carried_count; c++)
    l->s->tensors[l->tensors[c - l->accumulator_count]] = carried[c];
}

static void leave_tensors(const pass_loops *l, MlirValue *carried) {
  for (int c = l->accumulator_count; c < l->carried_count; c++)
    carried[c] = l->s->tensors[l->tensors[c - l->accumulator_count]];
}

static void emit_element(pass_loops *l, ir_builder *b, const MlirValue *carried, MlirValue *next) {
  row_point point = point_of(l, b);
  take_tensors(l, carried);
  const MlirValue *results = row_passes_call(l->s, b, l->pass->body, &point);
  row_passes_store(l->s, b, l->pass, results, &point);
  int done = 0;
  for (int i = 0; i < l->pass->reductions.size; i++) {
    const row_reduction *r = &l->pass->reductions.data[i];
    row_passes_combine(l->s, b, r, carried + done, results + r->first_result, next + done);
    done += r->count;
  }
  leave_tensors(l, next);
}

// Lanes begin with what a loop begins with, which for reducers that must not see a partial result twice is the initial
// value. What came before such a loop meets its results behind it.
static void start_again(const pass_loops *l, MlirValue *begin) {
  for (int i = 0, done = 0; i < l->pass->reductions.size; done += l->pass->reductions.data[i++].count) {
    const row_reduction *r = &l->pass->reductions.data[i];
    for (int v = 0; v < r->count && r->how.form == REDUCER_FREE; v++) begin[done + v] = l->s->inits[r->first_init + v];
  }
}

static void meet(const pass_loops *l, ir_builder *b, const MlirValue *before, MlirValue *results) {
  for (int i = 0, done = 0; i < l->pass->reductions.size; done += l->pass->reductions.data[i++].count) {
    const row_reduction *r = &l->pass->reductions.data[i];
    if (r->how.form == REDUCER_FREE) row_passes_combine(l->s, b, r, before + done, results + done, results + done);
  }
}

// Loops over the reduced groups from `depth` on; as deep as an array has dims.
static void emit_loops(pass_loops *l, ir_builder *b, int group, const MlirValue *inits, MlirValue *out) {
  const reduction_space *space = space_of(l);
  while (group < space->group_count && !space->is_reduced[group]) group++;
  if (group == space->group_count) {
    emit_element(l, b, inits, out);
    return;
  }
  MlirValue lower = ir_index(b, 0), upper = ir_index(b, space->sizes[group]), step = ir_index(b, 1);
  const bool is_innermost = group == space->group_count - 1, starts_again = is_innermost && l->depth > 0;
  MlirValue *begin = arena_array(b->arena, MlirValue, l->carried_count);
  for (int c = 0; c < l->carried_count; c++) begin[c] = inits[c];
  if (starts_again) start_again(l, begin);
  MlirOperation loop = ir_for(b, lower, upper, step, l->carried_count, begin);
  MlirBlock body = ir_body(loop, 0);
  ir_builder inner = ir_builder_at_end(b->context, body, b->arena);
  MlirValue *carried = arena_array(b->arena, MlirValue, l->carried_count);
  MlirValue *next = arena_array(b->arena, MlirValue, l->carried_count);
  for (int c = 0; c < l->carried_count; c++) carried[c] = mlirBlockGetArgument(body, c + 1);
  l->reduced[l->depth++] = mlirBlockGetArgument(body, 0);
  emit_loops(l, &inner, group + 1, carried, next);
  l->depth--;
  ir_yield(&inner, l->carried_count, next);
  if (is_innermost) mark_reductions(l, loop);
  for (int c = 0; c < l->carried_count; c++) out[c] = ir_result(loop, c);
  if (starts_again) meet(l, b, inits, out);
}

static void emit_pass(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const index_vector *row) {
  if (pass->body < 0) return;
  arena *a = b->arena;
  bool *written = arena_array(a, bool, s->tensor_count);
  row_passes_written(s, pass, written);
  pass_loops l = {.s = s, .pass = pass, .kept = row, .tensors = arena_array(a, int, s->tensor_count)};
  for (int i = 0; i < pass->reductions.size; i++) l.accumulator_count += pass->reductions.data[i].count;
  l.carried_count = l.accumulator_count;
  for (int t = 0; t < s->tensor_count; t++)
    if (written[t]) l.tensors[l.carried_count++ - l.accumulator_count] = t;
  l.reduced = arena_array(a, MlirValue, s->plan->passes.space.group_count);
  MlirValue *inits = arena_array(a, MlirValue, l.carried_count), *out = arena_array(a, MlirValue, l.carried_count);
  for (int i = 0, next = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count; v++) inits[next++] = row_passes_to_accumulator(b, r, v, s->inits[r->first_init + v]);
  }
  leave_tensors(&l, inits);
  emit_loops(&l, b, 0, inits, out);
  take_tensors(&l, out);
  for (int i = 0, next = 0; i < pass->reductions.size; i++) {
    const row_reduction *r = &pass->reductions.data[i];
    for (int v = 0; v < r->count; v++)
      s->carried[r->first_carried + v] = row_passes_from_accumulator(b, r, v, out[next++]);
  }
}

// --- rows

static void emit_row(row_pass_emitter *s, ir_builder *b, MlirValue row) {
  const row_passes *passes = &s->plan->passes;
  const shape *kept = reduction_space_kept_shape(b->arena, &passes->space, DTYPE_PRED);
  const shape *flat = shape_array(b->arena, DTYPE_PRED, 1, &passes->space.kept);
  ir_values at = ir_apply_indexing(b, hlo_indexing_reshape(b->arena, flat, kept), &row, NULL);
  row_point point = {.at = {.count = at.size, .values = at.data}};
  for (int n = 0; n < passes->pass_count; n++) emit_pass(s, b, &passes->passes[n], &point.at);
  if (passes->row_results.body < 0) return;
  const MlirValue *results = row_passes_call(s, b, passes->row_results.body, &point);
  row_passes_store(s, b, &passes->row_results, results, &point);
}

static MlirValue row_number(ir_builder *b, const hero_reduction *plan, int64_t tiles, MlirValue tile,
                            MlirValue in_tile) {
  indexing_map *m = indexing_map_create(b->arena, 2, 0, 0, 1, 0);
  m->dims[0].bounds = (interval){0, tiles - 1};
  m->dims[1].bounds = (interval){0, plan->tile - 1};
  const affine_expr *first = affine_mul_constant(b->arena, affine_dim(b->arena, 0), plan->tile);
  m->results[0] = affine_add(b->arena, first, affine_dim(b->arena, 1));
  return ir_apply_indexing(b, m, (MlirValue[]){tile, in_tile}, NULL).data[0];
}

heddle_status emit_reduction_entry(kernel_emitter *k, const target_description *target) {
  const hero_reduction *plan = &k->plan->details.reduction;
  if (plan->is_column) return emit_reduction_columns(k, target);
  kernel_entry e;
  TRY(emit_entry_begin(k, target, &e));
  row_pass_emitter s;
  TRY(row_passes_begin(&s, &e, plan));
  MlirValue tile = e.ids.data[0], lower = ir_index(&e.b, 0);
  MlirValue upper = row_passes_in_tile(&e.b, plan->passes.space.kept, plan->tile, tile);
  MlirValue step = ir_index(&e.b, 1);
  MlirOperation loop = ir_for(&e.b, lower, upper, step, s.tensor_count, s.tensors);
  MlirBlock body = ir_body(loop, 0);
  ir_builder b = ir_builder_at_end(k->context, body, k->arena);
  for (int t = 0; t < s.tensor_count; t++) s.tensors[t] = mlirBlockGetArgument(body, t + 1);
  emit_row(&s, &b, row_number(&b, plan, k->plan->launch.tiles, tile, mlirBlockGetArgument(body, 0)));
  ir_yield(&b, s.tensor_count, s.tensors);
  for (int o = 0; o < k->plan->output_count; o++) e.outputs[o] = ir_result(loop, o);
  emit_entry_end(&e);
  return status_ok();
}
