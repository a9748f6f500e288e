// xla-lower-to-llvm: what is left of arith, math, vector, complex, cf and func becomes the LLVM dialect.
//
// MLIR's own conversions do the work. This pass decides three things they cannot know: the width of `index` (64 bits on
// a CPU; 32 on a GPU unless some array needs more, as 64-bit integer arithmetic there costs several instructions each),
// which functions may be dropped or inlined freely (private ones get internal linkage), and what makes a function a
// kernel.
#include "dialect/to_llvm.h"
#include "emit/ir_builder.h"
#include "lower/launch.h"
#include "lower/lower_gpu_ids.h"
#include "lower/passes.h"

#define INDEX_BITS "xla.index_bits"  // on the module, by lower-tensors, when addresses need more than the default

static int index_bits(lower_context *c, MlirOperation module) {
  MlirAttribute recorded = ir_get(module, INDEX_BITS);
  if (!mlirAttributeIsNull(recorded)) return (int)mlirIntegerAttrGetValueInt(recorded);
  return c->options->target.index_bits;
}

// Of a launch only the threads matter to code.
static heddle_status mark_kernel(lower_context *c, MlirOperation function) {
  launch l;
  TRY(launch_of(function, &l));
  const int32_t threads[] = {(int32_t)l.threads[0], (int32_t)l.threads[1], (int32_t)l.threads[2]};
  ir_set(function, "nvvm.kernel", mlirUnitAttrGet(c->context));
  if (l.is_said) ir_set(function, "nvvm.maxntid", mlirDenseI32ArrayGet(c->context, 3, threads));
  return status_ok();
}

static heddle_status mark_functions(lower_context *c, MlirOperation module) {
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int i = 0; i < functions.size; i++) {
    MlirOperation f = functions.data[i];
    MlirAttribute visibility = ir_get(f, "sym_visibility");
    bool is_private = !mlirAttributeIsNull(visibility) && !mlirBlockIsNull(ir_body(f, 0));
    if (is_private) ir_set(f, "llvm.linkage", ir_attribute(c->context, "#llvm.linkage<internal>"));
    else if (c->options->target.has_grid) TRY(mark_kernel(c, f));
  }
  return status_ok();
}

// vector.extract and vector.insert at positions known at run time only, on vectors of rank 1: their conversion would
// make 64-bit positions of what is a 32-bit index everywhere else. The older element operations take any integer.
static void narrow_position(lower_context *c, MlirOperation op, bool is_insert) {
  int count = is_insert ? 3 : 2;
  MlirValue vector = ir_operand(op, is_insert ? 1 : 0);
  if (mlirOperationGetNumOperands(op) != count || mlirShapedTypeGetRank(mlirValueGetType(vector)) != 1) return;
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirType i32 = mlirIntegerTypeGet(c->context, 32);
  int64_t known = 0;
  MlirValue position = ir_operand(op, count - 1);
  position =
      ir_constant_value(position, &known) ? ir_int(&b, i32, known) : ir_cast(&b, "arith.index_cast", i32, position);
  MlirValue operands[] = {ir_operand(op, 0), is_insert ? vector : position, position};
  const char *name = is_insert ? "vector.insertelement" : "vector.extractelement";
  MlirValue result = ir_value(&b, name, ir_result_type(op, 0), count, operands);
  ir_replace(op, &result);
}

static void narrow_positions(lower_context *c, MlirOperation module) {
  for (int is_insert = 0; is_insert < 2; is_insert++) {
    ir_operations ops = ir_collect(c->scratch, module, is_insert ? "vector.insert" : "vector.extract");
    for (int i = 0; i < ops.size; i++) narrow_position(c, ops.data[i], is_insert);
  }
}

// Of arith, operations that only MLIR's arith-expand makes into others.
static bool is_expanded(str name) {
  static const char *const expanded[] = {"arith.ceildivsi", "arith.ceildivui", "arith.floordivsi", "arith.maximumf",
                                         "arith.minimumf",  "arith.maxnumf",   "arith.minnumf"};
  for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++)
    if (str_is(name, expanded[i])) return true;
  return false;
}

static heddle_status convert(lower_context *c, MlirOperation module) {
  bool has_expanded = false, has_vectors = false, has_casts = false;
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(ops.data[i]));
    has_expanded |= is_expanded((str){name.data, name.length});
    has_vectors |= str_starts_with((str){name.data, name.length}, "vector.");
    has_casts |= ir_is(ops.data[i], "builtin.unrealized_conversion_cast");
  }
  const to_llvm *conversion = lower_session_to_llvm(c->session, index_bits(c, module));
  bool succeeded = (!has_vectors || to_llvm_prepare_vectors(conversion, module)) &&
                   (!has_expanded || lower_session_run(c->session, "arith-expand", module)) &&
                   to_llvm_convert(conversion, module) &&
                   (!has_casts || lower_session_run(c->session, "reconcile-unrealized-casts", module));
  TRY(ir_diagnostics(c->context, HEDDLE_INTERNAL, "conversion to LLVM"));
  return succeeded ? status_ok() : status_error(HEDDLE_INTERNAL, "conversion to LLVM failed without saying why");
}

// The conversions leave what they do not know in place; the translation would only say that it met something odd.
static heddle_status check_converted(lower_context *c, MlirOperation module) {
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(ops.data[i]));
    str op = {name.data, name.length};
    if (mlirOperationEqual(ops.data[i], module) || str_starts_with(op, "llvm.") || str_starts_with(op, "nvvm."))
      continue;
    return status_error(HEDDLE_UNIMPLEMENTED, "no lowering to LLVM for %s", ir_operation_text(c->scratch, ops.data[i]));
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  TRY(lower_gpu_ids(c, module));
  TRY(mark_functions(c, module));
  const char *layout =
      arena_printf(c->scratch, "#dlti.dl_spec<#dlti.dl_entry<index, %d : i32>>", index_bits(c, module));
  ir_set(module, "dlti.dl_spec", ir_attribute(c->context, layout));
  narrow_positions(c, module);
  TRY(convert(c, module));
  ir_unset(module, "dlti.dl_spec");
  return check_converted(c, module);
}

const pass lower_to_llvm = {
    .name = "xla-lower-to-llvm",
    .summary = "arith, math, vector, complex, cf and func to the LLVM dialect",
    .order_reason = "behind all others: it takes what is left",
    .use = PASS_NEEDED,
    .run = run,
};
