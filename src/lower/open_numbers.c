// All but constants is read as text.
#include "lower/open_numbers.h"

#include <mlir-c/BuiltinAttributes.h>

#include "base/int64.h"
#include "emit/ir_builder.h"

// --- reading

static bool is_table_type(MlirType type) {
  return mlirTypeIsAIndex(type) || (mlirTypeIsAInteger(type) && (ir_bit_width(type) == 32 || ir_bit_width(type) == 64));
}

static int64_t lane_of(MlirAttribute value, MlirType element, int64_t lane) {
  return ir_bit_width(element) == 32 ? mlirDenseElementsAttrGetInt32Value(value, lane)
                                     : mlirDenseElementsAttrGetInt64Value(value, lane);
}

static str attribute_text(arena *a, MlirAttribute attribute) {
  text t = {0};
  mlirAttributePrint(attribute, ir_append, &t);
  const str copy = str_copy(a, text_view(&t));
  text_free(&t);
  return copy;
}

// The constant's value, replaced by zero if the table could hold it.
static open_numbers_constant take_constant(arena *a, MlirOperation op) {
  MlirAttribute value = ir_get(op, "value");
  open_numbers_constant c = {.text = attribute_text(a, value), .lane_count = -1};
  const bool is_dense = mlirAttributeIsADenseElements(value);
  if (!is_dense && !mlirAttributeIsAInteger(value)) return c;
  const MlirType type = mlirAttributeGetType(value), element = is_dense ? ir_element_type(type) : type;
  if (!is_table_type(element)) return c;
  c.lane_count = is_dense ? (int)mlirElementsAttrGetNumElements(value) : 1;
  int64_t *lanes = arena_array(a, int64_t, c.lane_count);
  for (int k = 0; k < c.lane_count; k++)
    lanes[k] = is_dense ? lane_of(value, element, k) : mlirIntegerAttrGetValueInt(value);
  c.lanes = lanes;
  MlirAttribute zero = mlirIntegerAttrGet(element, 0);
  ir_set(op, "value", is_dense ? mlirDenseElementsAttrSplatGet(type, zero) : zero);
  return c;
}

// Ranges were of use for passes, and are numbers, too.
static MlirAttribute without_range(arena *a, MlirContext c, MlirAttribute of_argument) {
  VEC(MlirNamedAttribute) kept = {0};
  for (intptr_t k = 0; k < mlirDictionaryAttrGetNumElements(of_argument); k++) {
    const MlirNamedAttribute x = mlirDictionaryAttrGetElement(of_argument, k);
    const MlirStringRef name = mlirIdentifierStr(x.name);
    if (!str_is((str){name.data, name.length}, "xla.range")) vec_push(a, &kept, x);
  }
  return mlirDictionaryAttrGet(c, kept.size, kept.data);
}

static void drop_ranges(arena *a, MlirOperation module) {
  ir_operations all = ir_collect(a, module, NULL);
  for (int k = 0; k < all.size; k++) {
    ir_unset(all.data[k], "xla.range");
    MlirAttribute arguments = ir_is(all.data[k], "llvm.func") ? ir_get(all.data[k], "arg_attrs") : (MlirAttribute){0};
    if (mlirAttributeIsNull(arguments)) continue;
    MlirContext c = mlirOperationGetContext(module);
    const intptr_t count = mlirArrayAttrGetNumElements(arguments);
    MlirAttribute *kept = arena_array(a, MlirAttribute, count);
    for (intptr_t n = 0; n < count; n++) kept[n] = without_range(a, c, mlirArrayAttrGetElement(arguments, n));
    ir_set(all.data[k], "arg_attrs", mlirArrayAttrGet(c, count, kept));
  }
}

