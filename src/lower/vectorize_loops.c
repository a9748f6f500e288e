// xla-cpu-vectorize-loops: the loop over a tile's elements -> a loop over explicit vectors plus a scalar remainder.
//
// Why ours and not LLVM's: LLVM's loop vectorizer runs late, on code where index arithmetic is already expanded, emits
// three versions of each loop behind run-time checks, gives up on calls and conversions (bf16), and costs most of the
// compile time. Here the indexing maps are still symbolic: substituting i = W * q + lane and simplifying with ranges
// says exactly which access is contiguous, which is the same for all lanes, and which needs single loads. With explicit
// vectors the LLVM pipeline needs no loop passes at all.
//
// The vector is two native registers wide for the widest element the body computes on, which hides latency without
// spilling. What is left over takes narrower vectors, then single lanes. Bodies with an operation that has no vector
// form stay scalar, and the reason is logged.
#include "base/log.h"
#include "dialect/xla_gpu.h"
#include "index/affine.h"
#include "lower/passes.h"
#include "lower/vectorize_body.h"
#include "lower/vectorize_reductions.h"

// Beyond this many single-element loads per vector iteration the scalar loop is smaller and no slower.
enum { SEPARATE_LOADS_LIMIT = 512 };

// Narrower vectors are not worth a loop, nor are copies of a body of more operations.
enum { LEAST_LANES = 4, SMALL_BODY = 300 };

// Where indices are divided by a constant up to MOST_PERIOD, a vector is a whole multiple of it, so that all lanes have
// the same quotient; it has MOST_PERIODIC_LANES at most.
enum { MOST_PERIOD = 16, MOST_PERIODIC_LANES = 64 };

// Vectors of this size come with registers for conditions (AVX-512).
enum { MASK_REGISTER_BITS = 512 };

// Bits of the widest number the body handles; index values live in scalars or are converted and do not count.
static int widest_element(arena *a, MlirOperation loop) {
  int widest = 8;
  ir_operations ops = ir_collect(a, loop, NULL);
  for (int i = 0; i < ops.size; i++) {
    for (int r = 0; r < (int)mlirOperationGetNumResults(ops.data[i]); r++) {
      MlirType t = ir_result_type(ops.data[i], r);
      if (!mlirTypeIsAInteger(t) && !mlirTypeIsAFloat(t)) continue;
      int bits = ir_bit_width(t);
      if (bits > widest) widest = bits;
    }
  }
  return widest;
}

// Whether a value of the loop's body may differ between iterations; `known` holds operations whose results do.
static bool varies(const ptr_map *known, MlirOperation loop, MlirValue v) {
  if (!mlirValueIsABlockArgument(v)) return ptr_map_has(known, ir_defining_op(v).ptr);
  MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  bool is_inner_variable = ir_is(parent, "scf.for") && mlirBlockArgumentGetArgNumber(v) == 0;
  return mlirOperationEqual(parent, loop) || !(is_inner_variable || ir_is(parent, "func.func"));
}

// Conditions that are combined with each other. Without mask registers a vector of conditions has the lanes of what was
// compared, and one that spans two registers is packed into a narrower type for every such operation. Conditions that
// are the same for all iterations (the row of a window) stay scalar.
static bool combines_conditions(arena *a, MlirOperation loop) {
  ptr_map known = {0};
  ir_operations ops = ir_collect(a, loop, NULL);
  for (int i = 0; i < ops.size; i++) {
    MlirOperation op = ops.data[i];
    bool differs = mlirOperationGetNumRegions(op) > 0;
    for (int k = 0; k < (int)mlirOperationGetNumOperands(op) && !differs; k++)
      differs = varies(&known, loop, ir_operand(op, k));
    if (!differs || mlirOperationGetNumResults(op) == 0) continue;
    ptr_map_put(a, &known, op.ptr, loop.ptr);
    MlirType t = ir_result_type(op, 0);
    bool combines = ir_is(op, "arith.andi") || ir_is(op, "arith.ori") || ir_is(op, "arith.xori");
    if (combines && mlirTypeIsAInteger(t) && ir_bit_width(t) == 1) return true;
  }
  return false;
}

// Lanes of a vector that the loop's body computes on.
static int lanes_of(arena *a, MlirOperation loop, int vector_bits) {
  int registers = vector_bits < MASK_REGISTER_BITS && combines_conditions(a, loop) ? 1 : 2;
  return registers * vector_bits / widest_element(a, loop);
}

static bool has_tensor_results_only(MlirOperation loop) {
  for (int i = 0; i < (int)mlirOperationGetNumResults(loop); i++)
    if (!mlirTypeIsATensor(ir_result_type(loop, i))) return false;
  return mlirOperationGetNumResults(loop) > 0;
}

// MLIR folds a vector that is read from one whole tensor and written over another into the tensor it was read from.
// Kernels return what they were given to write into, so such a copy must not become one read and one write.
static bool fills_a_tensor(MlirOperation loop, int width) {
  for (int i = 0; i < (int)mlirOperationGetNumResults(loop); i++) {
    MlirType t = ir_result_type(loop, i);
    if (mlirShapedTypeGetRank(t) == 1 && mlirShapedTypeGetDimSize(t, 0) == width) return true;
  }
  return false;
}

