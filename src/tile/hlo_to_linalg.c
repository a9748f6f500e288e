// iree-codegen-hlo-to-linalg-on-tensors: operations of MHLO in a dispatch region become linalg on tensors.
//
// What the operations mean is known to the reader of StableHLO (src/stablehlo), which takes MHLO's names, too. So the
// region is shown to it as a function from the tensors that the region loads to those that it stores; HLO comes back,
// and linalg is made of that (tile/linalg.h).
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "import/import.h"
#include "opt/pass.h"
#include "opt/passes.h"
#include "tile/linalg.h"
#include "tile/packed_loads.h"
#include "tile/passes.h"

#define LOAD "hal.interface.load.tensor"
#define STORE "hal.interface.store.tensor"

static bool is_mhlo(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length > 5 && memcmp(name.data, "mhlo.", 5) == 0;
}

// The operations of the function's block, in order, that the test takes.
static ir_operations select(arena *a, MlirBlock block, bool (*takes)(MlirOperation)) {
  ir_operations found = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    if (takes(op)) vec_push(a, &found, op);
  return found;
}

static bool is_load(MlirOperation op) { return ir_is(op, LOAD); }
static bool is_store(MlirOperation op) { return ir_is(op, STORE); }

// --- the region as a function

static void erase_unused_indices(arena *a, MlirBlock block) {
  ir_operations all = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    if (ir_is(op, "arith.constant") && mlirOpOperandIsNull(mlirValueGetFirstUse(ir_result(op, 0))))
      vec_push(a, &all, op);
  for (int k = 0; k < all.size; k++) ir_erase(all.data[k]);
}

// Loads become parameters behind the function's own, what is stored is returned behind what is returned anyway.
static void close_region(arena *a, MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirBlock block = ir_body(function, 0);
  ir_operations loads = select(a, block, is_load), stores = select(a, block, is_store);
  for (int k = 0; k < loads.size; k++) {
    MlirValue argument =
        mlirBlockAddArgument(block, ir_result_type(loads.data[k], 0), mlirOperationGetLocation(loads.data[k]));
    ir_replace(loads.data[k], &argument);
  }
  MlirOperation end = ir_terminator(block);
  ir_values results = {0};
  for (int k = 0; k < mlirOperationGetNumOperands(end); k++) vec_push(a, &results, ir_operand(end, k));
  for (int k = 0; k < stores.size; k++) vec_push(a, &results, ir_operand(stores.data[k], 0));
  ir_builder b = ir_builder_before(end, a);
  ir_return(&b, results.size, results.data);
  ir_erase(end);
  for (int k = 0; k < stores.size; k++) ir_erase(stores.data[k]);
  erase_unused_indices(a, block);
  ir_retype_function(a, function);
  ir_set(function, "sym_name", mlirStringAttrGet(context, mlirStringRefCreateFromCString("main")));
  ir_unset(function, "sym_visibility");
  ir_unset(function, "arg_attrs");
  ir_unset(function, "res_attrs");
}

static heddle_status read_region(lower_context *c, MlirOperation function, module **out) {
  MlirOperation copy = mlirOperationClone(function);
  close_region(c->scratch, copy);
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOpPrintingFlagsUseLocalScope(flags);
  text t = {0};
  mlirOperationPrintWithFlags(copy, flags, ir_append, &t);
  mlirOpPrintingFlagsDestroy(flags);
  mlirOperationDestroy(copy);
  heddle_status s = import_module(c->scratch, "dispatch", text_view(&t), NULL, out);
  text_free(&t);
  static const pass *const expanders[] = {&opt_select_and_scatter_expander, &opt_call_inliner, &opt_map_inliner, NULL};
  return status_is_ok(s) ? opt_run(*out, expanders, NULL) : s;
}

// --- linalg in its place

// MLIR's unsigned and signed integers are for MHLO; arithmetic wants signless ones, and predicates are bytes.
static MlirType signless(arena *a, MlirType t) {
  MlirContext context = mlirTypeGetContext(t);
  MlirType element = ir_element_type(t);
  if (!mlirTypeIsARankedTensor(t) || !mlirTypeIsAInteger(element)) return t;
  const unsigned width = mlirIntegerTypeGetWidth(element);
  if (width > 1 && mlirIntegerTypeIsSignless(element)) return t;
  MlirType made = mlirIntegerTypeGet(context, width > 1 ? width : 8);
  return mlirRankedTensorTypeGet(mlirShapedTypeGetRank(t), ir_dims(a, t), made, mlirAttributeGetNull());
}

static void make_value_signless(arena *a, MlirValue v) { mlirValueSetType(v, signless(a, mlirValueGetType(v))); }

static void make_signless(arena *a, MlirOperation function, const ir_operations *loads) {
  MlirBlock block = ir_body(function, 0);
  for (int k = 0; k < mlirBlockGetNumArguments(block); k++) make_value_signless(a, mlirBlockGetArgument(block, k));
  for (int k = 0; k < loads->size; k++) make_value_signless(a, ir_result(loads->data[k], 0));
  ir_retype_function(a, function);
}