// Offsets that are part of address computations become constants.
static void spell_out_offset(arena *a, MlirOperation op) {
  MlirAttribute indices = ir_get(op, "rawConstantIndices");
  if (mlirOperationGetNumOperands(op) != 1 || mlirDenseArrayGetNumElements(indices) != 1) return;
  ir_builder b = ir_builder_before(op, a);
  const MlirType i64 = mlirIntegerTypeGet(b.context, 64);
  const MlirNamedAttribute value =
      ir_named(b.context, "value", mlirIntegerAttrGet(i64, mlirDenseI32ArrayGetElement(indices, 0)));
  MlirValue operands[] = {ir_operand(op, 0), ir_value_with(&b, "llvm.mlir.constant", i64, 0, NULL, 1, &value)};
  mlirOperationSetOperands(op, 2, operands);
  ir_set(op, "rawConstantIndices", mlirDenseI32ArrayGet(b.context, 1, (int32_t[]){INT32_MIN}));
}

// A store past the caches is of a whole vector, aligned to its bytes: of what is aligned so with all stand-ins, some of
// which are odd multiples of what sizes are multiples of, that holds for all sizes.
static int64_t streamed_alignment(MlirOperation store, MlirType vector) {
  const int64_t alignment = mlirIntegerAttrGetValueInt(ir_get(store, "alignment"));
  const int64_t bytes = mlirShapedTypeGetDimSize(vector, 0) * ir_bit_width(ir_element_type(vector)) / 8;
  return int64_min(alignment, bytes);
}

// Where a row begins is a multiple of its elements' size and of nothing else.
static void drop_alignments(arena *a, MlirOperation module) {
  ir_operations all = ir_collect(a, module, NULL);
  for (int k = 0; k < all.size; k++) {
    const bool is_masked = ir_is(all.data[k], "llvm.intr.masked.load") || ir_is(all.data[k], "llvm.intr.masked.store");
    const bool is_load = ir_is(all.data[k], "llvm.load") || ir_is(all.data[k], "llvm.intr.masked.load");
    if (!is_masked && !is_load && !ir_is(all.data[k], "llvm.store")) continue;
    const MlirType type = is_load ? ir_result_type(all.data[k], 0) : mlirValueGetType(ir_operand(all.data[k], 0));
    if (!ir_is_vector(type)) continue;
    const int bits = ir_bit_width(ir_element_type(type));
    const MlirType wide = mlirIntegerTypeGet(mlirOperationGetContext(module), is_masked ? 32 : 64);
    int64_t kept = bits > 8 ? bits / 8 : 1;
    if (!mlirAttributeIsNull(ir_get(all.data[k], "nontemporal"))) kept = streamed_alignment(all.data[k], type);
    ir_set(all.data[k], "alignment", mlirIntegerAttrGet(wide, kept));
  }
}

void open_numbers_prepare(arena *a, MlirOperation module) {
  drop_alignments(a, module);
  ir_operations places = ir_collect(a, module, "llvm.getelementptr");
  for (int k = 0; k < places.size; k++) spell_out_offset(a, places.data[k]);
  drop_ranges(a, module);
}

static void read_bounds(arena *a, MlirOperation module, open_numbers_reading *out) {
  MlirAttribute bounds = ir_get(module, "xla.bounds");
  out->bound_count = mlirAttributeIsNull(bounds) ? 0 : (int)mlirDenseArrayGetNumElements(bounds);
  int64_t *numbers = arena_array(a, int64_t, out->bound_count);
  for (int k = 0; k < out->bound_count; k++) numbers[k] = mlirDenseI64ArrayGetElement(bounds, k);
  out->bounds = numbers;
  ir_unset(module, "xla.bounds");
  ir_unset(module, "xla.open_from");
}

void open_numbers_read(arena *a, MlirOperation module, open_numbers_reading *out) {
  ir_operations all = ir_collect(a, module, "llvm.mlir.constant");
  out->constant_count = all.size;
  out->constants = arena_array(a, open_numbers_constant, all.size);
  for (int k = 0; k < all.size; k++) out->constants[k] = take_constant(a, all.data[k]);
  read_bounds(a, module, out);
  out->text = str_from(ir_operation_text(a, module));
}

// --- the table in the code

static MlirOperation function_of(MlirOperation op) {
  while (!ir_is_null(op) && !ir_is(op, "llvm.func")) op = mlirOperationGetParentOperation(op);
  return op;
}

