// chlo.scan: runs its body over slices of the inputs along one dim, with values carried from one to the next, and
// stacks what the body gives. HLO's scan is the same, with results in a tuple.
#include "stablehlo/build.h"
#include "stablehlo/chlo.h"

typedef struct scan {
  int input_count, carry_count, output_count;
  int64_t dimension, size;
  bool is_reverse;
  const shape **inner;  // of the body's parameters: slices, carries
  computation *body;
} scan;

static const shape *without_dim(lowering *l, const shape *s, int64_t dimension) {
  int64_t dims[SHAPE_MAX_RANK];
  int count = 0;
  for (int k = 0; k < s->rank; k++)
    if (k != dimension) dims[count++] = s->dims[k];
  return shape_array(l->arena, s->dtype, count, dims);
}

static const shape *with_dim(lowering *l, const shape *s, int64_t dimension, int64_t size) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int k = 0, from = 0; k <= s->rank; k++) dims[k] = k == dimension ? size : s->dims[from++];
  return shape_array(l->arena, s->dtype, s->rank + 1, dims);
}

static heddle_status read_scan(lowering *l, const ir_operation *op, instruction *const *operands, scan *out) {
  int_list segments;
  int64_t is_reverse;
  TRY(lowering_ints(l, op, "operandSegmentSizes", &segments));
  TRY(lowering_needed_int(op, "dimension", &out->dimension));
  TRY(lowering_int(op, "scan_dim_size", -1, &out->size));
  TRY(lowering_int(op, "is_reverse", 0, &is_reverse));
  out->is_reverse = is_reverse != 0;
  bool fits = segments.size == 2 && segments.data[0] >= 0 && segments.data[1] >= 0 &&
              segments.data[0] <= op->operand_count && segments.data[1] == op->operand_count - segments.data[0];
  if (!fits) return lowering_invalid(op, "operandSegmentSizes do not divide the operands into inputs and inits");
  out->input_count = (int)segments.data[0];
  out->carry_count = (int)segments.data[1];
  out->output_count = op->result_count - out->carry_count;
  if (op->region_count != 1 || out->output_count < 0)
    return lowering_invalid(op, "wanted one region and at least as many results as inits");
  for (int k = 0; k < op->operand_count; k++) {
    const shape *s = operands[k]->shape;
    bool is_input = k < out->input_count;
    if (!shape_is_array(s) || (is_input && (out->dimension < 0 || out->dimension >= s->rank)))
      return lowering_invalid(op, "operand %d is %s and has no dimension %lld", k, shape_text(l->arena, s),
                              (long long)out->dimension);
    if (!is_input) continue;
    if (k == 0 && out->size < 0) out->size = s->dims[out->dimension];
    if (s->dims[out->dimension] != out->size)
      return lowering_invalid(op, "found inputs of different sizes in the scanned dimension");
  }
  if (out->size < 0) return lowering_invalid(op, "without inputs it needs an attribute `scan_dim_size`");
  if (!out->input_count && !out->output_count)
    return lowering_refuse(op, "neither inputs nor outputs: HLO's scan has its size from them");
  return status_ok();
}

static heddle_status make_body(lowering *l, const ir_operation *op, instruction *const *operands, scan *s) {
  s->inner = arena_array(l->arena, const shape *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++)
    s->inner[k] = k < s->input_count ? without_dim(l, operands[k]->shape, s->dimension) : operands[k]->shape;
  region_request q = {.region = op->regions[0],
                      .argument_count = op->operand_count,
                      .shapes = s->inner,
                      .tuple_root = true,
                      .name = "step"};
  TRY(lowering_region(l, &q, &s->body));
  const shape *root = s->body->root->shape;
  bool fits = root->tuple_size == op->result_count;
  for (int k = 0; fits && k < s->carry_count; k++)
    fits = shape_compatible(root->elements[s->output_count + k], s->inner[s->input_count + k]);
  for (int k = 0; fits && k < s->output_count; k++)
    fits = shape_is_array(root->elements[k]) && s->dimension <= root->elements[k]->rank &&
           root->elements[k]->rank < SHAPE_MAX_RANK;
  if (!fits)
    return lowering_invalid(op, "the body gives %s, wanted %d outputs and the carries", shape_text(l->arena, root),
                            s->output_count);
  return status_ok();
}

static const shape *result_shape(lowering *l, const scan *s) {
  const shape *body = s->body->root->shape;
  const shape **results = arena_array(l->arena, const shape *, body->tuple_size);
  for (int k = 0; k < body->tuple_size; k++)
    results[k] = k < s->output_count ? with_dim(l, body->elements[k], s->dimension, s->size) : body->elements[k];
  return shape_tuple(l->arena, body->tuple_size, results);
}

heddle_status lower_chlo_scan(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  scan s = {0};
  TRY(read_scan(l, op, operands, &s));
  TRY(make_body(l, op, operands, &s));
  instruction *i = build_add(l, HLO_SCAN, result_shape(l, &s), op->operand_count, operands);
  build_dimensions(l, i, 1, &s.dimension);
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, s.body);
  attributes_add_raw(l->arena, i->attributes, STR("num_carries"),
                     str_from(arena_printf(l->arena, "%d", s.carry_count)));
  if (s.is_reverse) attributes_add_raw(l->arena, i->attributes, STR("is_reverse"), STR("true"));
  for (int k = 0; k < op->result_count; k++) results[k] = build_element(l, i, k);
  return status_ok();
}
