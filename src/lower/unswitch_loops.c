// xla-gpu-unswitch-loops: a loop whose whole body is one branch on a condition that never changes becomes a branch
// around the loop.
//
// Why: the check of a loop's domain stands in its body. Where it does not depend on the loop (a thread beyond the end
// has nothing to do in any iteration) hoisting has moved the condition out, but the accesses still stand under the
// scf.if, and nothing under a condition can become a vector access before the loop. LLVM would unswitch too, long after
// vectorization.
#include "emit/ir_builder.h"
#include "lower/passes.h"

// The scf.if that is all of the loop's body and gives all its results; null operation if there is no such thing.
static MlirOperation only_branch(MlirOperation loop) {
  MlirOperation none = {0};
  MlirBlock body = ir_body(loop, 0);
  MlirOperation branch = mlirBlockGetFirstOperation(body), yield = ir_terminator(body);
  if (!ir_is(branch, "scf.if") || !mlirOperationEqual(mlirOperationGetNextInBlock(branch), yield)) return none;
  if (mlirBlockIsNull(ir_body(branch, 1))) return none;
  int count = (int)mlirOperationGetNumResults(loop);
  if (count == 0 || mlirOperationGetNumResults(branch) != count) return none;
  for (int i = 0; i < count; i++) {
    if (!mlirValueEqual(ir_operand(yield, i), ir_result(branch, i))) return none;
  }
  MlirValue condition = ir_operand(branch, 0);
  MlirBlock where = mlirValueIsABlockArgument(condition) ? mlirBlockArgumentGetOwner(condition)
                                                         : mlirOperationGetBlock(ir_defining_op(condition));
  return mlirBlockEqual(where, body) ? none : branch;
}

// True if a block does nothing but yield the loop's iteration arguments in order: then the loop does nothing.
static bool passes_through(MlirBlock block, MlirBlock loop_body) {
  MlirOperation yield = mlirBlockGetFirstOperation(block);
  if (!ir_is(yield, "scf.yield")) return false;
  for (int i = 0; i < (int)mlirOperationGetNumOperands(yield); i++) {
    if (!mlirValueEqual(ir_operand(yield, i), mlirBlockGetArgument(loop_body, i + 1))) return false;
  }
  return true;
}

// Makes `block` of the new branch: a copy of the loop with only one side of the old branch in it, or just the inits.
static void fill_side(arena *a, MlirOperation loop, MlirBlock block, int side) {
  ir_builder b = ir_builder_at_end(mlirOperationGetContext(loop), block, a);
  int count = (int)mlirOperationGetNumResults(loop);
  MlirValue *values = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) values[i] = ir_operand(loop, i + 3);
  if (passes_through(ir_body(only_branch(loop), side), ir_body(loop, 0))) {
    ir_yield(&b, count, values);
    return;
  }
  MlirOperation copy = mlirOperationClone(loop);
  mlirBlockAppendOwnedOperation(block, copy);
  MlirOperation branch = mlirBlockGetFirstOperation(ir_body(copy, 0)), yield = ir_terminator(ir_body(copy, 0));
  ir_values yielded = ir_inline_block(a, ir_body(branch, side), branch, 0);
  mlirOperationSetOperands(yield, yielded.size, yielded.data);
  ir_erase(branch);
  for (int i = 0; i < count; i++) values[i] = ir_result(copy, i);
  ir_yield(&b, count, values);
}

static void unswitch(arena *a, MlirOperation loop, MlirOperation branch) {
  ir_builder b = ir_builder_before(loop, a);
  int count = (int)mlirOperationGetNumResults(loop);
  MlirType *types = arena_array(a, MlirType, count);
  MlirValue *results = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) types[i] = ir_result_type(loop, i);
  MlirOperation outer = ir_if(&b, ir_operand(branch, 0), count, types);
  for (int side = 0; side < 2; side++) fill_side(a, loop, ir_body(outer, side), side);
  for (int i = 0; i < count; i++) results[i] = ir_result(outer, i);
  ir_replace(loop, results);
}

// Inner loops first: an unswitched loop is itself one branch, and may be all of the loop around it.
static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations loops = ir_collect(c->scratch, module, "scf.for");
  for (int i = 0; i < loops.size; i++) {
    MlirOperation branch = only_branch(loops.data[i]);
    if (ir_is_null(branch)) continue;
    MlirBlock body = ir_body(loops.data[i], 0);
    // One side must be empty, or the code would double with every level.
    if (passes_through(ir_body(branch, 0), body) || passes_through(ir_body(branch, 1), body))
      unswitch(c->scratch, loops.data[i], branch);
  }
  return status_ok();
}

const pass lower_unswitch_loops = {
    .name = "xla-gpu-unswitch-loops",
    .summary = "a loop that is one branch on an unchanging condition -> a branch around the loop",
    .order_reason = "behind loop-invariant-code-motion, which moves the conditions out of the loops",
    .use = PASS_IMPROVES,
    .run = run,
};
