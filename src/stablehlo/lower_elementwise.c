// Elementwise StableHLO operations. Most are HLO's of the same name; where the specification wants something else than
// XLA does (booleans as logic, complex numbers in lexicographic order), it is spelled out here.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

static const hlo_opcode same[IR_OP_COUNT] = {
    [IR_OP_ABS] = HLO_ABS,
    [IR_OP_ADD] = HLO_ADD,
    [IR_OP_AND] = HLO_AND,
    [IR_OP_ATAN2] = HLO_ATAN2,
    [IR_OP_CBRT] = HLO_CBRT,
    [IR_OP_CEIL] = HLO_CEIL,
    [IR_OP_CLAMP] = HLO_CLAMP,
    [IR_OP_COMPLEX] = HLO_COMPLEX,
    [IR_OP_COSINE] = HLO_COSINE,
    [IR_OP_COUNT_LEADING_ZEROS] = HLO_COUNT_LEADING_ZEROS,
    [IR_OP_DIVIDE] = HLO_DIVIDE,
    [IR_OP_EXPONENTIAL] = HLO_EXPONENTIAL,
    [IR_OP_EXPONENTIAL_MINUS_ONE] = HLO_EXPONENTIAL_MINUS_ONE,
    [IR_OP_FLOOR] = HLO_FLOOR,
    [IR_OP_IMAG] = HLO_IMAG,
    [IR_OP_IS_FINITE] = HLO_IS_FINITE,
    [IR_OP_LOG] = HLO_LOG,
    [IR_OP_LOG_PLUS_ONE] = HLO_LOG_PLUS_ONE,
    [IR_OP_LOGISTIC] = HLO_LOGISTIC,
    [IR_OP_MAXIMUM] = HLO_MAXIMUM,
    [IR_OP_MINIMUM] = HLO_MINIMUM,
    [IR_OP_MULTIPLY] = HLO_MULTIPLY,
    [IR_OP_NEGATE] = HLO_NEGATE,
    [IR_OP_NOT] = HLO_NOT,
    [IR_OP_OR] = HLO_OR,
    [IR_OP_POPCNT] = HLO_POPCNT,
    [IR_OP_POWER] = HLO_POWER,
    [IR_OP_REAL] = HLO_REAL,
    [IR_OP_REMAINDER] = HLO_REMAINDER,
    [IR_OP_ROUND_NEAREST_AFZ] = HLO_ROUND_NEAREST_AFZ,
    [IR_OP_ROUND_NEAREST_EVEN] = HLO_ROUND_NEAREST_EVEN,
    [IR_OP_RSQRT] = HLO_RSQRT,
    [IR_OP_SELECT] = HLO_SELECT,
    [IR_OP_SHIFT_LEFT] = HLO_SHIFT_LEFT,
    [IR_OP_SHIFT_RIGHT_ARITHMETIC] = HLO_SHIFT_RIGHT_ARITHMETIC,
    [IR_OP_SHIFT_RIGHT_LOGICAL] = HLO_SHIFT_RIGHT_LOGICAL,
    [IR_OP_SIGN] = HLO_SIGN,
    [IR_OP_SINE] = HLO_SINE,
    [IR_OP_SQRT] = HLO_SQRT,
    [IR_OP_SUBTRACT] = HLO_SUBTRACT,
    [IR_OP_TAN] = HLO_TAN,
    [IR_OP_TANH] = HLO_TANH,
    [IR_OP_XOR] = HLO_XOR,
    [IR_OP_MHLO_ACOS] = HLO_ACOS,
    [IR_OP_MHLO_ACOSH] = HLO_ACOSH,
    [IR_OP_MHLO_ASIN] = HLO_ASIN,
    [IR_OP_MHLO_ASINH] = HLO_ASINH,
    [IR_OP_MHLO_ATANH] = HLO_ATANH,
    [IR_OP_MHLO_COPY] = HLO_COPY,
    [IR_OP_MHLO_COSH] = HLO_COSH,
    [IR_OP_MHLO_ERF] = HLO_ERF,
    [IR_OP_MHLO_SINH] = HLO_SINH,
};

