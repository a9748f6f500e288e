// Plans one kernel: what it computes, on which buffers, by which emitter, and which HLO it may hold.
#include "kernel/kernel.h"

#include <ctype.h>
#include <string.h>

#include "kernel/open_form.h"
#include "kernel/sizes.h"
#include "kernel/while_state.h"
#include "kernel/work_estimate.h"

// Estimated scalar operations of one kernel beyond which it is refused; the estimate errs high by one or two powers of
// ten.
#define WORK_LIMIT 1e13

typedef VEC(const computation *) computation_list;

static const char *name_of(arena *a, const instruction *i) { return arena_printf(a, STR_FMT, STR_ARG(i->name)); }

static bool is_variadic_reduction(const instruction *i) {
  return (i->opcode == HLO_REDUCE || i->opcode == HLO_REDUCE_WINDOW) && shape_is_tuple(i->shape);
}

// --- what a kernel may hold

static bool has_elemental_form(const instruction *i) {
  hlo_index_rule rule = hlo_ops[i->opcode].index_rule;
  return rule != INDEX_RULE_NONE && rule != INDEX_RULE_SCATTER;
}

// A loop or a value for each of them: code that takes ever longer to make. Fusion makes no such kernels.
static heddle_status check_width(arena *scratch, const instruction *i) {
  const int width = i->opcode == HLO_CONCATENATE ? i->operand_count : i->called_count ? i->shape->tuple_size : 0;
  if (width <= KERNEL_MOST_VARIADIC) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s of %d arrays cannot be part of a kernel, the limit is %d",
                   hlo_op_text(i->opcode), name_of(scratch, i), width, KERNEL_MOST_VARIADIC);
}

static heddle_status check_opcode(arena *scratch, const instruction *i) {
  if (!has_elemental_form(i)) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s cannot be part of a kernel yet", hlo_op_text(i->opcode),
                     name_of(scratch, i));
  }
  if (i->opcode == HLO_TUPLE) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "tuple %s is neither the root nor gone: internal and nested "
                     "tuples cannot be part of a kernel yet",
                     name_of(scratch, i));
  }
  // An operand without elemental form is refused itself, when it is reached.
  if (i->opcode == HLO_GET_TUPLE_ELEMENT && !is_variadic_reduction(i->operands[0]) &&
      has_elemental_form(i->operands[0])) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "get-tuple-element %s of %s cannot be part of a kernel yet",
                     name_of(scratch, i), hlo_op_text(i->operands[0]->opcode));
  }
  return status_ok();
}

static heddle_status check_shape(arena *scratch, const instruction *i) {
  TRY(check_width(scratch, i));
  if (!shape_is_array(i->shape) && !is_variadic_reduction(i)) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s has shape %s: kernels work on arrays only",
                     hlo_op_text(i->opcode), name_of(scratch, i), shape_text(scratch, i->shape));
  }
  if (!shape_is_static(i->shape)) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s has the dynamic shape %s", hlo_op_text(i->opcode),
                     name_of(scratch, i), shape_text(scratch, i->shape));
  }
  return status_ok();
}

// What has no elemental form, but a hero of its own.
static bool may_be_hero(const instruction *i) {
  return hlo_ops[i->opcode].index_rule == INDEX_RULE_SCATTER || while_state_has(i);
}

// From the users down, so that what is refused is where the trouble shows.
static heddle_status check_body(arena *scratch, const instruction_list *body, bool heroes_too) {
  for (int n = body->size - 1; n >= 0; n--) {
    const instruction *i = body->data[n];
    if (heroes_too && may_be_hero(i)) continue;
    TRY(check_opcode(scratch, i));
    TRY(check_shape(scratch, i));
  }
  return status_ok();
}

// Loops are taken by their hero or by none.
static heddle_status check_loops(arena *scratch, const instruction_list *body) {
  for (int n = 0; n < body->size; n++)
    if (while_state_has(body->data[n])) TRY(check_opcode(scratch, body->data[n]));
  return status_ok();
}

// Everything that the leaves depend on, operands before users.
static void collect(arena *a, const computation *c, int count, const kernel_leaf *leaves, instruction_list *out) {
  enum { UNSEEN, ENTERED, DONE };
  VEC(instruction *) stack = {0};
  for (int n = 0; n < c->instructions.size; n++) c->instructions.data[n]->mark = UNSEEN;
  for (int i = count - 1; i >= 0; i--) vec_push(a, &stack, (instruction *)leaves[i].root);
  while (stack.size > 0) {
    instruction *i = vec_last(&stack);
    if (i->mark != UNSEEN) {
      vec_drop(&stack);
      if (i->mark == ENTERED) vec_push(a, out, i);
      i->mark = DONE;
      continue;
    }
    i->mark = ENTERED;
    for (int k = i->operand_count - 1; k >= 0; k--)
      if (i->operands[k]->mark == UNSEEN) vec_push(a, &stack, i->operands[k]);
  }
}

