// Accesses as the LLVM dialect has them, on the memory that Vulkan has.
//
//   a buffer               an address (64 bits), made a pointer to whatever the access reads or writes
//   the workgroup's        a variable of the module; an access names an element, and has its type or one as wide
//   an invocation's        a variable of the function
//   a constant             a variable of the function that has the value at first
#include "lower/spirv_memory.h"

#include <stdlib.h>

static int byte_size(MlirType scalar) { return ir_bit_width(scalar) / 8; }

// --- addresses

static MlirType array_type(spirv_code *c, MlirType element, int64_t count) {
  return ir_type(c->s.b.context, arena_printf(c->s.b.arena, "!spirv.array<%lld x %s>", (long long)count,
                                              ir_type_text(c->s.b.arena, element)));
}

const spirv_array *spirv_memory_workgroup(spirv_code *c, const char *name, MlirType element, int64_t count) {
  spirv_array *made = arena_new(c->s.b.arena, spirv_array);
  *made = (spirv_array){
      .element = element, .type = array_type(c, element, count), .storage_class = "Workgroup", .name = name};
  spirv_build_global(&c->s, name, spirv_build_pointer_type(&c->s, made->type, "Workgroup"), NULL);
  return made;
}

MlirValue spirv_memory_element(spirv_code *c, const spirv_array *array, MlirValue number) {
  const MlirType whole = spirv_build_pointer_type(&c->s, array->type, array->storage_class);
  const MlirValue base = array->name ? spirv_build_address_of(&c->s, array->name, whole) : array->constant;
  return spirv_build_element(&c->s, base, 1, &number, array->element, array->storage_class);
}

// What is stored: integers for the floats that SPIR-V lacks.
static MlirType stored_type(spirv_code *c, MlirType element) {
  const bool is_other_float = mlirTypeIsAFloat(element) && ir_bit_width(element) < 32;
  return is_other_float ? spirv_build_int_type(&c->s, ir_bit_width(element)) : spirv_build_type(&c->s, element);
}

static MlirAttribute stored_value(spirv_code *c, MlirAttribute value, MlirType element) {
  const MlirType type = mlirAttributeGetType(value);
  if (mlirTypeEqual(element, mlirShapedTypeGetElementType(type))) return value;
  const int64_t count = mlirElementsAttrGetNumElements(value);
  const MlirType to = mlirRankedTensorTypeGet(1, &count, element, mlirAttributeGetNull());
  const size_t each = (size_t)byte_size(element);
  const char *raw = mlirDenseElementsAttrGetRawData(value);
  char *all = arena_alloc(c->s.b.arena, each * (size_t)count);
  const bool is_splat = mlirDenseElementsAttrIsSplat(value);
  for (int64_t i = 0; i < count; i++) memcpy(all + (size_t)i * each, raw + (is_splat ? 0 : (size_t)i * each), each);
  return mlirDenseElementsAttrRawBufferGet(to, (intptr_t)(each * (size_t)count), all);
}

static MlirOperation find_global(spirv_code *c, MlirStringRef name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(ir_body(c->source, 0)); !ir_is_null(op);
       op = mlirOperationGetNextInBlock(op))
    if (ir_is(op, "llvm.mlir.global") && mlirStringRefEqual(mlirStringAttrGetValue(ir_get(op, "sym_name")), name))
      return op;
  return (MlirOperation){NULL};
}

// The C API of MLIR 19 does not tell what an array is of: "!llvm.array<64 x f32>".
static int64_t array_of_type(spirv_code *c, MlirType type, MlirType *element) {
  const char *spelled = strchr(ir_type_text(c->s.b.arena, type), '<') + 1, *by = strstr(spelled, " x ") + 3;
  *element = ir_type(c->s.b.context, arena_strdup(c->s.b.arena, by, strlen(by) - 1));
  return strtoll(spelled, NULL, 10);
}