// Loops over elements: from 0 by 1, carrying only the result tensors, and no such loop within.
static bool is_element_loop(arena *a, MlirOperation loop) {
  int64_t lower, step;
  if (!ir_constant_value(ir_operand(loop, 0), &lower) || lower != 0) return false;
  if (!ir_constant_value(ir_operand(loop, 2), &step) || step != 1 || !has_tensor_results_only(loop)) return false;
  ir_operations inner = ir_collect(a, loop, "scf.for");
  for (int i = 0; i < inner.size; i++)
    if (!mlirOperationEqual(inner.data[i], loop) && has_tensor_results_only(inner.data[i])) return false;
  return true;
}

static MlirOperation module_of(MlirOperation op) {
  while (!ir_is(op, "builtin.module")) op = mlirOperationGetParentOperation(op);
  return op;
}

// Tells code generation to run LLVM's own loop passes.
static void leave_scalar(MlirOperation module, const char *why) {
  ir_set(module, "xla.scalar_loops", mlirUnitAttrGet(mlirOperationGetContext(module)));
  log_print(1, "xla-cpu-vectorize-loops: loop left scalar: %s", why);
}

// The vector loop from the loop's lower bound, a multiple of the width, to `upper`; or a null operation with the reason
// logged.
static MlirOperation build_vector_loop(arena *a, MlirOperation loop, MlirValue upper, int width) {
  ir_builder b = ir_builder_before(loop, a);
  int init_count = (int)mlirOperationGetNumResults(loop);
  MlirValue *inits = arena_array(a, MlirValue, init_count);
  for (int i = 0; i < init_count; i++) inits[i] = ir_operand(loop, 3 + i);
  MlirOperation result = ir_for(&b, ir_operand(loop, 0), upper, ir_index(&b, width), init_count, inits);
  MlirBlock old_body = ir_body(loop, 0), new_body = ir_body(result, 0);

  vectorizer v = {.arena = a, .width = width, .old_iv = mlirBlockGetArgument(old_body, 0)};
  vectorizer_bind(&v, v.old_iv, LANE_CONTIGUOUS, mlirBlockGetArgument(new_body, 0));
  for (int i = 0; i < init_count; i++)
    vectorizer_bind(&v, mlirBlockGetArgument(old_body, i + 1), LANE_UNIFORM, mlirBlockGetArgument(new_body, i + 1));
  ir_builder inner = ir_builder_at_end(b.context, new_body, a);
  if (vectorizer_block(&v, &inner, old_body)) {
    MlirOperation yield = ir_terminator(old_body);
    MlirValue *yielded = arena_array(a, MlirValue, init_count);
    for (int i = 0; i < init_count; i++) yielded[i] = vectorizer_lookup(&v, ir_operand(yield, i))->value;
    ir_yield(&inner, init_count, yielded);
  }
  if (!v.refusal && v.separate_loads > SEPARATE_LOADS_LIMIT) v.refusal = "too many single-element loads";
  if (!v.refusal) return result;
  leave_scalar(module_of(loop), v.refusal);
  ir_yield(&inner, init_count, inits);  // a block needs its terminator even to be erased
  ir_erase(result);
  return (MlirOperation){NULL};
}

// Takes the trips up to `upper` off the loop; false if they stay scalar.
static bool take_vectors(arena *a, MlirOperation loop, MlirValue upper, int width) {
  if (fills_a_tensor(loop, width)) return false;
  MlirOperation vector_loop = build_vector_loop(a, loop, upper, width);
  if (ir_is_null(vector_loop)) return false;
  mlirOperationSetOperand(loop, 0, upper);
  for (int i = 0; i < (int)mlirOperationGetNumResults(loop); i++)
    mlirOperationSetOperand(loop, 3 + i, ir_result(vector_loop, i));
  return true;
}

static bool is_small(arena *a, MlirOperation loop) { return ir_collect(a, loop, NULL).size <= SMALL_BODY; }

// What is left of whole vectors goes into narrower ones, then lane by lane: a row of 57 elements is 48 + 8 + 1.
static void vectorize_trips(arena *a, MlirOperation loop, int64_t trips, int width) {
  const bool is_power_of_two = (width & (width - 1)) == 0;
  int narrowest = is_small(a, loop) && is_power_of_two ? width / 4 : width;
  if (narrowest < LEAST_LANES) narrowest = width < LEAST_LANES ? width : LEAST_LANES;
  int64_t done = 0;
  for (int w = width; w >= narrowest; w /= 2) {
    int64_t end = trips - trips % w;
    if (end == done) continue;
    ir_builder b = ir_builder_before(loop, a);
    if (!take_vectors(a, loop, ir_index(&b, end), w)) return;
    done = end;
  }
  if (done < trips) return;
  int count = (int)mlirOperationGetNumResults(loop);
  MlirValue *results = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) results[i] = ir_operand(loop, 3 + i);
  ir_replace(loop, results);
}

