// iree-codegen-lower-to-loops: what is left of linalg becomes scalar loops, accesses of several rows become accesses of
// one, and indices of memory become arithmetic; behind it stand scf, vector and memref alone.
#include "emit/ir_builder.h"
#include "tile/passes.h"
#include "tile/schedule.h"

static const char rows[] =
    "%f = transform.structured.match ops{[\"func.func\"]} in %module : (!transform.any_op) -> !transform.any_op\n"
    "transform.apply_patterns to %f { transform.apply_patterns.vector.cast_away_vector_leading_one_dim } "
    ": !transform.any_op\n"
    "transform.apply_patterns to %f {\n"
    "  transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1\n"
    "  transform.apply_patterns.vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true\n"
    "  transform.apply_patterns.vector.lower_shape_cast\n"
    "  transform.apply_patterns.vector.lower_create_mask\n"
    "} : !transform.any_op\n";

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(lower_upstream(context, unit, "func.func(convert-linalg-to-loops)"));
  TRY(schedule_run(c, (MlirOperation){unit}, str_from(rows)));
  return lower_upstream(
      context, unit,
      "canonicalize,cse,expand-strided-metadata,lower-affine,canonicalize,cse,loop-invariant-code-motion");
}

const pass tile_to_loops = {
    .name = "iree-codegen-lower-to-loops",
    .summary = "the rest of linalg to loops, rows of vectors to vectors, indices to arithmetic",
    .order_reason = "behind the last pass that looks at structured operations",
    .use = PASS_NEEDED,
    .run = run,
};

static bool is_number(MlirType t) {
  MlirType element = ir_element_type(t);
  return mlirTypeIsAInteger(element) || mlirTypeIsAFloat(element);
}

// Where narrow floats became integers of their bits, memory still has floats.
static void cast_bits(lower_context *c, MlirOperation module) {
  ir_operations casts = ir_collect(c->scratch, module, "builtin.unrealized_conversion_cast");
  for (int k = 0; k < casts.size; k++) {
    MlirOperation cast = casts.data[k];
    if (mlirOperationGetNumOperands(cast) != 1 || !is_number(mlirValueGetType(ir_operand(cast, 0))) ||
        !is_number(ir_result_type(cast, 0)))
      continue;
    ir_builder b = ir_builder_before(cast, c->scratch);
    MlirValue bits = ir_cast(&b, "llvm.bitcast", ir_result_type(cast, 0), ir_operand(cast, 0));
    ir_replace(cast, &bits);
  }
}

static heddle_status to_llvm(pass_context *context, void *unit) {
  TRY(lower_upstream(context, unit, "finalize-memref-to-llvm,reconcile-unrealized-casts"));
  cast_bits(lower_context_of(context), (MlirOperation){unit});
  return status_ok();
}

const pass tile_memory_to_llvm = {
    .name = "finalize-memref-to-llvm",
    .summary = "memory to pointers of the LLVM dialect",
    .order_reason = "right before what is left becomes LLVM",
    .use = PASS_NEEDED,
    .run = to_llvm,
};
