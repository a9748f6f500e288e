// xla-gpu-optimize-loops: unrolls scf.for by a factor that fits the cost of its body.
//
// Why here and not in LLVM: unrolling turns positions in vectors into constants, so that vectors stay in registers, and
// LLVM's cost model does not know that math functions are long. The factor is max_unrolled_cost of the target / cost of
// one iteration, where math operations are dear and an operation on vectors counts per element, and no more than there
// are registers for what all copies read; it must divide the trip count. Of loops that stay as they are here LLVM
// learns the same way how often to unroll them, with the trips left over in a loop of their own
// (target/llvm_metadata.h).
//
// A loop with calls or further loops inside is left alone: its body's cost is not its size. So is one whose body alone
// is large: registers run out before unrolling pays. But a loop over the elements of a vector is unrolled whatever it
// costs: a vector whose position is a variable has no registers, it lies in memory that is as far as any other. How
// many elements a thread takes was decided with the size of the code in mind (kernel/launch.h).
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "lower/passes.h"

enum { REGISTER_BITS = 32 };

static int64_t elements_of(MlirType type) { return ir_is_vector(type) ? ir_element_count(type) : 1; }

static int cost_of(const target_code_limits *limits, MlirOperation op) {
  static const char *const free_ops[] = {"arith.constant", "scf.yield", "vector.extract", "vector.insert"};
  static const char *const cheap_math[] = {"math.absf", "math.fma",       "math.copysign", "math.floor",
                                           "math.ceil", "math.roundeven", "math.trunc",    "math.absi"};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  str view = {name.data, name.length};
  for (size_t i = 0; i < sizeof free_ops / sizeof *free_ops; i++) {
    if (str_is(view, free_ops[i])) return 0;
  }
  int cost = str_starts_with(view, "math.") ? limits->unrolled_math_cost : 1;
  for (size_t i = 0; i < sizeof cheap_math / sizeof *cheap_math; i++) {
    if (str_is(view, cheap_math[i])) cost = 1;
  }
  if (mlirOperationGetNumResults(op) != 1) return cost;
  const int64_t elements = elements_of(ir_result_type(op, 0));
  return elements > limits->max_unrolled_cost ? limits->max_unrolled_cost : cost * (int)elements;
}

typedef struct estimate {
  const target_code_limits *limits;
  MlirOperation loop;
  int cost;
  int read_bits;  // that an iteration reads, which copies of it keep at the same time
  bool is_leaf;   // no loops and no calls inside
} estimate;

static int read_bits(MlirOperation op) {
  if (!ir_is(op, "tensor.extract") && !ir_is(op, "vector.transfer_read")) return 0;
  const MlirType type = ir_result_type(op, 0), element = ir_element_type(type);
  const int bits = mlirTypeIsAComplex(element) ? 2 * ir_bit_width(mlirComplexTypeGetElementType(element))
                   : mlirTypeIsAIndex(element) ? 64
                                               : ir_bit_width(element);
  return (int)elements_of(type) * bits;
}

