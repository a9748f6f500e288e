// Divides what a reduction kernel computes into passes over the row, from the analysis of its rows, and makes a
// computation of its own (a body) of each pass.
//
// First each pass collects what it computes, walking from what it must yield to operands. The walk ends at results of
// earlier passes, and at expensive values that an earlier pass has computed for the same element: these are kept from
// then on, where an output of the same type is written later anyway, or in a buffer. Cheap values are computed again.
// Then the collected instructions are copied into computations of their own.
#include "kernel/row_passes.h"

typedef struct pass_work {
  instruction_list order;  // what the pass computes, operands first
  instruction_list roots;  // its results, in order
} pass_work;

typedef struct pass_builder {
  arena *arena;  // the plan's
  arena *scratch;
  kernel_plan *plan;
  const row_analysis *analysis;
  row_passes *out;
  module *module;        // holds the bodies
  ptr_map strayed;       // instructions that something reads at other places than its own
  ptr_map first_pass;    // instruction -> number of the pass that computes it first, plus one
  ptr_map carried;       // reduce or kept instruction -> number of its first carried value, plus one
  pass_work *works;      // by pass; then the row results, then the inits
  int64_t buffer_bytes;  // left for what is kept per row beside the outputs
  VEC(kernel_body) bodies;
} pass_builder;

// --- what is carried

static int carried_of(const pass_builder *s, const instruction *i) {
  return (int)(intptr_t)ptr_map_get(&s->carried, i) - 1;
}

static int add_carried(pass_builder *s, const instruction *i, const shape *sh, int element, bool is_kept) {
  carried_value g = {.shape = sh, .of = i, .element = element, .is_kept = is_kept, .output = -1};
  if (element == 0) ptr_map_put(s->scratch, &s->carried, i, (void *)(intptr_t)(s->out->carried_values.size + 1));
  vec_push(s->arena, &s->out->carried_values, g);
  return s->out->carried_values.size - 1;
}

// --- keeping

static bool is_shared(const kernel_plan *k, int output) {
  int slice = k->outputs[output].slice, uses = 0;
  for (int i = 0; i < k->input_count; i++) uses += k->inputs[i].slice == slice;
  for (int o = 0; o < k->output_count; o++) uses += k->outputs[o].slice == slice;
  return uses > 1;
}

static bool is_home(const pass_builder *s, int output) {
  for (int g = 0; g < s->out->carried_values.size; g++)
    if (s->out->carried_values.data[g].is_kept && s->out->carried_values.data[g].output == output) return true;
  return false;
}

static row_value output_value(const pass_builder *s, int output) {
  row_value v;
  const kernel_output *o = &s->plan->outputs[output];
  row_output asked = {.root = o->root, .shape = o->shape};
  return row_analysis_output(s->analysis, &asked, &v) ? v : (row_value){0};
}

// The output that the value is, or one that is written last of all; -1 if there is none.
static int find_home(const pass_builder *s, const instruction *i) {
  for (int o = 0; o < s->plan->output_count; o++)
    if (s->plan->outputs[o].root == i && !is_shared(s->plan, o)) return o;
  for (int o = 0; o < s->plan->output_count; o++) {
    row_value v = output_value(s, o);
    bool is_last = v.class == ROW_PER_ELEMENT && v.level == s->out->pass_count - 1;
    if (is_last && s->plan->outputs[o].shape->dtype == i->shape->dtype && !is_shared(s->plan, o) && !is_home(s, o))
      return o;
  }
  return -1;
}

// What is kept can be carried only to those who want it at the very element that is being computed.
static void find_strayed(pass_builder *s, const instruction_list *body) {
  for (int n = body->size - 1; n >= 0; n--) {
    const instruction *i = body->data[n];
    if (i->opcode == HLO_TUPLE || row_analysis_value(s->analysis, i).is_reduction) continue;
    if (row_analysis_keeps_order(i) && !ptr_map_has(&s->strayed, i)) continue;
    for (int k = 0; k < i->operand_count; k++) ptr_map_put(s->scratch, &s->strayed, i->operands[k], s);
  }
}

