// Reading operations, moving and replacing them, structured control flow and functions.
#include <mlir-c/Dialect/Func.h>

#include "emit/ir_builder.h"

static MlirStringRef ref(const char *s) { return mlirStringRefCreate(s, strlen(s)); }

// --- reading

bool ir_is(MlirOperation op, const char *name) {
  MlirStringRef own = mlirIdentifierStr(mlirOperationGetName(op));
  return own.length == strlen(name) && memcmp(own.data, name, own.length) == 0;
}

bool ir_is_null(MlirOperation op) { return op.ptr == 0; }

MlirValue ir_operand(MlirOperation op, int i) { return mlirOperationGetOperand(op, i); }

MlirValue ir_result(MlirOperation op, int i) { return mlirOperationGetResult(op, i); }

MlirType ir_result_type(MlirOperation op, int i) { return mlirValueGetType(mlirOperationGetResult(op, i)); }

MlirOperation ir_defining_op(MlirValue v) {
  return mlirValueIsAOpResult(v) ? mlirOpResultGetOwner(v) : (MlirOperation){0};
}

bool ir_has_one_use(MlirValue v) {
  const MlirOpOperand use = mlirValueGetFirstUse(v);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

MlirAttribute ir_get(MlirOperation op, const char *attribute) {
  return mlirOperationGetAttributeByName(op, ref(attribute));
}

void ir_set(MlirOperation op, const char *attribute, MlirAttribute value) {
  mlirOperationSetAttributeByName(op, ref(attribute), value);
}

void ir_unset(MlirOperation op, const char *attribute) { mlirOperationRemoveAttributeByName(op, ref(attribute)); }

MlirBlock ir_body(MlirOperation op, int region) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)); }

bool ir_is_within(MlirOperation op, MlirOperation ancestor) {
  while (!ir_is_null(op) && !mlirOperationEqual(op, ancestor)) op = mlirOperationGetParentOperation(op);
  return !ir_is_null(op);
}

MlirOperation ir_in_block(MlirOperation op, MlirBlock block) {
  while (!ir_is_null(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block)) op = mlirOperationGetParentOperation(op);
  return op;
}

MlirOperation ir_terminator(MlirBlock block) { return mlirBlockGetTerminator(block); }

MlirOperation ir_find_function(MlirOperation module, const char *name) {
  MlirOperation op = mlirBlockGetFirstOperation(ir_body(module, 0));
  for (; !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    if (!ir_is(op, "func.func") && !ir_is(op, "llvm.func")) continue;
    if (str_is(ir_symbol(op), name)) return op;
  }
  return (MlirOperation){0};
}

str ir_symbol(MlirOperation function) {
  MlirStringRef name = mlirStringAttrGetValue(ir_get(function, "sym_name"));
  return (str){name.data, name.length};
}

typedef struct collector {
  arena *arena;
  MlirIdentifier name;
  ir_operations found;
} collector;

static MlirWalkResult collect(MlirOperation op, void *argument) {
  collector *c = argument;
  if (!c->name.ptr || mlirIdentifierEqual(mlirOperationGetName(op), c->name)) vec_push(c->arena, &c->found, op);
  return MlirWalkResultAdvance;
}

ir_operations ir_collect(arena *a, MlirOperation root, const char *name) {
  collector c = {.arena = a};
  if (name) c.name = mlirIdentifierGet(mlirOperationGetContext(root), ref(name));
  mlirOperationWalk(root, collect, &c, MlirWalkPostOrder);
  return c.found;
}

// --- rewriting

void ir_replace_value(MlirValue from, MlirValue to) { mlirValueReplaceAllUsesOfWith(from, to); }

void ir_replace(MlirOperation op, const MlirValue *with) {
  intptr_t count = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < count; i++) ir_replace_value(mlirOperationGetResult(op, i), with[i]);
  mlirOperationDestroy(op);
}

void ir_erase(MlirOperation op) { mlirOperationDestroy(op); }

ir_values ir_inline_block(arena *a, MlirBlock block, MlirOperation anchor, const MlirValue *arguments) {
  intptr_t argument_count = mlirBlockGetNumArguments(block);
  for (intptr_t i = 0; i < argument_count; i++) ir_replace_value(mlirBlockGetArgument(block, i), arguments[i]);
  MlirOperation terminator = mlirBlockGetTerminator(block);
  MlirOperation op = mlirBlockGetFirstOperation(block);
  while (!mlirOperationEqual(op, terminator)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, anchor);
    op = next;
  }
  ir_values yielded = {0};
  intptr_t count = mlirOperationGetNumOperands(terminator);
  for (intptr_t i = 0; i < count; i++) vec_push(a, &yielded, mlirOperationGetOperand(terminator, i));
  return yielded;
}

ir_values ir_inline_copy(arena *a, MlirOperation copy, MlirOperation anchor, MlirValue iv, ir_values carried) {
  ir_values arguments = {0};
  vec_push(a, &arguments, iv);
  for (int i = 0; i < carried.size; i++) vec_push(a, &arguments, carried.data[i]);
  ir_values yielded = ir_inline_block(a, ir_body(copy, 0), anchor, arguments.data);
  mlirOperationDestroy(copy);
  return yielded;
}

