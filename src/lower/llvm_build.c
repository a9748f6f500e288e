// Spelling of the LLVM dialect's operations and attributes, in one place.
#include "lower/llvm_build.h"

#include <mlir-c/Dialect/LLVM.h>

static MlirStringRef ref(const char *s) { return mlirStringRefCreateFromCString(s); }

static MlirNamedAttribute alignment_attribute(ir_builder *b, int alignment) {
  return ir_named(b->context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), alignment));
}

MlirType llvm_build_pointer_type(MlirContext c, int address_space) {
  return mlirLLVMPointerTypeGet(c, (unsigned)address_space);
}

// `raw` indices, one of which may be DYNAMIC: the second operand's.
enum { DYNAMIC = INT32_MIN };

static MlirValue build_pointer(ir_builder *b, MlirType element, int32_t raw, MlirValue base, MlirValue index,
                               bool is_inbounds) {
  MlirNamedAttribute attributes[] = {
      ir_named(b->context, "elem_type", mlirTypeAttrGet(element)),
      ir_named(b->context, "rawConstantIndices", mlirDenseI32ArrayGet(b->context, 1, &raw)),
      ir_named(b->context, "inbounds", mlirUnitAttrGet(b->context)),
  };
  MlirValue operands[] = {base, index};
  return ir_value_with(b, "llvm.getelementptr", mlirValueGetType(base), raw == DYNAMIC ? 2 : 1, operands,
                       is_inbounds ? 3 : 2, attributes);
}

MlirValue llvm_build_address(ir_builder *b, MlirValue base, MlirType element, MlirValue index) {
  int64_t constant = 0;
  bool fixed = ir_constant_value(index, &constant) && constant >= 0 && constant <= INT32_MAX;
  return build_pointer(b, element, fixed ? (int32_t)constant : DYNAMIC, base, index, true);
}

MlirValue llvm_build_step(ir_builder *b, MlirValue base, MlirType element, MlirValue index) {
  return build_pointer(b, element, DYNAMIC, base, index, false);
}

MlirValue llvm_build_fixed_step(ir_builder *b, MlirValue base, MlirType element, int64_t index) {
  if (index <= DYNAMIC || index > INT32_MAX)
    return llvm_build_step(b, base, element, ir_int(b, mlirIntegerTypeGet(b->context, 64), index));
  return build_pointer(b, element, (int32_t)index, base, base, false);
}

MlirType llvm_build_descriptor_type(ir_builder *b, int rank) {
  MlirType pointer = llvm_build_pointer_type(b->context, 0), i64 = mlirIntegerTypeGet(b->context, 64),
           numbers = mlirLLVMArrayTypeGet(i64, (unsigned)rank);
  const MlirType fields[] = {pointer, pointer, i64, numbers, numbers};
  return mlirLLVMStructTypeLiteralGet(b->context, rank > 0 ? 5 : 3, fields, false);
}

MlirValue llvm_build_descriptor_pointer(ir_builder *b, MlirValue descriptor) {
  const int64_t aligned = 1;
  MlirNamedAttribute position = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, 1, &aligned));
  return ir_value_with(b, "llvm.extractvalue", llvm_build_pointer_type(b->context, 0), 1, &descriptor, 1, &position);
}

MlirValue llvm_build_load(ir_builder *b, MlirType type, MlirValue address, int alignment, bool invariant) {
  MlirNamedAttribute attributes[] = {
      alignment_attribute(b, alignment),
      ir_named(b->context, "invariant", mlirUnitAttrGet(b->context)),
  };
  return ir_value_with(b, "llvm.load", type, 1, &address, invariant ? 2 : 1, attributes);
}

void llvm_build_store(ir_builder *b, MlirValue value, MlirValue address, int alignment) {
  MlirNamedAttribute attribute = alignment_attribute(b, alignment);
  ir_build(b, (ir_op_state){.name = "llvm.store",
                            .operand_count = 2,
                            .operands = (MlirValue[]){value, address},
                            .attribute_count = 1,
                            .attributes = &attribute});
}

void llvm_build_streaming_store(ir_builder *b, MlirValue value, MlirValue address, int alignment) {
  MlirNamedAttribute attributes[] = {alignment_attribute(b, alignment),
                                     ir_named(b->context, "nontemporal", mlirUnitAttrGet(b->context))};
  ir_build(b, (ir_op_state){.name = "llvm.store",
                            .operand_count = 2,
                            .operands = (MlirValue[]){value, address},
                            .attribute_count = 2,
                            .attributes = attributes});
}

