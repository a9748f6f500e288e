// MLIR's own passes under their own names.
#include "emit/ir_builder.h"
#include "lower/passes.h"

// MLIR 19 takes a bitcast of a bitcast for the first one's operand, whatever type that has: f16 -> i16 -> bf16 would
// become the f16. One bitcast from the first type to the last says the same and is safe.
static void join_bitcasts(lower_context *c, MlirOperation module) {
  ir_operations casts = ir_collect(c->scratch, module, "arith.bitcast");
  for (int i = 0; i < casts.size; i++) {
    MlirOperation inner = ir_defining_op(ir_operand(casts.data[i], 0));
    while (!mlirOperationIsNull(inner) && ir_is(inner, "arith.bitcast")) {
      mlirOperationSetOperand(casts.data[i], 0, ir_operand(inner, 0));
      inner = ir_defining_op(ir_operand(casts.data[i], 0));
    }
    MlirValue source = ir_operand(casts.data[i], 0);
    if (mlirTypeEqual(mlirValueGetType(source), ir_result_type(casts.data[i], 0))) ir_replace(casts.data[i], &source);
  }
}

static heddle_status canonicalize(lower_context *c, MlirOperation module) {
  join_bitcasts(c, module);
  lower_session_canonicalize(c->session, module);
  return status_ok();
}

const lower_pass lower_canonicalize = {"canonicalize", "folds and canonicalizes operations, to a fixpoint",
                                       canonicalize, 0};
const lower_pass lower_licm = {"loop-invariant-code-motion", "hoists what does not change out of loops", 0,
                               "loop-invariant-code-motion"};
const lower_pass lower_symbol_dce = {"symbol-dce", "erases private functions nobody names", 0, "symbol-dce"};
// The name the emitters' tests know it by: MLIR's symbol-dce already follows calls from the public functions.
const lower_pass lower_erase_dead_functions = {"xla-erase-dead-functions", "erases functions the entry does not reach",
                                               0, "symbol-dce"};
const lower_pass lower_affine = {"lower-affine", "affine.apply and friends to arith", 0, "lower-affine"};
const lower_pass lower_complex_to_standard = {"convert-complex-to-standard", "complex arithmetic to pairs of floats", 0,
                                              "func.func(convert-complex-to-standard)"};
const lower_pass lower_scf_to_cf = {"convert-scf-to-cf", "structured control flow to branches", 0, "convert-scf-to-cf"};
const lower_pass lower_reconcile_casts = {"reconcile-unrealized-casts", "erases casts that cancel out", 0,
                                          "reconcile-unrealized-casts"};
