// Machines multiply bytes' products no faster than floats' if each is widened to 32 bits first. But they have
// instructions that multiply narrow neighbours and add them up:
//
//   two of 16 bits   x86: vpmaddwd. LLVM makes it of the arithmetic that is written out here: multiply the wide
//   numbers,
//                    add those at even places to those at odd ones. Where a machine has no such instruction the
//                    arithmetic stays, with the same results. Bytes are widened for it when they are packed.
//   four bytes       x86: vpdpbusd (VNNI), unsigned ones by signed ones, without saturation: sums are right modulo
//   2^32. two of bf16      x86: vdpbf16ps (AVX512-BF16). Products are exact in f32, each sum is rounded to the nearest
//   one as a
//                    fused multiply-add's, but numbers below 2^-126 are taken for zero: not with --exact.
#include "tile/term_groups.h"

#include "emit/ir_builder.h"

static bool extends_bf16(MlirValue factor) {
  MlirOperation op = mlirValueIsABlockArgument(factor) ? (MlirOperation){NULL} : ir_defining_op(factor);
  return !ir_is_null(op) && ir_is(op, "arith.extf") && mlirTypeIsABF16(mlirValueGetType(ir_operand(op, 0)));
}

term_group term_groups_of(const target_description *target, bool exact, const product_form *p) {
  MlirContext context = mlirTypeGetContext(p->type);
  const bool drops_subnormals = exact && target->flushes_bf16_subnormals;
  if (ir_bit_width(p->type) != 32) return (term_group){.size = 1};
  if (mlirTypeIsAFloat(p->type)) {
    const bool are_bf16 = extends_bf16(p->rows.factor) && extends_bf16(p->columns.factor);
    if (!are_bf16 || !target->multiplies_bf16 || drops_subnormals) return (term_group){.size = 1};
    return (term_group){.size = 2, .type = mlirBF16TypeGet(context)};
  }
  if (!p->rows.is_narrow || !p->columns.is_narrow) return (term_group){.size = 1};
  if (!target->multiplies_bytes) return (term_group){.size = 2, .type = mlirIntegerTypeGet(context, 16)};
  return (term_group){
      .size = 4, .type = mlirIntegerTypeGet(context, 8), .flips_rows = p->rows.is_unsigned == p->columns.is_unsigned};
}

// --- vectors

static MlirType vector_of(MlirType element, int64_t size) { return mlirVectorTypeGet(1, &size, element); }

static MlirNamedAttribute in_bounds(const ir_builder *b, int rank) {
  MlirAttribute all[2];
  for (int d = 0; d < rank; d++) all[d] = mlirBoolAttrGet(b->context, true);
  return ir_named(b->context, "in_bounds", mlirArrayAttrGet(b->context, rank, all));
}

static MlirNamedAttribute minor_map(const ir_builder *b, int rank, int kept) {
  return ir_named(b->context, "permutation_map",
                  mlirAffineMapAttrGet(mlirAffineMapMinorIdentityGet(b->context, rank, kept)));
}

static MlirNamedAttribute at(const ir_builder *b, int64_t row) {
  return ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &row));
}

static MlirValue zero_of(ir_builder *b, MlirType element) {
  return mlirTypeIsAFloat(element) ? ir_float(b, element, 0) : ir_int(b, element, 0);
}

// The vector at [first, 0] or [first] of memory; all of its dims, or the last one.
static MlirValue read(ir_builder *b, MlirValue memory, int64_t first, MlirType type) {
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(memory)), kept = (int)mlirShapedTypeGetRank(type);
  MlirValue operands[4] = {memory, ir_index(b, first), ir_index(b, 0)};
  operands[1 + rank] = zero_of(b, mlirShapedTypeGetElementType(type));
  MlirNamedAttribute attributes[] = {
      in_bounds(b, kept), minor_map(b, rank, kept),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, (int32_t[]){1, rank, 1, 0}))};
  return ir_value_with(b, "vector.transfer_read", type, 2 + rank, operands, 3, attributes);
}

