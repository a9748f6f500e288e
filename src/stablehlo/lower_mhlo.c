// What MHLO has and StableHLO has not: operations that are private to XLA's compiler and have an instruction of their
// own in HLO, and shapes brought to their least rank.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"
#include "stablehlo/lowering_function.h"

// Hints on single values: Shardy's, to those who divide nothing, and the borders of MHLO's domains say nothing about
// the values.
heddle_status lower_hint(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (str_starts_with(op->name, "sdy.")) l->functions->has_hints = true;
  for (int k = 0; k < op->result_count; k++) results[k] = operands[k];
  return status_ok();
}

// It shows the operand to whoever watches, and nobody does.
heddle_status lower_trace(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  (void)l, (void)op, (void)operands, (void)results;
  return status_ok();
}

heddle_status lower_add_dependency(lowering *l, const ir_operation *op, instruction *const *operands,
                                   instruction **results) {
  if (operands[1]->shape->dtype != DTYPE_TOKEN) return lowering_invalid(op, "wanted a token as the second operand");
  results[0] = build_add(l, HLO_ADD_DEPENDENCY, operands[0]->shape, 2, operands);
  return status_ok();
}

heddle_status lower_stochastic_convert(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  dtype to = ir_type_dtype(op->results[0]->type);
  if (to == DTYPE_INVALID || !shape_is_array(operands[0]->shape))
    return lowering_refuse(op, "only arrays of numbers are converted");
  results[0] = build_add(l, HLO_STOCHASTIC_CONVERT, shape_with_dtype(l->arena, operands[0]->shape, to), 2, operands);
  return build_infer(l, results[0]);
}

heddle_status lower_rng_state(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  int64_t delta;
  const shape *s;
  TRY(lowering_needed_int(op, "delta", &delta));
  TRY(lowering_declared(l, op, 0, &s));
  results[0] = build_add(l, HLO_RNG_GET_AND_UPDATE_STATE, s, 0, operands);
  build_set_int(results[0], HLO_ATTRIBUTE_DELTA, delta);
  return status_ok();
}

// --- fusions and asynchronous calls

static heddle_status set_fusion_kind(const ir_operation *op, instruction *i) {
  static const char *const words[] = {"kLoop", "kInput", "kOutput", "kCustom", NULL};
  static const fusion_kind kinds[] = {FUSION_LOOP, FUSION_INPUT, FUSION_OUTPUT, FUSION_CUSTOM};
  int kind;
  TRY(lowering_word_index(op, "fusion_kind", words, 0, &kind));
  i->attributes->kind = kinds[kind];
  build_mark(i, HLO_ATTRIBUTE_KIND);
  return status_ok();
}

