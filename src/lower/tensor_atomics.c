// Atomic updates of one element.
//
// Integer addition, minimum and maximum, bitwise operations, float addition and plain overwriting exist as
// instructions. Anything else computes a new value from the one it read and stores it only if nobody was faster:
//
//   old = load
//   do { new = body(old); (old, done) = cmpxchg(address, old, new) } while (!done)
//
// Values are compared as integers, so that NaN equals itself. Packed elements (i2, i4) exchange their whole byte.
#include "lower/tensor_atomics.h"

#include <mlir-c/Dialect/LLVM.h>

#include "lower/llvm_build.h"

// --- one instruction

static const struct {
  const char *op;
  const char *kind;
} direct_kinds[] = {
    {"arith.addi", "add"},  {"arith.maxsi", "max"},  {"arith.maxui", "umax"},
    {"arith.minsi", "min"}, {"arith.minui", "umin"}, {"arith.andi", "_and"},
    {"arith.ori", "_or"},   {"arith.xori", "_xor"},  {"arith.addf", "fadd"},
};

static bool has_direct_type(MlirType t, bool is_float) {
  if (is_float) return mlirTypeIsAF32(t) || mlirTypeIsAF64(t);
  return mlirTypeIsAInteger(t) && (ir_bit_width(t) == 32 || ir_bit_width(t) == 64);
}

// The value stored does not depend on the old one.
static bool is_overwrite(MlirBlock body, MlirValue yielded) {
  MlirOperation first = mlirBlockGetFirstOperation(body);
  return mlirOperationEqual(first, ir_terminator(body)) &&
         !(mlirValueIsABlockArgument(yielded) && mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), body));
}

// The body is `yield(op(current, other))`: gives the kind and the other operand.
static const char *direct_kind(MlirBlock body, MlirValue yielded, MlirValue *other) {
  MlirOperation op = mlirBlockGetFirstOperation(body);
  bool alone = !mlirOperationEqual(op, ir_terminator(body)) &&
               mlirOperationEqual(mlirOperationGetNextInBlock(op), ir_terminator(body));
  if (!alone || mlirOperationGetNumResults(op) != 1 || !mlirValueEqual(ir_result(op, 0), yielded)) return NULL;
  MlirValue current = mlirBlockGetArgument(body, 0);
  for (size_t i = 0; i < sizeof direct_kinds / sizeof *direct_kinds; i++) {
    if (!ir_is(op, direct_kinds[i].op)) continue;
    bool left = mlirValueEqual(ir_operand(op, 0), current), right = mlirValueEqual(ir_operand(op, 1), current);
    bool is_float = ir_is(op, "arith.addf");
    if (left == right || !has_direct_type(mlirValueGetType(current), is_float)) return NULL;
    *other = ir_operand(op, left ? 1 : 0);
    return direct_kinds[i].kind;
  }
  return NULL;
}

// --- the loop

typedef struct slot {
  const tensor_memory *memory;
  MlirValue address;
  MlirValue shift;  // null unless packed
  MlirType word;    // integer as wide as the slot
} slot;

static MlirValue element_of_word(ir_builder *b, const slot *s, MlirValue word) {
  MlirType element = s->memory->element;
  if (s->shift.ptr) word = ir_binary(b, "arith.shrui", word, s->shift);
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
  if (s->shift.ptr) {
    MlirValue ones = ir_int(b, s->word, (1 << ir_bit_width(element)) - 1);
    MlirValue drop = ir_binary(b, "arith.shli", ones, s->shift);
    MlirValue keep = ir_binary(b, "arith.xori", drop, ir_int(b, s->word, -1));
    MlirValue placed = ir_binary(b, "arith.shli", ir_cast(b, "arith.extui", s->word, value), s->shift);
    return ir_binary(b, "arith.ori", ir_binary(b, "arith.andi", old, keep), placed);
  }
  if (mlirTypeIsAFloat(element)) return ir_cast(b, "arith.bitcast", s->word, value);
  return tensor_access_to_stored(b, value);
}

