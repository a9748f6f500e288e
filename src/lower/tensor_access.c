// Loads and stores of tensor elements: the table in the header, as code.
//
// Addresses are inbounds offsets of the argument's pointer in units of the stored type, so that LLVM's alias analysis
// and addressing modes see an array walked by its index.
#include "lower/tensor_access.h"

#include "base/int64.h"
#include "dialect/xla_gpu.h"
#include "lower/llvm_build.h"

static bool is_float8(MlirType t) { return mlirTypeIsAFloat(t) && ir_bit_width(t) == 8; }

MlirType tensor_access_stored_type(MlirType element) {
  MlirContext c = mlirTypeGetContext(element);
  if (mlirTypeIsAComplex(element)) return mlirComplexTypeGetElementType(element);
  if (mlirTypeIsAIndex(element)) return mlirIntegerTypeGet(c, 64);
  if (ir_bit_width(element) < 8 || is_float8(element)) return mlirIntegerTypeGet(c, 8);
  return element;
}

int tensor_access_bytes(MlirType stored) { return ir_bit_width(stored) / 8; }

int tensor_access_per_byte(MlirType element) {
  if (!mlirTypeIsAInteger(element)) return 1;
  int bits = ir_bit_width(element);
  return bits == 2 || bits == 4 ? 8 / bits : 1;
}

int64_t tensor_access_slots(MlirType element, int64_t count) {
  int per_byte = tensor_access_per_byte(element);
  if (per_byte > 1) return (count + per_byte - 1) / per_byte;
  return mlirTypeIsAComplex(element) ? count * 2 : count;
}

MlirValue tensor_access_to_stored(ir_builder *b, MlirValue value) {
  MlirType type = mlirValueGetType(value), element = ir_element_type(type);
  MlirType stored = ir_like(type, tensor_access_stored_type(element));
  if (mlirTypeEqual(type, stored)) return value;
  if (mlirTypeIsAIndex(element)) return ir_cast(b, "arith.index_cast", stored, value);
  return ir_cast(b, mlirTypeIsAFloat(element) ? "arith.bitcast" : "arith.extui", stored, value);
}

MlirValue tensor_access_from_stored(ir_builder *b, MlirType type, MlirValue stored) {
  MlirType element = ir_element_type(type), stored_type = mlirValueGetType(stored);
  if (mlirTypeEqual(type, stored_type)) return stored;
  if (mlirTypeIsAIndex(element)) return ir_cast(b, "arith.index_cast", type, stored);
  if (mlirTypeIsAFloat(element)) return ir_cast(b, "arith.bitcast", type, stored);
  if (ir_bit_width(element) == 1) return ir_cmpi(b, "ne", stored, ir_int(b, stored_type, 0));
  return ir_cast(b, "arith.trunci", type, stored);
}

// --- alignment

// A power of two above any alignment that matters. Every multiple found is reduced to its share of it, which keeps
// products in range; 0, a multiple of everything, becomes MAX_MULTIPLE itself.
#define MAX_MULTIPLE ((int64_t)1 << 20)
#define MAX_DEPTH 8  // definitions looked through

typedef struct multiples {
  const MlirValue *variables;  // dims, then symbols
  int dim_count;
  int depth;
  int64_t *of;  // per visited node
  int64_t last;
} multiples;

static int64_t known_multiple(MlirValue index, int depth);

static void visit_expression(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  multiples *m = context;
  int64_t l = lhs < 0 ? 1 : m->of[lhs], r = rhs < 0 ? 1 : m->of[rhs], result = 1;
  switch (e->kind) {
    case AFFINE_CONSTANT: result = e->value == INT64_MIN ? 0 : e->value; break;
    case AFFINE_DIM: result = known_multiple(m->variables[e->value], m->depth + 1); break;
    case AFFINE_SYMBOL: result = known_multiple(m->variables[m->dim_count + e->value], m->depth + 1); break;
    case AFFINE_ADD:
    case AFFINE_MOD: result = int64_gcd(l, r); break;
    case AFFINE_MUL: result = l * r; break;
    case AFFINE_FLOORDIV: result = l % e->rhs->value == 0 ? l / e->rhs->value : 1; break;
  }
  m->last = m->of[index] = int64_gcd(result, MAX_MULTIPLE);
}

