// Atomic updates of one element.
//
// Integer addition, minimum and maximum, bitwise operations, float addition and plain overwriting exist as
// instructions; a complex number is added part by part. A float's maximum is an integer's: floats of one sign are
// ordered as their bits, so what is not negative is stored by a signed maximum, and what is by an unsigned minimum. NaN
// becomes the one that is above all in this order. What is NaN in memory from the start, with whatever bits, stays:
// each thread sees it before it writes. The minimum is the same upside down.
//
// Anything else computes a new value from the one it read and stores it only if nobody was faster:
//
//   old = load
//   do { new = body(old); (old, done) = cmpxchg(address, old, new) } while (!done)
//
// Values are compared as integers, so that NaN equals itself. Where threads share memory, narrow elements exchange the
// 32-bit word that they lie in: no machine exchanges less.
#include "lower/tensor_atomics.h"

#include "lower/llvm_build.h"

// --- what the body does

static const struct {
  const char *op;
  const char *kind;
} direct_kinds[] = {
    {"arith.addi", "add"},  {"arith.maxsi", "max"},  {"arith.maxui", "umax"},
    {"arith.minsi", "min"}, {"arith.minui", "umin"}, {"arith.andi", "_and"},
    {"arith.ori", "_or"},   {"arith.xori", "_xor"},  {"arith.addf", "fadd"},
};

static bool adds_floats(MlirType t, const target_description *target) {
  if (mlirTypeIsAF16(t)) return target->adds_f16_atomically;
  if (mlirTypeIsABF16(t)) return target->adds_bf16_atomically;
  return target->adds_floats_atomically && (mlirTypeIsAF32(t) || mlirTypeIsAF64(t));
}

static bool is_word(MlirType t) { return mlirTypeIsAInteger(t) && (ir_bit_width(t) == 32 || ir_bit_width(t) == 64); }

// The value stored does not depend on the old one.
static bool is_overwrite(MlirBlock body, MlirValue yielded) {
  MlirOperation first = mlirBlockGetFirstOperation(body);
  return mlirOperationEqual(first, ir_terminator(body)) &&
         !(mlirValueIsABlockArgument(yielded) && mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), body));
}

// The operation of a body that is `yield(operation(current, other))`, and the other operand; null for other bodies.
static MlirOperation single_operation(MlirBlock body, MlirValue yielded, MlirValue *other) {
  const MlirOperation op = mlirBlockGetFirstOperation(body), none = {0};
  bool alone = !mlirOperationEqual(op, ir_terminator(body)) &&
               mlirOperationEqual(mlirOperationGetNextInBlock(op), ir_terminator(body));
  if (!alone || mlirOperationGetNumResults(op) != 1 || !mlirValueEqual(ir_result(op, 0), yielded)) return none;
  if (mlirOperationGetNumOperands(op) != 2) return none;
  MlirValue current = mlirBlockGetArgument(body, 0);
  bool left = mlirValueEqual(ir_operand(op, 0), current), right = mlirValueEqual(ir_operand(op, 1), current);
  if (left == right) return none;
  *other = ir_operand(op, left ? 1 : 0);
  return op;
}

// --- one instruction

static MlirType bits_type(ir_builder *b, int bits) { return mlirIntegerTypeGet(b->context, (unsigned)bits); }

static void build_overwrite(ir_builder *b, const tensor_memory *m, MlirValue value, MlirValue index) {
  const bool is_plain = !m->shared_by_threads || mlirTypeIsAComplex(m->element);
  if (is_plain || tensor_access_per_byte(m->element) > 1) {
    tensor_access_store(b, m, value, index);
    return;
  }
  MlirValue shift, stored = tensor_access_to_stored(b, value);
  MlirValue address = tensor_access_address(b, m, index, &shift);
  if (mlirTypeIsAFloat(mlirValueGetType(stored)))
    stored = ir_cast(b, "arith.bitcast", bits_type(b, ir_bit_width(mlirValueGetType(stored))), stored);
  llvm_build_atomic_store(b, stored, address);
}

static bool is_current(MlirBlock body, MlirValue v) { return mlirValueEqual(v, mlirBlockGetArgument(body, 0)); }