// Constants are copied once for each function that reads them.
static heddle_status array_of(spirv_code *c, MlirStringRef name, const spirv_array **out) {
  arena *a = c->s.b.arena;
  *out = str_map_get(&c->arrays, (str){name.data, name.length});
  if (*out) return status_ok();
  const MlirOperation global = find_global(c, name);
  if (ir_is_null(global)) return status_error(HEDDLE_INTERNAL, "no global %.*s", (int)name.length, name.data);
  MlirType element;
  const int64_t count = array_of_type(c, mlirTypeAttrGetValue(ir_get(global, "global_type")), &element);
  element = stored_type(c, element);
  const MlirAttribute value = ir_get(global, "value");
  spirv_array *made = arena_new(a, spirv_array);
  if (mlirAttributeIsNull(value)) {
    *made = *spirv_memory_workgroup(c, arena_strdup(a, name.data, name.length), element, count);
  } else {
    *made = (spirv_array){.element = element, .type = array_type(c, element, count), .storage_class = "Function"};
    made->constant = spirv_build_variable(&c->s, made->type, stored_value(c, value, element));
  }
  str_map_put(a, &c->arrays, (str){name.data, name.length}, made);
  *out = made;
  return status_ok();
}

static heddle_status address_of(spirv_code *c, MlirOperation op) {
  const spirv_array *array;
  TRY(array_of(c, mlirFlatSymbolRefAttrGetValue(ir_get(op, "global_name")), &array));
  const MlirValue first = spirv_build_int(&c->s, spirv_build_int_type(&c->s, 32), 0);
  spirv_values_put_pointer(c, ir_result(op, 0), array, first);
  return status_ok();
}

// Of an invocation: a variable of the function. Elements that constants name every driver keeps in registers.
static heddle_status private_array(spirv_code *c, MlirOperation op) {
  MlirType element;
  const int64_t count = array_of_type(c, mlirTypeAttrGetValue(ir_get(op, "elem_type")), &element);
  element = stored_type(c, element);
  spirv_array *made = arena_new(c->s.b.arena, spirv_array);
  *made = (spirv_array){.element = element, .type = array_type(c, element, count), .storage_class = "Function"};
  made->constant = spirv_build_variable(&c->s, made->type, mlirAttributeGetNull());
  spirv_values_put_pointer(c, ir_result(op, 0), made, spirv_build_int(&c->s, spirv_build_int_type(&c->s, 32), 0));
  return status_ok();
}

static MlirValue widened(spirv_code *c, MlirValue number, int bits) {
  const MlirType to = spirv_build_int_type(&c->s, bits);
  return mlirTypeEqual(mlirValueGetType(number), to) ? number : spirv_build_cast(&c->s, "spirv.SConvert", to, number);
}

static MlirValue times(spirv_code *c, MlirValue number, int64_t factor) {
  if (factor == 1) return number;
  return spirv_build_binary(&c->s, "spirv.IMul", number, spirv_build_int(&c->s, mlirValueGetType(number), factor));
}

static heddle_status index_of(spirv_code *c, MlirOperation op, MlirValue *out) {
  const MlirAttribute raw = ir_get(op, "rawConstantIndices");
  if (mlirDenseArrayGetNumElements(raw) != 1)
    return status_error(HEDDLE_UNIMPLEMENTED, "an address of several indices: %s", ir_operation_text(c->s.b.arena, op));
  const int32_t constant = mlirDenseI32ArrayGetElement(raw, 0);
  if (constant != INT32_MIN) {
    *out = spirv_build_int(&c->s, spirv_build_int_type(&c->s, 32), constant);
    return status_ok();
  }
  const spirv_value *index;
  TRY(spirv_values_operand(c, op, 1, &index));
  *out = index->parts[0];
  return status_ok();
}