static MlirNamedAttribute alignment32_attribute(ir_builder *b, int alignment) {
  return ir_named(b->context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 32), alignment));
}

MlirValue llvm_build_masked_load(ir_builder *b, MlirValue address, MlirValue mask, MlirValue otherwise, int alignment) {
  MlirNamedAttribute attribute = alignment32_attribute(b, alignment);
  MlirValue operands[] = {address, mask, otherwise};
  return ir_value_with(b, "llvm.intr.masked.load", mlirValueGetType(otherwise), 3, operands, 1, &attribute);
}

void llvm_build_masked_store(ir_builder *b, MlirValue value, MlirValue address, MlirValue mask, int alignment) {
  MlirNamedAttribute attribute = alignment32_attribute(b, alignment);
  ir_build(b, (ir_op_state){.name = "llvm.intr.masked.store",
                            .operand_count = 3,
                            .operands = (MlirValue[]){value, address, mask},
                            .attribute_count = 1,
                            .attributes = &attribute});
}

enum { MONOTONIC = 2 };  // as LLVM's dialect numbers orderings

static MlirNamedAttribute monotonic(ir_builder *b, const char *name) {
  return ir_named(b->context, name, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), MONOTONIC));
}

MlirValue llvm_build_atomic_load(ir_builder *b, MlirType type, MlirValue address) {
  MlirNamedAttribute attributes[] = {alignment_attribute(b, ir_bit_width(type) / 8), monotonic(b, "ordering")};
  return ir_value_with(b, "llvm.load", type, 1, &address, 2, attributes);
}

void llvm_build_atomic_store(ir_builder *b, MlirValue value, MlirValue address) {
  MlirNamedAttribute attributes[] = {alignment_attribute(b, ir_bit_width(mlirValueGetType(value)) / 8),
                                     monotonic(b, "ordering")};
  ir_build(b, (ir_op_state){.name = "llvm.store",
                            .operand_count = 2,
                            .operands = (MlirValue[]){value, address},
                            .attribute_count = 2,
                            .attributes = attributes});
}

MlirValue llvm_build_exchange(ir_builder *b, MlirValue address, MlirValue expected, MlirValue desired,
                              MlirValue *done) {
  MlirType word = mlirValueGetType(expected), i1 = mlirIntegerTypeGet(b->context, 1);
  MlirNamedAttribute orderings[] = {monotonic(b, "success_ordering"), monotonic(b, "failure_ordering")};
  MlirType pair = mlirLLVMStructTypeLiteralGet(b->context, 2, (MlirType[]){word, i1}, false);
  MlirValue operands[] = {address, expected, desired};
  MlirValue result = ir_value_with(b, "llvm.cmpxchg", pair, 3, operands, 2, orderings);
  MlirNamedAttribute first = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){0}));
  MlirNamedAttribute second = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){1}));
  *done = ir_value_with(b, "llvm.extractvalue", i1, 1, &result, 1, &second);
  return ir_value_with(b, "llvm.extractvalue", word, 1, &result, 1, &first);
}

MlirValue llvm_build_atomic(ir_builder *b, const char *kind, MlirValue address, MlirValue value) {
  static const char *const kinds[] = {"xchg", "add",  "sub",  "_and", "nand", "_or",  "_xor", "max",
                                      "min",  "umax", "umin", "fadd", "fsub", "fmax", "fmin"};
  enum { KIND_COUNT = sizeof kinds / sizeof *kinds };
  int number = 0;
  while (number < KIND_COUNT - 1 && strcmp(kinds[number], kind) != 0) number++;
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirNamedAttribute attributes[] = {
      ir_named(b->context, "bin_op", mlirIntegerAttrGet(i64, number)),
      monotonic(b, "ordering"),
  };
  return ir_value_with(b, "llvm.atomicrmw", mlirValueGetType(value), 2, (MlirValue[]){address, value}, 2, attributes);
}

// Shared memory has no initial value, which LLVM spells as an undefined one.
static void build_undefined_initializer(ir_builder *b, MlirRegion region, MlirType type) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  ir_builder inner = ir_builder_at_end(b->context, block, b->arena);
  MlirValue undefined = ir_value(&inner, "llvm.mlir.undef", type, 0, NULL);
  ir_build(&inner, (ir_op_state){.name = "llvm.return", .operand_count = 1, .operands = &undefined});
}