void ir_unroll(arena *a, MlirOperation loop, int64_t first, int64_t end) {
  ir_values carried = {0};
  for (int i = 0; i < (int)mlirOperationGetNumResults(loop); i++) {
    MlirValue init = ir_operand(loop, i + 3);
    vec_push(a, &carried, init);
  }
  ir_builder b = ir_builder_before(loop, a);
  for (int64_t i = first; i < end; i++)
    carried = ir_inline_copy(a, mlirOperationClone(loop), loop, ir_index(&b, i), carried);
  for (int i = 0; i < carried.size; i++) ir_replace_value(ir_result(loop, i), carried.data[i]);
  ir_erase(loop);
}

// --- structured control flow

static MlirRegion region_with_block(MlirBlock block) {
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  return region;
}

MlirOperation ir_for(ir_builder *b, MlirValue lower, MlirValue upper, MlirValue step, int init_count,
                     const MlirValue *inits) {
  MlirValue *operands = arena_array(b->arena, MlirValue, init_count + 3);
  MlirType *types = arena_array(b->arena, MlirType, init_count + 1);
  MlirLocation *locations = arena_array(b->arena, MlirLocation, init_count + 1);
  operands[0] = lower, operands[1] = upper, operands[2] = step;
  types[0] = mlirValueGetType(lower), locations[0] = b->location;
  for (int i = 0; i < init_count; i++) {
    operands[i + 3] = inits[i];
    types[i + 1] = mlirValueGetType(inits[i]);
    locations[i + 1] = b->location;
  }
  MlirRegion region = region_with_block(mlirBlockCreate(init_count + 1, types, locations));
  return ir_build(b, (ir_op_state){.name = "scf.for",
                                   .operand_count = init_count + 3,
                                   .operands = operands,
                                   .result_count = init_count,
                                   .results = types + 1,
                                   .region_count = 1,
                                   .regions = &region});
}

MlirOperation ir_if(ir_builder *b, MlirValue condition, int result_count, const MlirType *results) {
  MlirRegion regions[2];
  for (int i = 0; i < 2; i++) regions[i] = region_with_block(mlirBlockCreate(0, 0, 0));
  return ir_build(b, (ir_op_state){.name = "scf.if",
                                   .operand_count = 1,
                                   .operands = &condition,
                                   .result_count = result_count,
                                   .results = results,
                                   .region_count = 2,
                                   .regions = regions});
}

void ir_yield(ir_builder *b, int count, const MlirValue *values) {
  ir_build(b, (ir_op_state){.name = "scf.yield", .operand_count = count, .operands = values});
}

// --- functions

MlirOperation ir_function(ir_builder *module_body, const char *name, int input_count, const MlirType *inputs,
                          int result_count, const MlirType *results, bool is_private) {
  ir_builder *b = module_body;
  MlirType type = mlirFunctionTypeGet(b->context, input_count, inputs, result_count, results);
  MlirNamedAttribute attributes[3] = {
      ir_named(b->context, "sym_name", mlirStringAttrGet(b->context, ref(name))),
      ir_named(b->context, "function_type", mlirTypeAttrGet(type)),
      ir_named(b->context, "sym_visibility", mlirStringAttrGet(b->context, ref("private"))),
  };
  MlirLocation *locations = arena_array(b->arena, MlirLocation, input_count);
  for (int i = 0; i < input_count; i++) locations[i] = b->location;
  MlirRegion region = region_with_block(mlirBlockCreate(input_count, inputs, locations));
  return ir_build(b, (ir_op_state){.name = "func.func",
                                   .attribute_count = is_private ? 3 : 2,
                                   .attributes = attributes,
                                   .region_count = 1,
                                   .regions = &region});
}

void ir_return(ir_builder *b, int count, const MlirValue *values) {
  ir_build(b, (ir_op_state){.name = "func.return", .operand_count = count, .operands = values});
}

void ir_retype_function(arena *a, MlirOperation function) {
  MlirBlock block = ir_body(function, 0);
  MlirOperation end = ir_terminator(block);
  const int inputs = (int)mlirBlockGetNumArguments(block), results = (int)mlirOperationGetNumOperands(end);
  MlirType *types = arena_array(a, MlirType, inputs + results);
  for (int k = 0; k < inputs; k++) types[k] = mlirValueGetType(mlirBlockGetArgument(block, k));
  for (int k = 0; k < results; k++) types[inputs + k] = mlirValueGetType(ir_operand(end, k));
  MlirType type = mlirFunctionTypeGet(mlirOperationGetContext(function), inputs, types, results, types + inputs);
  ir_set(function, "function_type", mlirTypeAttrGet(type));
}

void ir_set_argument_attribute(MlirOperation function, int argument, const char *name, MlirAttribute value) {
  mlirFuncSetArgAttr(function, argument, ref(name), value);
}

MlirAttribute ir_argument_attribute(MlirOperation function, int argument, const char *name) {
  MlirAttribute all = ir_get(function, "arg_attrs");
  if (mlirAttributeIsNull(all) || argument >= mlirArrayAttrGetNumElements(all)) return (MlirAttribute){0};
  return mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, argument), ref(name));
}