static heddle_status element_address(spirv_code *c, MlirOperation op) {
  const spirv_value *base;
  MlirValue index = {NULL};
  TRY(spirv_values_operand(c, op, 0, &base));
  TRY(index_of(c, op, &index));
  const int size = byte_size(mlirTypeAttrGetValue(ir_get(op, "elem_type")));
  const int unit = base->array ? byte_size(base->array->element) : 1;
  if (size % unit != 0)
    return status_error(HEDDLE_UNIMPLEMENTED, "elements of %d bytes in an array of elements of %d", size, unit);
  const MlirValue start = base->parts[0];
  const int bits = base->array ? c->s.index_bits : 64;
  MlirValue at = times(c, widened(c, index, bits), size / unit);
  at = spirv_build_binary(&c->s, "spirv.IAdd", widened(c, start, bits), at);
  spirv_values_put_pointer(c, ir_result(op, 0), base->array, at);
  return status_ok();
}

// --- accesses

typedef struct access {
  const spirv_value *pointer;
  int alignment;
  bool is_volatile;  // others change it at the same time
} access;

static heddle_status access_of(spirv_code *c, MlirOperation op, int operand, access *out) {
  TRY(spirv_values_operand(c, op, operand, &out->pointer));
  const MlirAttribute alignment = ir_get(op, "alignment"), ordering = ir_get(op, "ordering");
  out->alignment = mlirAttributeIsNull(alignment) ? 1 : (int)mlirIntegerAttrGetValueInt(alignment);
  out->is_volatile = !mlirAttributeIsNull(ordering) && mlirIntegerAttrGetValueInt(ordering) != 0;
  return status_ok();
}

static void ask_for_storage(spirv_code *c, MlirType scalar) {
  if (ir_bit_width(scalar) == 8) spirv_build_ask(&c->s, SPIRV_STORAGE8);
  if (ir_bit_width(scalar) == 16) spirv_build_ask(&c->s, SPIRV_STORAGE16);
}

// A pointer to what lies `offset` bytes behind an address.
static MlirValue typed_pointer(spirv_code *c, MlirValue address, int64_t offset, MlirType type) {
  if (offset)
    address =
        spirv_build_binary(&c->s, "spirv.IAdd", address, spirv_build_int(&c->s, mlirValueGetType(address), offset));
  return spirv_build_cast(&c->s, "spirv.ConvertUToPtr", spirv_build_pointer_type(&c->s, type, "PhysicalStorageBuffer"),
                          address);
}

// The dialect has no atomic load: a volatile one reads a naturally aligned word at once on every device.
static void access_attributes(spirv_code *c, const access *at, int alignment, MlirNamedAttribute out[2]) {
  out[0] = ir_named_text(c->s.b.context, "memory_access",
                         at->is_volatile ? "#spirv.memory_access<Volatile|Aligned>" : "#spirv.memory_access<Aligned>");
  out[1] = ir_named(c->s.b.context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(c->s.b.context, 32), alignment));
}

// How many elements one access takes from here on: as many as are aligned as a whole.
static int width_at(const access *at, int each, int left) {
  for (int width = 4; width > 1; width /= 2)
    if (width <= left && at->alignment % (width * each) == 0) return width;
  return 1;
}

MlirValue spirv_memory_address_in(spirv_code *c, MlirValue table, int number) {
  const MlirType i64 = spirv_build_int_type(&c->s, 64);
  const access at = {0};
  MlirValue pointer = typed_pointer(c, table, 8 * (int64_t)number, i64);
  MlirNamedAttribute attributes[2];
  access_attributes(c, &at, 8, attributes);
  return ir_value_with(&c->s.b, "spirv.Load", i64, 1, &pointer, 2, attributes);
}

static MlirType group_type(MlirType scalar, int width) {
  return width == 1 ? scalar : mlirVectorTypeGet(1, &(int64_t){width}, scalar);
}