// What a loop calls is judged by its hero.
static void queue_called(arena *scratch, const instruction_list *body, ptr_map *seen, computation_list *work) {
  for (int i = 0; i < body->size; i++) {
    if (body->data[i]->opcode == HLO_WHILE) continue;
    for (int k = 0; k < body->data[i]->called_count; k++) {
      const computation *called = body->data[i]->called[k];
      if (ptr_map_has(seen, called)) continue;
      ptr_map_put(scratch, seen, called, scratch);
      vec_push(scratch, work, called);
    }
  }
}

static heddle_status check_computation(arena *scratch, const computation *c, instruction_list *order) {
  kernel_leaves roots = {0};
  bool is_tuple = c->root->opcode == HLO_TUPLE;
  for (int k = 0; k < (is_tuple ? c->root->operand_count : 1); k++)
    vec_push(scratch, &roots, (kernel_leaf){.root = is_tuple ? c->root->operands[k] : c->root});
  collect(scratch, c, roots.size, roots.data, order);
  return status_context(check_body(scratch, order, false), "in computation " STR_FMT, STR_ARG(c->name));
}

// Reducers and map bodies: the same rules, and theirs in turn.
static heddle_status check_called(arena *scratch, const instruction_list *body) {
  computation_list work = {0};
  ptr_map seen = {0};
  queue_called(scratch, body, &seen, &work);
  for (int next = 0; next < work.size; next++) {
    instruction_list order = {0};
    TRY(check_computation(scratch, work.data[next], &order));
    queue_called(scratch, &order, &seen, &work);
  }
  return status_ok();
}

static heddle_status refuse_inner_tuple(const instruction *i) {
  return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                   "%s " STR_FMT " gives a tuple that is part of a result: only tuples made there can be taken apart",
                   hlo_op_text(i->opcode), STR_ARG(i->name));
}

static void add_leaf(arena *a, kernel_leaves *out, const instruction *root, int element, const shape *s) {
  const kernel_leaf leaf = {root, element, s, out->size};
  vec_push(a, out, leaf);
}

// Shapes nest at most SHAPE_MAX_NESTING deep.
static heddle_status add_leaves(arena *a, const instruction *i, bool is_inner, kernel_leaves *out) {
  if (i->opcode == HLO_TUPLE) {
    for (int k = 0; k < i->operand_count; k++) TRY(add_leaves(a, i->operands[k], true, out));
  } else if (!shape_is_tuple(i->shape)) {
    add_leaf(a, out, i, 0, i->shape);
  } else {
    if (is_inner && !is_variadic_reduction(i)) return refuse_inner_tuple(i);
    for (int k = 0; k < i->shape->tuple_size; k++) add_leaf(a, out, i, k, i->shape->elements[k]);
  }
  return status_ok();
}

heddle_status kernel_leaves_of(arena *a, const instruction *root, kernel_leaves *out) {
  return add_leaves(a, root, false, out);
}

// --- buffers

typedef VEC(kernel_buffer) buffer_list;

static int add_slice(arena *a, buffer_list *slices, kernel_buffer wanted) {
  for (int i = 0; i < slices->size; i++) {
    kernel_buffer *b = &slices->data[i];
    if (b->kind == wanted.kind && b->number == wanted.number) return i;
  }
  vec_push(a, slices, wanted);
  return slices->size - 1;
}

static int add_output_slice(arena *a, const kernel_request *r, buffer_list *slices, const kernel_leaf *leaf) {
  for (int i = 0; i < r->alias_count; i++) {
    if (r->aliases[i].result != leaf->number) continue;
    int slice = add_slice(a, slices, (kernel_buffer){KERNEL_PARAMETER, r->aliases[i].parameter, leaf->shape, true});
    slices->data[slice].is_written = true;
    return slice;
  }
  vec_push(a, slices, (kernel_buffer){KERNEL_RESULT, leaf->number, leaf->shape, true});
  return slices->size - 1;
}

static void fill_buffers(arena *a, const kernel_request *r, const instruction_list *body, kernel_plan *k) {
  enum { HERE = 77 };
  buffer_list slices = {0};
  const computation *c = r->computation;
  k->inputs = arena_array(a, kernel_input, c->parameters.size);
  for (int n = 0; n < c->parameters.size; n++) c->parameters.data[n]->mark = 0;
  for (int i = 0; i < body->size; i++) body->data[i]->mark = HERE;
  for (int n = 0; n < c->parameters.size; n++) {
    const instruction *parameter = c->parameters.data[n];
    int number = r->parameter_numbers ? r->parameter_numbers[n] : n;
    if (parameter->mark != HERE && !r->all_parameters) continue;
    int slice = r->parameter_numbers
                    ? add_slice(a, &slices, (kernel_buffer){KERNEL_PARAMETER, number, parameter->shape, false})
                    : slices.size;
    if (slice == slices.size)
      vec_push(a, &slices, ((kernel_buffer){KERNEL_PARAMETER, number, parameter->shape, false}));
    if (parameter->mark == HERE) k->inputs[k->input_count++] = (kernel_input){.parameter = parameter, .slice = slice};
  }
  for (int i = 0; i < r->leaf_count; i++) {
    const kernel_leaf *leaf = &r->leaves[i];
    int slice = add_output_slice(a, r, &slices, leaf);
    k->outputs[i] = (kernel_output){.root = leaf->root, .element = leaf->element, .shape = leaf->shape, .slice = slice};
  }
  k->slices = slices.data;
  k->slice_count = slices.size;
}