// What is added to the current number's part (complex.re or complex.im) to make v, built before the body; null if v is
// made otherwise.
static MlirValue added_part(ir_builder *b, MlirBlock body, MlirValue v, const char *part) {
  const MlirValue none = {NULL};
  const MlirOperation sum = mlirValueIsABlockArgument(v) ? (MlirOperation){NULL} : ir_defining_op(v);
  if (ir_is_null(sum) || !ir_is(sum, "arith.addf")) return none;
  for (int k = 0; k < 2; k++) {
    MlirValue left = ir_operand(sum, k), right = ir_operand(sum, 1 - k);
    if (mlirValueIsABlockArgument(left)) continue;
    const MlirOperation from = ir_defining_op(left);
    if (!ir_is(from, part) || !is_current(body, ir_operand(from, 0))) continue;
    if (mlirValueIsABlockArgument(right)) return right;
    const MlirOperation other = ir_defining_op(right);
    if (!mlirBlockEqual(mlirOperationGetBlock(other), body)) return right;
    const bool is_part = ir_is(other, "complex.re") || ir_is(other, "complex.im");
    if (!is_part || is_current(body, ir_operand(other, 0))) return none;
    MlirValue whole = ir_operand(other, 0);
    return ir_value(b, ir_is(other, "complex.re") ? "complex.re" : "complex.im", mlirValueGetType(right), 1, &whole);
  }
  return none;
}

static MlirBlock append_block(MlirRegion region, MlirType argument, MlirLocation location) {
  MlirBlock block = mlirBlockCreate(1, &argument, &location);
  mlirRegionAppendOwnedBlock(region, block);
  return block;
}

// scf.while over what memory holds, of which the first region is to be filled: its argument is the word as it was seen
// last.
static MlirBlock begin_exchanging(ir_builder *b, MlirType word, MlirValue first) {
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  const MlirBlock before = append_block(regions[0], word, b->location);
  const MlirBlock after = append_block(regions[1], word, b->location);
  ir_build(b, (ir_op_state){.name = "scf.while",
                            .operand_count = 1,
                            .operands = &first,
                            .result_count = 1,
                            .results = &word,
                            .region_count = 2,
                            .regions = regions});
  ir_builder next = ir_builder_at_end(b->context, after, b->arena);
  const MlirValue carried = mlirBlockGetArgument(after, 0);
  ir_yield(&next, 1, &carried);
  return before;
}

// Ends the first region: once more if somebody was faster.
static void try_exchange(ir_builder *inner, MlirValue address, MlirValue old, MlirValue wanted) {
  MlirValue done;
  const MlirValue seen = llvm_build_exchange(inner, address, old, wanted, &done);
  const MlirValue again = ir_binary(inner, "arith.xori", done, ir_int(inner, mlirValueGetType(done), 1));
  ir_build(inner, (ir_op_state){.name = "scf.condition", .operand_count = 2, .operands = (MlirValue[]){again, seen}});
}

static void add_part(ir_builder *b, MlirValue address, MlirValue value, const target_description *target) {
  if (target->adds_floats_atomically) {
    llvm_build_atomic(b, "fadd", address, value);
    return;
  }
  const MlirType type = mlirValueGetType(value), word = bits_type(b, ir_bit_width(type));
  const MlirBlock before = begin_exchanging(b, word, llvm_build_atomic_load(b, word, address));
  ir_builder inner = ir_builder_at_end(b->context, before, b->arena);
  const MlirValue old = mlirBlockGetArgument(before, 0);
  const MlirValue sum = ir_binary(&inner, "arith.addf", ir_cast(&inner, "arith.bitcast", type, old), value);
  try_exchange(&inner, address, old, ir_cast(&inner, "arith.bitcast", word, sum));
}

// Adds a complex number part by part; false if the body does anything else.
static bool add_complex(ir_builder *b, MlirBlock body, MlirValue yielded, const tensor_memory *m, MlirValue index,
                        const target_description *target) {
  if (!mlirTypeIsAComplex(m->element) || mlirValueIsABlockArgument(yielded)) return false;
  const MlirOperation made = ir_defining_op(yielded);
  if (!ir_is(made, "complex.create")) return false;
  MlirValue re = added_part(b, body, ir_operand(made, 0), "complex.re");
  MlirValue im = added_part(b, body, ir_operand(made, 1), "complex.im");
  if (!re.ptr || !im.ptr) return false;
  MlirType part = tensor_access_stored_type(m->element);
  MlirValue shift, address = tensor_access_address(b, m, index, &shift);
  MlirValue second = llvm_build_address(b, address, part, ir_int(b, bits_type(b, 32), 1));
  add_part(b, address, re, target);
  add_part(b, second, im, target);
  return true;
}

// NaN above all floats, in the integers' order of those that are not negative; below all with its sign turned.
static MlirValue ordered_bits(ir_builder *b, MlirValue value, bool is_maximum) {
  const int bits = ir_bit_width(mlirValueGetType(value));
  const int64_t infinity = bits == 32 ? 0x7f800000 : 0x7ff0000000000000;
  const int64_t quiet = bits == 32 ? 0x400000 : 0x8000000000000, sign = bits == 32 ? INT32_MIN : INT64_MIN;
  MlirType word = bits_type(b, bits);
  MlirValue nan = ir_int(b, word, is_maximum ? infinity | quiet : infinity | quiet | sign);
  return ir_select(b, ir_cmpf(b, "uno", value, value), nan, ir_cast(b, "arith.bitcast", word, value));
}

