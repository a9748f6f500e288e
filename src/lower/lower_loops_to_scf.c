// xla-gpu-lower-xla-gpu-loops-to-scf: xla_gpu.loop -> a nest of scf.for with one scf.if on the map's domain inside.
//
// Why: a loop over an indexing map says "at every point of the domain"; what follows wants plain bounds. The range
// variables' own bounds become loop bounds, everything else about the domain (bounds of dims, constraints) a check at
// the innermost level. Checks that ranges prove are left to simplify-arith, as it proves them with more knowledge than
// one map has. Computing tight bounds from the constraints instead would give loops of unknown trip count, which
// neither vectorize nor unroll.
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

typedef struct nest {
  MlirOperation outermost;
  ir_builder inside;  // at the end of the innermost body
  ir_values ivs;
  MlirValue *carried;  // iter args of the innermost loop, or the inits if there is no loop
} nest;

static void block_arguments(MlirBlock block, int first, int count, MlirValue *out) {
  for (int i = 0; i < count; i++) out[i] = mlirBlockGetArgument(block, first + i);
}

// scf.for per range variable, each yielding what the one inside it returns.
static nest build_nest(ir_builder b, const indexing_map *m, int init_count, const MlirValue *inits) {
  nest n = {.inside = b, .carried = arena_array(b.arena, MlirValue, init_count)};
  for (int i = 0; i < init_count; i++) n.carried[i] = inits[i];
  MlirOperation enclosing = {0};
  for (int i = 0; i < m->range_count; i++) {
    interval bounds = m->ranges[i].bounds;
    MlirValue lower = ir_index(&n.inside, bounds.lower), upper = ir_index(&n.inside, bounds.upper + 1);
    MlirOperation loop = ir_for(&n.inside, lower, upper, ir_index(&n.inside, 1), init_count, n.carried);
    if (ir_is_null(enclosing)) {
      n.outermost = loop;
    } else {
      MlirValue *results = arena_array(b.arena, MlirValue, init_count);
      for (int k = 0; k < init_count; k++) results[k] = ir_result(loop, k);
      ir_yield(&n.inside, init_count, results);
    }
    enclosing = loop;
    MlirBlock body = ir_body(loop, 0);
    n.inside = ir_builder_at_end(b.context, body, b.arena);
    n.inside.location = b.location;
    MlirValue iv = mlirBlockGetArgument(body, 0);
    vec_push(b.arena, &n.ivs, iv);
    block_arguments(body, 1, init_count, n.carried);
  }
  return n;
}

// The loop's body at one point: before `yield`, whose operands become what the body yields.
static void inline_body(MlirOperation loop, const indexing_map *m, const nest *n, const MlirValue *dims,
                        MlirOperation yield, int init_count) {
  arena *a = n->inside.arena;
  ir_builder b = ir_builder_before(yield, a);
  ir_values point = ir_apply_indexing(&b, m, dims, n->ivs.data);
  ir_values arguments = {0};
  for (int i = 0; i < n->ivs.size; i++) vec_push(a, &arguments, n->ivs.data[i]);
  for (int i = 0; i < point.size; i++) vec_push(a, &arguments, point.data[i]);
  for (int i = 0; i < init_count; i++) vec_push(a, &arguments, n->carried[i]);
  ir_values yielded = ir_inline_block(a, ir_body(loop, 0), yield, arguments.data);
  mlirOperationSetOperands(yield, yielded.size, yielded.data);
}

static MlirOperation yield_carried(ir_builder *b, const nest *n, int init_count) {
  return ir_build(b, (ir_op_state){.name = "scf.yield", .operand_count = init_count, .operands = n->carried});
}

// The values of one iteration: the body where the domain's conditions hold, else what came in.
static void build_guarded(MlirOperation loop, const indexing_map *m, nest *n, const MlirValue *dims, MlirValue inbounds,
                          int init_count, MlirValue *results) {
  arena *a = n->inside.arena;
  MlirType *types = arena_array(a, MlirType, init_count);
  for (int i = 0; i < init_count; i++) types[i] = mlirValueGetType(n->carried[i]);
  MlirOperation branch = ir_if(&n->inside, inbounds, init_count, types);
  ir_builder then = ir_builder_at_end(n->inside.context, ir_body(branch, 0), a);
  ir_builder otherwise = ir_builder_at_end(n->inside.context, ir_body(branch, 1), a);
  inline_body(loop, m, n, dims, yield_carried(&then, n, init_count), init_count);
  yield_carried(&otherwise, n, init_count);
  for (int i = 0; i < init_count; i++) results[i] = ir_result(branch, i);
}

static void lower_loop(arena *a, MlirOperation loop) {
  const indexing_map *m = xla_gpu_indexing_map(ir_get(loop, "map"));
  int init_count = (int)mlirOperationGetNumResults(loop);
  MlirValue *dims = arena_array(a, MlirValue, m->dim_count);
  MlirValue *results = arena_array(a, MlirValue, init_count);
  for (int i = 0; i < m->dim_count; i++) dims[i] = ir_operand(loop, i);
  for (int i = 0; i < init_count; i++) results[i] = ir_operand(loop, m->dim_count + i);
  if (m->is_empty) {
    ir_replace(loop, results);
    return;
  }
  nest n = build_nest(ir_builder_before(loop, a), m, init_count, results);
  MlirValue inbounds = ir_check_constraints(&n.inside, m, dims, n.ivs.data, true);
  build_guarded(loop, m, &n, dims, inbounds, init_count, results);
  if (!ir_is_null(n.outermost)) {
    ir_yield(&n.inside, init_count, results);
    for (int i = 0; i < init_count; i++) results[i] = ir_result(n.outermost, i);
  }
  ir_replace(loop, results);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations loops = ir_collect(c->scratch, module, "xla_gpu.loop");
  for (int i = 0; i < loops.size; i++) lower_loop(c->scratch, loops.data[i]);
  return status_ok();
}

const pass lower_loops_to_scf = {
    .name = "xla-gpu-lower-xla-gpu-loops-to-scf",
    .summary = "loops over indexing maps -> scf.for with a check of the domain inside",
    .order_reason = "behind the inliner, and on the CPU behind the pass that folds constraints into bounds",
    .use = PASS_NEEDED,
    .run = run,
};
