#include "lower/uniform_values.h"

#include "base/str.h"
#include "emit/ir_builder.h"

enum { MAX_DEPTH = 64 };

static bool is_uniform(MlirValue v, int depth);

static bool are_uniform(MlirOperation op, int first, int count, int depth) {
  for (int i = first; i < first + count; i++)
    if (!is_uniform(ir_operand(op, i), depth + 1)) return false;
  return true;
}

static bool is_uniform(MlirValue v, int depth) {
  if (depth > MAX_DEPTH) return false;
  if (mlirValueIsABlockArgument(v)) {
    const MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
    return ir_is(owner, "scf.for") && mlirBlockArgumentGetArgNumber(v) == 0 && are_uniform(owner, 0, 3, depth);
  }
  const MlirOperation op = ir_defining_op(v);
  const MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const str text = {name.data, name.length};
  if (ir_is(op, "gpu.block_id") || ir_is(op, "arith.constant")) return true;
  if (!str_starts_with(text, "arith.") && !ir_is(op, "xla_gpu.apply_indexing")) return false;
  return are_uniform(op, 0, (int)mlirOperationGetNumOperands(op), depth);
}

bool uniform_values_is(MlirValue v) { return is_uniform(v, 0); }

static bool is_divergent(MlirOperation op) {
  if (ir_is(op, "scf.while")) return true;
  if (ir_is(op, "scf.for")) return !are_uniform(op, 0, 3, 0);
  return (ir_is(op, "scf.if") || ir_is(op, "scf.index_switch")) && !is_uniform(ir_operand(op, 0), 0);
}

MlirOperation uniform_values_divergence(MlirOperation op) {
  MlirOperation at = mlirOperationGetParentOperation(op);
  while (!ir_is_null(at) && !is_divergent(at)) at = mlirOperationGetParentOperation(at);
  return at;
}
