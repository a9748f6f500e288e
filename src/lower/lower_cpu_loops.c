// xla-cpu-lower-loops: xla_gpu.loop over one range variable -> scf.for whose upper bound carries the constraint.
//
// Why: on a GPU the check "is this element inside the array" is a predicate per thread; the general lowering therefore
// puts an scf.if in the loop body. On the CPU one call walks a tile of consecutive elements, and all elements of a tile
// but the last are inside. Folded into the bound, `tile * 4096 + i <= N - 1` costs one minimum per tile, the body stays
// a straight line, and the vectorizer can take it. An scf.if in the body would have to be turned into masks.
//
// Taken: loops with one range variable i that starts at 0, each of whose constraints is `g(dims) + i in [lo, hi]` with
// the lower end always met. Everything else is left to xla-gpu-lower-xla-gpu-loops-to-scf.
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

// i <= hi - rest, for a constraint that reads rest + i in [lo, hi]. False if it does not have this form.
static bool constraint_rest(arena *a, const indexing_map *m, const indexing_constraint *c, const affine_expr **rest) {
  interval dims[64], symbols[64];
  if (m->dim_count > 64 || m->range_count + m->rt_count > 64) return false;
  for (int i = 0; i < m->dim_count; i++) dims[i] = m->dims[i].bounds;
  for (int i = 0; i < m->range_count; i++) symbols[i] = m->ranges[i].bounds;
  for (int i = 0; i < m->rt_count; i++) symbols[m->range_count + i] = m->rts[i].bounds;
  const affine_expr *e = affine_simplify(a, affine_sub(a, c->expr, affine_symbol(a, 0)), dims, symbols);
  if (affine_uses_symbol(e, 0)) return false;
  if (affine_range(e, dims, symbols).lower < c->bounds.lower) return false;
  *rest = e;
  return true;
}

static bool is_foldable(arena *a, const indexing_map *m, const affine_expr **rests) {
  if (m->is_empty || m->range_count != 1 || m->ranges[0].bounds.lower != 0) return false;
  for (int i = 0; i < m->constraint_count; i++)
    if (!constraint_rest(a, m, &m->constraints[i], &rests[i])) return false;
  return true;
}

// The least of the range's own size and what each constraint leaves.
static MlirValue upper_bound(ir_builder *b, const indexing_map *m, const affine_expr *const *rests,
                             const MlirValue *dims, const MlirValue *symbols) {
  MlirValue bound = ir_index(b, m->ranges[0].bounds.upper + 1);
  for (int i = 0; i < m->constraint_count; i++) {
    MlirValue rest = ir_affine(b, rests[i], dims, symbols);
    MlirValue room = ir_binary(b, "arith.subi", ir_index(b, m->constraints[i].bounds.upper + 1), rest);
    bound = ir_binary(b, "arith.minsi", bound, room);
  }
  return bound;
}

static void lower_loop(arena *a, MlirOperation loop, const indexing_map *m, const affine_expr *const *rests) {
  ir_builder b = ir_builder_before(loop, a);
  int init_count = (int)mlirOperationGetNumResults(loop);
  MlirValue *dims = arena_array(a, MlirValue, m->dim_count);
  MlirValue *inits = arena_array(a, MlirValue, init_count);
  for (int i = 0; i < m->dim_count; i++) dims[i] = ir_operand(loop, i);
  for (int i = 0; i < init_count; i++) inits[i] = ir_operand(loop, m->dim_count + i);

  MlirValue upper = upper_bound(&b, m, rests, dims, NULL);
  MlirValue lower = ir_index(&b, 0), step = ir_index(&b, 1);
  MlirOperation result = ir_for(&b, lower, upper, step, init_count, inits);
  MlirBlock body = ir_body(result, 0);
  ir_builder inner = ir_builder_at_end(b.context, body, a);
  MlirValue iv = mlirBlockGetArgument(body, 0);
  indexing_map *free_of_constraints = indexing_map_copy(a, m);
  free_of_constraints->constraint_count = 0;
  ir_values indices = ir_apply_indexing(&inner, free_of_constraints, dims, &iv);

  // The loop's block takes (range variables, map results, iter args).
  VEC(MlirValue) arguments = {0};
  vec_push(a, &arguments, iv);
  for (int i = 0; i < indices.size; i++) vec_push(a, &arguments, indices.data[i]);
  for (int i = 0; i < init_count; i++) vec_push(a, &arguments, mlirBlockGetArgument(body, i + 1));
  ir_yield(&inner, 0, NULL);
  MlirOperation anchor = ir_terminator(body);
  ir_values yielded = ir_inline_block(a, ir_body(loop, 0), anchor, arguments.data);
  ir_erase(anchor);
  inner = ir_builder_at_end(b.context, body, a);
  ir_yield(&inner, yielded.size, yielded.data);

  MlirValue *results = arena_array(a, MlirValue, init_count);
  for (int i = 0; i < init_count; i++) results[i] = ir_result(result, i);
  ir_replace(loop, results);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations loops = ir_collect(c->scratch, module, "xla_gpu.loop");
  for (int i = 0; i < loops.size; i++) {
    const indexing_map *m = xla_gpu_indexing_map(ir_get(loops.data[i], "map"));
    const affine_expr **rests = arena_array(c->scratch, const affine_expr *, m->constraint_count);
    if (is_foldable(c->scratch, m, rests)) lower_loop(c->scratch, loops.data[i], m, rests);
  }
  return status_ok();
}

const pass lower_cpu_loops = {
    .name = "xla-cpu-lower-loops",
    .summary = "xla_gpu.loop over one range variable -> scf.for with the constraint in its bound",
    .order_reason = "before all other loops become scf: what stays is lowered with a check inside",
    .use = PASS_IMPROVES,
    .run = run,
};