static int64_t multiple_of_map(MlirOperation op, int result, int depth) {
  const indexing_map *map = xla_gpu_indexing_map(ir_get(op, "map"));
  arena *a = arena_create();
  int count = (int)mlirOperationGetNumOperands(op);
  MlirValue *variables = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) variables[i] = ir_operand(op, i);
  int64_t *of = arena_array(a, int64_t, map->results[result]->weight);
  multiples m = {variables, map->dim_count, depth, of, 1};
  affine_walk(&map->results[result], 1, visit_expression, &m);  // ends with the root
  arena_destroy(a);
  return m.last;
}

static int64_t multiple_of_argument(MlirValue index, int depth) {
  MlirBlock block = mlirBlockArgumentGetOwner(index);
  MlirOperation owner = mlirBlockGetParentOperation(block);
  if (!ir_is(owner, "scf.for") || mlirBlockArgumentGetArgNumber(index) != 0) return 1;
  return int64_gcd(known_multiple(ir_operand(owner, 0), depth + 1), known_multiple(ir_operand(owner, 2), depth + 1));
}

// The number of elements that `index` is always a multiple of, as far as its definition shows (at least 1).
static int64_t known_multiple(MlirValue index, int depth) {
  int64_t constant;
  if (depth > MAX_DEPTH) return 1;
  if (ir_constant_value(index, &constant)) return int64_gcd(constant == INT64_MIN ? 0 : constant, MAX_MULTIPLE);
  if (mlirValueIsABlockArgument(index)) return multiple_of_argument(index, depth);
  MlirOperation op = ir_defining_op(index);
  if (ir_is(op, "xla_gpu.apply_indexing")) return multiple_of_map(op, (int)mlirOpResultGetResultNumber(index), depth);
  if (ir_is(op, "arith.index_cast") || ir_is(op, "arith.index_castui"))
    return known_multiple(ir_operand(op, 0), depth + 1);
  bool add = ir_is(op, "arith.addi") || ir_is(op, "arith.subi");
  if (!add && !ir_is(op, "arith.muli")) return 1;
  int64_t l = known_multiple(ir_operand(op, 0), depth + 1), r = known_multiple(ir_operand(op, 1), depth + 1);
  return int64_gcd(add ? int64_gcd(l, r) : l * r, MAX_MULTIPLE);
}

// What is known of the address of a slot `index * slot_bytes` into the tensor.
static int alignment_at(const tensor_memory *m, MlirValue index, int element_bytes) {
  return (int)int64_gcd(m->alignment, known_multiple(index, 0) * element_bytes);
}

// --- addresses

static MlirValue element_number(ir_builder *b, const tensor_memory *m, MlirValue index) {
  int64_t constant;
  MlirType type = mlirIntegerTypeGet(b->context, (unsigned)m->index_bits);
  if (ir_constant_value(index, &constant)) return ir_int(b, type, constant);
  return ir_cast(b, "arith.index_cast", type, index);
}

static MlirValue slot_address(ir_builder *b, const tensor_memory *m, MlirValue number) {
  return llvm_build_address(b, m->pointer, tensor_access_stored_type(m->element), number);
}

MlirValue tensor_access_address(ir_builder *b, const tensor_memory *m, MlirValue index, MlirValue *shift) {
  MlirValue number = element_number(b, m, index);
  MlirType type = mlirValueGetType(number);
  int per_byte = tensor_access_per_byte(m->element);
  *shift = (MlirValue){0};
  if (mlirTypeIsAComplex(m->element)) number = ir_binary(b, "arith.muli", number, ir_int(b, type, 2));
  if (per_byte > 1) {
    MlirType i8 = mlirIntegerTypeGet(b->context, 8);
    MlirValue within = ir_binary(b, "arith.andi", number, ir_int(b, type, per_byte - 1));
    MlirValue bits = ir_binary(b, "arith.muli", within, ir_int(b, type, 8 / per_byte));
    *shift = ir_cast(b, "arith.trunci", i8, bits);
    number = ir_binary(b, "arith.shrui", number, ir_int(b, type, per_byte == 2 ? 1 : 2));
  }
  return slot_address(b, m, number);
}

