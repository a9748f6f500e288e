// chlo.scan: runs its body over slices of the inputs along one dim, with values carried from one to the next, and
// stacks what the body gives. It becomes a loop over (step, inputs, carries, outputs).
#include "stablehlo/chlo.h"

typedef struct scan {
  int input_count, carry_count, output_count;
  int64_t dimension, size;
  bool is_reverse;
  const shape **inner;  // of the body's parameters: slices, carries
  const shape **state;  // step, inputs, carries, outputs
  int state_count;
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

static void list_state(lowering *l, instruction *const *operands, scan *s) {
  int operand_count = s->input_count + s->carry_count;
  s->state_count = 1 + operand_count + s->output_count;
  s->state = arena_array(l->arena, const shape *, s->state_count);
  s->state[0] = shape_scalar(l->arena, DTYPE_S32);
  for (int k = 0; k < operand_count; k++) s->state[1 + k] = operands[k]->shape;
  for (int k = 0; k < s->output_count; k++)
    s->state[1 + operand_count + k] = with_dim(l, s->body->root->shape->elements[k], s->dimension, s->size);
}

static instruction *add_state(lowering *inner, const scan *s) {
  const shape *tuple = shape_tuple(inner->arena, s->state_count, s->state);
  return computation_add_parameter(inner->computation, 0, STR("state"), tuple);
}

static heddle_status make_condition(lowering *l, const scan *s, computation **out) {
  lowering inner;
  TRY(lowering_enter(l, &inner, STR("scan_condition")));
  instruction *step = build_element(&inner, add_state(&inner, s), 0);
  instruction *size = build_scalar(&inner, DTYPE_S32, (double)s->size);
  computation_set_root(inner.computation, build_compare(&inner, step, size, COMPARE_LT));
  *out = inner.computation;
  return status_ok();
}

// `array` and maybe an update, then start indices: 0 but for the scanned dim.
static instruction *at_place(lowering *l, const scan *s, hlo_opcode opcode, const shape *result, int rank, int count,
                             instruction *const *arrays, instruction *place) {
  instruction *operands[SHAPE_MAX_RANK + 2];
  for (int k = 0; k < count; k++) operands[k] = arrays[k];
  instruction *zero = build_scalar(l, DTYPE_S32, 0);
  for (int k = 0; k < rank; k++) operands[count + k] = k == s->dimension ? place : zero;
  return build_add(l, opcode, result, count + rank, operands);
}

static instruction *slice_at(lowering *l, const scan *s, instruction *x, instruction *place) {
  int64_t dims[SHAPE_MAX_RANK];
  const shape *from = x->shape;
  for (int k = 0; k < from->rank; k++) dims[k] = k == s->dimension ? 1 : from->dims[k];
  const shape *slice = shape_array(l->arena, from->dtype, from->rank, dims);
  instruction *i = at_place(l, s, HLO_DYNAMIC_SLICE, slice, from->rank, 1, &x, place);
  build_set_ints(l, i, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES, from->rank, dims);
  const shape *flat = without_dim(l, from, s->dimension);
  return build_reshape(l, i, flat->rank, flat->dims);
}

static instruction *store_at(lowering *l, const scan *s, instruction *to, instruction *x, instruction *place) {
  const shape *thick = with_dim(l, x->shape, s->dimension, 1);
  instruction *arrays[] = {to, build_reshape(l, x, thick->rank, thick->dims)};
  return at_place(l, s, HLO_DYNAMIC_UPDATE_SLICE, to->shape, thick->rank, 2, arrays, place);
}

static heddle_status make_step(lowering *l, const scan *s, computation **out) {
  lowering inner;
  TRY(lowering_enter(l, &inner, STR("scan_step")));
  lowering *n = &inner;
  int operand_count = s->input_count + s->carry_count;
  instruction *state = add_state(n, s);
  instruction **parts = arena_array(l->arena, instruction *, s->state_count);
  for (int k = 0; k < s->state_count; k++) parts[k] = build_element(n, state, k);
  instruction *place = parts[0];
  if (s->is_reverse) place = build_binary(n, HLO_SUBTRACT, build_scalar(n, DTYPE_S32, (double)(s->size - 1)), parts[0]);
  instruction **arguments = arena_array(l->arena, instruction *, operand_count);
  for (int k = 0; k < operand_count; k++)
    arguments[k] = k < s->input_count ? slice_at(n, s, parts[1 + k], place) : parts[1 + k];
  instruction *call = build_add(n, HLO_CALL, s->body->root->shape, operand_count, arguments);
  build_called(call, HLO_ATTRIBUTE_TO_APPLY, s->body);
  parts[0] = build_binary(n, HLO_ADD, parts[0], build_scalar(n, DTYPE_S32, 1));
  for (int k = 0; k < s->carry_count; k++) parts[1 + s->input_count + k] = build_element(n, call, s->output_count + k);
  for (int k = 0; k < s->output_count; k++) {
    instruction **output = &parts[1 + operand_count + k];
    *output = store_at(n, s, *output, build_element(n, call, k), place);
  }
  computation_set_root(inner.computation, build_tuple(n, s->state_count, parts));
  *out = inner.computation;
  return status_ok();
}

// The state before the first step, outputs being zeros.
static instruction **first_state(lowering *l, const scan *s, instruction *const *operands) {
  int operand_count = s->input_count + s->carry_count;
  instruction **init = arena_array(l->arena, instruction *, s->state_count);
  init[0] = build_scalar(l, DTYPE_S32, 0);
  for (int k = 0; k < operand_count; k++) init[1 + k] = operands[k];
  for (int k = 1 + operand_count; k < s->state_count; k++)
    init[k] = build_broadcast(l, build_scalar(l, s->state[k]->dtype, 0), s->state[k], 0, NULL);
  return init;
}

static heddle_status make_loop(lowering *l, const scan *s, instruction *const *init, instruction **out) {
  computation *called[2];
  TRY(make_condition(l, s, &called[0]));
  TRY(make_step(l, s, &called[1]));
  instruction *first = build_tuple(l, s->state_count, init);
  *out = build_add(l, HLO_WHILE, first->shape, 1, &first);
  instruction_set_called(*out, 2, called);
  build_mark(*out, HLO_ATTRIBUTE_CONDITION);
  build_mark(*out, HLO_ATTRIBUTE_BODY);
  return status_ok();
}

// Nothing to scan leaves the first state; HLO has no slices of size 1 of it.
heddle_status lower_chlo_scan(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  scan s = {0};
  TRY(read_scan(l, op, operands, &s));
  if (s.size > INT32_MAX) return lowering_refuse(op, "the scanned dimension is larger than 2^31");
  TRY(make_body(l, op, operands, &s));
  list_state(l, operands, &s);
  instruction **init = first_state(l, &s, operands), *loop = NULL;
  if (s.size) TRY(make_loop(l, &s, init, &loop));
  int outputs = 1 + s.input_count + s.carry_count;
  for (int k = 0; k < op->result_count; k++) {
    int place = k < s.output_count ? outputs + k : 1 + s.input_count + k - s.output_count;
    results[k] = loop ? build_element(l, loop, place) : init[place];
  }
  return status_ok();
}
