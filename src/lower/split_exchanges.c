// xla-vulkan-split-exchanges: exchanges between threads get out of branches that only some threads take.
//
// A warp exchanges values within its own branch on a machine whose warps run in lock step. Where they go through memory
// of the block, with barriers, all threads have to come by: the branch ends before the exchange and goes on behind it.
//
//   if (c) { a; shuffle; b }    →    if (c) { a }; shuffle; if (c) { b }
//
// What `b` and the exchange need of `a` are results of the first half. A thread that does not take the branch exchanges
// zeros, which nobody asks for.
#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "lower/uniform_values.h"

typedef struct split {
  arena *arena;
  MlirOperation branch;
  int region;           // that has the exchange
  MlirBlock block;      // its block
  MlirOperation at;     // the first exchange in it
  ptr_map before;       // operations in front of that
  ir_operations moved;  // the same, in order
  ir_values crossing;   // results of theirs that others use
} split;

// --- what crosses

static bool is_used_behind(const split *s, MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!ptr_map_has(&s->before, ir_in_block(mlirOpOperandGetOwner(use), s->block).ptr)) return true;
  return false;
}

static void find_crossing(split *s) {
  for (int i = 0; i < s->moved.size; i++)
    for (intptr_t r = 0; r < mlirOperationGetNumResults(s->moved.data[i]); r++)
      if (is_used_behind(s, ir_result(s->moved.data[i], (int)r)))
        vec_push(s->arena, &s->crossing, ir_result(s->moved.data[i], (int)r));
}

// --- what threads have that do not take the branch

static MlirValue zero_of(ir_builder *b, MlirType type) {
  const MlirType element = ir_element_type(type);
  if (mlirTypeIsAIndex(type)) return ir_index(b, 0);
  if (mlirTypeIsAComplex(type)) {
    const MlirValue part = zero_of(b, mlirComplexTypeGetElementType(type));
    return ir_value(b, "complex.create", type, 2, (MlirValue[]){part, part});
  }
  return mlirTypeIsAFloat(element) ? ir_float(b, type, 0) : ir_int(b, type, 0);
}

// Of a tensor that the branch writes to: what it was before.
static MlirValue written_over(const split *s, MlirValue tensor) {
  while (!mlirValueIsABlockArgument(tensor) && !ir_is_null(ir_in_block(ir_defining_op(tensor), s->block))) {
    const MlirOperation op = ir_defining_op(tensor);
    const int number = (int)mlirOpResultGetResultNumber(tensor);
    if (ir_is(op, "tensor.insert")) tensor = ir_operand(op, 1);
    else if (ir_is(op, "xla_gpu.atomic_rmw")) tensor = ir_operand(op, 0);
    else if (ir_is(op, "scf.for")) tensor = ir_operand(op, number + 3);
    else if (ir_is(op, "scf.if")) tensor = ir_operand(ir_terminator(ir_body(op, 1)), number);
    else return (MlirValue){NULL};
  }
  return tensor;
}

static heddle_status yield_defaults(const split *s, ir_builder *b) {
  MlirValue *values = arena_array(s->arena, MlirValue, s->crossing.size);
  for (int i = 0; i < s->crossing.size; i++) {
    const MlirType type = mlirValueGetType(s->crossing.data[i]);
    values[i] = mlirTypeIsARankedTensor(type) ? written_over(s, s->crossing.data[i]) : zero_of(b, type);
    if (!values[i].ptr) return status_error(HEDDLE_UNIMPLEMENTED, "a branch with an exchange that makes a tensor");
  }
  ir_yield(b, s->crossing.size, values);
  return status_ok();
}

// --- the split

static void replace_behind(MlirOperation half, MlirValue from, MlirValue to) {
  MlirOpOperand use = mlirValueGetFirstUse(from);
  while (!mlirOpOperandIsNull(use)) {
    const MlirOpOperand next = mlirOpOperandGetNextUse(use);
    const MlirOperation owner = mlirOpOperandGetOwner(use);
    if (!ir_is_within(owner, half)) mlirOperationSetOperand(owner, mlirOpOperandGetOperandNumber(use), to);
    use = next;
  }
}

static heddle_status split_branch(split *s) {
  ir_builder b = ir_builder_before(s->branch, s->arena);
  MlirType *types = arena_array(s->arena, MlirType, s->crossing.size);
  for (int i = 0; i < s->crossing.size; i++) types[i] = mlirValueGetType(s->crossing.data[i]);
  const MlirOperation half = ir_if(&b, ir_operand(s->branch, 0), s->crossing.size, types);
  ir_builder other = ir_builder_at_end(b.context, ir_body(half, 1 - s->region), s->arena);
  TRY(yield_defaults(s, &other));
  ir_builder taken = ir_builder_at_end(b.context, ir_body(half, s->region), s->arena);
  ir_yield(&taken, s->crossing.size, s->crossing.data);
  const MlirOperation end = ir_terminator(taken.block);
  for (int i = 0; i < s->moved.size; i++) mlirOperationMoveBefore(s->moved.data[i], end);
  mlirOperationMoveBefore(s->at, s->branch);
  for (int i = 0; i < s->crossing.size; i++) replace_behind(half, s->crossing.data[i], ir_result(half, i));
  return status_ok();
}

// Constants are everyone's.
static void hoist_constants(MlirBlock block, MlirOperation branch) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !ir_is_null(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (ir_is(op, "arith.constant")) mlirOperationMoveBefore(op, branch);
  }
}

// False if the exchange is in no branch, or in a loop within one.
static bool find_split(arena *a, MlirOperation exchange, split *out) {
  const MlirOperation branch = uniform_values_divergence(exchange);
  const MlirBlock block = mlirOperationGetBlock(exchange);
  if (ir_is_null(branch) || !ir_is(branch, "scf.if")) return false;
  if (!mlirOperationEqual(mlirOperationGetParentOperation(exchange), branch)) return false;
  *out = (split){.arena = a, .branch = branch, .block = block};
  out->region = mlirBlockEqual(block, ir_body(branch, 0)) ? 0 : 1;
  hoist_constants(block, branch);
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (; !ir_is(op, "gpu.shuffle"); op = mlirOperationGetNextInBlock(op)) {
    ptr_map_put(a, &out->before, op.ptr, op.ptr);
    vec_push(a, &out->moved, op);
  }
  out->at = op;
  find_crossing(out);
  return true;
}

// An exchange in a branch in a branch gets out of one after the other.
static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations exchanges = ir_collect(c->scratch, module, "gpu.shuffle");
  for (int i = 0; i < exchanges.size; i++) {
    split s;
    while (find_split(c->scratch, exchanges.data[i], &s)) TRY(split_branch(&s));
  }
  return status_ok();
}

const pass lower_split_exchanges = {
    .name = "xla-vulkan-split-exchanges",
    .summary = "branches around exchanges between threads -> branches before and behind them",
    .order_reason = "once checks have become branches, and before branches are moved around loops",
    .use = PASS_NEEDED,
    .run = run,
};