MlirValue tensor_access_word(ir_builder *b, const tensor_memory *m, MlirValue index, MlirValue *shift) {
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue number = element_number(b, m, index);
  MlirType type = mlirValueGetType(number);
  const int per_byte = tensor_access_per_byte(m->element);
  const int bits = per_byte > 1 ? 8 / per_byte : ir_bit_width(tensor_access_stored_type(m->element));
  const int64_t per_word = 32 / bits;
  MlirValue within = ir_binary(b, "arith.andi", number, ir_int(b, type, per_word - 1));
  within = ir_binary(b, "arith.muli", within, ir_int(b, type, bits));
  *shift = m->index_bits == 32 ? within : ir_cast(b, "arith.trunci", i32, within);
  MlirValue word = ir_binary(b, "arith.shrui", number, ir_int(b, type, __builtin_ctzll((uint64_t)per_word)));
  return llvm_build_address(b, m->pointer, i32, word);
}

// --- scalars

// Both parts at once, if their address is a multiple of their size: neighbouring threads then read what lies together.
static bool is_whole_access(const tensor_memory *m, int bytes) {
  return m->shared_by_threads && m->alignment % (2 * bytes) == 0;
}

static MlirValue element_of(ir_builder *b, MlirType element, MlirValue vector, int64_t lane) {
  MlirNamedAttribute position = ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &lane));
  return ir_value_with(b, "vector.extract", element, 1, &vector, 1, &position);
}

static MlirValue load_complex(ir_builder *b, const tensor_memory *m, MlirValue address, int bytes) {
  MlirType part = tensor_access_stored_type(m->element);
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue parts[2];
  if (is_whole_access(m, bytes)) {
    const MlirType pair = mlirVectorTypeGet(1, &(int64_t){2}, part);
    const MlirValue both = llvm_build_load(b, pair, address, 2 * bytes, m->invariant);
    for (int p = 0; p < 2; p++) parts[p] = element_of(b, part, both, p);
  } else {
    const MlirValue second = llvm_build_address(b, address, part, ir_int(b, i32, 1));
    parts[0] = llvm_build_load(b, part, address, bytes, m->invariant);
    parts[1] = llvm_build_load(b, part, second, bytes, m->invariant);
  }
  return ir_value(b, "complex.create", m->element, 2, parts);
}

MlirValue tensor_access_load(ir_builder *b, const tensor_memory *m, MlirValue index) {
  MlirType stored = tensor_access_stored_type(m->element);
  MlirValue shift;
  MlirValue address = tensor_access_address(b, m, index, &shift);
  int bytes = tensor_access_bytes(stored);
  if (mlirTypeIsAComplex(m->element)) return load_complex(b, m, address, bytes);
  // Another thread may change a neighbour in the same byte meanwhile.
  const bool is_contended = shift.ptr && m->shared_by_threads && !m->invariant;
  MlirValue loaded = is_contended ? llvm_build_atomic_load(b, stored, address)
                                  : llvm_build_load(b, stored, address, bytes, m->invariant);
  if (shift.ptr) loaded = ir_binary(b, "arith.shrui", loaded, shift);
  return tensor_access_from_stored(b, m->element, loaded);
}

