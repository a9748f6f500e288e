// xla-cpu-vectorize-loops: the loop over a tile's elements -> a loop over explicit vectors plus a scalar remainder.
//
// Why ours and not LLVM's: LLVM's loop vectorizer runs late, on code where index arithmetic is already expanded, emits
// three versions of each loop behind run-time checks, gives up on calls and conversions (bf16), and costs most of the
// compile time. Here the indexing maps are still symbolic: substituting i = W * q + lane and simplifying with ranges
// says exactly which access is contiguous, which is the same for all lanes, and which needs single loads. With explicit
// vectors the LLVM pipeline needs no loop passes at all.
//
// The vector is so many native registers wide (registers_per_vector of the target) for the widest element the body
// computes on. What is left over takes narrower vectors, then single lanes. Bodies with an operation that has no vector
// form stay scalar, and the reason is logged.
#include "base/log.h"
#include "dialect/xla_gpu.h"
#include "index/affine.h"
#include "lower/passes.h"
#include "lower/vectorize_body.h"
#include "lower/vectorize_reductions.h"
#include "lower/vectorize_short.h"

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

static int number_results(MlirOperation op) {
  int count = 0;
  for (int i = 0; i < (int)mlirOperationGetNumResults(op); i++) {
    MlirType t = ir_result_type(op, i);
    count += mlirTypeIsAInteger(t) || mlirTypeIsAFloat(t);
  }
  return count;
}

static bool is_within(MlirOperation op, MlirOperation loop) {
  for (; !ir_is_null(op); op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, loop)) return true;
  return false;
}

// Numbers that a loop within an iteration takes from outside of it, but not from outside of all iterations.
static int captured_numbers(arena *a, MlirOperation loop, MlirOperation inner) {
  ptr_map seen = {0};
  int count = 0;
  ir_operations ops = ir_collect(a, inner, NULL);
  for (int i = 0; i < ops.size; i++) {
    for (int k = 0; k < (int)mlirOperationGetNumOperands(ops.data[i]); k++) {
      MlirValue v = ir_operand(ops.data[i], k);
      MlirType t = mlirValueGetType(v);
      MlirOperation by = ir_defining_op(v);
      if (ir_is_null(by) || (!mlirTypeIsAInteger(t) && !mlirTypeIsAFloat(t)) || ptr_map_has(&seen, v.ptr)) continue;
      ptr_map_put(a, &seen, v.ptr, loop.ptr);
      count += !is_within(by, inner) && is_within(by, loop) && !ir_is(by, "arith.constant");
    }
  }
  return count;
}

// As many registers of `most` as hold neighbours. Of rows of 16 elements, say, which lie apart, a vector of 32 would
// load and place each lane on its own, which takes several times as long to run and to compile. An index that has no
// neighbours in one register is as good in many.
static int registers_of_runs(arena *a, MlirOperation loop, int lanes_of_register, int most) {
  const MlirValue iv = mlirBlockGetArgument(ir_body(loop, 0), 0);
  const ir_operations ops = ir_collect(a, loop, "xla_gpu.apply_indexing");
  for (int i = 0; i < ops.size && most > 1; i++) {
    int held = 1;
    if (!vectorizer_has_neighbours(a, ops.data[i], iv, lanes_of_register)) continue;
    while (held < most && vectorizer_has_neighbours(a, ops.data[i], iv, 2 * held * lanes_of_register)) held *= 2;
    most = held;
  }
  return most;
}

// Registers that one value of all lanes takes. A loop within each iteration that carries numbers waits for each of its
// operations in turn: more lanes are more such chains side by side, as long as what they hold fits the registers. Not
// where conditions guard what it reads (a window over padding): it waits for loads, and wide conditions cost more.
// Masks of several registers would be packed into one wherever two of them are combined: indices of the largest of
// eight take half of the time by one register.
static int registers_of(arena *a, const target_description *t, MlirOperation loop, int lanes_of_register) {
  int held = 0, registers = t->code.registers_per_vector;
  int64_t trips;
  // What wide vectors leave over of a bound that is not known would go lane by lane.
  if (!ir_constant_value(ir_operand(loop, 1), &trips)) return registers;
  if (ir_collect(a, loop, "scf.if").size > 0) return registers;
  ir_operations inner = ir_collect(a, loop, "scf.for");
  for (int i = 0; i < inner.size; i++) {
    const int carried = mlirOperationEqual(inner.data[i], loop) ? 0 : number_results(inner.data[i]);
    const int here = carried + captured_numbers(a, loop, inner.data[i]) + t->code.chain_registers;
    if (carried > 0 && here > held) held = here;
  }
  if (held == 0 || ir_collect(a, loop, NULL).size > t->code.max_chain_body) return registers;
  if (combines_conditions(a, loop)) return 1;
  while (2 * registers * held <= t->vector_registers && 2 * registers * (int64_t)lanes_of_register <= trips)
    registers *= 2;
  return registers;
}