// To [first, 0, 0] of memory of three dims, or to all of one of two.
static void write(ir_builder *b, MlirValue vector, MlirValue memory, int64_t first) {
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(memory));
  MlirValue operands[5] = {vector, memory, ir_index(b, first), ir_index(b, 0)};
  operands[1 + rank] = ir_index(b, 0);
  MlirNamedAttribute attributes[] = {
      in_bounds(b, 2), minor_map(b, rank, 2),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, (int32_t[]){1, 1, rank, 0}))};
  ir_build(b, (ir_op_state){.name = "vector.transfer_write",
                            .operand_count = 2 + rank,
                            .operands = operands,
                            .attribute_count = 3,
                            .attributes = attributes});
}

// The group of a row's terms, as one number of 32 bits, in every lane.
static MlirValue row_group(ir_builder *b, MlirValue rows, int64_t row, const term_group *g, int64_t lanes) {
  MlirType word = mlirIntegerTypeGet(b->context, 32);
  MlirNamedAttribute first = at(b, 0);
  MlirValue terms = read(b, rows, row, vector_of(g->type, g->size));
  terms = ir_cast(b, "vector.bitcast", vector_of(word, 1), terms);
  terms = ir_value_with(b, "vector.extract", word, 1, &terms, 1, &first);
  return ir_cast(b, "vector.broadcast", vector_of(word, lanes), terms);
}

// --- two of 16 bits

// Every second element, from `first` on.
static MlirValue every_second(ir_builder *b, MlirValue x, int64_t size, int64_t first) {
  MlirAttribute *mask = arena_array(b->arena, MlirAttribute, size / 2);
  for (int64_t k = 0; k < size / 2; k++)
    mask[k] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), 2 * k + first);
  MlirValue operands[] = {x, x};
  MlirNamedAttribute attribute = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, size / 2, mask));
  MlirType type = vector_of(mlirIntegerTypeGet(b->context, 32), size / 2);
  return ir_value_with(b, "vector.shuffle", type, 2, operands, 1, &attribute);
}

// sums + row · columns, for all columns: vectors of so many words of two terms.
static MlirValue add_pairs(ir_builder *b, const term_group *g, MlirValue row, MlirValue columns, MlirValue sums) {
  const int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(sums), 0);
  MlirType wide = vector_of(mlirIntegerTypeGet(b->context, 32), 2 * count), narrow = vector_of(g->type, 2 * count);
  MlirValue x = ir_cast(b, "arith.extsi", wide, ir_cast(b, "vector.bitcast", narrow, row)),
            y = ir_cast(b, "arith.extsi", wide, columns), products = ir_binary(b, "arith.muli", x, y);
  MlirValue pairs =
      ir_binary(b, "arith.addi", every_second(b, products, 2 * count, 0), every_second(b, products, 2 * count, 1));
  return ir_binary(b, "arith.addi", sums, pairs);
}

// --- instructions of registers

static MlirValue register_of(ir_builder *b, MlirValue x, int64_t first, int64_t lanes) {
  MlirType type = mlirValueGetType(x), i64 = mlirIntegerTypeGet(b->context, 64);
  if (mlirShapedTypeGetDimSize(type, 0) == lanes) return x;
  MlirAttribute offset = mlirIntegerAttrGet(i64, first), size = mlirIntegerAttrGet(i64, lanes),
                stride = mlirIntegerAttrGet(i64, 1);
  MlirNamedAttribute attributes[] = {ir_named(b->context, "offsets", mlirArrayAttrGet(b->context, 1, &offset)),
                                     ir_named(b->context, "sizes", mlirArrayAttrGet(b->context, 1, &size)),
                                     ir_named(b->context, "strides", mlirArrayAttrGet(b->context, 1, &stride))};
  return ir_value_with(b, "vector.extract_strided_slice", vector_of(ir_element_type(type), lanes), 1, &x, 3,
                       attributes);
}