static void store_complex(ir_builder *b, const tensor_memory *m, MlirValue value, MlirValue address, int bytes) {
  static const char *const names[] = {"complex.re", "complex.im"};
  MlirType part = tensor_access_stored_type(m->element);
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  const bool is_whole = is_whole_access(m, bytes);
  MlirValue parts[2];
  for (int p = 0; p < 2; p++) {
    parts[p] = ir_value(b, names[p], part, 1, &value);
    const MlirValue at = p == 0 || is_whole ? address : llvm_build_address(b, address, part, ir_int(b, i32, 1));
    if (!is_whole) llvm_build_store(b, parts[p], at, bytes);
  }
  if (!is_whole) return;
  const MlirType pair = mlirVectorTypeGet(1, &(int64_t){2}, part);
  llvm_build_store(b, ir_value(b, "vector.from_elements", pair, 2, parts), address, 2 * bytes);
}

// The byte's neighbours keep their value. Where several threads may write one byte, clearing and setting are atomic
// (LLVM makes of it what the machine has, on words); the moment between them is seen by nobody, since a kernel does not
// read what another thread of it writes.
static void store_packed(ir_builder *b, const tensor_memory *m, MlirValue value, MlirValue address, MlirValue shift) {
  MlirType i8 = mlirIntegerTypeGet(b->context, 8);
  int bits = ir_bit_width(m->element);
  MlirValue mask = ir_binary(b, "arith.shli", ir_int(b, i8, (1 << bits) - 1), shift);
  MlirValue keep = ir_binary(b, "arith.xori", mask, ir_int(b, i8, -1));
  MlirValue placed = ir_binary(b, "arith.shli", ir_cast(b, "arith.extui", i8, value), shift);
  if (m->shared_by_threads) {
    llvm_build_atomic(b, "_and", address, keep);
    llvm_build_atomic(b, "_or", address, placed);
    return;
  }
  MlirValue kept = ir_binary(b, "arith.andi", llvm_build_load(b, i8, address, 1, false), keep);
  llvm_build_store(b, ir_binary(b, "arith.ori", kept, placed), address, 1);
}

void tensor_access_store(ir_builder *b, const tensor_memory *m, MlirValue value, MlirValue index) {
  MlirValue shift;
  MlirValue address = tensor_access_address(b, m, index, &shift);
  int bytes = tensor_access_bytes(tensor_access_stored_type(m->element));
  if (mlirTypeIsAComplex(m->element)) {
    store_complex(b, m, value, address, bytes);
  } else if (shift.ptr) {
    store_packed(b, m, value, address, shift);
  } else {
    llvm_build_store(b, tensor_access_to_stored(b, value), address, bytes);
  }
}

// --- packed elements on grids
//
// A thread's registers hold 32 bits, and there are no instructions for bytes in them: packed elements are shifted out
// of words, each on its own. As vectors of i4 or of bytes they would lie in the thread's own memory instead.

static bool is_in_words(const tensor_memory *m, MlirType vector) {
  if (!m->shared_by_threads || tensor_access_per_byte(m->element) == 1) return false;
  const int64_t slots = tensor_access_slots(m->element, mlirShapedTypeGetDimSize(vector, 0));
  return (slots & (slots - 1)) == 0;
}

// The words of `bits` bits, a power of two: one of up to 64 bits, else several of 32.
static MlirType words_of(MlirContext c, int64_t bits) {
  if (bits <= 64) return mlirIntegerTypeGet(c, (unsigned)bits);
  const int64_t count = bits / 32;
  return mlirVectorTypeGet(1, &count, mlirIntegerTypeGet(c, 32));
}

static MlirValue lane_of_words(ir_builder *b, MlirValue words, MlirType element, int64_t lane) {
  const MlirType type = mlirValueGetType(words), word_type = ir_element_type(type);
  const int64_t at = lane * ir_bit_width(element), width = ir_bit_width(word_type);
  MlirValue word = ir_is_vector(type) ? element_of(b, word_type, words, at / width) : words;
  if (at % width) word = ir_binary(b, "arith.shrui", word, ir_int(b, word_type, at % width));
  return ir_cast(b, "arith.trunci", element, word);
}

