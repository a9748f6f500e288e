// Linear algebra, transforms, batch normalisation and random numbers: HLO's operations of the same names, whose result
// shapes HLO does not infer.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

heddle_status lowering_declared(lowering *l, const ir_operation *op, int number, const shape **out) {
  TRY(ir_type_shape(l->arena, op->results[number]->type, op->where, out));
  if (shape_is_static(*out)) return status_ok();
  return lowering_invalid(op, "the dimensions of result %d must be known", number);
}

static heddle_status set_normalization(const ir_operation *op, instruction *i) {
  int64_t feature;
  const ir_attribute *epsilon = ir_find(op, "epsilon");
  if (!epsilon || epsilon->kind != IR_ATTR_FLOAT) return lowering_invalid(op, "attribute epsilon is no number");
  TRY(lowering_needed_int(op, "feature_index", &feature));
  const shape *s = i->operands[0]->shape;
  if (feature < 0 || !shape_is_array(s) || feature >= s->rank)
    return lowering_invalid(op, "feature_index is %lld, wanted a dimension of operand 0", (long long)feature);
  i->attributes->epsilon = epsilon->number;
  build_mark(i, HLO_ATTRIBUTE_EPSILON);
  build_set_int(i, HLO_ATTRIBUTE_FEATURE_INDEX, feature);
  return status_ok();
}

heddle_status lower_batch_norm(lowering *l, const ir_operation *op, instruction *const *operands,
                               instruction **results) {
  static const hlo_opcode opcodes[IR_OP_COUNT] = {
      [IR_OP_BATCH_NORM_GRAD] = HLO_BATCH_NORM_GRAD,
      [IR_OP_BATCH_NORM_INFERENCE] = HLO_BATCH_NORM_INFERENCE,
      [IR_OP_BATCH_NORM_TRAINING] = HLO_BATCH_NORM_TRAINING,
  };
  const shape *s = operands[0]->shape, *features = operands[1]->shape;
  if (op->op != IR_OP_BATCH_NORM_INFERENCE) s = shape_tuple(l->arena, 3, (const shape *[]){s, features, features});
  instruction *i = build_add(l, opcodes[op->op], s, op->operand_count, operands);
  TRY(set_normalization(op, i));
  TRY(build_infer(l, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

static const char *const fft_types[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};

// Real transforms change the last dim: n values have n / 2 + 1 frequencies.
static const shape *fft_shape(lowering *l, const shape *from, int type, int_list length) {
  if (type == FFT_FFT || type == FFT_IFFT || !length.size || !from->rank) return from;
  int64_t last = length.data[length.size - 1];
  int64_t *dims = arena_array(l->arena, int64_t, from->rank);
  memcpy(dims, from->dims, (size_t)from->rank * sizeof *dims);
  dims[from->rank - 1] = type == FFT_RFFT ? last / 2 + 1 : last;
  bool is_double = from->dtype == DTYPE_F64 || from->dtype == DTYPE_C128;
  dtype part = is_double ? DTYPE_F64 : DTYPE_F32, pair = is_double ? DTYPE_C128 : DTYPE_C64;
  return shape_array(l->arena, type == FFT_RFFT ? pair : part, from->rank, dims);
}

heddle_status lower_fft(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int type;
  int_list length;
  TRY(lowering_word_index(op, "fft_type", fft_types, -1, &type));
  TRY(lowering_ints(l, op, "fft_length", &length));
  const shape *s = fft_shape(l, operands[0]->shape, type, length);
  TRY(shape_check(s, op->where));
  results[0] = build_add(l, HLO_FFT, s, 1, operands);
  results[0]->attributes->fft_type = (fft_type)type;
  build_mark(results[0], HLO_ATTRIBUTE_FFT_TYPE);
  build_set_ints(l, results[0], HLO_ATTRIBUTE_FFT_LENGTH, length.size, length.data);
  return status_ok();
}

static heddle_status set_flag(const ir_operation *op, const char *name, instruction *i, hlo_attribute_id id) {
  int64_t value;
  TRY(lowering_int(op, name, 0, &value));
  build_set_bool(i, id, value != 0);
  return status_ok();
}

heddle_status lower_cholesky(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  results[0] = build_add(l, HLO_CHOLESKY, operands[0]->shape, 1, operands);
  return set_flag(op, "lower", results[0], HLO_ATTRIBUTE_LOWER);
}

heddle_status lower_triangular_solve(lowering *l, const ir_operation *op, instruction *const *operands,
                                     instruction **results) {
  static const char *const words[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", NULL};
  int transpose;
  TRY(lowering_word_index(op, "transpose_a", words, TRANSPOSE_NO, &transpose));
  instruction *i = results[0] = build_add(l, HLO_TRIANGULAR_SOLVE, operands[1]->shape, 2, operands);
  TRY(set_flag(op, "left_side", i, HLO_ATTRIBUTE_LEFT_SIDE));
  TRY(set_flag(op, "lower", i, HLO_ATTRIBUTE_LOWER));
  TRY(set_flag(op, "unit_diagonal", i, HLO_ATTRIBUTE_UNIT_DIAGONAL));
  i->attributes->transpose_a = (transpose_kind)transpose;
  build_mark(i, HLO_ATTRIBUTE_TRANSPOSE_A);
  return status_ok();
}

heddle_status lower_rng(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  static const char *const words[] = {"UNIFORM", "NORMAL", NULL};
  int distribution;
  int_list dims;
  TRY(lowering_word_index(op, "rng_distribution", words, -1, &distribution));
  if (op->operand_count != 3) return lowering_invalid(op, "found %d operands, wanted 3", op->operand_count);
  TRY(lowering_fold_ints(l, operands[2], "shape", &dims.data, &dims.size));
  if (dims.size > SHAPE_MAX_RANK) return lowering_invalid(op, "the result would have rank %d", dims.size);
  const shape *s = shape_array(l->arena, operands[0]->shape->dtype, dims.size, dims.data);
  TRY(shape_check(s, op->where));
  results[0] = build_add(l, HLO_RNG, s, 2, operands);
  results[0]->attributes->distribution = (random_distribution)distribution;
  build_mark(results[0], HLO_ATTRIBUTE_DISTRIBUTION);
  return status_ok();
}

heddle_status lower_rng_bit_generator(lowering *l, const ir_operation *op, instruction *const *operands,
                                      instruction **results) {
  const shape *bits;
  if (op->result_count != 2) return lowering_invalid(op, "found %d results, wanted 2", op->result_count);
  TRY(lowering_declared(l, op, 1, &bits));
  return lowering_random_bits(l, op, operands, bits, results);
}

heddle_status lowering_random_bits(lowering *l, const ir_operation *op, instruction *const *operands, const shape *bits,
                                   instruction **results) {
  static const char *const words[] = {"DEFAULT", "THREE_FRY", "PHILOX", NULL};
  int algorithm;
  TRY(lowering_word_index(op, "rng_algorithm", words, -1, &algorithm));
  const shape *s = shape_tuple(l->arena, 2, (const shape *[]){operands[0]->shape, bits});
  instruction *i = build_add(l, HLO_RNG_BIT_GENERATOR, s, 1, operands);
  i->attributes->algorithm = (random_algorithm)algorithm;
  build_mark(i, HLO_ATTRIBUTE_ALGORITHM);
  lowering_results(l, i, 2, results);
  return status_ok();
}