static void load_from_buffer(spirv_code *c, const access *at, const spirv_types *types, MlirValue *out) {
  const MlirType scalar = types->data[0];
  const int each = byte_size(scalar);
  ask_for_storage(c, scalar);
  for (int k = 0, width; k < types->size; k += width) {
    width = width_at(at, each, types->size - k);
    const MlirType type = group_type(scalar, width);
    MlirValue pointer = typed_pointer(c, at->pointer->parts[0], (int64_t)k * each, type);
    MlirNamedAttribute attributes[2];
    access_attributes(c, at, width * each, attributes);
    MlirValue loaded = ir_value_with(&c->s.b, "spirv.Load", type, 1, &pointer, 2, attributes);
    if (width == 1) out[k] = loaded;
    for (int i = 0; i < width && width > 1; i++) {
      const MlirNamedAttribute index =
          ir_named_text(c->s.b.context, "indices", arena_printf(c->s.b.arena, "[%d : i32]", i));
      out[k + i] = ir_value_with(&c->s.b, "spirv.CompositeExtract", scalar, 1, &loaded, 1, &index);
    }
  }
}

static void store_to_buffer(spirv_code *c, const access *at, int count, const MlirValue *values) {
  const MlirType scalar = mlirValueGetType(values[0]);
  const int each = byte_size(scalar);
  ask_for_storage(c, scalar);
  for (int k = 0, width; k < count; k += width) {
    width = width_at(at, each, count - k);
    const MlirType type = group_type(scalar, width);
    const MlirValue pointer = typed_pointer(c, at->pointer->parts[0], (int64_t)k * each, type);
    const MlirValue value =
        width == 1 ? values[k] : ir_value(&c->s.b, "spirv.CompositeConstruct", type, width, values + k);
    MlirNamedAttribute attributes[2];
    access_attributes(c, at, width * each, attributes);
    ir_build(&c->s.b, (ir_op_state){.name = "spirv.Store",
                                    .operand_count = 2,
                                    .operands = (MlirValue[]){pointer, value},
                                    .attribute_count = 2,
                                    .attributes = attributes});
  }
}

static heddle_status check_width(const spirv_array *array, MlirType scalar) {
  if (ir_bit_width(array->element) == ir_bit_width(scalar)) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "an access of %d bits to memory of the workgroup of %d",
                      ir_bit_width(scalar), ir_bit_width(array->element));
}

static MlirValue element_behind(spirv_code *c, const spirv_value *pointer, int64_t k) {
  MlirValue number = pointer->parts[0];
  if (k) number = spirv_build_binary(&c->s, "spirv.IAdd", number, spirv_build_int(&c->s, mlirValueGetType(number), k));
  return spirv_memory_element(c, pointer->array, number);
}

static heddle_status load(spirv_code *c, MlirOperation op) {
  access at;
  spirv_types types = {0};
  TRY(access_of(c, op, 0, &at));
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  MlirValue *loaded = arena_array(c->s.b.arena, MlirValue, types.size);
  const spirv_array *array = at.pointer->array;
  if (array) {
    TRY(check_width(array, types.data[0]));
    for (int k = 0; k < types.size; k++)
      loaded[k] = spirv_build_bitcast(&c->s, types.data[k],
                                      spirv_build_load(&c->s, array->element, element_behind(c, at.pointer, k)));
  } else {
    load_from_buffer(c, &at, &types, loaded);
  }
  spirv_values_put(c, ir_result(op, 0), types.size, loaded);
  return status_ok();
}

static heddle_status store(spirv_code *c, MlirOperation op) {
  access at;
  const spirv_value *value;
  TRY(spirv_values_operand(c, op, 0, &value));
  TRY(access_of(c, op, 1, &at));
  const spirv_array *array = at.pointer->array;
  if (!array) {
    store_to_buffer(c, &at, value->count, value->parts);
    return status_ok();
  }
  TRY(check_width(array, mlirValueGetType(value->parts[0])));
  for (int k = 0; k < value->count; k++)
    spirv_build_store(&c->s, element_behind(c, at.pointer, k),
                      spirv_build_bitcast(&c->s, array->element, value->parts[k]));
  return status_ok();
}

// --- atomic operations