static void if_atomic(ir_builder *b, MlirValue condition, const char *kind, MlirValue address, MlirValue value) {
  MlirOperation branch = ir_if(b, condition, 0, NULL);
  ir_builder then = ir_builder_at_end(b->context, ir_body(branch, 0), b->arena);
  llvm_build_atomic(&then, kind, address, value);
  ir_yield(&then, 0, NULL);
  ir_builder otherwise = ir_builder_at_end(b->context, ir_body(branch, 1), b->arena);
  ir_yield(&otherwise, 0, NULL);
}

static void build_extremum(ir_builder *b, const tensor_memory *m, MlirValue value, MlirValue index, bool is_maximum) {
  const int bits = ir_bit_width(m->element);
  MlirType word = bits_type(b, bits);
  MlirValue shift, address = tensor_access_address(b, m, index, &shift);
  MlirValue wanted = ordered_bits(b, value, is_maximum), zero = ir_int(b, word, 0);
  MlirValue old = llvm_build_atomic_load(b, word, address);
  MlirValue old_float = ir_cast(b, "arith.bitcast", m->element, old);
  MlirValue is_number = ir_cmpf(b, "ord", old_float, old_float);
  // Whether the old value, if of this sign or the other, would change: many that come late would not change it.
  MlirValue is_positive = ir_cmpi(b, "sge", wanted, zero);
  MlirValue by_signed = ir_cmpi(b, is_maximum ? "slt" : "sgt", old, wanted);
  MlirValue by_unsigned = ir_cmpi(b, is_maximum ? "ugt" : "ult", old, wanted);
  MlirValue is_negative = ir_binary(b, "arith.xori", is_positive, ir_int(b, bits_type(b, 1), 1));
  by_signed = ir_binary(b, "arith.andi", ir_binary(b, "arith.andi", is_positive, by_signed), is_number);
  by_unsigned = ir_binary(b, "arith.andi", ir_binary(b, "arith.andi", is_negative, by_unsigned), is_number);
  if_atomic(b, by_signed, is_maximum ? "max" : "min", address, wanted);
  if_atomic(b, by_unsigned, is_maximum ? "umin" : "umax", address, wanted);
}

// False if memory has no instruction for the body.
static bool build_direct(ir_builder *b, MlirOperation op, const tensor_memory *m, MlirValue value, MlirValue index,
                         const target_description *target) {
  MlirType element = m->element;
  const bool is_float = mlirTypeIsAF32(element) || mlirTypeIsAF64(element);
  const bool is_maximum = ir_is(op, "arith.maximumf");
  if (m->shared_by_threads && is_float && (is_maximum || ir_is(op, "arith.minimumf"))) {
    build_extremum(b, m, value, index, is_maximum);
    return true;
  }
  for (size_t i = 0; i < sizeof direct_kinds / sizeof *direct_kinds; i++) {
    if (!ir_is(op, direct_kinds[i].op)) continue;
    if (ir_is(op, "arith.addf") ? !adds_floats(element, target) : !is_word(element)) return false;
    MlirValue shift, address = tensor_access_address(b, m, index, &shift);
    llvm_build_atomic(b, direct_kinds[i].kind, address, value);
    return true;
  }
  return false;
}

// --- the loop

typedef struct slot {
  const tensor_memory *memory;
  MlirValue address;
  MlirValue shift;  // of the element within the word; null if it is all of it
  MlirType word;    // integer as wide as what is exchanged
  MlirType bits;    // integer as wide as the element
} slot;

static MlirValue element_of_word(ir_builder *b, const slot *s, MlirValue word) {
  MlirType element = s->memory->element;
  if (s->shift.ptr) {
    word = ir_binary(b, "arith.shrui", word, s->shift);
    if (!mlirTypeEqual(s->bits, s->word)) word = ir_cast(b, "arith.trunci", s->bits, word);
  }
  if (!mlirTypeIsAComplex(element)) {
    if (mlirTypeIsAFloat(element)) return ir_cast(b, "arith.bitcast", element, word);
    return tensor_access_from_stored(b, element, word);
  }
  MlirType part = tensor_access_stored_type(element), half = mlirIntegerTypeGet(b->context, 32);
  MlirValue high = ir_binary(b, "arith.shrui", word, ir_int(b, s->word, 32));
  MlirValue re = ir_cast(b, "arith.bitcast", part, ir_cast(b, "arith.trunci", half, word));
  MlirValue im = ir_cast(b, "arith.bitcast", part, ir_cast(b, "arith.trunci", half, high));
  return ir_value(b, "complex.create", element, 2, (MlirValue[]){re, im});
}

