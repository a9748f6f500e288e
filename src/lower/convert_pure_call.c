// xla-convert-pure-call-ops: pure_call -> func.call.
//
// Why so late: MLIR may merge, hoist and erase pure calls only as long as it knows that they are pure, and func.call
// cannot say so.
#include "emit/ir_builder.h"
#include "lower/passes.h"

static void convert(arena *a, MlirOperation call) {
  ir_builder b = ir_builder_before(call, a);
  int operand_count = (int)mlirOperationGetNumOperands(call), result_count = (int)mlirOperationGetNumResults(call);
  MlirValue *operands = arena_array(a, MlirValue, operand_count);
  MlirValue *results = arena_array(a, MlirValue, result_count);
  MlirType *types = arena_array(a, MlirType, result_count);
  for (int i = 0; i < operand_count; i++) operands[i] = ir_operand(call, i);
  for (int i = 0; i < result_count; i++) types[i] = ir_result_type(call, i);
  MlirNamedAttribute callee = ir_named(b.context, "callee", ir_get(call, "callee"));
  MlirOperation made = ir_build(&b, (ir_op_state){.name = "func.call",
                                                  .operand_count = operand_count,
                                                  .operands = operands,
                                                  .result_count = result_count,
                                                  .results = types,
                                                  .attribute_count = 1,
                                                  .attributes = &callee});
  for (int i = 0; i < result_count; i++) results[i] = ir_result(made, i);
  ir_replace(call, results);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations calls = ir_collect(c->scratch, module, "xla_gpu.pure_call");
  for (int i = 0; i < calls.size; i++) convert(c->scratch, calls.data[i]);
  return status_ok();
}

const pass lower_convert_pure_call = {
    .name = "xla-convert-pure-call-ops",
    .summary = "pure calls -> func.call",
    .order_reason = "as late as possible: until here calls are pure and could be merged, hoisted and erased",
    .use = PASS_NEEDED,
    .run = run,
};