static heddle_status atomic_pointer(spirv_code *c, const spirv_value *pointer, MlirType word, MlirValue *out) {
  if (ir_bit_width(word) == 64) spirv_build_ask(&c->s, SPIRV_INT64_ATOMICS);
  if (!pointer->array) {
    *out = typed_pointer(c, pointer->parts[0], 0, word);
    return status_ok();
  }
  if (!mlirTypeEqual(pointer->array->element, word))
    return status_error(HEDDLE_UNIMPLEMENTED, "an atomic update of memory of the workgroup as another type");
  *out = spirv_memory_element(c, pointer->array, pointer->parts[0]);
  return status_ok();
}

static heddle_status update(spirv_code *c, MlirOperation op) {
  static const char *const names[] = {
      "spirv.AtomicExchange", "spirv.AtomicIAdd", "spirv.AtomicISub", "spirv.AtomicAnd",  NULL,
      "spirv.AtomicOr",       "spirv.AtomicXor",  "spirv.AtomicSMax", "spirv.AtomicSMin", "spirv.AtomicUMax",
      "spirv.AtomicUMin"};
  enum { COUNT = sizeof names / sizeof *names };
  const int64_t kind = mlirIntegerAttrGetValueInt(ir_get(op, "bin_op"));
  const spirv_value *pointer, *value;
  TRY(spirv_values_operand(c, op, 0, &pointer));
  TRY(spirv_values_operand(c, op, 1, &value));
  const MlirType word = mlirValueGetType(value->parts[0]);
  if (kind >= COUNT || !names[kind] || !mlirTypeIsAInteger(word))
    return status_error(HEDDLE_UNIMPLEMENTED, "no atomic operation for %s", ir_operation_text(c->s.b.arena, op));
  MlirValue operands[2];
  TRY(atomic_pointer(c, pointer, word, operands));
  operands[1] = value->parts[0];
  const MlirNamedAttribute attributes[] = {ir_named_text(c->s.b.context, "memory_scope", "#spirv.scope<Device>"),
                                           ir_named_text(c->s.b.context, "semantics", "#spirv.memory_semantics<None>")};
  const MlirValue old = ir_value_with(&c->s.b, names[kind], word, 2, operands, 2, attributes);
  spirv_values_put(c, ir_result(op, 0), 1, &old);
  return status_ok();
}

static heddle_status exchange(spirv_code *c, MlirOperation op) {
  const spirv_value *pointer, *expected, *desired;
  TRY(spirv_values_operand(c, op, 0, &pointer));
  TRY(spirv_values_operand(c, op, 1, &expected));
  TRY(spirv_values_operand(c, op, 2, &desired));
  const MlirType word = mlirValueGetType(desired->parts[0]);
  MlirValue at = {NULL};
  TRY(atomic_pointer(c, pointer, word, &at));
  const MlirNamedAttribute attributes[] = {
      ir_named_text(c->s.b.context, "memory_scope", "#spirv.scope<Device>"),
      ir_named_text(c->s.b.context, "equal_semantics", "#spirv.memory_semantics<None>"),
      ir_named_text(c->s.b.context, "unequal_semantics", "#spirv.memory_semantics<None>")};
  const MlirValue operands[] = {at, desired->parts[0], expected->parts[0]};
  const MlirValue old = ir_value_with(&c->s.b, "spirv.AtomicCompareExchange", word, 3, operands, 3, attributes);
  const MlirValue done = spirv_build_compare(&c->s, "spirv.IEqual", old, expected->parts[0]);
  spirv_values_put(c, ir_result(op, 0), 2, (MlirValue[]){old, done});
  return status_ok();
}

// --- the table

static const struct {
  const char *op;
  heddle_status (*translate)(spirv_code *c, MlirOperation op);
} rows[] = {
    {"llvm.mlir.addressof", address_of},
    {"llvm.alloca", private_array},
    {"llvm.getelementptr", element_address},
    {"llvm.load", load},
    {"llvm.store", store},
    {"llvm.atomicrmw", update},
    {"llvm.cmpxchg", exchange},
};

heddle_status spirv_memory_translate(spirv_code *c, MlirOperation op, bool *known) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    *known = ir_is(op, rows[i].op);
    if (*known) return rows[i].translate(c, op);
  }
  return status_ok();
}