static MlirValue widened_part(ir_builder *b, const slot *s, const char *op, MlirValue value) {
  MlirType part = tensor_access_stored_type(s->memory->element), half = mlirIntegerTypeGet(b->context, 32);
  MlirValue bits = ir_cast(b, "arith.bitcast", half, ir_value(b, op, part, 1, &value));
  return ir_cast(b, "arith.extui", s->word, bits);
}

// `value` in place of the element that `old` holds.
static MlirValue word_of_element(ir_builder *b, const slot *s, MlirValue old, MlirValue value) {
  MlirType element = s->memory->element;
  if (mlirTypeIsAComplex(element)) {
    MlirValue high = widened_part(b, s, "complex.im", value);
    high = ir_binary(b, "arith.shli", high, ir_int(b, s->word, 32));
    return ir_binary(b, "arith.ori", widened_part(b, s, "complex.re", value), high);
  }
  const bool is_packed = tensor_access_per_byte(element) > 1;
  if (mlirTypeIsAFloat(element)) value = ir_cast(b, "arith.bitcast", s->bits, value);
  else if (!is_packed) value = tensor_access_to_stored(b, value);
  if (!s->shift.ptr) return value;
  const int width = ir_bit_width(s->bits);
  MlirValue drop = ir_binary(b, "arith.shli", ir_int(b, s->word, ((int64_t)1 << width) - 1), s->shift);
  MlirValue keep = ir_binary(b, "arith.xori", drop, ir_int(b, s->word, -1));
  MlirValue placed = ir_binary(b, "arith.shli", ir_cast(b, "arith.extui", s->word, value), s->shift);
  return ir_binary(b, "arith.ori", ir_binary(b, "arith.andi", old, keep), placed);
}

static void build_loop(ir_builder *b, MlirOperation op, const slot *s) {
  MlirValue first = s->memory->shared_by_threads
                        ? llvm_build_atomic_load(b, s->word, s->address)
                        : llvm_build_load(b, s->word, s->address, ir_bit_width(s->word) / 8, false);
  const MlirBlock before = begin_exchanging(b, s->word, first);
  ir_builder inner = ir_builder_at_end(b->context, before, b->arena);
  MlirValue old = mlirBlockGetArgument(before, 0);
  MlirValue current = element_of_word(&inner, s, old);
  MlirOperation marker = ir_build(&inner, (ir_op_state){.name = "scf.condition"});
  MlirValue updated = ir_inline_block(b->arena, ir_body(op, 0), marker, &current).data[0];
  inner.before = marker;
  try_exchange(&inner, s->address, old, word_of_element(&inner, s, old, updated));
  ir_erase(marker);
}

static slot slot_of(ir_builder *b, const tensor_memory *m, MlirValue index, int bits) {
  slot s = {.memory = m};
  if (m->shared_by_threads && bits < 32) {
    s.bits = tensor_access_per_byte(m->element) > 1 ? m->element : bits_type(b, bits);
    s.word = bits_type(b, 32);
    s.address = tensor_access_word(b, m, index, &s.shift);
    return s;
  }
  s.word = s.bits = bits_type(b, bits);
  s.address = tensor_access_address(b, m, index, &s.shift);
  if (s.shift.ptr) s.bits = m->element;
  return s;
}

heddle_status tensor_atomics_build(ir_builder *b, MlirOperation op, const tensor_memory *m, MlirValue index,
                                   const target_description *target) {
  MlirBlock body = ir_body(op, 0);
  MlirValue yielded = ir_operand(ir_terminator(body), 0), other = {0};
  if (is_overwrite(body, yielded)) {
    build_overwrite(b, m, yielded, index);
    return status_ok();
  }
  const MlirOperation single = single_operation(body, yielded, &other);
  if (!ir_is_null(single) && build_direct(b, single, m, other, index, target)) return status_ok();
  if (m->shared_by_threads && add_complex(b, body, yielded, m, index, target)) return status_ok();
  const int bits = ir_bit_width(tensor_access_stored_type(m->element)) * (mlirTypeIsAComplex(m->element) ? 2 : 1);
  if (bits > 64) return status_error(HEDDLE_UNIMPLEMENTED, "atomic update of %s", ir_type_text(b->arena, m->element));
  const slot s = slot_of(b, m, index, bits);
  build_loop(b, op, &s);
  return status_ok();
}
