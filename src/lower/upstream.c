// Runs MLIR's own passes under their own names.
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

static heddle_status canonicalize(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  join_bitcasts(c, module);
  lower_session_canonicalize(c->session, module);
  return status_ok();
}

heddle_status lower_tidy(pass_context *context, void *unit) {
  TRY(canonicalize(context, unit));
  return lower_cse.run(context, unit);
}

static heddle_status licm(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "loop-invariant-code-motion");
}

// MLIR's conversions and its symbol-dce cost a small kernel more than a look at what it consists of.
typedef struct operation_search {
  const char *dialect;  // with the dot behind it
  bool found;
} operation_search;

static MlirWalkResult look(MlirOperation op, void *argument) {
  operation_search *s = argument;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  s->found = str_starts_with((str){name.data, name.length}, s->dialect);
  return s->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool has_operation_of(void *unit, const char *dialect) {
  operation_search s = {.dialect = dialect};
  mlirOperationWalk((MlirOperation){unit}, look, &s, MlirWalkPreOrder);
  return s.found;
}

static bool has_private_symbol(void *unit) {
  bool any = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(ir_body((MlirOperation){unit}, 0)); !ir_is_null(op);
       op = mlirOperationGetNextInBlock(op))
    any |= !mlirAttributeIsNull(ir_get(op, "sym_visibility"));
  return any;
}

static heddle_status symbol_dce(pass_context *context, void *unit) {
  return has_private_symbol(unit) ? lower_upstream(context, unit, "symbol-dce") : status_ok();
}

static heddle_status affine(pass_context *context, void *unit) {
  return has_operation_of(unit, "affine.") ? lower_upstream(context, unit, "lower-affine") : status_ok();
}

static heddle_status complex_to_standard(pass_context *context, void *unit) {
  if (!has_operation_of(unit, "complex.")) return status_ok();
  return lower_upstream(context, unit, "func.func(convert-complex-to-standard)");
}

static heddle_status scf_to_cf(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "convert-scf-to-cf");
}

static heddle_status reconcile_casts(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "reconcile-unrealized-casts");
}

const pass lower_canonicalize = {
    .name = "canonicalize",
    .summary = "folds and canonicalizes operations, to a fixpoint",
    .order_reason = "behind each pass that leaves operations to be folded, and before each that reads composed maps",
    .use = PASS_IMPROVES,
    .run = canonicalize,
};
const pass lower_licm = {
    .name = "loop-invariant-code-motion",
    .summary = "hoists what does not change out of loops",
    .order_reason = "once checks have become plain, once indices are linear, and once they are arithmetic",
    .use = PASS_IMPROVES,
    .run = licm,
};
const pass lower_symbol_dce = {
    .name = "symbol-dce",
    .summary = "erases private functions nobody names",
    .order_reason = "behind the last pass that makes calls go away",
    .use = PASS_IMPROVES,
    .run = symbol_dce,
};
// The name the emitters' tests know it by: MLIR's symbol-dce already follows calls from the public functions.
const pass lower_erase_dead_functions = {
    .name = "xla-erase-dead-functions",
    .summary = "erases functions the entry does not reach",
    .order_reason = "first of all, so that nothing is done to functions that nobody calls",
    .use = PASS_IMPROVES,
    .run = symbol_dce,
};
const pass lower_affine = {
    .name = "lower-affine",
    .summary = "affine.apply and friends to arith",
    .order_reason = "behind xla-gpu-simplify-affine, for what it left",
    .use = PASS_NEEDED,
    .run = affine,
};
const pass lower_complex_to_standard = {
    .name = "convert-complex-to-standard",
    .summary = "complex arithmetic to pairs of floats",
    .order_reason = "once tensors are memory, and before math and narrow floats are expanded",
    .use = PASS_NEEDED,
    .run = complex_to_standard,
};
const pass lower_scf_to_cf = {
    .name = "convert-scf-to-cf",
    .summary = "structured control flow to branches",
    .order_reason = "behind all passes that look at loops",
    .use = PASS_NEEDED,
    .run = scf_to_cf,
};
const pass lower_reconcile_casts = {
    .name = "reconcile-unrealized-casts",
    .summary = "erases casts that cancel out",
    .order_reason = "behind the conversions to the LLVM dialect, which leave them",
    .use = PASS_NEEDED,
    .run = reconcile_casts,
};