// On booleans sums are `or`, products `and`; HLO leaves pred arithmetic to the backend.
static const hlo_opcode logical[IR_OP_COUNT] = {
    [IR_OP_ADD] = HLO_OR,
    [IR_OP_MAXIMUM] = HLO_OR,
    [IR_OP_MULTIPLY] = HLO_AND,
    [IR_OP_MINIMUM] = HLO_AND,
};

heddle_status lower_elementwise(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  const shape *first = operands[0]->shape;
  bool is_logical = first->dtype == DTYPE_PRED && (op->op == IR_OP_ADD || op->op == IR_OP_MAXIMUM ||
                                                   op->op == IR_OP_MULTIPLY || op->op == IR_OP_MINIMUM);
  results[0] = build_add(l, is_logical ? logical[op->op] : same[op->op], first, op->operand_count, operands);
  return build_infer(l, results[0]);
}

// x before y where the real parts are, or these are equal and the imaginary ones are.
static instruction *lexicographic(lowering *l, instruction *x, instruction *y, comparison_direction direction) {
  instruction *x_real = build_unary(l, HLO_REAL, x), *y_real = build_unary(l, HLO_REAL, y);
  instruction *x_imag = build_unary(l, HLO_IMAG, x), *y_imag = build_unary(l, HLO_IMAG, y);
  comparison_direction strict = direction;
  if (direction == COMPARE_GE) strict = COMPARE_GT;
  if (direction == COMPARE_LE) strict = COMPARE_LT;
  instruction *before = build_compare(l, x_real, y_real, strict);
  instruction *tie = build_compare(l, x_real, y_real, COMPARE_EQ);
  instruction *decided = build_compare(l, x_imag, y_imag, direction);
  return build_binary(l, HLO_OR, before, build_binary(l, HLO_AND, tie, decided));
}

static heddle_status wants_same(lowering *l, const ir_operation *op, const instruction *x, const instruction *y) {
  if (shape_compatible(x->shape, y->shape) && shape_is_array(x->shape)) return status_ok();
  return lowering_invalid(op, "found operands %s and %s, wanted arrays of the same shape",
                          shape_text(l->arena, x->shape), shape_text(l->arena, y->shape));
}

// Maximum and minimum: of complex numbers the one later, or earlier, in lexicographic order.
heddle_status lower_extremum(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (!dtype_is_complex(operands[0]->shape->dtype)) return lower_elementwise(l, op, operands, results);
  TRY(wants_same(l, op, operands[0], operands[1]));
  comparison_direction direction = op->op == IR_OP_MAXIMUM ? COMPARE_GT : COMPARE_LT;
  instruction *first = lexicographic(l, operands[0], operands[1], direction);
  results[0] = build_select(l, first, operands[0], operands[1]);
  return status_ok();
}

static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL};
static const char *const compare_types[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL};

heddle_status lower_compare(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int direction, type;
  TRY(lowering_word_index(op, "comparison_direction", directions, -1, &direction));
  TRY(lowering_word_index(op, "compare_type", compare_types, COMPARISON_DEFAULT, &type));
  bool is_ordered = direction != COMPARE_EQ && direction != COMPARE_NE;
  if (dtype_is_complex(operands[0]->shape->dtype) && is_ordered) {
    TRY(wants_same(l, op, operands[0], operands[1]));
    results[0] = lexicographic(l, operands[0], operands[1], (comparison_direction)direction);
    return status_ok();
  }
  results[0] = build_compare(l, operands[0], operands[1], (comparison_direction)direction);
  if (type == COMPARISON_TOTAL_ORDER) {
    results[0]->attributes->compare_type = COMPARISON_TOTAL_ORDER;
    build_mark(results[0], HLO_ATTRIBUTE_TYPE);
  }
  return build_infer(l, results[0]);
}

heddle_status lower_convert(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  dtype to = ir_type_dtype(op->results[0]->type);
  if (to == DTYPE_INVALID || !shape_is_array(operands[0]->shape))
    return lowering_refuse(op, "only arrays of numbers are converted");
  results[0] = build_convert(l, operands[0], to);
  return status_ok();
}

