// Products of two quantized operands (dot_general, convolution) in integers: the sum of products of storage values less
// their zero points, times the product of both scales, is what the specification's sum of real products is, but exact
// whatever the order of the sum, so that every target finds the same.
//
// This needs one scale for each element of the result: one for the whole lhs, and one for the rhs or one for each place
// of a dim that becomes a dim of the result. The sums must fit 32 bits.
#include "stablehlo/quantized.h"

#include "stablehlo/build.h"
#include "stablehlo/lower_table.h"

// `terms` are added up for each element; `axis` is the dim of the result that the rhs's axis becomes, -1 if it has
// none.
typedef struct product_form {
  int64_t terms;
  int axis;
} product_form;

static int free_before(int_list batch, int_list contracting, int64_t dim) {
  int count = 0;
  for (int64_t k = 0; k < dim; k++) count += !int_list_has(batch, k) && !int_list_has(contracting, k);
  return count;
}

// False for numbers that do not fit, which the ordinary way reports, and for an axis that is summed over.
static heddle_status form_of_dot(lowering *l, const ir_operation *op, const shape *lhs, const shape *rhs, int axis,
                                 product_form *out, bool *fits) {
  const ir_attribute *numbers = ir_find(op, "dot_dimension_numbers");
  int_list lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
  *fits = false;
  if (!numbers || ir_find(op, "algorithm")) return status_ok();
  TRY(lowering_field_ints(l, op, numbers, "lhs_batching_dimensions", &lhs_batch));
  TRY(lowering_field_ints(l, op, numbers, "lhs_contracting_dimensions", &lhs_contracting));
  TRY(lowering_field_ints(l, op, numbers, "rhs_batching_dimensions", &rhs_batch));
  TRY(lowering_field_ints(l, op, numbers, "rhs_contracting_dimensions", &rhs_contracting));
  *out = (product_form){1, -1};
  for (int k = 0; k < lhs_contracting.size; k++) {
    int64_t dim = lhs_contracting.data[k];
    if (dim < 0 || dim >= lhs->rank || __builtin_mul_overflow(out->terms, lhs->dims[dim], &out->terms))
      return status_ok();
  }
  if (axis >= 0) {
    if (axis >= rhs->rank || int_list_has(rhs_batch, axis) || int_list_has(rhs_contracting, axis)) return status_ok();
    int lhs_free = free_before(lhs_batch, lhs_contracting, lhs->rank);
    out->axis = lhs_batch.size + lhs_free + free_before(rhs_batch, rhs_contracting, axis);
  }
  *fits = true;
  return status_ok();
}

static void form_of_convolution(const ir_operation *op, const shape *rhs, int axis, product_form *out, bool *fits) {
  const ir_attribute *numbers = ir_find(op, "dimension_numbers");
  *fits = false;
  if (!numbers) return;
  int64_t features = lowering_field_int(numbers, "kernel_output_feature_dimension", -1);
  int64_t result = lowering_field_int(numbers, "output_feature_dimension", -1);
  if (features < 0 || features >= rhs->rank || result < 0 || result >= rhs->rank || rhs->dims[features] <= 0) return;
  *out = (product_form){shape_element_count(rhs) / rhs->dims[features], axis < 0 ? -1 : (int)result};
  *fits = axis < 0 || axis == features;
}

// How far a storage value may be from a zero point; far for a zero point that is none.
static int64_t reach(const ir_quantization *q) {
  int64_t most = 0;
  for (int k = 0; k < q->count; k++) {
    if (q->zero_points[k] < q->storage_min || q->zero_points[k] > q->storage_max) return INT32_MAX;
    int64_t below = q->zero_points[k] - q->storage_min, above = q->storage_max - q->zero_points[k];
    most = below > most ? below : most;
    most = above > most ? above : most;
  }
  return most;
}

static bool sums_fit(const product_form *form, const ir_quantization *lhs, const ir_quantization *rhs) {
  if (dtypes[lhs->storage].bits > 8 || dtypes[rhs->storage].bits > 8) return false;
  int64_t largest = reach(lhs) * reach(rhs);  // each at most 2^31
  return largest < (1 << 18) && form->terms <= INT32_MAX / (largest ? largest : 1);
}

static heddle_status centred(lowering *l, instruction *x, const ir_quantization *q, instruction **out) {
  instruction *zero_points;
  TRY(quantized_zero_points(l, x->shape, q, DTYPE_S32, &zero_points));
  *out = build_convert(l, x, DTYPE_S32);
  if (zero_points) *out = build_binary(l, HLO_SUBTRACT, *out, zero_points);
  return status_ok();
}

static heddle_status integer_product(lowering *l, const ir_operation *op, instruction *const *operands,
                                     const ir_quantization *lhs, const ir_quantization *rhs, instruction **out) {
  instruction *centres[2];
  TRY(centred(l, operands[0], lhs, &centres[0]));
  TRY(centred(l, operands[1], rhs, &centres[1]));
  const ir_type *declared = op->results[0]->type;
  ir_value result = *op->results[0], *results[] = {&result};
  const ir_type *element = ir_scalar_type(l->arena, DTYPE_S32);
  result.type = ir_tensor_type(l->arena, declared->rank, declared->dims, element);
  ir_operation integer = *op;
  integer.results = results;
  return lowerings[op->op](l, &integer, centres, out);
}

heddle_status quantized_product(lowering *l, const ir_operation *op, instruction *const *operands, instruction **out) {
  *out = NULL;
  if (op->op != IR_OP_DOT_GENERAL && op->op != IR_OP_CONVOLUTION) return status_ok();
  if (op->operand_count != 2 || op->result_count != 1 || op->results[0]->type->kind != IR_TYPE_TENSOR)
    return status_ok();
  const ir_quantization *lhs = ir_type_quantization(op->operands[0]->type);
  const ir_quantization *rhs = ir_type_quantization(op->operands[1]->type);
  if (!lhs || !rhs || lhs->axis >= 0 || lhs->block_count || rhs->block_count) return status_ok();
  if (lhs->expressed != rhs->expressed) return status_ok();
  const shape *left = operands[0]->shape, *right = operands[1]->shape;
  product_form form = {0};
  bool fits;
  if (op->op == IR_OP_DOT_GENERAL) TRY(form_of_dot(l, op, left, right, rhs->axis, &form, &fits));
  else form_of_convolution(op, right, rhs->axis, &form, &fits);
  if (!fits || !sums_fit(&form, lhs, rhs)) return status_ok();
  instruction *sum = NULL, *scales;
  TRY(integer_product(l, op, operands, lhs, rhs, &sum));
  ir_quantization of_result = *rhs;
  of_result.axis = form.axis;
  TRY(quantized_scales(l, sum->shape, &of_result, rhs->expressed, lhs->scales[0], &scales));
  *out = build_binary(l, HLO_MULTIPLY, build_convert(l, sum, rhs->expressed), scales);
  return status_ok();
}