// Lanes of a vector that the loop's body computes on; of a loop that is marked as a reduction they decide in which
// order it sums up.
static int lanes_of(arena *a, const target_description *t, MlirOperation loop, bool is_marked) {
  const int lanes = t->vector_bits / widest_element(a, loop);
  const bool is_narrow = t->vector_bits < t->code.mask_register_bits && combines_conditions(a, loop);
  if (is_narrow) return lanes;
  if (is_marked) return lanes * t->code.registers_per_vector;
  return lanes * registers_of_runs(a, loop, lanes, registers_of(a, t, loop, lanes));
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

// The vector loop from the loop's lower bound, a multiple of the width, to `upper`, which is one, too, or, if it takes
// the rest, less than a vector away; a null operation where that has no such form, and why.
static MlirOperation build_vector_loop(arena *a, const target_code_limits *limits, MlirOperation loop, MlirValue upper,
                                       int width, bool takes_rest, const char **refusal) {
  ir_builder b = ir_builder_before(loop, a);
  int init_count = (int)mlirOperationGetNumResults(loop);
  MlirValue *inits = arena_array(a, MlirValue, init_count);
  for (int i = 0; i < init_count; i++) inits[i] = ir_operand(loop, 3 + i);
  MlirOperation result = ir_for(&b, ir_operand(loop, 0), upper, ir_index(&b, width), init_count, inits);
  MlirBlock old_body = ir_body(loop, 0), new_body = ir_body(result, 0);

  vectorizer v = {.arena = a, .limits = limits, .width = width, .old_iv = mlirBlockGetArgument(old_body, 0)};
  vectorizer_bind(&v, v.old_iv, LANE_CONTIGUOUS, mlirBlockGetArgument(new_body, 0));
  for (int i = 0; i < init_count; i++)
    vectorizer_bind(&v, mlirBlockGetArgument(old_body, i + 1), LANE_UNIFORM, mlirBlockGetArgument(new_body, i + 1));
  ir_builder inner = ir_builder_at_end(b.context, new_body, a);
  if (takes_rest) v.mask = v.rest = vectorizer_rest(a, &inner, mlirBlockGetArgument(new_body, 0), upper, width);
  if (vectorizer_block(&v, &inner, old_body)) {
    MlirOperation yield = ir_terminator(old_body);
    MlirValue *yielded = arena_array(a, MlirValue, init_count);
    for (int i = 0; i < init_count; i++) yielded[i] = vectorizer_lookup(&v, ir_operand(yield, i))->value;
    ir_yield(&inner, init_count, yielded);
  }
  if (!v.refusal && v.separate_loads > limits->max_lane_loads) v.refusal = "too many single-element loads";
  *refusal = v.refusal;
  if (!v.refusal) return result;
  ir_yield(&inner, init_count, inits);  // a block needs its terminator even to be erased
  ir_erase(result);
  return (MlirOperation){NULL};
}

// Takes the trips up to `upper` off the loop; false if they stay scalar.
static bool take_vectors(arena *a, const target_code_limits *limits, MlirOperation loop, MlirValue upper, int width) {
  const char *refusal = NULL;
  MlirOperation vector_loop = build_vector_loop(a, limits, loop, upper, width, false, &refusal);
  if (refusal) {
    leave_scalar(module_of(loop), refusal);
    return false;
  }
  mlirOperationSetOperand(loop, 0, upper);
  for (int i = 0; i < (int)mlirOperationGetNumResults(loop); i++)
    mlirOperationSetOperand(loop, 3 + i, ir_result(vector_loop, i));
  return true;
}

static bool is_small(arena *a, const target_code_limits *limits, MlirOperation loop) {
  return ir_collect(a, loop, NULL).size <= limits->max_copied_body;
}

// Takes the few trips that no vector has taken out of their loop, if the body is short.
static void unroll_rest(arena *a, const target_code_limits *limits, MlirOperation loop, int64_t done, int64_t trips) {
  if (trips - done < limits->min_vector_lanes && ir_collect(a, loop, NULL).size <= limits->max_unrolled_rest)
    ir_unroll(a, loop, done, trips);
}

static bool has_inner_loop(arena *a, MlirOperation loop) { return ir_collect(a, loop, "scf.for").size > 1; }

// What is left of whole vectors goes into narrower ones, then lane by lane: a row of 57 elements is 48 + 8 + 1. A row
// that is shorter than a vector is narrow ones altogether; if loops stand within, they run once, for one odd vector.
static void vectorize_trips(arena *a, const target_code_limits *limits, MlirOperation loop, int64_t trips, int width) {
  const int least = limits->min_vector_lanes;
  if (trips > 1 && trips < width && trips <= 2 * least && has_inner_loop(a, loop)) width = (int)trips;
  const bool is_power_of_two = (width & (width - 1)) == 0;
  int narrowest = is_small(a, limits, loop) && is_power_of_two ? width / 4 : width;
  if (narrowest < least || (trips < width && narrowest < width)) narrowest = width < least ? width : least;
  int64_t done = 0;
  for (int w = width; w >= narrowest; w /= 2) {
    int64_t end = trips - trips % w;
    if (end == done || fills_a_tensor(loop, w)) continue;
    ir_builder b = ir_builder_before(loop, a);
    if (!take_vectors(a, limits, loop, ir_index(&b, end), w)) return;
    done = end;
  }
  if (done < trips) {
    unroll_rest(a, limits, loop, done, trips);
    return;
  }
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

typedef struct period_search {
  int64_t most, period;
} period_search;

// The last divisor of a division or remainder that is small and no power of two, of what is not the same anyway for
// several lanes in a row.
static void note_period(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index, (void)lhs, (void)rhs;
  period_search *s = context;
  int64_t by;
  bool is_coarse = false;
  if ((e->kind != AFFINE_FLOORDIV && e->kind != AFFINE_MOD) || !affine_is_constant(e->rhs, &by) || by <= 2 ||
      by > s->most || (by & (by - 1)) == 0)
    return;
  affine_walk(&e->lhs, 1, note_coarse, &is_coarse);
  if (!is_coarse) s->period = by;
}

// Lanes of vectors that hold whole periods of the indices (one register would do for lanes that share nothing): which
// element of a group a lane stands for is known then, and what depends on that alone is the same in every iteration.
static int whole_periods(arena *a, const target_code_limits *limits, MlirOperation loop, int width) {
  ir_operations ops = ir_collect(a, loop, "xla_gpu.apply_indexing");
  for (int i = 0; i < ops.size; i++) {
    const indexing_map *m = xla_gpu_indexing_map(ir_get(ops.data[i], "map"));
    period_search s = {.most = limits->max_period, .period = 1};
    bool is_coarse = false;
    for (int k = 0; k < (int)mlirOperationGetNumOperands(ops.data[i]); k++)
      is_coarse |= is_coarse_index(ir_operand(ops.data[i], k));
    if (is_coarse) continue;
    affine_walk(m->results, m->result_count, note_period, &s);
    const int64_t period = s.period, odd = period / (period & -period);
    int64_t lanes = odd * width / 2;
    while (lanes > limits->max_periodic_lanes && lanes % (2 * period) == 0) lanes /= 2;
    if (period > 1) return lanes % period == 0 && lanes <= limits->max_periodic_lanes ? (int)lanes : width;
  }
  return width;
}

// The trips that are left, fewer than a vector has lanes, as one vector under a mask. False if that has no such form.
static bool take_rest(arena *a, const target_code_limits *limits, MlirOperation loop, MlirValue upper, int width) {
  const char *refusal = NULL;
  MlirOperation rest = build_vector_loop(a, limits, loop, upper, width, true, &refusal);
  if (refusal) return false;
  const int count = (int)mlirOperationGetNumResults(loop);
  MlirValue *results = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) results[i] = ir_result(rest, i);
  ir_replace(loop, results);
  return true;
}

// A number of trips that is only known when the kernel runs: whole vectors, then narrower ones if the body is short. An
// open size may be all that there is, and gets vectors of every width, of one register with a mask the last; what is
// left of a tile is one of many.
static void vectorize_unknown_trips(arena *a, const target_description *t, MlirOperation loop, MlirValue upper,
                                    int width) {
  const target_code_limits *limits = &t->code;
  const bool is_open = vectorize_is_open_size(upper), is_short = is_small(a, limits, loop);
  const int least = is_open || width / 4 < limits->min_vector_lanes ? limits->min_vector_lanes : width / 4;
  const int one_register = vectorize_masks_rests(t) ? t->vector_bits / widest_element(a, loop) : 0;
  for (int w = width; w == width || (is_short && w >= least && width % w == 0); w /= is_open ? 2 : 4) {
    if (fills_a_tensor(loop, w)) continue;
    ir_builder b = ir_builder_before(loop, a);
    MlirValue rest = ir_binary(&b, "arith.remsi", upper, ir_index(&b, w));
    if (!take_vectors(a, limits, loop, ir_binary(&b, "arith.subi", upper, rest), w)) return;
    if (is_open && w == one_register && take_rest(a, limits, loop, upper, w)) return;
  }
}

static void vectorize_loop(arena *a, const target_description *t, MlirOperation loop) {
  const target_code_limits *limits = &t->code;
  int width = lanes_of(a, t, loop, false);
  if (width < 2) return;
  if (is_small(a, limits, loop)) width = whole_periods(a, limits, loop, width);
  MlirValue upper = ir_operand(loop, 1);
  int64_t trips;
  if (ir_constant_value(upper, &trips)) {
    vectorize_trips(a, limits, loop, trips, width);
    return;
  }
  vectorize_unknown_trips(a, t, loop, upper, width);
}

static bool is_marked(MlirOperation loop) { return !mlirAttributeIsNull(ir_get(loop, VECTORIZE_REDUCTIONS)); }

// Itself or one inside.
static bool contains_marked(arena *a, MlirOperation loop) {
  ir_operations loops = ir_collect(a, loop, "scf.for");
  for (int i = 0; i < loops.size; i++)
    if (is_marked(loops.data[i])) return true;
  return false;
}

// Branches for short rows, around loops that stay.
static void take_short_rows(arena *a, const target_description *t, MlirOperation module, const ir_operations *loops,
                            const ptr_map *element_loops) {
  MlirOperation *taken = arena_array(a, MlirOperation, loops->size);
  int *lanes = arena_array(a, int, loops->size), count = 0;
  for (int i = 0; i < loops->size; i++) {
    if (!is_marked(loops->data[i]) && !ptr_map_has(element_loops, loops->data[i].ptr)) continue;
    taken[count] = loops->data[i];
    lanes[count++] = t->vector_bits / widest_element(a, loops->data[i]);
  }
  vectorize_short_rows(a, t, module, (short_loops){count, taken, lanes});
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  const target_description *t = &c->options->target;
  if (t->vector_bits == 0) return status_ok();
  arena *a = c->scratch;
  ir_operations loops = ir_collect(a, module, "scf.for");
  ir_operations element_loops = {0};  // chosen first: vectorizing makes new loops
  ptr_map are_element_loops = {0};
  for (int i = 0; i < loops.size; i++) {
    if (!is_element_loop(a, loops.data[i]) || contains_marked(a, loops.data[i])) continue;
    vec_push(a, &element_loops, loops.data[i]);
    ptr_map_put(a, &are_element_loops, loops.data[i].ptr, loops.data[i].ptr);
  }
  take_short_rows(a, t, module, &loops, &are_element_loops);
  for (int i = 0; i < loops.size; i++) {
    if (!is_marked(loops.data[i])) continue;
    int lanes = lanes_of(a, t, loops.data[i], true);
    int registers = lanes * widest_element(a, loops.data[i]) / t->vector_bits;
    const char *refusal = vectorize_reductions(a, t, module, loops.data[i], lanes, registers);
    if (refusal) leave_scalar(module, refusal);
  }
  // What is left of them is scalar, and the reducers that they name are not needed any more.
  ir_operations left = ir_collect(a, module, "scf.for");
  for (int i = 0; i < left.size; i++)
    if (is_marked(left.data[i])) ir_unset(left.data[i], VECTORIZE_REDUCTIONS);
  for (int i = 0; i < element_loops.size; i++) vectorize_loop(a, t, element_loops.data[i]);
  return status_ok();
}

const pass lower_vectorize_loops = {
    .name = "xla-cpu-vectorize-loops",
    .summary = "loop over a tile's elements -> loop over explicit vectors and a scalar remainder",
    .order_reason = "behind the widening of floats, as it counts the bits of what is computed, and behind canonicalize",
    .use = PASS_IMPROVES,
    .run = run,
};
