// Scan expander: state (step, inputs, carried values, outputs); each step takes the inputs' elements of its place,
// calls the computation and writes the outputs' elements there.
#include "opt/scan_expander.h"

#include "opt/rewrite.h"

typedef struct scan {
  const instruction *original;
  const computation *body;
  int dim, inputs, carries, outputs;
  bool is_reverse;
  int64_t length;
} scan;

// An attribute that is kept as text: a number, true or false.
static int number_of(const instruction *i, const char *name) {
  const str *raw = attributes_raw(i->attributes, name);
  int number = 0;
  if (!raw || str_is(*raw, "false")) return 0;
  if (str_is(*raw, "true")) return 1;
  for (size_t k = 0; k < raw->size && raw->data[k] >= '0' && raw->data[k] <= '9' && number < 1 << 20; k++)
    number = number * 10 + (raw->data[k] - '0');
  return number;
}

static const shape *part_of(const shape *s, int k) { return shape_is_tuple(s) ? s->elements[k] : s; }
static int part_count(const shape *s) { return shape_is_tuple(s) ? s->tuple_size : 1; }

// Whether `s` is `whole` at one place along the dim: without it, or with size 1.
static bool is_place_of(const scan *x, const shape *s, const shape *whole) {
  if (!shape_is_array(s) || !shape_is_array(whole) || s->dtype != whole->dtype || x->dim >= whole->rank) return false;
  if (!shape_is_static(s) || !shape_is_static(whole) || whole->dims[x->dim] != x->length) return false;
  if (s->rank != whole->rank && s->rank != whole->rank - 1) return false;
  for (int d = 0; d < whole->rank; d++) {
    if (d == x->dim && s->rank < whole->rank) continue;
    const int place = d > x->dim ? d - (whole->rank - s->rank) : d;
    if (s->dims[place] != (d == x->dim ? 1 : whole->dims[d])) return false;
  }
  return true;
}

static bool fits(const scan *x) {
  const instruction *i = x->original;
  const shape *made = x->body->root->shape;
  if (x->dim < 0 || x->inputs < 0 || x->outputs < 0 || x->length < 0 || x->length > INT32_MAX) return false;
  if (x->body->parameters.size != i->operand_count || part_count(made) != x->outputs + x->carries) return false;
  for (int k = 0; k < i->operand_count; k++) {
    const shape *wanted = x->body->parameters.data[k]->shape, *given = i->operands[k]->shape;
    if (k < x->inputs ? !is_place_of(x, wanted, given) : !shape_compatible(wanted, given)) return false;
  }
  for (int k = 0; k < x->outputs + x->carries; k++) {
    const shape *one = part_of(made, k), *whole = part_of(i->shape, k);
    if (k < x->outputs && !is_place_of(x, one, whole)) return false;
    if (k >= x->outputs &&
        !(shape_compatible(one, whole) && shape_compatible(one, i->operands[x->inputs + k - x->outputs]->shape)))
      return false;
  }
  return true;
}

static scan scan_of(const instruction *i) {
  const int_list dims = i->attributes->dimensions;
  scan x = {.original = i, .body = i->called[0], .dim = dims.size == 1 ? (int)dims.data[0] : -1, .length = -1};
  x.carries = number_of(i, "num_carries");
  x.inputs = i->operand_count - x.carries;
  x.outputs = part_count(i->shape) - x.carries;
  x.is_reverse = number_of(i, "is_reverse") != 0;
  const shape *whole = x.inputs > 0 ? i->operands[0]->shape : x.outputs > 0 ? part_of(i->shape, 0) : NULL;
  if (whole && shape_is_array(whole) && x.dim >= 0 && x.dim < whole->rank) x.length = whole->dims[x.dim];
  return x;
}

// Start indices of the place along the dim, behind the operands that come first.
static void add_starts(const builder *b, const scan *x, int rank, instruction *place, instruction **operands) {
  instruction *zero = builder_scalar_int(b, DTYPE_S32, 0);
  for (int d = 0; d < rank; d++) operands[d] = d == x->dim ? place : zero;
}

static instruction *element_at(const builder *b, const scan *x, instruction *whole, instruction *place,
                               const shape *wanted) {
  const int rank = whole->shape->rank;
  instruction *operands[SHAPE_MAX_RANK + 1] = {whole};
  int64_t *sizes = arena_array(b->arena, int64_t, rank);
  for (int d = 0; d < rank; d++) sizes[d] = d == x->dim ? 1 : whole->shape->dims[d];
  add_starts(b, x, rank, place, operands + 1);
  const shape *s = shape_array(b->arena, whole->shape->dtype, rank, sizes);
  instruction *i = builder_add(b, HLO_DYNAMIC_SLICE, s, rank + 1, operands);
  i->attributes->dynamic_slice_sizes = (int_list){sizes, rank};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return wanted->rank == rank ? i : builder_reshape(b, i, wanted->rank, wanted->dims);
}

