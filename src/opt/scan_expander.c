// Scan expander: state (step, inputs, carried values, outputs); each step takes the inputs' elements of its place,
// calls the computation and writes the outputs' elements there.
#include "opt/passes.h"

#include "hlo/scan_form.h"
#include "opt/rewrite.h"

typedef struct scan {
  const instruction *original;
  const computation *body;
  scan_form form;
} scan;

// Start indices of the place along the dim, behind the operands that come first.
static void add_starts(const builder *b, const scan *x, int rank, instruction *position, instruction **operands) {
  instruction *zero = builder_scalar_int(b, DTYPE_S32, 0);
  for (int d = 0; d < rank; d++) operands[d] = d == x->form.dim ? position : zero;
}

static instruction *element_at(const builder *b, const scan *x, instruction *whole, instruction *position,
                               const shape *wanted) {
  const int rank = whole->shape->rank;
  instruction *operands[SHAPE_MAX_RANK + 1] = {whole};
  int64_t *sizes = arena_array(b->arena, int64_t, rank);
  for (int d = 0; d < rank; d++) sizes[d] = d == x->form.dim ? 1 : whole->shape->dims[d];
  add_starts(b, x, rank, position, operands + 1);
  const shape *s = shape_array(b->arena, whole->shape->dtype, rank, sizes);
  instruction *i = builder_add(b, HLO_DYNAMIC_SLICE, s, rank + 1, operands);
  i->attributes->dynamic_slice_sizes = (int_list){sizes, rank};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return wanted->rank == rank ? i : builder_reshape(b, i, wanted->rank, wanted->dims);
}

static instruction *with_element(const builder *b, const scan *x, instruction *whole, instruction *position,
                                 instruction *element) {
  const int rank = whole->shape->rank;
  int64_t sizes[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) sizes[d] = d == x->form.dim ? 1 : whole->shape->dims[d];
  instruction *operands[SHAPE_MAX_RANK + 2] = {whole};
  operands[1] = element->shape->rank == rank ? element : builder_reshape(b, element, rank, sizes);
  add_starts(b, x, rank, position, operands + 2);
  return builder_add(b, HLO_DYNAMIC_UPDATE_SLICE, whole->shape, rank + 2, operands);
}

static computation *loop_condition(const builder *outer, const scan *x, const shape *state) {
  computation *c = module_add_computation(outer->computation->module, STR("scan_condition"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), state);
  instruction *end = builder_scalar_int(&b, DTYPE_S32, x->form.length);
  computation_set_root(c, builder_compare(&b, builder_element(&b, p, 0), end, COMPARE_LT));
  return c;
}

static computation *loop_body(const builder *outer, const scan *x, const shape *state) {
  const instruction *original = x->original;
  const int taken = original->operand_count, results = x->form.outputs + x->form.carries;
  computation *c = module_add_computation(outer->computation->module, STR("scan_body"));
  const builder b = builder_in(c);
  instruction *p = computation_add_parameter(c, 0, STR("state"), state), *step = builder_element(&b, p, 0);
  instruction *position = step;
  if (x->form.is_reverse) {
    instruction *last = builder_scalar_int(&b, DTYPE_S32, x->form.length - 1);
    position = builder_binary(&b, HLO_SUBTRACT, last, step);
  }
  instruction **arguments = arena_array(b.arena, instruction *, taken);
  instruction **next = arena_array(b.arena, instruction *, 1 + taken + x->form.outputs);
  instruction *one = builder_scalar_int(&b, DTYPE_S32, 1);
  next[0] = builder_binary(&b, HLO_ADD, step, one);
  for (int k = 0; k < taken; k++) {
    next[1 + k] = arguments[k] = builder_element(&b, p, 1 + k);
    if (k < x->form.inputs) arguments[k] = element_at(&b, x, next[1 + k], position, x->body->parameters.data[k]->shape);
  }
  instruction *made = builder_add(&b, HLO_CALL, x->body->root->shape, taken, arguments);
  instruction_set_called(made, 1, original->called);
  for (int k = 0; k < results; k++) {
    instruction *part = builder_value(&b, made, k);
    if (k >= x->form.outputs) next[1 + x->form.inputs + k - x->form.outputs] = part;
    else next[1 + taken + k] = with_element(&b, x, builder_element(&b, p, 1 + taken + k), position, part);
  }
  computation_set_root(c, builder_tuple(&b, 1 + taken + x->form.outputs, next));
  return c;
}

static instruction *make_loop(const builder *b, const scan *x, instruction **start) {
  instruction *state = builder_tuple(b, 1 + x->original->operand_count + x->form.outputs, start);
  computation *condition = loop_condition(b, x, state->shape), *body = loop_body(b, x, state->shape);
  instruction *loop = builder_add(b, HLO_WHILE, state->shape, 1, &state);
  instruction_set_called(loop, 2, (computation *[]){condition, body});
  return loop;
}

static bool is_static(const instruction *i) {
  bool is = shape_is_static(i->shape);
  for (int k = 0; k < i->operand_count; k++) is = is && shape_is_static(i->operands[k]->shape);
  return is;
}

// Nothing to scan leaves the first state: there are no slices of size 1 of it.
static instruction *expand(instruction *i) {
  scan x = {.original = i, .body = i->called[0]};
  if (!is_static(i) || !scan_form_of(i, &x.form) || x.form.length > INT32_MAX) return NULL;
  const builder b = builder_for(i);
  const int taken = i->operand_count, results = x.form.outputs + x.form.carries;
  instruction **start = arena_array(b.arena, instruction *, 1 + taken + x.form.outputs);
  start[0] = builder_scalar_int(&b, DTYPE_S32, 0);
  for (int k = 0; k < taken; k++) start[1 + k] = i->operands[k];
  for (int k = 0; k < x.form.outputs; k++) {
    const shape *s = scan_form_result(i->shape, k);
    instruction *zero = builder_scalar_int(&b, s->dtype, 0);
    start[1 + taken + k] = builder_broadcast(&b, zero, s, 0, NULL);
  }
  instruction *loop = x.form.length ? make_loop(&b, &x, start) : NULL;
  instruction **parts = arena_array(b.arena, instruction *, results);
  for (int k = 0; k < results; k++) {
    const int position = k < x.form.outputs ? 1 + taken + k : 1 + x.form.inputs + k - x.form.outputs;
    parts[k] = loop ? builder_element(&b, loop, position) : start[position];
  }
  return shape_is_tuple(i->shape) ? builder_tuple(&b, results, parts) : parts[0];
}

static bool is_scan(const instruction *i) { return i->opcode == HLO_SCAN; }

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, is_scan, expand); }

const pass opt_scan_expander = {
    .name = "scan-expander",
    .summary = "scans become while loops",
    .order_reason = "before the call inliner, as its loops call the scans' computations",
    .use = PASS_NEEDED,
    .run = run,
};