static MlirValue unpack_words(ir_builder *b, MlirType vector, MlirValue words) {
  const int64_t count = mlirShapedTypeGetDimSize(vector, 0);
  MlirValue *lanes = arena_array(b->arena, MlirValue, count);
  for (int64_t l = 0; l < count; l++) lanes[l] = lane_of_words(b, words, ir_element_type(vector), l);
  return ir_value(b, "vector.from_elements", vector, (int)count, lanes);
}

static MlirValue pack_words(ir_builder *b, MlirType words, MlirValue vector) {
  const MlirType element = ir_element_type(mlirValueGetType(vector)), word_type = ir_element_type(words);
  const int bits = ir_bit_width(element);
  const int64_t per_word = ir_bit_width(word_type) / bits;
  const int64_t count = ir_is_vector(words) ? mlirShapedTypeGetDimSize(words, 0) : 1;
  MlirValue *packed = arena_array(b->arena, MlirValue, count);
  for (int64_t l = 0; l < count * per_word; l++) {
    const int64_t at = l % per_word;
    MlirValue lane = ir_cast(b, "arith.extui", word_type, element_of(b, element, vector, l));
    if (at > 0) lane = ir_binary(b, "arith.shli", lane, ir_int(b, word_type, at * bits));
    packed[l / per_word] = at > 0 ? ir_binary(b, "arith.ori", packed[l / per_word], lane) : lane;
  }
  return ir_is_vector(words) ? ir_value(b, "vector.from_elements", words, (int)count, packed) : packed[0];
}

// --- vectors

typedef struct vector_address {
  MlirValue address;
  MlirType stored;  // vector type in memory
  int alignment;
} vector_address;

static heddle_status vector_address_of(ir_builder *b, const tensor_memory *m, MlirType vector, MlirValue index,
                                       vector_address *out) {
  if (mlirTypeIsAComplex(m->element) || mlirShapedTypeGetRank(vector) != 1)
    return status_error(HEDDLE_UNIMPLEMENTED, "vector access to %s as %s", ir_type_text(b->arena, m->element),
                        ir_type_text(b->arena, vector));
  int64_t count = mlirShapedTypeGetDimSize(vector, 0);
  int per_byte = tensor_access_per_byte(m->element);
  MlirValue shift;
  out->address = tensor_access_address(b, m, index, &shift);
  MlirType element = tensor_access_stored_type(m->element);
  int64_t slots = tensor_access_slots(m->element, count);
  int bytes = tensor_access_bytes(element);
  out->stored = is_in_words(m, vector) ? words_of(b->context, slots * 8) : mlirVectorTypeGet(1, &slots, element);
  out->alignment =
      per_byte > 1 ? (int)int64_gcd(m->alignment, known_multiple(index, 0) / per_byte) : alignment_at(m, index, bytes);
  if (out->alignment < bytes) out->alignment = bytes;
  return status_ok();
}

// Packed elements that do not fill whole bytes from the first on.
static bool is_ragged(const tensor_memory *m, MlirType vector, MlirValue index) {
  int per_byte = tensor_access_per_byte(m->element);
  return per_byte > 1 && mlirShapedTypeGetRank(vector) == 1 &&
         (mlirShapedTypeGetDimSize(vector, 0) % per_byte || known_multiple(index, 0) % per_byte);
}

static heddle_status refuse_mask(ir_builder *b, const tensor_memory *m, MlirType vector, MlirValue mask) {
  if (!mask.ptr || tensor_access_per_byte(m->element) == 1) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "masked vector access to packed %s", ir_type_text(b->arena, vector));
}

// Lanes of x and y, which are bytes: `count` numbers, those of y from x's size on.
static MlirValue shuffle_bytes(ir_builder *b, MlirValue x, MlirValue y, int64_t count, const int64_t *lanes) {
  MlirAttribute *numbers = arena_array(b->arena, MlirAttribute, count);
  for (int64_t l = 0; l < count; l++) numbers[l] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), lanes[l]);
  MlirNamedAttribute mask = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, count, numbers));
  MlirType type = mlirVectorTypeGet(1, &count, ir_element_type(mlirValueGetType(x)));
  return ir_value_with(b, "vector.shuffle", type, 2, (MlirValue[]){x, y}, 1, &mask);
}

