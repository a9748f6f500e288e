// Elementwise StableHLO operations. Most are HLO's of the same name; where the specification wants something else than
// XLA does (booleans as logic, complex numbers in lexicographic order), it is spelled out here.
#include "import/lowering_table.h"

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

heddle_status lower_bitcast_convert(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results) {
  dtype to = ir_type_dtype(op->results[0]->type);
  if (to == DTYPE_INVALID) return lowering_refuse(op, "only arrays of numbers are converted");
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