// The function of a tile, and its argument before the last, which is the tile.
static bool find_table(arena *a, MlirOperation module, const char *kernel, MlirOperation *function, MlirValue *table) {
  *function = ir_find_function(module, arena_printf(a, "%s_tile", kernel));
  if (ir_is_null(*function)) return false;
  MlirBlock body = ir_body(*function, 0);
  const int count = (int)mlirBlockGetNumArguments(body);
  if (count < 2) return false;
  *table = mlirBlockGetArgument(body, count - 2);
  return true;
}

static MlirValue load_numbers(ir_builder *b, MlirValue table, int number, MlirType wanted) {
  const MlirType i64 = mlirIntegerTypeGet(b->context, 64), type = ir_like(wanted, i64);
  const MlirNamedAttribute place[] = {
      ir_named(b->context, "elem_type", mlirTypeAttrGet(i64)),
      ir_named(b->context, "rawConstantIndices", mlirDenseI32ArrayGet(b->context, 1, (int32_t[]){number})),
      ir_named(b->context, "inbounds", mlirUnitAttrGet(b->context)),
  };
  MlirValue at = ir_value_with(b, "llvm.getelementptr", mlirValueGetType(table), 1, &table, 3, place);
  const MlirNamedAttribute how[] = {
      ir_named(b->context, "invariant", mlirUnitAttrGet(b->context)),
      ir_named(b->context, "alignment", mlirIntegerAttrGet(i64, sizeof(int64_t))),
  };
  MlirValue loaded = ir_value_with(b, "llvm.load", type, 1, &at, 2, how);
  return mlirTypeEqual(type, wanted) ? loaded : ir_cast(b, "llvm.trunc", wanted, loaded);
}

static bool is_division(MlirOperation op) {
  return ir_is(op, "llvm.sdiv") || ir_is(op, "llvm.udiv") || ir_is(op, "llvm.srem") || ir_is(op, "llvm.urem");
}

// Code that a size of 0 leaves unused may have been moved to where it is always done: there nothing is divided by 0.
static MlirValue at_least_one(ir_builder *b, MlirValue number) {
  const MlirType type = mlirValueGetType(number), element = ir_element_type(type);
  const MlirAttribute one = mlirIntegerAttrGet(element, 1);
  const MlirNamedAttribute value =
      ir_named(b->context, "value", ir_is_vector(type) ? mlirDenseElementsAttrSplatGet(type, one) : one);
  MlirValue operands[] = {number, ir_value_with(b, "llvm.mlir.constant", type, 0, NULL, 1, &value)};
  return ir_value(b, "llvm.intr.umax", type, 2, operands);
}

static void replace_divisors(MlirOperation function, arena *a, ir_builder *b, MlirValue from, MlirValue to) {
  MlirValue safe = {0};
  ir_operations all = ir_collect(a, function, NULL);
  for (int k = 0; k < all.size; k++) {
    if (!is_division(all.data[k]) || !mlirValueEqual(ir_operand(all.data[k], 1), from)) continue;
    if (!safe.ptr) safe = at_least_one(b, to);
    mlirOperationSetOperand(all.data[k], 1, safe);
  }
}

static bool is_amount(MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (ir_is(mlirOpOperandGetOwner(use), "llvm.alloca")) return true;
  return false;
}

static const char *read_from_table(arena *a, MlirOperation function, MlirValue table, MlirOperation constant,
                                   int number) {
  MlirValue old = ir_result(constant, 0);
  if (!mlirOperationEqual(function_of(constant), function)) return "within a function of its own";
  if (is_amount(old)) return "in how much memory it needs";
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(ir_body(function, 0)), a);
  MlirValue loaded = load_numbers(&b, table, number, mlirValueGetType(old));
  replace_divisors(function, a, &b, old, loaded);
  ir_replace(constant, &loaded);
  return NULL;
}

const char *open_numbers_replace(arena *a, MlirOperation module, const char *kernel, const int *places) {
  MlirOperation function;
  MlirValue table;
  const char *hindrance = NULL;
  if (!find_table(a, module, kernel, &function, &table)) return "which it is not given";
  ir_operations constants = ir_collect(a, module, "llvm.mlir.constant");
  for (int k = 0; k < constants.size && !hindrance; k++)
    if (places[k] >= 0) hindrance = read_from_table(a, function, table, constants.data[k], places[k]);
  return hindrance;
}