// The unsigned integer of that many bits.
static dtype unsigned_of(int bits) {
  for (int t = DTYPE_U2; t <= DTYPE_U64; t++)
    if (dtypes[t].bits == bits) return (dtype)t;
  return DTYPE_INVALID;
}

static const shape *with_last_dim(lowering *l, const shape *s, dtype t, int64_t last) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int k = 0; k < s->rank; k++) dims[k] = s->dims[k];
  dims[s->rank] = last;
  return shape_array(l->arena, t, s->rank + 1, dims);
}

// Booleans are single bits in StableHLO, bytes in HLO: a number's bits apart, the lowest first, and together again.
static heddle_status number_to_bits(lowering *l, instruction *x, instruction **out) {
  dtype word = unsigned_of(dtypes[x->shape->dtype].bits);
  if (word == DTYPE_INVALID || x->shape->rank + 1 > SHAPE_MAX_RANK)
    return lowering_refuse(l->op, "a %s has no bits to take apart", dtype_name(x->shape->dtype));
  int64_t dimensions[SHAPE_MAX_RANK];
  for (int k = 0; k < x->shape->rank; k++) dimensions[k] = k;
  const shape *s = with_last_dim(l, x->shape, word, dtypes[word].bits);
  if (x->shape->dtype != word) x = build_add(l, HLO_BITCAST_CONVERT, shape_with_dtype(l->arena, x->shape, word), 1, &x);
  instruction *all = build_broadcast(l, x, s, x->shape->rank, dimensions), *place;
  TRY(build_iota(l, s, s->rank - 1, &place));
  instruction *shifted = build_binary(l, HLO_SHIFT_RIGHT_LOGICAL, all, place);
  instruction *one = build_like_int(l, shifted, 1);
  *out = build_compare(l, build_binary(l, HLO_AND, shifted, one), one, COMPARE_EQ);
  return status_ok();
}

static heddle_status bits_to_number(lowering *l, instruction *x, dtype to, instruction **out) {
  const shape *from = x->shape;
  dtype word = unsigned_of(dtypes[to].bits);
  if (word == DTYPE_INVALID || !from->rank || from->dims[from->rank - 1] != dtypes[word].bits)
    return lowering_invalid(l->op, "the operand %s has not the bits of %s in its last dimension",
                            shape_text(l->arena, from), dtype_name(to));
  instruction *bits = build_convert(l, x, word), *place, *sum;
  TRY(build_iota(l, bits->shape, from->rank - 1, &place));
  bits = build_binary(l, HLO_SHIFT_LEFT, bits, place);
  TRY(build_sum(l, bits, 1, (int64_t[]){from->rank - 1}, &sum));
  *out = to == word ? sum : build_add(l, HLO_BITCAST_CONVERT, shape_with_dtype(l->arena, sum->shape, to), 1, &sum);
  return status_ok();
}

heddle_status lower_bitcast_convert(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results) {
  dtype from = operands[0]->shape->dtype, to = ir_type_dtype(op->results[0]->type);
  if (to == DTYPE_INVALID || !dtype_is_array(from)) return lowering_refuse(op, "only arrays of numbers are converted");
  if (from == DTYPE_PRED && to != from) return bits_to_number(l, operands[0], to, &results[0]);
  if (to == DTYPE_PRED && to != from) return number_to_bits(l, operands[0], &results[0]);
  results[0] = build_add(l, HLO_BITCAST_CONVERT, shape_with_dtype(l->arena, operands[0]->shape, to), 1, operands);
  return build_infer(l, results[0]);
}

heddle_status lower_reduce_precision(lowering *l, const ir_operation *op, instruction *const *operands,
                                     instruction **results) {
  int64_t exponent, mantissa;
  TRY(lowering_needed_int(op, "exponent_bits", &exponent));
  TRY(lowering_needed_int(op, "mantissa_bits", &mantissa));
  results[0] = build_add(l, HLO_REDUCE_PRECISION, operands[0]->shape, 1, operands);
  build_set_int(results[0], HLO_ATTRIBUTE_EXPONENT_BITS, exponent);
  build_set_int(results[0], HLO_ATTRIBUTE_MANTISSA_BITS, mantissa);
  return build_infer(l, results[0]);
}