static instruction *with_element(const builder *b, const scan *x, instruction *whole, instruction *place,
                                 instruction *element) {
  const int rank = whole->shape->rank;
  int64_t sizes[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) sizes[d] = d == x->dim ? 1 : whole->shape->dims[d];
  instruction *operands[SHAPE_MAX_RANK + 2] = {whole};
  operands[1] = element->shape->rank == rank ? element : builder_reshape(b, element, rank, sizes);
  add_starts(b, x, rank, place, operands + 2);
  return builder_add(b, HLO_DYNAMIC_UPDATE_SLICE, whole->shape, rank + 2, operands);
}

static computation *loop_condition(const builder *outer, const scan *x, const shape *state) {
  computation *c = module_add_computation(outer->computation->module, STR("scan_condition"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), state);
  instruction *end = builder_scalar_int(&b, DTYPE_S32, x->length);
  computation_set_root(c, builder_compare(&b, builder_element(&b, p, 0), end, COMPARE_LT));
  return c;
}

static computation *loop_body(const builder *outer, const scan *x, const shape *state) {
  const instruction *original = x->original;
  const int taken = original->operand_count, results = x->outputs + x->carries;
  computation *c = module_add_computation(outer->computation->module, STR("scan_body"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), state), *step = builder_element(&b, p, 0);
  instruction *place = step;
  if (x->is_reverse) {
    instruction *last = builder_scalar_int(&b, DTYPE_S32, x->length - 1);
    place = builder_binary(&b, HLO_SUBTRACT, last, step);
  }
  instruction **arguments = arena_array(b.arena, instruction *, taken);
  instruction **next = arena_array(b.arena, instruction *, 1 + taken + x->outputs);
  instruction *one = builder_scalar_int(&b, DTYPE_S32, 1);
  next[0] = builder_binary(&b, HLO_ADD, step, one);
  for (int k = 0; k < taken; k++) {
    next[1 + k] = arguments[k] = builder_element(&b, p, 1 + k);
    if (k < x->inputs) arguments[k] = element_at(&b, x, next[1 + k], place, x->body->parameters.data[k]->shape);
  }
  instruction *made = builder_add(&b, HLO_CALL, x->body->root->shape, taken, arguments);
  instruction_set_called(made, 1, original->called);
  for (int k = 0; k < results; k++) {
    instruction *part = builder_value(&b, made, k);
    if (k >= x->outputs) next[1 + x->inputs + k - x->outputs] = part;
    else next[1 + taken + k] = with_element(&b, x, builder_element(&b, p, 1 + taken + k), place, part);
  }
  computation_set_root(c, builder_tuple(&b, 1 + taken + x->outputs, next));
  return c;
}

static instruction *expand(instruction *i) {
  const scan x = scan_of(i);
  if (!fits(&x)) return NULL;
  const builder b = builder_for(i);
  const int taken = i->operand_count, results = x.outputs + x.carries;
  instruction **start = arena_array(b.arena, instruction *, 1 + taken + x.outputs);
  start[0] = builder_scalar_int(&b, DTYPE_S32, 0);
  for (int k = 0; k < taken; k++) start[1 + k] = i->operands[k];
  for (int k = 0; k < x.outputs; k++) {
    const shape *s = part_of(i->shape, k);
    instruction *zero = builder_scalar_int(&b, s->dtype, 0);
    start[1 + taken + k] = builder_broadcast(&b, zero, s, 0, NULL);
  }
  instruction *state = builder_tuple(&b, 1 + taken + x.outputs, start);
  computation *condition = loop_condition(&b, &x, state->shape), *body = loop_body(&b, &x, state->shape);
  instruction *loop = builder_add(&b, HLO_WHILE, state->shape, 1, &state);
  instruction_set_called(loop, 2, (computation *[]){condition, body});
  instruction **parts = arena_array(b.arena, instruction *, results);
  for (int k = 0; k < results; k++)
    parts[k] = builder_element(&b, loop, k < x.outputs ? 1 + taken + k : 1 + x.inputs + k - x.outputs);
  return shape_is_tuple(i->shape) ? builder_tuple(&b, results, parts) : parts[0];
}

static bool is_scan(const instruction *i) { return i->opcode == HLO_SCAN; }

heddle_status scan_expander_run(module *m) { return rewrite_each(m, is_scan, expand); }
