// xla-gpu-merge-pointers-to-same-slice: arguments that are the same buffer slice become one argument.
//
// Why: buffer assignment may give an operand and a result one slice. Two pointers to one memory must not both be
// `noalias`, and without noalias nothing vectorizes; one pointer may. Runs after lower-tensors, when arguments are
// pointers: as tensors the two may have different shapes. Every function drops its own repeated arguments, and every
// call the operands that went with them. Then all pointers of a function whose pointers all have known slices are
// noalias.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

typedef struct merged {
  bool *dropped;  // per old argument
  int count;
} merged;

static bool is_pointer(MlirValue v) {
  MlirType type = mlirValueGetType(v);
  return mlirTypeEqual(type, mlirLLVMPointerTypeGet(mlirTypeGetContext(type), 0));
}

static int64_t slice_of(MlirOperation function, int argument) {
  MlirAttribute slice = ir_argument_attribute(function, argument, "xla.slice_index");
  return mlirAttributeIsNull(slice) ? -1 : mlirIntegerAttrGetValueInt(slice);
}

// Replaces uses of repeated pointers by the first of their slice.
static merged find_repeated(arena *a, MlirOperation function) {
  MlirBlock body = ir_body(function, 0);
  merged m = {.count = (int)mlirBlockGetNumArguments(body)};
  m.dropped = arena_array(a, bool, m.count);
  for (int i = 0; i < m.count; i++) {
    int64_t slice = slice_of(function, i);
    if (slice < 0 || !is_pointer(mlirBlockGetArgument(body, i))) continue;
    for (int first = 0; first < i && !m.dropped[i]; first++) {
      if (m.dropped[first] || slice_of(function, first) != slice) continue;
      m.dropped[i] = true;
      ir_replace_value(mlirBlockGetArgument(body, i), mlirBlockGetArgument(body, first));
    }
  }
  return m;
}

static void drop_arguments(arena *a, MlirOperation function, const merged *m) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType type = mlirTypeAttrGetValue(ir_get(function, "function_type"));
  MlirAttribute all = ir_get(function, "arg_attrs");
  VEC(MlirType) inputs = {0}, results = {0};
  VEC(MlirAttribute) attributes = {0};
  for (int i = 0; i < m->count; i++) {
    if (m->dropped[i]) continue;
    vec_push(a, &inputs, mlirFunctionTypeGetInput(type, i));
    if (!mlirAttributeIsNull(all)) vec_push(a, &attributes, mlirArrayAttrGetElement(all, i));
  }
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    vec_push(a, &results, mlirFunctionTypeGetResult(type, i));
  for (int i = m->count - 1; i >= 0; i--) {
    if (m->dropped[i]) mlirBlockEraseArgument(ir_body(function, 0), (unsigned)i);
  }
  type = mlirFunctionTypeGet(context, inputs.size, inputs.data, results.size, results.data);
  ir_set(function, "function_type", mlirTypeAttrGet(type));
  if (attributes.size > 0) ir_set(function, "arg_attrs", mlirArrayAttrGet(context, attributes.size, attributes.data));
}

static void drop_operands(arena *a, MlirOperation call, const merged *m) {
  ir_values kept = {0};
  for (int i = 0; i < m->count; i++) {
    MlirValue operand = ir_operand(call, i);
    if (!m->dropped[i]) vec_push(a, &kept, operand);
  }
  if (kept.size < m->count) mlirOperationSetOperands(call, kept.size, kept.data);
}

static void mark_noalias(MlirOperation function) {
  MlirBlock body = ir_body(function, 0);
  int count = (int)mlirBlockGetNumArguments(body);
  for (int i = 0; i < count; i++) {
    if (is_pointer(mlirBlockGetArgument(body, i)) && slice_of(function, i) < 0) return;
  }
  MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(function));
  for (int i = 0; i < count; i++) {
    if (is_pointer(mlirBlockGetArgument(body, i))) ir_set_argument_attribute(function, i, "llvm.noalias", unit);
  }
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  arena *a = c->scratch;
  str_map by_name = {0};
  ir_operations functions = ir_collect(a, module, "func.func");
  for (int i = 0; i < functions.size; i++) {
    if (mlirBlockIsNull(ir_body(functions.data[i], 0))) continue;
    merged *m = arena_new(a, merged);
    *m = find_repeated(a, functions.data[i]);
    str_map_put(a, &by_name, ir_symbol(functions.data[i]), m);
  }
  ir_operations calls = ir_collect(a, module, "func.call");
  for (int i = 0; i < calls.size; i++) {
    MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ir_get(calls.data[i], "callee"));
    const merged *m = str_map_get(&by_name, (str){name.data, name.length});
    if (m) drop_operands(a, calls.data[i], m);
  }
  for (int i = 0; i < functions.size; i++) {
    const merged *m = str_map_get(&by_name, ir_symbol(functions.data[i]));
    if (!m) continue;
    drop_arguments(a, functions.data[i], m);
    mark_noalias(functions.data[i]);
  }
  return status_ok();
}

const pass lower_merge_pointers = {
    .name = "xla-gpu-merge-pointers-to-same-slice",
    .summary = "pointer arguments with one slice_index -> one argument, then noalias",
    .order_reason = "behind the pass that makes pointers, as long as arguments say which slice they are",
    .use = PASS_IMPROVES,
    .run = run,
};