static MlirValue with_register(ir_builder *b, MlirValue part, MlirValue whole, int64_t first) {
  MlirType type = mlirValueGetType(whole), i64 = mlirIntegerTypeGet(b->context, 64);
  if (mlirTypeEqual(type, mlirValueGetType(part))) return part;
  MlirAttribute offset = mlirIntegerAttrGet(i64, first), stride = mlirIntegerAttrGet(i64, 1);
  MlirNamedAttribute attributes[] = {ir_named(b->context, "offsets", mlirArrayAttrGet(b->context, 1, &offset)),
                                     ir_named(b->context, "strides", mlirArrayAttrGet(b->context, 1, &stride))};
  MlirValue operands[] = {part, whole};
  return ir_value_with(b, "vector.insert_strided_slice", type, 2, operands, 2, attributes);
}

// sums + x · y by the instruction for vectors of so many bits, x and y being words of terms.
static MlirValue call(ir_builder *b, const term_group *g, MlirValue sums, MlirValue x, MlirValue y, int64_t lanes) {
  const bool is_float = mlirTypeIsAFloat(g->type);
  const char *name = is_float ? "llvm.x86.avx512bf16.dpbf16ps" : "llvm.x86.avx512.vpdpbusd";
  MlirNamedAttribute which =
      ir_named_text(b->context, "intrin", arena_printf(b->arena, "\"%s.%d\"", name, (int)lanes * 32));
  MlirType terms = vector_of(g->type, 2 * lanes);
  MlirValue operands[] = {sums, is_float ? ir_cast(b, "vector.bitcast", terms, x) : x,
                          is_float ? ir_cast(b, "vector.bitcast", terms, y) : y};
  return ir_value_with(b, "llvm.call_intrinsic", mlirValueGetType(sums), 3, operands, 1, &which);
}

// What an operation adds up.
typedef struct sums_of {
  term_group group;
  int64_t lanes;       // of a register
  bool unsigned_rows;  // of bytes: the instruction takes the unsigned ones first
} sums_of;

static MlirValue add_group(ir_builder *b, const sums_of *w, MlirValue row, MlirValue columns, MlirValue sums) {
  const int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(sums), 0);
  MlirValue after = sums;
  for (int64_t first = 0; first < count; first += w->lanes) {
    MlirValue y = register_of(b, columns, first, w->lanes), part = register_of(b, sums, first, w->lanes);
    const bool rows_first = mlirTypeIsAFloat(w->group.type) || w->unsigned_rows;
    part = call(b, &w->group, part, rows_first ? row : y, rows_first ? y : row, w->lanes);
    after = with_register(b, part, after, first);
  }
  return after;
}

// --- squares of words

enum { MOST_LANES = 64 };

// The lanes of x that have no bit `step` in their number, each followed at that distance by the same of y; `high`:
// those that have it, which follow.
static MlirValue mixed(ir_builder *b, MlirValue x, MlirValue y, int64_t lanes, int64_t step, bool high) {
  MlirAttribute mask[MOST_LANES];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int64_t k = 0; k < lanes; k++) {
    const int64_t lane = high ? k | step : k & ~step;
    mask[k] = mlirIntegerAttrGet(i64, k & step ? lanes + lane : lane);
  }
  MlirValue operands[] = {x, y};
  MlirNamedAttribute attribute = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, lanes, mask));
  return ir_value_with(b, "vector.shuffle", mlirValueGetType(x), 2, operands, 1, &attribute);
}

static void turn_square(ir_builder *b, MlirValue *rows, int64_t side) {
  for (int64_t step = 1; step < side; step *= 2)
    for (int64_t k = 0; k < side; k++) {
      if (k & step) continue;
      MlirValue x = rows[k], y = rows[k | step];
      rows[k] = mixed(b, x, y, side, step, false);
      rows[k | step] = mixed(b, x, y, side, step, true);
    }
}

static bool extends_by_zeros(MlirOperation op) {
  bool any = false;
  for (MlirOperation at_op = mlirBlockGetFirstOperation(ir_body(op, 0)); !ir_is_null(at_op);
       at_op = mlirOperationGetNextInBlock(at_op))
    any |= ir_is(at_op, "arith.extui");
  return any;
}

