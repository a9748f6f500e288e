// CHLO operations that HLO has in another form: top_k (and MHLO's topk, which may want the least) as HLO's topk,
// dynamic_reshape with one size left open.
#include "stablehlo/build.h"
#include "stablehlo/chlo.h"

heddle_status lower_chlo_top_k(lowering *l, const ir_operation *op, instruction *const *operands,
                               instruction **results) {
  int64_t k, is_largest;
  TRY(lowering_needed_int(op, "k", &k));
  TRY(lowering_int(op, "largest", 1, &is_largest));
  if (op->operand_count != 1) return lowering_invalid(op, "found %d operands, wanted 1", op->operand_count);
  return chlo_top_k(l, op, operands, k, is_largest != 0, results);
}

heddle_status chlo_top_k(lowering *l, const ir_operation *op, instruction *const *operands, int64_t k, bool is_largest,
                         instruction **results) {
  const shape *from = operands[0]->shape;
  if (!shape_is_array(from) || from->rank == 0 || op->result_count != 2)
    return lowering_invalid(op, "wanted an array of at least one dim and two results");
  int last = from->rank - 1;
  if (k < 0 || k > from->dims[last])
    return lowering_invalid(op, "k is %lld, wanted at most the last dim's size in %s", (long long)k,
                            shape_text(l->arena, from));
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < from->rank; d++) dims[d] = d == last ? k : from->dims[d];
  const shape *parts[] = {shape_array(l->arena, from->dtype, from->rank, dims),
                          shape_array(l->arena, DTYPE_S32, from->rank, dims)};
  instruction *i = build_add(l, HLO_TOPK, shape_tuple(l->arena, 2, parts), 1, operands);
  build_set_int(i, HLO_ATTRIBUTE_K, k);
  build_set_bool(i, HLO_ATTRIBUTE_LARGEST, is_largest);
  lowering_results(l, i, 2, results);
  return status_ok();
}

heddle_status lower_chlo_dynamic_reshape(lowering *l, const ir_operation *op, instruction *const *operands,
                                         instruction **results) {
  const int64_t *wanted;
  int rank;
  if (op->operand_count != 2 || op->result_count != 1 || !shape_is_array(operands[0]->shape))
    return lowering_invalid(op, "wanted an array, its new shape and one result");
  TRY(lowering_fold_ints(l, operands[1], "output_shape", &wanted, &rank));
  if (rank > SHAPE_MAX_RANK) return lowering_invalid(op, "found %d dims, wanted at most %d", rank, SHAPE_MAX_RANK);
  int64_t dims[SHAPE_MAX_RANK], open = -1, product = 1, count = shape_element_count(operands[0]->shape);
  for (int k = 0; k < rank; k++) {
    dims[k] = wanted[k];
    if (wanted[k] < -1 || (wanted[k] == -1 && open >= 0))
      return lowering_invalid(op, "wanted sizes of which one at most is -1");
    if (wanted[k] == -1) open = k;
    else if (__builtin_mul_overflow(product, wanted[k], &product))
      return lowering_invalid(op, "the new shape is too large");
  }
  if (open >= 0 && (product == 0 || count % product))
    return lowering_invalid(op, "no size in place of -1 gives %lld elements", (long long)count);
  if (open >= 0) dims[open] = count / product;
  else if (product != count)
    return lowering_invalid(op, "found %lld elements, wanted %lld", (long long)product, (long long)count);
  results[0] = build_reshape(l, operands[0], rank, dims);
  return status_ok();
}