const kernel_plan **kernel_plans_named(arena *a, int count, const kernel_plan *const *plans, const char *name) {
  char *clean = arena_strdup(a, name, strlen(name));
  for (char *c = clean; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  if (isdigit((unsigned char)clean[0])) clean = arena_printf(a, "_%s", clean);
  kernel_plan *copies = arena_array(a, kernel_plan, count);
  const kernel_plan **named = arena_array(a, const kernel_plan *, count);
  for (int i = 0; i < count; i++) {
    copies[i] = *plans[i];
    copies[i].name = i == 0 ? clean : arena_printf(a, "%s_%d", clean, i);
    named[i] = &copies[i];
  }
  return named;
}

int kernel_plan_input(const kernel_plan *k, const instruction *parameter) {
  for (int n = 0; n < k->input_count; n++)
    if (k->inputs[n].parameter == parameter) return n;
  return -1;
}

// --- the kernel

// Leaves without elements are nobody's work; only where there are no others do they stay, and the kernel has no tile.
static kernel_request without_empty_leaves(arena *a, const kernel_request *given) {
  kernel_request r = *given;
  kernel_leaf *kept = arena_array(a, kernel_leaf, given->leaf_count);
  int count = 0;
  for (int i = 0; i < given->leaf_count; i++)
    if (shape_element_count(given->leaves[i].shape) > 0) kept[count++] = given->leaves[i];
  if (count == 0) return r;
  r.leaf_count = count;
  r.leaves = kept;
  return r;
}

static heddle_status plan_leaves(arena *a, const kernel_request *given, kernel_plan **out) {
  const kernel_request request = without_empty_leaves(a, given), *r = &request;
  kernel_plan *k = arena_new(a, kernel_plan);
  k->name = r->name;
  k->tile_limit = r->tile_limit;
  k->computation = r->computation;
  k->output_count = r->leaf_count;
  k->outputs = arena_array(a, kernel_output, r->leaf_count);
  arena *scratch = arena_create();
  instruction_list body = {0};
  collect(scratch, r->computation, r->leaf_count, r->leaves, &body);
  fill_buffers(a, r, &body, k);
  heddle_status s = check_body(scratch, &body, true);
  if (status_is_ok(s)) s = check_called(scratch, &body);
  k->takes_sizes = open_form_takes_sizes(&body) && !r->target->has_grid;
  if (status_is_ok(s)) kernel_choose_hero(a, k, &body, r->target);
  if (status_is_ok(s) && k->hero != HERO_WHILE) s = check_loops(scratch, &body);
  if (status_is_ok(s) && k->hero == HERO_LOOP) s = check_body(scratch, &body, false);
  if (status_is_ok(s) && k->work == 0)
    k->work = work_estimate(scratch, &body) * (double)shape_element_count(k->outputs[0].shape);
  arena_destroy(scratch);
  *out = k;
  return s;
}

heddle_status kernel_plan_leaves(arena *a, const kernel_request *given, kernel_plan **out) {
  TRY(plan_leaves(a, given, out));
  if ((*out)->launch.pieces == 0) return status_ok();
  kernel_request rest = *given;
  rest.tile_limit = (*out)->launch.rest_limit;
  rest.name = arena_printf(a, "%s_rest", given->name);
  kernel_plan *made;
  heddle_status s = kernel_plan_leaves(a, &rest, &made);  // which is smaller: two steps at most
  (*out)->rest = made;
  return s;
}

heddle_status kernel_plan_create(arena *a, const computation *c, const char *name, const target_description *target,
                                 int alias_count, const kernel_alias *aliases, kernel_plan **out) {
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(a, c->root, &leaves));
  kernel_request r = {.computation = c,
                      .name = name,
                      .target = target,
                      .leaf_count = leaves.size,
                      .leaves = leaves.data,
                      .alias_count = alias_count,
                      .aliases = aliases};
  return kernel_plan_leaves(a, &r, out);
}

heddle_status kernel_check_work(const kernel_plan *k) {
  if (k->hero == HERO_TILES || k->work <= WORK_LIMIT) return status_ok();  // tiles compute operations, not elements
  const instruction *root = k->outputs[0].root;
  return status_at(HEDDLE_UNIMPLEMENTED, root->where,
                   "%s " STR_FMT
                   " as one kernel would take about %.0e operations, since values are computed again where they are "
                   "read",
                   hlo_op_text(root->opcode), STR_ARG(root->name), k->work);
}