// Bytes -> their packed elements in order. Every byte is repeated for each of its elements, then shifted by the
// element's position.
static MlirValue unpack(ir_builder *b, MlirType vector, MlirValue bytes) {
  const int64_t count = mlirShapedTypeGetDimSize(vector, 0);
  const int per_byte = tensor_access_per_byte(ir_element_type(vector)), bits = 8 / per_byte;
  MlirType i8 = mlirIntegerTypeGet(b->context, 8), wide = ir_like(vector, i8);
  int64_t *lanes = arena_array(b->arena, int64_t, count);
  MlirAttribute *distances = arena_array(b->arena, MlirAttribute, count);
  for (int64_t l = 0; l < count; l++) {
    lanes[l] = l / per_byte;
    distances[l] = mlirIntegerAttrGet(i8, l % per_byte * bits);
  }
  MlirNamedAttribute value = ir_named(b->context, "value", mlirDenseElementsAttrGet(wide, count, distances));
  MlirValue shifts = ir_value_with(b, "arith.constant", wide, 0, NULL, 1, &value);
  MlirValue repeated = shuffle_bytes(b, bytes, bytes, count, lanes);
  return ir_cast(b, "arith.trunci", vector, ir_binary(b, "arith.shrui", repeated, shifts));
}

// The other way round: the first elements of all bytes, then the second ones above them, and so on.
static MlirValue pack(ir_builder *b, MlirType bytes, MlirValue vector) {
  const int64_t count = mlirShapedTypeGetDimSize(bytes, 0);
  const int per_byte = tensor_access_per_byte(ir_element_type(mlirValueGetType(vector))), bits = 8 / per_byte;
  MlirValue wide = tensor_access_to_stored(b, vector), result = {NULL};
  int64_t *lanes = arena_array(b->arena, int64_t, count);
  for (int position = 0; position < per_byte; position++) {
    for (int64_t l = 0; l < count; l++) lanes[l] = l * per_byte + position;
    MlirValue part = shuffle_bytes(b, wide, wide, count, lanes);
    if (position > 0) part = ir_binary(b, "arith.shli", part, ir_int(b, bytes, (int64_t)position * bits));
    result = result.ptr ? ir_binary(b, "arith.ori", result, part) : part;
  }
  return result;
}

MlirValue tensor_access_gather(ir_builder *b, MlirType vector, MlirValue *lanes) {
  const int count = (int)mlirShapedTypeGetDimSize(vector, 0);
  if (tensor_access_per_byte(ir_element_type(vector)) == 1)
    return ir_value(b, "vector.from_elements", vector, count, lanes);
  for (int l = 0; l < count; l++) lanes[l] = tensor_access_to_stored(b, lanes[l]);
  MlirType wide = ir_like(vector, mlirIntegerTypeGet(b->context, 8));
  return ir_cast(b, "arith.trunci", vector, ir_value(b, "vector.from_elements", wide, count, lanes));
}

static MlirValue index_at(ir_builder *b, MlirValue index, int64_t lane) {
  return lane ? ir_binary(b, "arith.addi", index, ir_index(b, lane)) : index;
}

static MlirValue load_lanes(ir_builder *b, const tensor_memory *m, MlirType vector, MlirValue index) {
  int64_t count = mlirShapedTypeGetDimSize(vector, 0);
  MlirValue *lanes = arena_array(b->arena, MlirValue, count);
  for (int64_t l = 0; l < count; l++) lanes[l] = tensor_access_load(b, m, index_at(b, index, l));
  return m->shared_by_threads ? ir_value(b, "vector.from_elements", vector, (int)count, lanes)
                              : tensor_access_gather(b, vector, lanes);
}

