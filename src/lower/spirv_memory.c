// Accesses as the LLVM dialect has them, on the memory that Vulkan has.
//
//   a buffer               an address (64 bits), made a pointer to whatever the access reads or writes
//   the workgroup's        a variable of the module; an access names an element, and has its type or one as wide
//   an invocation's        a variable of the function
//   a constant             a variable of the function that has the value at first
//
// Where a device has no memory of 8 and 16 bits (SPIRV_BY_WORDS), buffers are words of 32: what an element's word holds
// is shifted, and stores leave the rest of the word as others may be writing it, by atomic operations on one's own
// bits. Buffers begin and end with a word (rt/vulkan_memory.c). Arrays that are no buffers have a word for each
// element.
#include "lower/spirv_memory.h"

#include <stdlib.h>

enum { WORD_BYTES = 4 };

static int byte_size(MlirType scalar) { return ir_bit_width(scalar) / 8; }

// --- addresses

static MlirType array_type(spirv_code *c, MlirType element, int64_t count) {
  return ir_type(c->s.b.context, arena_printf(c->s.b.arena, "!spirv.array<%lld x %s>", (long long)count,
                                              ir_type_text(c->s.b.arena, element)));
}

// What is stored: integers for the floats that SPIR-V lacks.
static MlirType stored_type(spirv_code *c, MlirType element) {
  const bool is_other_float = mlirTypeIsAFloat(element) && ir_bit_width(element) < 32;
  return is_other_float ? spirv_build_int_type(&c->s, ir_bit_width(element)) : spirv_build_type(&c->s, element);
}

static spirv_array *new_array(spirv_code *c, const char *storage_class, MlirType element, int64_t count) {
  spirv_array *made = arena_new(c->s.b.arena, spirv_array);
  *made =
      (spirv_array){.element = stored_type(c, element), .bits = ir_bit_width(element), .storage_class = storage_class};
  made->type = array_type(c, made->element, count);
  return made;
}

const spirv_array *spirv_memory_workgroup(spirv_code *c, const char *name, MlirType element, int64_t count) {
  spirv_array *made = new_array(c, "Workgroup", element, count);
  made->name = name;
  if (spirv_build_global(&c->s, name, spirv_build_pointer_type(&c->s, made->type, "Workgroup"), NULL))
    c->workgroup_bytes += count * byte_size(made->element);
  return made;
}

MlirValue spirv_memory_element(spirv_code *c, const spirv_array *array, MlirValue number) {
  const MlirType whole = spirv_build_pointer_type(&c->s, array->type, array->storage_class);
  const MlirValue base = array->name ? spirv_build_address_of(&c->s, array->name, whole) : array->constant;
  return spirv_build_element(&c->s, base, 1, &number, array->element, array->storage_class);
}

static MlirAttribute stored_value(spirv_code *c, MlirAttribute value, MlirType element) {
  const MlirType type = mlirAttributeGetType(value);
  if (mlirTypeEqual(element, mlirShapedTypeGetElementType(type))) return value;
  const int64_t count = mlirElementsAttrGetNumElements(value);
  const MlirType to = mlirRankedTensorTypeGet(1, &count, element, mlirAttributeGetNull());
  const size_t each = (size_t)byte_size(element), from = (size_t)byte_size(mlirShapedTypeGetElementType(type));
  const char *raw = mlirDenseElementsAttrGetRawData(value);
  char *all = arena_alloc(c->s.b.arena, each * (size_t)count);
  const bool is_splat = mlirDenseElementsAttrIsSplat(value);
  memset(all, 0, each * (size_t)count);
  for (int64_t i = 0; i < count; i++) memcpy(all + (size_t)i * each, raw + (is_splat ? 0 : (size_t)i * from), from);
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
  const MlirAttribute value = ir_get(global, "value");
  if (mlirAttributeIsNull(value)) {
    *out = spirv_memory_workgroup(c, arena_strdup(a, name.data, name.length), element, count);
  } else {
    spirv_array *made = new_array(c, "Function", element, count);
    made->constant = spirv_build_variable(&c->s, made->type, stored_value(c, value, made->element));
    *out = made;
  }
  str_map_put(a, &c->arrays, (str){name.data, name.length}, (void *)*out);
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
  spirv_array *made = new_array(c, "Function", element, count);
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
  const int unit = base->array ? base->array->bits / 8 : 1;
  if (unit == 0 || size % unit != 0)
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
  const spirv_array *array;  // null: a buffer
  MlirValue address;         // or the number of an element
  int bits;                  // of an element, in memory
  int alignment;
  bool is_volatile;  // others change it at the same time
} access;