void llvm_build_global_variable(MlirOperation module, llvm_build_global global, arena *a) {
  MlirContext c = mlirOperationGetContext(module);
  ir_builder b = ir_builder_at_end(c, ir_body(module, 0), a);
  b.before = mlirBlockGetFirstOperation(b.block);
  bool has_value = !mlirAttributeIsNull(global.value);
  const char *linkage = global.constant ? "#llvm.linkage<private>" : "#llvm.linkage<internal>";
  MlirType i32 = mlirIntegerTypeGet(c, 32);
  MlirNamedAttribute attributes[8] = {
      ir_named(c, "sym_name", mlirStringAttrGet(c, ref(global.name))),
      ir_named(c, "global_type", mlirTypeAttrGet(global.type)),
      ir_named_text(c, "linkage", linkage),
      alignment_attribute(&b, global.alignment),
      ir_named(c, "addr_space", mlirIntegerAttrGet(i32, global.address_space)),
  };
  int count = 5;
  if (has_value) attributes[count++] = ir_named(c, "value", global.value);
  if (global.constant) attributes[count++] = ir_named(c, "constant", mlirUnitAttrGet(c));
  MlirRegion region = mlirRegionCreate();
  if (!has_value) build_undefined_initializer(&b, region, global.type);
  ir_build(&b, (ir_op_state){.name = "llvm.mlir.global",
                             .attribute_count = count,
                             .attributes = attributes,
                             .region_count = 1,
                             .regions = &region});
}

MlirValue llvm_build_address_of(ir_builder *b, const char *global, int address_space) {
  MlirNamedAttribute name = ir_named(b->context, "global_name", mlirFlatSymbolRefAttrGet(b->context, ref(global)));
  return ir_value_with(b, "llvm.mlir.addressof", llvm_build_pointer_type(b->context, address_space), 0, NULL, 1, &name);
}

static void declare(ir_builder *caller, MlirOperation module, const char *name, MlirType result, int count,
                    const MlirValue *arguments) {
  MlirContext c = caller->context;
  MlirType *types = arena_array(caller->arena, MlirType, count);
  for (int i = 0; i < count; i++) types[i] = mlirValueGetType(arguments[i]);
  ir_builder b = ir_builder_at_end(c, ir_body(module, 0), caller->arena);
  b.before = mlirBlockGetFirstOperation(b.block);
  MlirNamedAttribute attributes[] = {
      ir_named(c, "sym_name", mlirStringAttrGet(c, ref(name))),
      ir_named(c, "function_type", mlirTypeAttrGet(mlirLLVMFunctionTypeGet(result, count, types, false))),
      ir_named_text(c, "linkage", "#llvm.linkage<external>"),
      // Device and C libraries' math functions read and write no memory of ours.
      ir_named_text(c, "memory", "#llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none>"),
  };
  MlirRegion region = mlirRegionCreate();
  ir_build(
      &b,
      (ir_op_state){
          .name = "llvm.func", .attribute_count = 4, .attributes = attributes, .region_count = 1, .regions = &region});
}

MlirValue llvm_build_call(ir_builder *b, MlirOperation module, const char *callee, MlirType result, int count,
                          const MlirValue *arguments) {
  if (ir_is_null(ir_find_function(module, callee))) declare(b, module, callee, result, count, arguments);
  MlirNamedAttribute attribute = ir_named(b->context, "callee", mlirFlatSymbolRefAttrGet(b->context, ref(callee)));
  return ir_value_with(b, "llvm.call", result, count, arguments, 1, &attribute);
}

static MlirValue extract_lane(ir_builder *b, MlirValue vector, int64_t lane) {
  MlirNamedAttribute position = ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &lane));
  return ir_value_with(b, "vector.extract", ir_element_type(mlirValueGetType(vector)), 1, &vector, 1, &position);
}

static MlirValue insert_lane(ir_builder *b, MlirValue value, MlirValue vector, int64_t lane) {
  MlirNamedAttribute position = ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &lane));
  return ir_value_with(b, "vector.insert", mlirValueGetType(vector), 2, (MlirValue[]){value, vector}, 1, &position);
}

MlirValue llvm_build_call_lanes(ir_builder *b, MlirOperation module, const char *callee, int count,
                                const MlirValue *arguments) {
  MlirType type = mlirValueGetType(arguments[0]), element = ir_element_type(type);
  if (!ir_is_vector(type)) return llvm_build_call(b, module, callee, element, count, arguments);
  MlirValue *lanes = arena_array(b->arena, MlirValue, count), result = ir_float(b, type, 0);
  for (int64_t lane = 0; lane < mlirShapedTypeGetDimSize(type, 0); lane++) {
    for (int i = 0; i < count; i++) lanes[i] = extract_lane(b, arguments[i], lane);
    result = insert_lane(b, llvm_build_call(b, module, callee, element, count, lanes), result, lane);
  }
  return result;
}