static MlirValue build_exchange(ir_builder *b, const slot *s, MlirValue expected, MlirValue desired, MlirValue *done) {
  enum { MONOTONIC = 2 };
  MlirType i64 = mlirIntegerTypeGet(b->context, 64), i1 = mlirIntegerTypeGet(b->context, 1);
  MlirAttribute ordering = mlirIntegerAttrGet(i64, MONOTONIC);
  MlirNamedAttribute orderings[] = {ir_named(b->context, "success_ordering", ordering),
                                    ir_named(b->context, "failure_ordering", ordering)};
  MlirType pair = mlirLLVMStructTypeLiteralGet(b->context, 2, (MlirType[]){s->word, i1}, false);
  MlirValue operands[] = {s->address, expected, desired};
  MlirValue result = ir_value_with(b, "llvm.cmpxchg", pair, 3, operands, 2, orderings);
  MlirNamedAttribute first = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){0}));
  MlirNamedAttribute second = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){1}));
  *done = ir_value_with(b, "llvm.extractvalue", i1, 1, &result, 1, &second);
  return ir_value_with(b, "llvm.extractvalue", s->word, 1, &result, 1, &first);
}

static MlirBlock append_block(MlirRegion region, MlirType argument, MlirLocation location) {
  MlirBlock block = mlirBlockCreate(1, &argument, &location);
  mlirRegionAppendOwnedBlock(region, block);
  return block;
}

static void build_loop(ir_builder *b, MlirOperation op, const slot *s) {
  MlirValue first = llvm_build_load(b, s->word, s->address, ir_bit_width(s->word) / 8, false);
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock before = append_block(regions[0], s->word, b->location);
  MlirBlock after = append_block(regions[1], s->word, b->location);
  ir_build(b, (ir_op_state){.name = "scf.while",
                            .operand_count = 1,
                            .operands = &first,
                            .result_count = 1,
                            .results = &s->word,
                            .region_count = 2,
                            .regions = regions});

  ir_builder inner = ir_builder_at_end(b->context, before, b->arena);
  MlirValue old = mlirBlockGetArgument(before, 0);
  MlirValue current = element_of_word(&inner, s, old);
  MlirOperation marker = ir_build(&inner, (ir_op_state){.name = "scf.condition"});
  MlirValue updated = ir_inline_block(b->arena, ir_body(op, 0), marker, &current).data[0];
  inner.before = marker;
  MlirValue done;
  MlirValue seen = build_exchange(&inner, s, old, word_of_element(&inner, s, old, updated), &done);
  MlirValue again = ir_binary(&inner, "arith.xori", done, ir_int(&inner, mlirValueGetType(done), 1));
  ir_build(&inner, (ir_op_state){.name = "scf.condition", .operand_count = 2, .operands = (MlirValue[]){again, seen}});
  ir_erase(marker);

  ir_builder next = ir_builder_at_end(b->context, after, b->arena);
  MlirValue carried = mlirBlockGetArgument(after, 0);
  ir_yield(&next, 1, &carried);
}

heddle_status tensor_atomics_build(ir_builder *b, MlirOperation op, const tensor_memory *m, MlirValue index) {
  MlirBlock body = ir_body(op, 0);
  MlirValue yielded = ir_operand(ir_terminator(body), 0), other;
  if (is_overwrite(body, yielded)) {
    tensor_access_store(b, m, yielded, index);
    return status_ok();
  }
  slot s = {.memory = m};
  s.address = tensor_access_address(b, m, index, &s.shift);
  const char *kind = direct_kind(body, yielded, &other);
  if (kind) {
    llvm_build_atomic(b, kind, s.address, other);
    return status_ok();
  }
  int bits = ir_bit_width(tensor_access_stored_type(m->element)) * (mlirTypeIsAComplex(m->element) ? 2 : 1);
  if (bits > 64) return status_error(HEDDLE_UNIMPLEMENTED, "atomic update of %s", ir_type_text(b->arena, m->element));
  s.word = mlirIntegerTypeGet(b->context, (unsigned)bits);
  build_loop(b, op, &s);
  return status_ok();
}
