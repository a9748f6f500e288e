// xla-cpu-lower-entry: the kernel's calling convention on the CPU.
//
// Turns `@kernel(%p0: !llvm.ptr, …, %tile: index)` into a private `@kernel_tile` and adds
//
//   void kernel(void *const *buffers, int64_t begin, int64_t end)
//
// which loads the pointers once and calls the tile function for tile = begin … end - 1. One signature for every kernel
// lets the runtime call them without generated glue, and a range of tiles is the unit that threads take. The tile
// function stays a function of its own because there its pointers are arguments, and only arguments can promise LLVM
// noalias, alignment and size. Runs after merge-pointers, before the conversion to LLVM.
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "lower/passes.h"

static MlirValue load_pointer(ir_builder *b, MlirValue buffers, int position) {
  MlirType pointer = mlirValueGetType(buffers);
  MlirNamedAttribute address[] = {
      ir_named(b->context, "elem_type", mlirTypeAttrGet(pointer)),
      ir_named(b->context, "rawConstantIndices", mlirDenseI32ArrayGet(b->context, 1, (int32_t[]){position})),
      ir_named(b->context, "inbounds", mlirUnitAttrGet(b->context)),
  };
  MlirValue place = ir_value_with(b, "llvm.getelementptr", pointer, 1, &buffers, 3, address);
  MlirNamedAttribute invariant = ir_named(b->context, "invariant", mlirUnitAttrGet(b->context));
  return ir_value_with(b, "llvm.load", pointer, 1, &place, 1, &invariant);
}

// Which of the buffers an argument is: the slice it names, or the one at its own position.
static int buffer_of(MlirOperation function, int argument) {
  MlirAttribute slice = ir_argument_attribute(function, argument, "xla.slice_index");
  return mlirAttributeIsNull(slice) ? argument : (int)mlirIntegerAttrGetValueInt(slice);
}

static void build_wrapper(ir_builder *b, MlirOperation tile_function, const char *name, const char *tile_name) {
  MlirType pointer = ir_type(b->context, "!llvm.ptr"), i64 = mlirIntegerTypeGet(b->context, 64);
  MlirType inputs[] = {pointer, i64, i64};
  MlirOperation wrapper = ir_function(b, name, 3, inputs, 0, NULL, false);
  MlirBlock body = ir_body(wrapper, 0);
  ir_builder inner = ir_builder_at_end(b->context, body, b->arena);
  MlirType index = mlirIndexTypeGet(b->context);
  MlirValue begin = ir_cast(&inner, "arith.index_cast", index, mlirBlockGetArgument(body, 1));
  MlirValue end = ir_cast(&inner, "arith.index_cast", index, mlirBlockGetArgument(body, 2));

  int count = (int)mlirBlockGetNumArguments(ir_body(tile_function, 0));
  MlirValue *arguments = arena_array(b->arena, MlirValue, count);
  for (int i = 0; i + 1 < count; i++)
    arguments[i] = load_pointer(&inner, mlirBlockGetArgument(body, 0), buffer_of(tile_function, i));
  MlirOperation loop = ir_for(&inner, begin, end, ir_index(&inner, 1), 0, NULL);
  MlirBlock loop_body = ir_body(loop, 0);
  ir_builder in_loop = ir_builder_at_end(b->context, loop_body, b->arena);
  arguments[count - 1] = mlirBlockGetArgument(loop_body, 0);
  MlirNamedAttribute callee =
      ir_named(b->context, "callee", mlirFlatSymbolRefAttrGet(b->context, mlirStringRefCreateFromCString(tile_name)));
  ir_build(&in_loop, (ir_op_state){.name = "func.call",
                                   .operand_count = count,
                                   .operands = arguments,
                                   .attribute_count = 1,
                                   .attributes = &callee});
  ir_yield(&in_loop, 0, NULL);
  ir_return(&inner, 0, NULL);
}

static heddle_status lower_entry(lower_context *c, MlirOperation module, MlirOperation function) {
  MlirBlock entry = ir_body(function, 0);
  int count = (int)mlirBlockGetNumArguments(entry);
  if (count == 0 || !mlirTypeIsAIndex(mlirValueGetType(mlirBlockGetArgument(entry, count - 1))))
    return status_error(HEDDLE_INTERNAL, "entry " STR_FMT ": the last argument is not the tile number",
                        STR_ARG(ir_symbol(function)));
  str name = ir_symbol(function);
  const char *kernel_name = arena_strdup(c->scratch, name.data, name.size);
  const char *tile_name = arena_printf(c->scratch, "%s_tile", kernel_name);
  ir_set(function, "sym_name", mlirStringAttrGet(c->context, mlirStringRefCreateFromCString(tile_name)));
  ir_set(function, "sym_visibility", mlirStringAttrGet(c->context, mlirStringRefCreateFromCString("private")));
  ir_unset(function, "xla.entry");
  ir_builder b = ir_builder_at_end(c->context, ir_body(module, 0), c->scratch);
  build_wrapper(&b, function, kernel_name, tile_name);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int i = 0; i < functions.size; i++)
    if (!mlirAttributeIsNull(ir_get(functions.data[i], "xla.entry"))) TRY(lower_entry(c, module, functions.data[i]));
  return status_ok();
}

const pass lower_cpu_entry = {
    .name = "xla-cpu-lower-entry",
    .summary = "kernel entry -> void kernel(void *const *buffers, int64_t begin, int64_t end)",
    .order_reason = "when arguments are pointers and arithmetic is done, right before LLVM",
    .use = PASS_NEEDED,
    .run = run,
};