static bool is_worth_keeping(const pass_builder *s, const instruction *i) {
  const reduction_space *space = &s->out->space;
  return hlo_op_has(i->opcode, TRAIT_EXPENSIVE) && !ptr_map_has(&s->strayed, i) && dtypes[i->shape->dtype].bits >= 8 &&
         shape_element_count(i->shape) == space->kept * space->reduced;
}

// Keeps a value that pass `first` computes; false if there is no room for it.
static bool keep(pass_builder *s, const instruction *i, int first) {
  if (s->buffer_bytes < 0) return false;
  int home = find_home(s, i);
  int64_t bytes = s->out->space.reduced * (dtypes[i->shape->dtype].bits / 8);
  if (home < 0 && bytes > s->buffer_bytes) return false;
  if (home < 0) s->buffer_bytes -= bytes;
  int carried = add_carried(s, i, i->shape, 0, true);
  s->out->carried_values.data[carried].output = home;
  vec_push(s->scratch, &s->works[first].roots, (instruction *)i);
  vec_push(s->arena, &s->out->passes[first].kept, ((row_store){carried, s->works[first].roots.size - 1}));
  return true;
}

// --- collecting

// Whether the walk of pass `number` ends here: what the instruction computes is known by then.
static bool is_known(pass_builder *s, const instruction *i, int number) {
  if (row_analysis_value(s->analysis, i).is_reduction || carried_of(s, i) >= 0) return true;
  int first = (int)(intptr_t)ptr_map_get(&s->first_pass, i) - 1;
  return first >= 0 && first < number && number < s->out->pass_count && is_worth_keeping(s, i) && keep(s, i, first);
}

static void collect(pass_builder *s, int number, const instruction_list *roots) {
  enum { ENTERED = 1, DONE };
  ptr_map states = {0};
  instruction_list stack = {0};
  for (int n = roots->size - 1; n >= 0; n--) vec_push(s->scratch, &stack, roots->data[n]);
  while (stack.size > 0) {
    instruction *i = vec_last(&stack);
    intptr_t state = (intptr_t)ptr_map_get(&states, i);
    if (state || is_known(s, i, number)) {
      vec_drop(&stack);
      if (state == ENTERED) vec_push(s->scratch, &s->works[number].order, i);
      ptr_map_put(s->scratch, &states, i, (void *)DONE);
      continue;
    }
    ptr_map_put(s->scratch, &states, i, (void *)ENTERED);
    if (!ptr_map_has(&s->first_pass, i)) ptr_map_put(s->scratch, &s->first_pass, i, (void *)(intptr_t)(number + 1));
    for (int k = i->operand_count - 1; k >= 0; k--) vec_push(s->scratch, &stack, i->operands[k]);
  }
}

static int add_root(pass_builder *s, int number, const instruction *i) {
  vec_push(s->scratch, &s->works[number].roots, (instruction *)i);
  return s->works[number].roots.size - 1;
}

// Narrow floats that one operation combines are rounded once, at the end; other reducers say themselves what they keep.
static const dtype *accumulators_of(arena *a, const row_reduction *r) {
  dtype *types = arena_array(a, dtype, r->count);
  for (int v = 0; v < r->count; v++) {
    const dtype t = r->reduce->operands[v]->shape->dtype;
    types[v] = r->how.form == REDUCER_BINARY ? dtype_accumulator(t) : t;
  }
  return types;
}

static void add_reduction(pass_builder *s, int number, const instruction *reduce) {
  row_reduction r = {.reduce = reduce, .how = reducer_of(s->arena, reduce), .count = reduce->operand_count / 2};
  int inits = s->out->pass_count + 1;
  r.accumulators = accumulators_of(s->arena, &r);
  r.first_result = s->works[number].roots.size;
  r.first_init = s->works[inits].roots.size;
  r.first_carried = s->out->carried_values.size;
  for (int k = 0; k < r.count; k++) {
    add_root(s, number, reduce->operands[k]);
    add_root(s, inits, reduce->operands[r.count + k]);
    add_carried(s, reduce, shape_is_tuple(reduce->shape) ? reduce->shape->elements[k] : reduce->shape, k, false);
  }
  vec_push(s->arena, &s->out->passes[number].reductions, r);
}

