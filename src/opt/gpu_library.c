// Calls of cuSOLVER, CUB and XLA's own top-k for GPUs as the operations of HLO that they replaced.
#include "opt/gpu_calls.h"

// --- Cholesky factors, a workspace, and for each matrix whether it has none

// 1 where a factor holds NaN, as HLO's does of a matrix that is not positive definite.
static instruction *failures(const builder *b, instruction *factor, const shape *s) {
  const shape *of = factor->shape;
  int64_t matrix[] = {of->rank - 2, of->rank - 1};
  instruction *is_nan = builder_compare(b, factor, factor, COMPARE_NE);
  computation *any = builder_binary_computation(b, HLO_OR, DTYPE_PRED);
  instruction *found = builder_reduce(b, is_nan, builder_scalar_int(b, DTYPE_PRED, 0), 2, matrix, any);
  return builder_reshape(b, builder_convert(b, found, s->dtype), s->rank, s->dims);
}

instruction *gpu_library_expand_cholesky(const builder *b, instruction *i) {
  const shape *out = gpu_result_shape(i, 0), *info = gpu_result_shape(i, 2);
  double lower = 0;
  if (i->operand_count != 1 || !info || !shape_is_array(info) || i->shape->tuple_size != 3 || out->rank < 2 ||
      !shape_compatible(i->operands[0]->shape, out))
    return NULL;
  gpu_config_number(b, i->attributes->backend_config, "lower", &lower);
  int64_t matrices = shape_element_count(out);
  for (int k = out->rank - 2; k < out->rank; k++) matrices = out->dims[k] ? matrices / out->dims[k] : 0;
  if (info->dtype != DTYPE_S32 || matrices != shape_element_count(info)) return NULL;
  instruction *factor = builder_add(b, HLO_CHOLESKY, i->operands[0]->shape, 1, i->operands);
  factor->attributes->lower = lower != 0;
  attributes_mark(factor->attributes, HLO_ATTRIBUTE_LOWER);
  const shape *room = i->shape->elements[1];
  if (!shape_is_array(room) || !shape_is_static(room)) return NULL;
  instruction *parts[] = {factor, builder_broadcast(b, builder_scalar(b, room->dtype, 0), room, 0, NULL),
                          failures(b, factor, info)};
  return gpu_result(b, i, 3, parts);
}

// --- sorts by radix: keys, and values that move with them, along the most minor dim

static computation *comparator(const builder *b, int count, instruction *const *operands, bool descending) {
  computation *c = module_add_computation(b->computation->module, STR("sort_order"));
  instruction *first[2];
  for (int k = 0; k < 2 * count; k++) {
    const shape *s = shape_scalar(b->arena, operands[k / 2]->shape->dtype);
    instruction *p = computation_add_parameter(c, k, (str){0}, s);
    if (k < 2) first[k] = p;
  }
  const builder inner = builder_in(c);
  instruction *order = builder_compare(&inner, first[0], first[1], descending ? COMPARE_GT : COMPARE_LT);
  if (dtype_is_float(first[0]->shape->dtype)) {
    order->attributes->compare_type = COMPARISON_TOTAL_ORDER;
    attributes_mark(order->attributes, HLO_ATTRIBUTE_TYPE);
  }
  computation_set_root(c, order);
  return c;
}

instruction *gpu_library_expand_sort(const builder *b, instruction *i) {
  double descending = 0;
  const int count = i->operand_count;
  instruction *parts[2];
  const shape *shapes[2];
  // Unassigned floats: NaNs of both signs stand last and both zeros are one, which no single comparison says.
  bool is_other_order = !str_is(i->attributes->custom_call_target, "__cub$DeviceRadixSort");
  if (count < 1 || count > 2 || !shape_is_tuple(i->shape)) return NULL;
  for (int k = 0; k < count; k++) {
    if (!shape_is_array(i->operands[k]->shape) || i->operands[k]->shape->rank == 0) return NULL;
    if (!shape_same_dims(i->operands[k]->shape, i->operands[0]->shape)) return NULL;
    shapes[k] = i->operands[k]->shape;
  }
  if (is_other_order && dtype_is_float(shapes[0]->dtype)) return NULL;
  int64_t order[SHAPE_MAX_RANK];
  shape_minor_to_major(shapes[0], order);
  gpu_config_number(b, i->attributes->backend_config, "descending", &descending);
  instruction *sort =
      builder_add(b, HLO_SORT, count == 1 ? shapes[0] : shape_tuple(b->arena, count, shapes), count, i->operands);
  builder_set_dimensions(b, sort, 1, order);
  sort->attributes->is_stable = true;
  attributes_mark(sort->attributes, HLO_ATTRIBUTE_IS_STABLE);
  computation *by = comparator(b, count, i->operands, descending != 0);
  instruction_set_called(sort, 1, &by);
  attributes_mark(sort->attributes, HLO_ATTRIBUTE_TO_APPLY);
  for (int k = 0; k < count; k++) parts[k] = count == 1 ? sort : builder_element(b, sort, k);
  return gpu_result(b, i, count, parts);
}

// --- the largest elements of each row and their places

instruction *gpu_library_expand_top_k(const builder *b, instruction *i) {
  const shape *values = gpu_result_shape(i, 0), *positions = gpu_result_shape(i, 1);
  bool fits = i->operand_count == 1 && positions && shape_is_array(values) && values->rank > 0 &&
              shape_is_array(positions) && shape_is_array(i->operands[0]->shape) && positions->dtype == DTYPE_S32;
  if (!fits || i->operands[0]->shape->rank != values->rank) return NULL;
  const int64_t k = values->dims[values->rank - 1];
  if (k > i->operands[0]->shape->dims[values->rank - 1]) return NULL;
  const shape *both = shape_tuple(b->arena, 2, (const shape *[]){values, positions});
  instruction *top = builder_add(b, HLO_TOPK, both, 1, i->operands);
  top->attributes->k = k;
  top->attributes->largest = true;
  attributes_mark(top->attributes, HLO_ATTRIBUTE_K);
  attributes_mark(top->attributes, HLO_ATTRIBUTE_LARGEST);
  instruction *parts[] = {builder_element(b, top, 0), builder_element(b, top, 1)};
  return gpu_result(b, i, 2, parts);
}