static MlirWalkResult add_cost(MlirOperation op, void *argument) {
  estimate *e = argument;
  if (mlirOperationEqual(op, e->loop)) return MlirWalkResultAdvance;
  if (ir_is(op, "scf.for") || ir_is(op, "scf.while") || ir_is(op, "xla_gpu.pure_call") || ir_is(op, "func.call")) {
    e->is_leaf = false;
    return MlirWalkResultInterrupt;
  }
  e->cost += cost_of(e->limits, op);
  e->read_bits += read_bits(op);
  return e->cost > e->limits->max_unrolled_cost ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

// Whether the loop's variable is a position in a vector.
static bool walks_vector(arena *a, MlirOperation loop) {
  static const char *const accesses[] = {"vector.extract", "vector.insert"};
  MlirValue iv = mlirBlockGetArgument(ir_body(loop, 0), 0);
  for (size_t k = 0; k < sizeof accesses / sizeof *accesses; k++) {
    ir_operations found = ir_collect(a, loop, accesses[k]);
    for (int i = 0; i < found.size; i++)
      for (int n = 0; n < (int)mlirOperationGetNumOperands(found.data[i]); n++)
        if (mlirValueEqual(ir_operand(found.data[i], n), iv)) return true;
  }
  return false;
}

// 1 = leave the loop as it is.
static int64_t unroll_factor(const lower_context *c, MlirOperation loop, int64_t trips) {
  if (trips < 2) return trips;
  if (trips <= c->options->target.code.max_access_lanes && walks_vector(c->scratch, loop)) return trips;
  const int budget = c->options->target.code.max_unrolled_cost;
  estimate e = {.limits = &c->options->target.code, .loop = loop, .is_leaf = true};
  mlirOperationWalk(loop, add_cost, &e, MlirWalkPreOrder);
  if (!e.is_leaf || e.cost > budget) return 1;
  int64_t factor = budget / (e.cost > 0 ? e.cost : 1);
  const int registers = c->options->target.grid.max_live_registers;
  if (e.read_bits > 0 && factor > registers * REGISTER_BITS / e.read_bits)
    factor = registers * REGISTER_BITS / e.read_bits;
  if (trips <= factor && trips <= c->options->target.code.max_whole_trips) return trips;
  if (c->options->target.max_unroll > 0 && factor > c->options->target.max_unroll)
    factor = c->options->target.max_unroll;
  if (factor > trips) factor = trips;
  while (factor > 1 && trips % factor != 0) factor--;
  return factor < 1 ? 1 : factor;
}

static void unroll_partly(arena *a, MlirOperation loop, int64_t factor) {
  MlirOperation *copies = arena_array(a, MlirOperation, factor);
  for (int64_t i = 1; i < factor; i++) copies[i] = mlirOperationClone(loop);
  MlirOperation yield = ir_terminator(ir_body(loop, 0));
  ir_values carried = {0};
  for (int i = 0; i < (int)mlirOperationGetNumOperands(yield); i++) {
    MlirValue value = ir_operand(yield, i);
    vec_push(a, &carried, value);
  }
  ir_builder b = ir_builder_before(yield, a);
  MlirValue iv = mlirBlockGetArgument(ir_body(loop, 0), 0);
  for (int64_t i = 1; i < factor; i++) {
    MlirValue moved = ir_binary(&b, "arith.addi", iv, ir_index(&b, i));
    carried = ir_inline_copy(a, copies[i], yield, moved, carried);
  }
  mlirOperationSetOperands(yield, carried.size, carried.data);
  ir_builder before = ir_builder_before(loop, a);
  mlirOperationSetOperand(loop, 2, ir_index(&before, factor));
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations loops = ir_collect(c->scratch, module, "scf.for");
  for (int i = 0; i < loops.size; i++) {
    MlirOperation loop = loops.data[i];
    int64_t lower = 0, trips = 0, step = 0;
    bool is_known = ir_constant_value(ir_operand(loop, 0), &lower) && ir_constant_value(ir_operand(loop, 1), &trips) &&
                    ir_constant_value(ir_operand(loop, 2), &step);
    if (!is_known || lower != 0 || step != 1 || trips < 1) continue;
    int64_t factor = unroll_factor(c, loop, trips);
    if (factor == trips) {
      ir_unroll(c->scratch, loop, 0, trips);
    } else if (factor > 1) {
      unroll_partly(c->scratch, loop, factor);
    }
  }
  return status_ok();
}

const pass lower_optimize_loops = {
    .name = "xla-gpu-optimize-loops",
    .summary = "unrolls loops by the estimated cost of their bodies",
    .order_reason = "behind the vectorizer of loads and stores, whose loops it unrolls",
    .use = PASS_IMPROVES,
    .run = run,
};