// Reductions in the order of the program, so that the plan does not depend on anything else.
static void add_reductions(pass_builder *s, const instruction_list *body) {
  for (int n = 0; n < body->size; n++) {
    row_value v = row_analysis_value(s->analysis, body->data[n]);
    if (v.is_reduction) add_reduction(s, v.level - 1, body->data[n]);
  }
}

static void add_stores(pass_builder *s) {
  for (int o = 0; o < s->plan->output_count; o++) {
    row_value v = output_value(s, o);
    int number = v.class == ROW_PER_ELEMENT ? v.level : s->out->pass_count;
    row_pass *pass = v.class == ROW_PER_ELEMENT ? &s->out->passes[number] : &s->out->row_results;
    vec_push(s->arena, &pass->stores, ((row_store){o, add_root(s, number, s->plan->outputs[o].root)}));
  }
}

// --- bodies

typedef struct body_maker {
  pass_builder *pass_builder;
  computation *to;
  ptr_map copies;
  VEC(int) arguments;
} body_maker;

static instruction *add_argument(body_maker *m, const shape *s, int argument) {
  int number = m->arguments.size;
  str name = str_from(arena_printf(m->pass_builder->scratch, argument < 0 ? "carried_%d" : "input_%d", number));
  vec_push(m->pass_builder->arena, &m->arguments, argument);
  return computation_add_parameter(m->to, number, name, s);
}

// A value of a reduce: a parameter per value, made when first asked for.
static instruction *carried_parameter(body_maker *m, const instruction *of, int element) {
  const pass_builder *s = m->pass_builder;
  int number = carried_of(s, of) + element;
  const carried_value *g = &s->out->carried_values.data[number];
  instruction *known = ptr_map_get(&m->copies, g);
  if (known) return known;
  known = add_argument(m, g->shape, -1 - number);
  ptr_map_put(s->scratch, &m->copies, g, known);
  return known;
}

static instruction *copy_of(body_maker *m, const instruction *i) {
  instruction *copy = ptr_map_get(&m->copies, i);
  return copy ? copy : carried_parameter(m, i, 0);
}

static instruction *copy_instruction(body_maker *m, const instruction *from) {
  const pass_builder *s = m->pass_builder;
  if (from->opcode == HLO_PARAMETER) return add_argument(m, from->shape, kernel_plan_input(s->plan, from));
  if (from->opcode == HLO_GET_TUPLE_ELEMENT && row_analysis_value(s->analysis, from->operands[0]).is_reduction)
    return carried_parameter(m, from->operands[0], (int)from->attributes->index);
  instruction **operands = arena_array(s->scratch, instruction *, from->operand_count);
  for (int k = 0; k < from->operand_count; k++) operands[k] = copy_of(m, from->operands[k]);
  instruction *to = computation_add(m->to, from->opcode, from->name, from->shape, from->operand_count, operands);
  to->attributes = from->attributes;
  to->literal = from->literal;
  to->where = from->where;
  if (from->called_count > 0) instruction_set_called(to, from->called_count, from->called);
  return to;
}

// A root over the dims of the body's index space.
static instruction *in_space(body_maker *m, instruction *i, const shape *space) {
  if (shape_same_dims(i->shape, space)) return i;
  const shape *s = shape_array(m->pass_builder->arena, i->shape->dtype, space->rank, space->dims);
  return computation_add(m->to, HLO_RESHAPE, (str){0}, s, 1, &i);
}