// The region as the computation that the fusion calls; what it uses from around it becomes operands.
heddle_status lower_fusion(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (op->region_count != 1) return lowering_invalid(op, "found %d regions, wanted one", op->region_count);
  region_request q = {.region = op->regions[0], .argument_count = op->operand_count, .name = "fused_computation"};
  const ir_value **captured;
  TRY(lowering_captures(l, q.region, &q.captured_count, &captured));
  q.captured = captured;
  int count = op->operand_count + q.captured_count;
  instruction **all = arena_array(l->arena, instruction *, count);
  const shape **shapes = arena_array(l->arena, const shape *, count);
  for (int k = 0; k < op->operand_count; k++) all[k] = operands[k];
  for (int k = 0; k < q.captured_count; k++) all[op->operand_count + k] = ptr_map_get(l->values, captured[k]);
  for (int k = 0; k < count; k++) shapes[k] = all[k]->shape;
  q.shapes = shapes;
  computation *body;
  TRY(lowering_region(l, &q, &body));
  instruction *i = build_add(l, HLO_FUSION, body->root->shape, count, all);
  TRY(set_fusion_kind(op, i));
  build_called(i, HLO_ATTRIBUTE_CALLS, body);
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

// MHLO's async_start names the function it calls; StableHLO's has it as a region.
heddle_status lower_async_call(lowering *l, const ir_operation *op, instruction *const *operands,
                               instruction **results) {
  computation *called;
  TRY(lowering_function(l, op, lowering_word(op, "called_computation"), op->operand_count, operands, &called));
  const shape **shapes = arena_array(l->arena, const shape *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++) shapes[k] = operands[k]->shape;
  const shape *parts[3] = {shape_tuple(l->arena, op->operand_count, shapes), called->root->shape,
                           shape_scalar(l->arena, DTYPE_U32)};
  results[0] = build_add(l, HLO_ASYNC_START, shape_tuple(l->arena, 3, parts), op->operand_count, operands);
  build_called(results[0], HLO_ATTRIBUTE_CALLS, called);
  return status_ok();
}

heddle_status lower_async_update(lowering *l, const ir_operation *op, instruction *const *operands,
                                 instruction **results) {
  if (operands[0]->opcode != HLO_ASYNC_START && operands[0]->opcode != HLO_ASYNC_UPDATE)
    return lowering_refuse(op, "its operand is not the result of an async_start");
  results[0] = build_add(l, HLO_ASYNC_UPDATE, operands[0]->shape, 1, operands);
  return status_ok();
}

// --- bitcasts

// The dims as they lie in memory, most major first: 0, 1, 2 if the attribute says nothing.
static heddle_status major_to_minor(lowering *l, const ir_operation *op, const char *name, int rank, int64_t *out) {
  int_list order;
  uint64_t seen = 0;
  TRY(lowering_ints(l, op, name, &order));
  for (int k = 0; k < rank; k++) out[k] = k;
  if (!ir_find(op, name)) return status_ok();
  if (order.size != rank) return lowering_invalid(op, "%s has %d entries, wanted %d", name, order.size, rank);
  for (int k = 0; k < rank; k++) {
    int64_t dim = order.data[rank - 1 - k];
    if (dim < 0 || dim >= rank || (seen >> dim & 1))
      return lowering_invalid(op, "%s is no order of %d dims", name, rank);
    seen |= (uint64_t)1 << dim;
    out[k] = dim;
  }
  return status_ok();
}

static heddle_status permute(lowering *l, instruction *x, const int64_t *order, instruction **out) {
  bool is_same = true;
  for (int k = 0; k < x->shape->rank; k++) is_same &= order[k] == k;
  *out = x;
  if (is_same) return status_ok();
  *out = build_add(l, HLO_TRANSPOSE, x->shape, 1, &x);
  build_dimensions(l, *out, x->shape->rank, order);
  return build_infer(l, *out);
}

// The same bytes as another shape. Where layouts are given, the elements are brought into the order in which they lie.
heddle_status lower_bitcast(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  const shape *s;
  int64_t from[SHAPE_MAX_RANK] = {0}, to[SHAPE_MAX_RANK] = {0}, back[SHAPE_MAX_RANK] = {0}, dims[SHAPE_MAX_RANK];
  TRY(lowering_declared(l, op, 0, &s));
  if (!shape_is_array(operands[0]->shape) || !shape_is_array(s)) return lowering_invalid(op, "wanted arrays");
  TRY(major_to_minor(l, op, "source_layout", operands[0]->shape->rank, from));
  TRY(major_to_minor(l, op, "result_layout", s->rank, to));
  for (int k = 0; k < s->rank; k++) {
    dims[k] = s->dims[to[k]];
    back[to[k]] = k;
  }
  instruction *x;
  TRY(permute(l, operands[0], from, &x));
  x = build_add(l, HLO_BITCAST, shape_array(l->arena, s->dtype, s->rank, dims), 1, &x);
  TRY(build_infer(l, x));
  return permute(l, x, back, &results[0]);
}

// --- shapes of least rank

enum { MOST_DIMS = SHAPE_MAX_RANK, MOST_SHAPES = 64 };

// Size of the dim that is `place` places left of the last one; what is missing there is 1.
static int64_t dim_from_right(int_list s, int place) { return place < s.size ? s.data[s.size - 1 - place] : 1; }

// Which of the shapes have another size than 1 there, as bits.
static uint64_t grown(int count, const int_list *shapes, int place) {
  uint64_t bits = 0;
  for (int k = 0; k < count; k++) bits |= (uint64_t)(dim_from_right(shapes[k], place) != 1) << k;
  return bits;
}

static heddle_status constant_of_dims(lowering *l, int count, const int64_t *dims, instruction **out) {
  literal *value;
  TRY(literal_create(l->arena, shape_array(l->arena, DTYPE_S64, 1, (int64_t[]){count}), &value));
  for (int k = 0; k < count; k++) literal_set_int(value, k, dims[k]);
  *out = build_constant(l, value);
  return status_ok();
}

// Neighbouring dims in which the same shapes are broadcast become one dim; dims of size 1 in all shapes go. `merged`
// has MOST_DIMS entries for each shape, the last dim first.
static heddle_status merge_dims(lowering *l, int count, const int_list *shapes, int64_t *merged, int *groups) {
  uint64_t last = 0;
  *groups = 0;
  for (int place = 0; place < MOST_DIMS; place++) {
    uint64_t bits = grown(count, shapes, place);
    if (!bits) continue;
    bool is_new = bits != last || !*groups;
    *groups += is_new;
    for (int k = 0; k < count; k++) {
      int64_t *to = &merged[(ptrdiff_t)k * MOST_DIMS + *groups - 1];
      if (is_new) *to = 1;
      if (__builtin_mul_overflow(*to, dim_from_right(shapes[k], place), to))
        return lowering_invalid(l->op, "a shape has too many elements");
    }
    last = bits;
  }
  return status_ok();
}

heddle_status lower_minimum_broadcast_shapes(lowering *l, const ir_operation *op, instruction *const *operands,
                                             instruction **results) {
  int_list shapes[MOST_SHAPES];
  int count = op->operand_count, groups;
  if (count != op->result_count || count > MOST_SHAPES)
    return lowering_invalid(op, "found %d operands and %d results, wanted as many of both, at most %d", count,
                            op->result_count, MOST_SHAPES);
  for (int k = 0; k < count; k++) {
    TRY(lowering_fold_ints(l, operands[k], "a shape", &shapes[k].data, &shapes[k].size));
    if (shapes[k].size > MOST_DIMS) return lowering_invalid(op, "a shape has more than %d dims", MOST_DIMS);
  }
  int64_t *merged = arena_array(l->arena, int64_t, count *MOST_DIMS);
  TRY(merge_dims(l, count, shapes, merged, &groups));
  for (int k = 0; k < count; k++) {
    const int64_t *from = merged + (ptrdiff_t)k * MOST_DIMS;
    int64_t dims[MOST_DIMS];
    int size = groups;
    while (size > 0 && from[size - 1] == 1) size--;
    for (int n = 0; n < size; n++) dims[n] = from[size - 1 - n];
    TRY(constant_of_dims(l, size, dims, &results[k]));
  }
  return status_ok();
}