// Of a complex number's parts, of pointers and indices as wide as they are held: 0.
static int memory_bits(MlirType type) {
  const MlirType element = ir_element_type(type);
  return mlirTypeIsAInteger(element) || mlirTypeIsAFloat(element) ? ir_bit_width(element) : 0;
}

static heddle_status access_of(spirv_code *c, MlirOperation op, int operand, MlirType type, access *out) {
  const spirv_value *pointer;
  TRY(spirv_values_operand(c, op, operand, &pointer));
  out->array = pointer->array;
  out->address = pointer->parts[0];
  out->bits = memory_bits(type);
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

static void load_from_buffer(spirv_code *c, const access *at, MlirType scalar, int count, MlirValue *out) {
  const int each = byte_size(scalar);
  ask_for_storage(c, scalar);
  for (int k = 0, width; k < count; k += width) {
    width = width_at(at, each, count - k);
    const MlirType type = group_type(scalar, width);
    MlirValue pointer = typed_pointer(c, at->address, (int64_t)k * each, type);
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
    const MlirValue pointer = typed_pointer(c, at->address, (int64_t)k * each, type);
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

// --- elements that are parts of words

static bool is_part_of_word(const spirv_code *c, const access *at) {
  return c->s.form == SPIRV_BY_WORDS && (at->bits == 8 || at->bits == 16);
}

// A word, and where in it an element lies.
typedef struct word_part {
  access word;
  MlirValue shift;
} word_part;

static MlirValue plus(spirv_code *c, MlirValue x, int64_t number) {
  return number ? spirv_build_binary(&c->s, "spirv.IAdd", x, spirv_build_int(&c->s, mlirValueGetType(x), number)) : x;
}

static word_part part_at(spirv_code *c, const access *at, int element) {
  const MlirType i32 = spirv_build_int_type(&c->s, 32), i64 = spirv_build_int_type(&c->s, 64);
  const MlirValue address = plus(c, at->address, (int64_t)element * at->bits / 8);
  const MlirValue byte =
      spirv_build_binary(&c->s, "spirv.BitwiseAnd", spirv_build_cast(&c->s, "spirv.UConvert", i32, address),
                         spirv_build_int(&c->s, i32, WORD_BYTES - 1));
  word_part made = {.word = {.bits = 32, .alignment = WORD_BYTES, .is_volatile = at->is_volatile}};
  made.word.address = spirv_build_binary(&c->s, "spirv.BitwiseAnd", address, spirv_build_int(&c->s, i64, -WORD_BYTES));
  made.shift = spirv_build_binary(&c->s, "spirv.ShiftLeftLogical", byte, spirv_build_int(&c->s, i32, 3));
  return made;
}

// The upper bits of what is loaded say nothing.
static void load_parts(spirv_code *c, const access *at, int count, MlirValue *out) {
  const MlirType i32 = spirv_build_int_type(&c->s, 32);
  const int each = at->bits / 8, per_word = WORD_BYTES / each;
  if (at->alignment % WORD_BYTES != 0) {
    for (int k = 0; k < count; k++) {
      const word_part part = part_at(c, at, k);
      MlirValue word;
      load_from_buffer(c, &part.word, i32, 1, &word);
      out[k] = spirv_build_binary(&c->s, "spirv.ShiftRightLogical", word, part.shift);
    }
    return;
  }
  const int words = (count + per_word - 1) / per_word;
  MlirValue *loaded = arena_array(c->s.b.arena, MlirValue, words);
  load_from_buffer(c, at, i32, words, loaded);
  for (int k = 0; k < count; k++) {
    const int shift = k % per_word * at->bits;
    out[k] = loaded[k / per_word];
    if (shift)
      out[k] = spirv_build_binary(&c->s, "spirv.ShiftRightLogical", out[k], spirv_build_int(&c->s, i32, shift));
  }
}

static MlirValue low_bits(spirv_code *c, MlirValue value, int bits) {
  const MlirType i32 = mlirValueGetType(value);
  return spirv_build_binary(&c->s, "spirv.BitwiseAnd", value, spirv_build_int(&c->s, i32, (1 << bits) - 1));
}

static MlirValue atomically(spirv_code *c, const char *name, MlirValue pointer, MlirValue value) {
  const MlirNamedAttribute attributes[] = {ir_named_text(c->s.b.context, "memory_scope", "#spirv.scope<Device>"),
                                           ir_named_text(c->s.b.context, "semantics", "#spirv.memory_semantics<None>")};
  return ir_value_with(&c->s.b, name, mlirValueGetType(value), 2, (MlirValue[]){pointer, value}, 2, attributes);
}

// Nobody else touches these bits: that they are cleared first is seen by no one.
static void store_part(spirv_code *c, const access *at, int element, MlirValue value) {
  const word_part part = part_at(c, at, element);
  const MlirType i32 = mlirValueGetType(value);
  const MlirValue pointer = typed_pointer(c, part.word.address, 0, i32);
  const MlirValue mask =
      spirv_build_binary(&c->s, "spirv.ShiftLeftLogical", spirv_build_int(&c->s, i32, (1 << at->bits) - 1), part.shift);
  (void)atomically(c, "spirv.AtomicAnd", pointer, spirv_build_unary(&c->s, "spirv.Not", mask));
  const MlirValue placed =
      spirv_build_binary(&c->s, "spirv.ShiftLeftLogical", low_bits(c, value, at->bits), part.shift);
  (void)atomically(c, "spirv.AtomicOr", pointer, placed);
}

// Whole words where the access has them.
static void store_parts(spirv_code *c, const access *at, int count, const MlirValue *values) {
  const int per_word = 32 / at->bits, words = at->alignment % WORD_BYTES == 0 ? count / per_word : 0;
  MlirValue *stored = arena_array(c->s.b.arena, MlirValue, words);
  for (int k = 0; k < words * per_word; k++) {
    const int shift = k % per_word * at->bits;
    MlirValue part = low_bits(c, values[k], at->bits);
    if (shift)
      part = spirv_build_binary(&c->s, "spirv.ShiftLeftLogical", part,
                                spirv_build_int(&c->s, mlirValueGetType(part), shift));
    MlirValue *word = &stored[k / per_word];
    *word = shift ? spirv_build_binary(&c->s, "spirv.BitwiseOr", *word, part) : part;
  }
  if (words) store_to_buffer(c, at, words, stored);
  for (int k = words * per_word; k < count; k++) store_part(c, at, k, values[k]);
}

// --- loads and stores

// Of the element in memory; floats of 8 and 16 bits have been made integers.
static heddle_status check_width(const access *at, MlirType scalar) {
  const int bits = at->bits ? at->bits : ir_bit_width(scalar);
  if (at->array->bits == bits) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "an access of %d bits to memory of the workgroup of %d", bits,
                      at->array->bits);
}

static MlirValue element_behind(spirv_code *c, const access *at, int64_t k) {
  return spirv_memory_element(c, at->array, plus(c, at->address, k));
}

static heddle_status load(spirv_code *c, MlirOperation op) {
  access at;
  spirv_types types = {0};
  TRY(access_of(c, op, 0, ir_result_type(op, 0), &at));
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  MlirValue *loaded = arena_array(c->s.b.arena, MlirValue, types.size);
  if (at.array) {
    TRY(check_width(&at, types.data[0]));
    for (int k = 0; k < types.size; k++)
      loaded[k] = spirv_build_bitcast(&c->s, types.data[k],
                                      spirv_build_load(&c->s, at.array->element, element_behind(c, &at, k)));
  } else if (is_part_of_word(c, &at)) {
    load_parts(c, &at, types.size, loaded);
  } else {
    load_from_buffer(c, &at, types.data[0], types.size, loaded);
  }
  spirv_values_put(c, ir_result(op, 0), types.size, loaded);
  return status_ok();
}

static heddle_status store(spirv_code *c, MlirOperation op) {
  access at;
  const spirv_value *value;
  TRY(spirv_values_operand(c, op, 0, &value));
  TRY(access_of(c, op, 1, mlirValueGetType(ir_operand(op, 0)), &at));
  if (!at.array) {
    (is_part_of_word(c, &at) ? store_parts : store_to_buffer)(c, &at, value->count, value->parts);
    return status_ok();
  }
  TRY(check_width(&at, mlirValueGetType(value->parts[0])));
  for (int k = 0; k < value->count; k++)
    spirv_build_store(&c->s, element_behind(c, &at, k), spirv_build_bitcast(&c->s, at.array->element, value->parts[k]));
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
  MlirValue operand = {NULL};
  TRY(atomic_pointer(c, pointer, word, &operand));
  const MlirValue old = atomically(c, names[kind], operand, value->parts[0]);
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
