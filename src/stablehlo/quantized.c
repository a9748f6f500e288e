// Operations on quantized types. What moves elements, or computes in regions of its own, works on the storage values;
// everything else is computed on real numbers between dequantizing and quantizing.
#include "stablehlo/quantized.h"

#include "stablehlo/lower_table.h"

static const bool on_storage[IR_OP_COUNT] = {
    [IR_OP_ALL_GATHER] = true,
    [IR_OP_ALL_REDUCE] = true,
    [IR_OP_ALL_TO_ALL] = true,
    [IR_OP_ASYNC_DONE] = true,
    [IR_OP_ASYNC_START] = true,
    [IR_OP_BITCAST_CONVERT] = true,
    [IR_OP_BROADCAST] = true,
    [IR_OP_BROADCAST_IN_DIM] = true,
    [IR_OP_COLLECTIVE_BROADCAST] = true,
    [IR_OP_COLLECTIVE_PERMUTE] = true,
    [IR_OP_COLLECTIVE_REDUCE] = true,
    [IR_OP_CONCATENATE] = true,
    [IR_OP_DYNAMIC_BROADCAST_IN_DIM] = true,
    [IR_OP_DYNAMIC_GATHER] = true,
    [IR_OP_DYNAMIC_PAD] = true,
    [IR_OP_DYNAMIC_RESHAPE] = true,
    [IR_OP_DYNAMIC_SLICE] = true,
    [IR_OP_DYNAMIC_UPDATE_SLICE] = true,
    [IR_OP_GATHER] = true,
    [IR_OP_GET_DIMENSION_SIZE] = true,
    [IR_OP_INFEED] = true,
    [IR_OP_MAP] = true,
    [IR_OP_OUTFEED] = true,
    [IR_OP_PAD] = true,
    [IR_OP_REAL_DYNAMIC_SLICE] = true,
    [IR_OP_RECV] = true,
    [IR_OP_REDUCE] = true,
    [IR_OP_REDUCE_SCATTER] = true,
    [IR_OP_REDUCE_WINDOW] = true,
    [IR_OP_RESHAPE] = true,
    [IR_OP_REVERSE] = true,
    [IR_OP_SCATTER] = true,
    [IR_OP_SELECT_AND_SCATTER] = true,
    [IR_OP_SEND] = true,
    [IR_OP_SET_DIMENSION_SIZE] = true,
    [IR_OP_SLICE] = true,
    [IR_OP_SORT] = true,
    [IR_OP_TORCH_INDEX_SELECT] = true,
    [IR_OP_TRANSPOSE] = true,
    [IR_OP_CHLO_DYNAMIC_RESHAPE] = true,
    [IR_OP_CHLO_SCAN] = true,
    [IR_OP_CHECK_EXPECT_EQ] = true,
    [IR_OP_CHECK_EXPECT_EQ_CONST] = true,
    [IR_OP_INTERPRETER_RUN_PARALLEL] = true,
    [IR_OP_INTERPRETER_PROBE] = true,
    [IR_OP_INTERPRETER_PRINT] = true,
};

static bool is_single(const ir_quantization *q) { return q && q->axis < 0 && !q->block_count && q->count == 1; }

// What moves elements cannot change their scale.
static heddle_status check_scales(const ir_operation *op) {
  if (op->op == IR_OP_BITCAST_CONVERT || op->region_count || !op->operand_count || !op->result_count)
    return status_ok();
  const ir_quantization *from = ir_type_quantization(op->operands[0]->type);
  const ir_quantization *to = ir_type_quantization(op->results[0]->type);
  if (!is_single(from) || !is_single(to)) return status_ok();
  if (from->scales[0] == to->scales[0] && from->zero_points[0] == to->zero_points[0]) return status_ok();
  return lowering_invalid(op, "its result has another scale or zero point than its operand");
}

static const ir_type *expressed_type(lowering *l, const ir_type *t) {
  const ir_quantization *q = ir_type_quantization(t);
  if (!q) return t;
  const ir_type *element = ir_scalar_type(l->arena, q->expressed);
  return t->kind == IR_TYPE_TENSOR ? ir_tensor_type(l->arena, t->rank, t->dims, element) : element;
}

static ir_value **expressed_values(lowering *l, int count, ir_value *const *from) {
  ir_value **values = arena_array(l->arena, ir_value *, count);
  for (int k = 0; k < count; k++) {
    values[k] = arena_new(l->arena, ir_value);
    *values[k] = *from[k];
    values[k]->type = expressed_type(l, from[k]->type);
  }
  return values;
}

static heddle_status real_operands(lowering *l, const ir_operation *op, instruction *const *operands,
                                   instruction **out) {
  for (int k = 0; k < op->operand_count; k++) {
    const ir_quantization *q = ir_type_quantization(op->operands[k]->type);
    out[k] = operands[k];
    if (q) TRY(quantized_to_real(l, operands[k], q, &out[k]));
  }
  return status_ok();
}

// What quantizes, dequantizes or quantizes anew is nothing in between.
static bool only_converts(const ir_operation *op) {
  return op->op == IR_OP_UNIFORM_QUANTIZE || op->op == IR_OP_UNIFORM_DEQUANTIZE;
}

static heddle_status compute(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (only_converts(op)) {
    results[0] = operands[0];
    return status_ok();
  }
  ir_operation real = *op;
  real.operands = expressed_values(l, op->operand_count, op->operands);
  real.results = expressed_values(l, op->result_count, op->results);
  return lowerings[op->op](l, &real, operands, results);
}

heddle_status lower_quantized(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  if (!only_converts(op) && !lowerings[op->op])
    return lowering_refuse(op, "HLO has no way to say this operation on quantized types");
  if (on_storage[op->op]) {
    TRY(check_scales(op));
    return lowerings[op->op](l, op, operands, results);
  }
  instruction *product;
  TRY(quantized_product(l, op, operands, &product));
  if (product) {
    results[0] = product;
  } else {
    instruction **real = arena_array(l->arena, instruction *, op->operand_count);
    TRY(real_operands(l, op, operands, real));
    TRY(compute(l, op, real, results));
  }
  for (int k = 0; k < op->result_count; k++) {
    const ir_quantization *q = ir_type_quantization(op->results[k]->type);
    if (q) TRY(quantized_from_real(l, results[k], q, &results[k]));
  }
  return status_ok();
}