// The number of the body; -1 if it would yield nothing.
static int make_body(pass_builder *s, const char *name, const pass_work *w, const shape *space,
                     const row_stores *elements) {
  if (w->roots.size == 0) return -1;
  body_maker m = {.pass_builder = s, .to = module_add_computation(s->module, str_from(name))};
  for (int n = 0; n < w->order.size; n++) {
    instruction *copy = copy_instruction(&m, w->order.data[n]);
    ptr_map_put(s->scratch, &m.copies, w->order.data[n], copy);
  }
  instruction **roots = arena_array(s->scratch, instruction *, w->roots.size);
  const shape **shapes = arena_array(s->scratch, const shape *, w->roots.size);
  for (int n = 0; n < w->roots.size; n++) {
    const instruction *root = w->roots.data[n];
    bool is_value = shape_is_tuple(root->shape);
    int element = 0;
    for (int e = 0; is_value && e < elements->size; e++)
      if (elements->data[e].result == n) element = s->plan->outputs[elements->data[e].output].element;
    roots[n] = in_space(&m, is_value ? carried_parameter(&m, root, element) : copy_of(&m, root), space);
    shapes[n] = roots[n]->shape;
  }
  const shape *tuple = shape_tuple(s->arena, w->roots.size, shapes);
  computation_set_root(m.to, computation_add(m.to, HLO_TUPLE, (str){0}, tuple, w->roots.size, roots));
  vec_push(s->arena, &s->bodies, ((kernel_body){m.to, m.arguments.data}));
  return s->bodies.size - 1;
}

// Reducers that are no single operation have to be called, as do those of types that a target may have none for.
static void add_reducers(pass_builder *s, const row_reductions *reductions) {
  for (int i = 0; i < reductions->size; i++) {
    const row_reduction *r = &reductions->data[i];
    dtype t = r->reduce->operands[0]->shape->dtype;
    bool is_tiny = dtype_is_float(t) && dtypes[t].bits <= 8;
    if (r->how.form == REDUCER_BINARY && !dtype_is_complex(t) && !is_tiny) continue;
    vec_push(s->arena, &s->bodies, ((kernel_body){r->reduce->called[0], NULL}));
  }
}

static void make_bodies(pass_builder *s) {
  const reduction_space *space = &s->out->space;
  int count = s->out->pass_count;
  const shape *each = reduction_space_shape(s->arena, space, DTYPE_PRED);
  for (int n = 0; n < count; n++)
    s->out->passes[n].body =
        make_body(s, arena_printf(s->scratch, "pass_%d", n), &s->works[n], each, &s->out->passes[n].stores);
  const shape *one = reduction_space_kept_shape(s->arena, space, DTYPE_PRED);
  s->out->row_results.body = make_body(s, "row_results", &s->works[count], one, &s->out->row_results.stores);
  const row_stores none = {0};
  for (int n = 0; n < count; n++) add_reducers(s, &s->out->passes[n].reductions);
  s->out->inits = make_body(s, "inits", &s->works[count + 1], shape_scalar(s->arena, DTYPE_PRED), &none);
}

void row_passes_make(arena *a, kernel_plan *k, const row_analysis *analysis, const instruction_list *body,
                     int64_t buffer_bytes, row_passes *out) {
  pass_builder s = {
      .arena = a, .scratch = arena_create(), .plan = k, .analysis = analysis, .out = out, .buffer_bytes = buffer_bytes};
  s.module = module_create(a, str_from("passes"));
  s.module->open_from = k->computation->module->open_from;
  *out = (row_passes){.space = analysis->space, .pass_count = analysis->pass_count};
  out->passes = arena_array(a, row_pass, out->pass_count);
  s.works = arena_array(s.scratch, pass_work, out->pass_count + 2);
  find_strayed(&s, body);
  add_reductions(&s, body);
  add_stores(&s);
  for (int n = 0; n < out->pass_count + 2; n++) {
    instruction_list roots =
        s.works[n].roots;  // what is kept for later passes joins the roots, but is collected already
    collect(&s, n, &roots);
  }
  make_bodies(&s);
  k->bodies = s.bodies.data;
  k->body_count = s.bodies.size;
  arena_destroy(s.scratch);
}