void term_groups_turn(arena *a, MlirOperation op) {
  ir_builder b = ir_builder_before(op, a);
  MlirValue from = ir_operand(op, 0), to = ir_operand(op, 1), rows[MOST_LANES];
  MlirType byte = ir_element_type(mlirValueGetType(from)), term = ir_element_type(mlirValueGetType(to)),
           word = mlirIntegerTypeGet(b.context, 32);
  const int64_t *dims = ir_dims(a, mlirValueGetType(to));
  const int64_t side = dims[0], terms = side * dims[2];
  if (side != dims[1] || side > MOST_LANES || (side & (side - 1)) != 0) return;
  const char *extend = extends_by_zeros(op) ? "arith.extui" : "arith.extsi";
  for (int64_t k = 0; k < side; k++) {
    rows[k] = read(&b, from, k, vector_of(byte, terms));
    if (ir_bit_width(term) > 8) rows[k] = ir_cast(&b, extend, vector_of(term, terms), rows[k]);
    rows[k] = ir_cast(&b, "vector.bitcast", vector_of(word, side), rows[k]);
  }
  turn_square(&b, rows, side);
  for (int64_t k = 0; k < side; k++) {
    MlirValue groups = ir_cast(&b, "vector.bitcast", vector_of(term, terms), rows[k]);
    groups = ir_cast(&b, "vector.shape_cast", mlirVectorTypeGet(2, dims + 1, term), groups);
    write(&b, groups, to, k);
  }
  ir_erase(op);
}

// --- the operation

static sums_of read_operation(const target_description *target, MlirOperation op, int64_t columns) {
  sums_of w = {.group = {.type = ir_element_type(mlirValueGetType(ir_operand(op, 0)))}};
  w.group.size = 32 / ir_bit_width(w.group.type);
  const int64_t bits = target->vector_bits > 128 ? target->vector_bits : 128;
  w.lanes = columns < bits / 32 ? columns : bits / 32;
  for (MlirOperation at_op = mlirBlockGetFirstOperation(ir_body(op, 0)); !ir_is_null(at_op);
       at_op = mlirOperationGetNextInBlock(at_op))
    if (ir_is(at_op, "arith.extui") && mlirBlockArgumentGetArgNumber(ir_operand(at_op, 0)) == 0) w.unsigned_rows = true;
  return w;
}

void term_groups_vectorize(arena *a, const target_description *target, MlirOperation op) {
  ir_builder b = ir_builder_before(op, a);
  MlirValue rows = ir_operand(op, 0), columns = ir_operand(op, 1), memory = ir_operand(op, 2);
  const int64_t *dims = ir_dims(a, mlirValueGetType(memory));
  const int64_t count = dims[1];
  const sums_of w = read_operation(target, op, count);
  const bool are_pairs = mlirTypeIsAInteger(w.group.type) && w.group.size == 2;
  MlirType word = ir_element_type(mlirValueGetType(memory)), type = mlirVectorTypeGet(2, dims, word),
           terms = mlirVectorTypeGet(2, (int64_t[]){count, w.group.size}, w.group.type);
  MlirValue factors =
      ir_cast(&b, "vector.shape_cast", vector_of(w.group.type, count * w.group.size), read(&b, columns, 0, terms));
  if (!are_pairs) factors = ir_cast(&b, "vector.bitcast", vector_of(mlirIntegerTypeGet(b.context, 32), count), factors);
  MlirValue sums = read(&b, memory, 0, type);
  for (int64_t row = 0; row < dims[0]; row++) {
    MlirNamedAttribute place = at(&b, row);
    MlirValue before = ir_value_with(&b, "vector.extract", vector_of(word, count), 1, &sums, 1, &place);
    MlirValue group = row_group(&b, rows, row, &w.group, are_pairs ? count : w.lanes);
    MlirValue after =
        are_pairs ? add_pairs(&b, &w.group, group, factors, before) : add_group(&b, &w, group, factors, before);
    MlirValue operands[] = {after, sums};
    sums = ir_value_with(&b, "vector.insert", type, 2, operands, 1, &place);
  }
  write(&b, sums, memory, 0);
  ir_erase(op);
}