// Divisions: what is divided once more changes with other groups than those of the elements.
static void note_coarse(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index, (void)lhs, (void)rhs;
  *(bool *)context |= e->kind == AFFINE_FLOORDIV;
}

// Whether an index, computed on its own, is the same for several elements in a row.
static bool is_coarse_index(MlirValue v) {
  const MlirOperation op = ir_defining_op(v);
  bool is_coarse = false;
  if (ir_is_null(op) || !ir_is(op, "xla_gpu.apply_indexing")) return false;
  const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
  affine_walk(m->results, m->result_count, note_coarse, &is_coarse);
  return is_coarse;
}

// The last divisor of a division or remainder that is small and no power of two, of what is not the same anyway for
// several lanes in a row.
static void note_period(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index, (void)lhs, (void)rhs;
  int64_t by;
  bool is_coarse = false;
  if ((e->kind != AFFINE_FLOORDIV && e->kind != AFFINE_MOD) || !affine_is_constant(e->rhs, &by) || by <= 2 ||
      by > MOST_PERIOD || (by & (by - 1)) == 0)
    return;
  affine_walk(&e->lhs, 1, note_coarse, &is_coarse);
  if (!is_coarse) *(int64_t *)context = by;
}

// Lanes of vectors that hold whole periods of the indices (one register would do for lanes that share nothing): which
// element of a group a lane stands for is known then, and what depends on that alone is the same in every iteration.
static int whole_periods(arena *a, MlirOperation loop, int width) {
  ir_operations ops = ir_collect(a, loop, "xla_gpu.apply_indexing");
  for (int i = 0; i < ops.size; i++) {
    const indexing_map *m = xla_gpu_indexing_map(ir_get(ops.data[i], "map"));
    int64_t period = 1;
    bool is_coarse = false;
    for (int k = 0; k < (int)mlirOperationGetNumOperands(ops.data[i]); k++)
      is_coarse |= is_coarse_index(ir_operand(ops.data[i], k));
    if (is_coarse) continue;
    affine_walk(m->results, m->result_count, note_period, &period);
    const int64_t odd = period / (period & -period), lanes = odd * width / 2;
    if (period > 1) return lanes % period == 0 && lanes <= MOST_PERIODIC_LANES ? (int)lanes : width;
  }
  return width;
}

static void vectorize_loop(arena *a, MlirOperation loop, int vector_bits) {
  int width = lanes_of(a, loop, vector_bits);
  if (width < 2) return;
  if (is_small(a, loop)) width = whole_periods(a, loop, width);
  MlirValue upper = ir_operand(loop, 1);
  int64_t trips;
  if (ir_constant_value(upper, &trips)) {
    vectorize_trips(a, loop, trips, width);
    return;
  }
  ir_builder b = ir_builder_before(loop, a);
  MlirValue rest = ir_binary(&b, "arith.remsi", upper, ir_index(&b, width));
  take_vectors(a, loop, ir_binary(&b, "arith.subi", upper, rest), width);
}

static bool is_marked(MlirOperation loop) { return !mlirAttributeIsNull(ir_get(loop, VECTORIZE_REDUCTIONS)); }

// Itself or one inside.
static bool contains_marked(arena *a, MlirOperation loop) {
  ir_operations loops = ir_collect(a, loop, "scf.for");
  for (int i = 0; i < loops.size; i++)
    if (is_marked(loops.data[i])) return true;
  return false;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  if (c->options->target.vector_bits == 0) return status_ok();
  arena *a = c->scratch;
  ir_operations loops = ir_collect(a, module, "scf.for");
  ir_operations element_loops = {0};  // chosen first: vectorizing makes new loops
  for (int i = 0; i < loops.size; i++)
    if (is_element_loop(a, loops.data[i]) && !contains_marked(a, loops.data[i]))
      vec_push(a, &element_loops, loops.data[i]);
  for (int i = 0; i < loops.size; i++) {
    if (!is_marked(loops.data[i])) continue;
    int lanes = lanes_of(a, loops.data[i], c->options->target.vector_bits);
    int registers = lanes * widest_element(a, loops.data[i]) / c->options->target.vector_bits;
    const char *refusal = vectorize_reductions(a, module, loops.data[i], lanes, registers);
    if (refusal) leave_scalar(module, refusal);
  }
  // What is left of them is scalar, and the reducers that they name are not needed any more.
  ir_operations left = ir_collect(a, module, "scf.for");
  for (int i = 0; i < left.size; i++)
    if (is_marked(left.data[i])) ir_unset(left.data[i], VECTORIZE_REDUCTIONS);
  for (int i = 0; i < element_loops.size; i++) vectorize_loop(a, element_loops.data[i], c->options->target.vector_bits);
  return status_ok();
}

const pass lower_vectorize_loops = {
    .name = "xla-cpu-vectorize-loops",
    .summary = "loop over a tile's elements -> loop over explicit vectors and a scalar remainder",
    .place = "behind the widening of floats, as it counts the bits of what is computed, and behind canonicalize",
    .use = PASS_IMPROVES,
    .run = run,
};