static void store_lanes(ir_builder *b, const tensor_memory *m, MlirValue vector, MlirValue index) {
  // As bytes, but for grids.
  const MlirValue all = m->shared_by_threads ? vector : tensor_access_to_stored(b, vector);
  const MlirType element = ir_element_type(mlirValueGetType(all));
  for (int64_t l = 0; l < mlirShapedTypeGetDimSize(mlirValueGetType(all), 0); l++) {
    MlirValue lane = element_of(b, element, all, l);
    if (!m->shared_by_threads) lane = ir_cast(b, "arith.trunci", m->element, lane);
    tensor_access_store(b, m, lane, index_at(b, index, l));
  }
}

// As code generation knows masked vectors of it: not all machines that have them have such of 16-bit floats.
static MlirType masked_type(MlirType stored) {
  const MlirType element = ir_element_type(stored);
  if (!mlirTypeIsAFloat(element) || ir_bit_width(element) != 16) return stored;
  return ir_like(stored, mlirIntegerTypeGet(mlirTypeGetContext(stored), 16));
}

static MlirValue recast(ir_builder *b, MlirType type, MlirValue value) {
  return mlirTypeEqual(mlirValueGetType(value), type) ? value : ir_cast(b, "arith.bitcast", type, value);
}

static MlirValue load_masked(ir_builder *b, const vector_address *at, MlirValue mask, MlirValue padding) {
  const MlirValue spread = ir_cast(b, "vector.broadcast", at->stored, tensor_access_to_stored(b, padding));
  const MlirValue otherwise = recast(b, masked_type(at->stored), spread);
  return recast(b, at->stored, llvm_build_masked_load(b, at->address, mask, otherwise, at->alignment));
}

heddle_status tensor_access_load_vector(ir_builder *b, const tensor_memory *m, MlirType vector, MlirValue index,
                                        MlirValue mask, MlirValue padding, MlirValue *out) {
  TRY(refuse_mask(b, m, vector, mask));
  if (is_ragged(m, vector, index)) {
    *out = load_lanes(b, m, vector, index);
    return status_ok();
  }
  vector_address at = {0};
  TRY(vector_address_of(b, m, vector, index, &at));
  MlirValue loaded;
  if (mask.ptr) {
    // The first lanes may be off because they lie before the tensor.
    MlirOperation address = ir_defining_op(at.address);
    if (!ir_is_null(address) && ir_is(address, "llvm.getelementptr")) ir_unset(address, "inbounds");
    loaded = load_masked(b, &at, mask, padding);
  } else {
    loaded = llvm_build_load(b, at.stored, at.address, at.alignment, m->invariant);
  }
  const bool is_packed = tensor_access_per_byte(m->element) > 1;
  if (is_packed) *out = is_in_words(m, vector) ? unpack_words(b, vector, loaded) : unpack(b, vector, loaded);
  else *out = tensor_access_from_stored(b, vector, loaded);
  return status_ok();
}

heddle_status tensor_access_store_vector(ir_builder *b, const tensor_memory *m, MlirValue vector, MlirValue index,
                                         MlirValue mask) {
  TRY(refuse_mask(b, m, mlirValueGetType(vector), mask));
  if (is_ragged(m, mlirValueGetType(vector), index)) {
    store_lanes(b, m, vector, index);
    return status_ok();
  }
  vector_address at = {0};
  TRY(vector_address_of(b, m, mlirValueGetType(vector), index, &at));
  const bool is_packed = tensor_access_per_byte(m->element) > 1;
  MlirValue stored;
  if (is_packed)
    stored = is_in_words(m, mlirValueGetType(vector)) ? pack_words(b, at.stored, vector) : pack(b, at.stored, vector);
  else stored = tensor_access_to_stored(b, vector);
  if (mask.ptr) {
    llvm_build_masked_store(b, recast(b, masked_type(at.stored), stored), at.address, mask, at.alignment);
  } else if (m->stream_alignment > 0 && at.alignment % m->stream_alignment == 0) {
    llvm_build_streaming_store(b, stored, at.address, at.alignment);
  } else {
    llvm_build_store(b, stored, at.address, at.alignment);
  }
  return status_ok();
}