static ir_values region_inputs(arena *a, MlirOperation function, const ir_operations *loads) {
  ir_values inputs = {0};
  MlirBlock block = ir_body(function, 0);
  for (int k = 0; k < mlirBlockGetNumArguments(block); k++) vec_push(a, &inputs, mlirBlockGetArgument(block, k));
  for (int k = 0; k < loads->size; k++) vec_push(a, &inputs, ir_result(loads->data[k], 0));
  return inputs;
}

// The load of an array whose elements share bytes loads the bytes.
static MlirValue load_packed(const ir_builder *b, MlirOperation load, const shape *s) {
  ir_builder at = ir_builder_before(load, b->arena), here = *b;
  const MlirNamedAttribute binding = ir_named(b->context, "binding", ir_get(load, "binding"));
  MlirValue offset = ir_operand(load, 0);
  MlirType type = packed_loads_bytes(b->context, s);
  return packed_loads_unpack(&here, ir_value_with(&at, "hal.interface.load.tensor", type, 1, &offset, 1, &binding), s);
}

// What the operations read, once their elements are whole bytes. The region's own arguments have no memory of bytes.
static heddle_status unpack_inputs(const ir_builder *b, const module *m, int argument_count, const ir_operations *loads,
                                   ir_values *inputs) {
  for (int k = 0; k < inputs->size; k++) {
    const instruction *p = m->entry->parameters.data[k];
    if (!packed_loads_shares_bytes(p->shape->dtype)) continue;
    if (k < argument_count || !loads->data)
      return status_at(HEDDLE_UNIMPLEMENTED, p->where, "found an argument of %s in a dispatch region, wanted it loaded",
                       dtype_name(p->shape->dtype));
    inputs->data[k] = load_packed(b, loads->data[k - argument_count], p->shape);
  }
  return status_ok();
}

// Those that loads of bytes replaced; *loads keeps the others.
static void erase_packed_loads(ir_operations *loads) {
  int kept = 0;
  for (int k = 0; k < loads->size; k++) {
    MlirType element = ir_element_type(ir_result_type(loads->data[k], 0));
    const bool is_small =
        mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) > 1 && mlirIntegerTypeGetWidth(element) < 8;
    if (is_small) ir_erase(loads->data[k]);
    else loads->data[kept++] = loads->data[k];
  }
  loads->size = kept;
}

// Loads may stand anywhere; what is made of the operations stands where the region ends.
static heddle_status replace_region(lower_context *c, MlirOperation function, const module *m) {
  arena *a = c->scratch;
  MlirBlock block = ir_body(function, 0);
  ir_operations loads = select(a, block, is_load), stores = select(a, block, is_store), old = select(a, block, is_mhlo);
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(a, m->entry->root, &leaves));
  MlirOperation end = ir_terminator(block);
  const int returned = (int)mlirOperationGetNumOperands(end);
  MlirValue *values = arena_array(a, MlirValue, leaves.size);
  ir_values inputs = region_inputs(a, function, &loads);
  const ir_builder b = ir_builder_before(stores.size > 0 ? stores.data[0] : end, a);
  TRY(unpack_inputs(&b, m, (int)mlirBlockGetNumArguments(block), &loads, &inputs));
  TRY(linalg_emit(a, &b, m->entry, inputs.data, leaves.size, leaves.data, values));
  for (int k = 0; k < returned; k++) mlirOperationSetOperand(end, k, values[k]);
  for (int k = 0; k < stores.size; k++) mlirOperationSetOperand(stores.data[k], 0, values[returned + k]);
  for (int k = old.size - 1; k >= 0; k--) ir_erase(old.data[k]);
  erase_packed_loads(&loads);
  make_signless(a, function, &loads);
  return status_ok();
}

static heddle_status convert_function(lower_context *c, MlirOperation function) {
  MlirBlock block = ir_body(function, 0);
  if (mlirBlockIsNull(block) || select(c->scratch, block, is_mhlo).size == 0) return status_ok();
  MlirOperation end = ir_terminator(block);
  if (ir_is_null(end) || !ir_is(end, "func.return"))
    return ir_refuse(function, HEDDLE_INVALID,
                     "found a first block that does not return, wanted a region of one block");
  module *m = NULL;
  TRY(read_region(c, function, &m));
  return replace_region(c, function, m);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  tile_load_dialects(c->context);
  ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int k = 0; k < functions.size; k++)
    TRY(status_context(convert_function(c, functions.data[k]), "in dispatch region @" STR_FMT,
                       STR_ARG(ir_symbol(functions.data[k]))));
  return status_ok();
}

const pass tile_hlo_to_linalg = {
    .name = "iree-codegen-hlo-to-linalg-on-tensors",
    .summary = "MHLO in dispatch regions to linalg on tensors",
    .order_reason = "first: all others work on linalg",
    .use = PASS_NEEDED,
    .run = run,
};
