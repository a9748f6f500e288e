// Planning: what the kernels are, and what of HLO they may hold.
//
// The loop emitter walks one index space and stores one element of every output at each point, so outputs are grouped
// by their element count: equal counts are bitcasts of each other's index space. Each group is a kernel; what two
// kernels both need is computed in both.
#include "plan/fusion.h"

#include <ctype.h>

#include "opt/call_inliner.h"
#include "plan/work_estimate.h"

// Estimated scalar operations of one kernel beyond which it is refused; the estimate errs high by one or two powers of
// ten.
#define WORK_LIMIT 1e13

typedef struct planner {
  arena *arena;  // the plan's
  arena *scratch;
  plan_target target;
  const computation *computation;  // of the kernels
  const int *parameter_numbers;    // entry parameter behind each parameter of `computation`
  uint64_t epoch;                  // instruction->mark of what the walk at hand has reached
} planner;

typedef struct result_leaf {
  const instruction *root;
  int element;
  const shape *shape;
} result_leaf;

typedef VEC(result_leaf) result_leaves;
typedef VEC(const computation *) computation_list;

static const char *name_of(arena *a, const instruction *i) { return arena_printf(a, STR_FMT, STR_ARG(i->name)); }

static bool is_variadic_reduction(const instruction *i) {
  return (i->opcode == HLO_REDUCE || i->opcode == HLO_REDUCE_WINDOW) && shape_is_tuple(i->shape);
}

static bool has_elemental_form(const instruction *i) {
  hlo_index_rule rule = hlo_ops[i->opcode].index_rule;
  return rule != INDEX_RULE_NONE && rule != INDEX_RULE_SCATTER;
}

static heddle_status check_opcode(planner *p, const instruction *i) {
  if (!has_elemental_form(i)) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s cannot be part of a kernel yet", hlo_op_text(i->opcode),
                     name_of(p->scratch, i));
  }
  if (i->opcode == HLO_TUPLE) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "tuple %s is neither the root nor gone: internal and nested "
                     "tuples cannot be part of a kernel yet",
                     name_of(p->scratch, i));
  }
  // An operand without elemental form is refused itself, when it is reached.
  if (i->opcode == HLO_GET_TUPLE_ELEMENT && !is_variadic_reduction(i->operands[0]) &&
      has_elemental_form(i->operands[0])) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "get-tuple-element %s of %s cannot be part of a kernel yet",
                     name_of(p->scratch, i), hlo_op_text(i->operands[0]->opcode));
  }
  if (i->opcode == HLO_CONSTANT && i->literal->is_elided) {
    return status_at(HEDDLE_INVALID, i->where, "constant %s has no value: the text elides it", name_of(p->scratch, i));
  }
  return status_ok();
}

static heddle_status check_shape(planner *p, const instruction *i) {
  if (!shape_is_array(i->shape) && !is_variadic_reduction(i)) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s has shape %s: kernels work on arrays only",
                     hlo_op_text(i->opcode), name_of(p->scratch, i), shape_text(p->scratch, i->shape));
  }
  if (!shape_is_static(i->shape)) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s has the dynamic shape %s", hlo_op_text(i->opcode),
                     name_of(p->scratch, i), shape_text(p->scratch, i->shape));
  }
  return status_ok();
}

// Everything that `roots` depend on, operands before users; also checks it.
static heddle_status collect(planner *p, const result_leaf *roots, int count, instruction_list *out) {
  VEC(const instruction *) stack = {0};
  uint64_t entered = ++p->epoch, done = ++p->epoch;
  for (int i = count - 1; i >= 0; i--) vec_push(p->scratch, &stack, roots[i].root);
  while (stack.size > 0) {
    instruction *i = (instruction *)vec_last(&stack);
    if (i->mark == entered || i->mark == done) {
      vec_drop(&stack);
      if (i->mark == entered) vec_push(p->scratch, out, i);
      i->mark = done;
      continue;
    }
    i->mark = entered;
    TRY(check_opcode(p, i));
    TRY(check_shape(p, i));
    for (int k = i->operand_count - 1; k >= 0; k--) {
      uint64_t mark = i->operands[k]->mark;
      if (mark != entered && mark != done) vec_push(p->scratch, &stack, i->operands[k]);
    }
  }
  return status_ok();
}

static void queue_called(planner *p, const instruction_list *body, ptr_map *seen, computation_list *work) {
  for (int i = 0; i < body->size; i++) {
    for (int k = 0; k < body->data[i]->called_count; k++) {
      const computation *called = body->data[i]->called[k];
      if (ptr_map_has(seen, called)) continue;
      ptr_map_put(p->scratch, seen, called, p);
      vec_push(p->scratch, work, called);
    }
  }
}

static heddle_status check_computation(planner *p, const computation *c, instruction_list *order) {
  VEC(result_leaf) roots = {0};
  bool is_tuple = c->root->opcode == HLO_TUPLE;
  for (int k = 0; k < (is_tuple ? c->root->operand_count : 1); k++) {
    vec_push(p->scratch, &roots, (result_leaf){.root = is_tuple ? c->root->operands[k] : c->root});
  }
  return status_context(collect(p, roots.data, roots.size, order), "in computation " STR_FMT, STR_ARG(c->name));
}

// Reducers and map bodies: the same rules, and theirs in turn.
static heddle_status check_called(planner *p, const instruction_list *body) {
  computation_list work = {0};
  ptr_map seen = {0};
  queue_called(p, body, &seen, &work);
  for (int next = 0; next < work.size; next++) {
    instruction_list order = {0};
    TRY(check_computation(p, work.data[next], &order));
    queue_called(p, &order, &seen, &work);
  }
  return status_ok();
}

static heddle_status collect_leaves(planner *p, const instruction *root, result_leaves *out) {
  if (root->opcode == HLO_TUPLE) {
    for (int i = 0; i < root->operand_count; i++) {
      const instruction *operand = root->operands[i];
      if (shape_is_tuple(operand->shape)) {
        return status_at(HEDDLE_UNIMPLEMENTED, operand->where,
                         "result %d of tuple %s is a tuple itself: nested tuple outputs cannot be planned yet", i,
                         name_of(p->scratch, root));
      }
      vec_push(p->arena, out, (result_leaf){.root = operand, .shape = operand->shape});
    }
  } else if (shape_is_tuple(root->shape)) {
    for (int i = 0; i < root->shape->tuple_size; i++) {
      vec_push(p->arena, out, (result_leaf){.root = root, .element = i, .shape = root->shape->elements[i]});
    }
  } else {
    vec_push(p->arena, out, (result_leaf){.root = root, .shape = root->shape});
  }
  return status_ok();
}

int64_t plan_buffer_bytes(const shape *s) {
  int64_t count = shape_element_count(s);
  int bits = dtypes[s->dtype].bits;
  return bits < 8 ? count / (8 / bits) + (count % (8 / bits) != 0) : count * (bits / 8);
}

static launch_cost cost_of(const kernel_plan *k, const instruction_list *body, int64_t elements) {
  launch_cost cost = {.smallest_output_bits = 64};
  int64_t bytes = 0;
  for (int i = 0; i < k->slice_count; i++) bytes += plan_buffer_bytes(k->slices[i].shape);
  cost.bytes = bytes / elements;
  for (int i = 0; i < k->output_count; i++) {
    int bits = dtypes[k->outputs[i].shape->dtype].bits;
    if (bits < cost.smallest_output_bits) cost.smallest_output_bits = bits;
  }
  for (int i = 0; i < body->size; i++) {
    const instruction *x = body->data[i];
    cost.operations += work_operations(x);
    cost.prevents_vectors |= x->opcode == HLO_REDUCE_WINDOW || x->opcode == HLO_DOT || x->opcode == HLO_CONVOLUTION ||
                             is_variadic_reduction(x) || (x->opcode == HLO_CONCATENATE && x->operand_count > 10);
  }
  return cost;
}

static int add_slice(planner *p, kernel_plan *k, plan_buffer_kind kind, int number, const shape *s, int *capacity) {
  for (int i = 0; i < k->slice_count; i++) {
    if (k->slices[i].kind == kind && k->slices[i].number == number) return i;
  }
  if (k->slice_count == *capacity) {
    int wanted = *capacity * 2;
    k->slices =
        arena_grow(p->arena, k->slices, sizeof *k->slices * (size_t)*capacity, sizeof *k->slices * (size_t)wanted);
    *capacity = wanted;
  }
  k->slices[k->slice_count] = (plan_buffer){.kind = kind, .number = number, .shape = s};
  return k->slice_count++;
}

static void fill_buffers(planner *p, kernel_plan *k, const instruction_list *body, const result_leaf *leaves,
                         const int *numbers) {
  int capacity = 8;
  k->slices = arena_array(p->arena, plan_buffer, capacity);
  k->inputs = arena_array(p->arena, kernel_input, p->computation->parameters.size);
  for (int i = 0; i < body->size; i++) body->data[i]->mark = p->epoch;
  for (int n = 0; n < p->computation->parameters.size; n++) {
    const instruction *parameter = p->computation->parameters.data[n];
    if (parameter->mark != p->epoch) continue;
    int slice = add_slice(p, k, PLAN_PARAMETER, p->parameter_numbers[n], parameter->shape, &capacity);
    k->inputs[k->input_count++] = (kernel_input){.parameter = parameter, .slice = slice};
  }
  for (int i = 0; i < k->output_count; i++) {
    const result_leaf *leaf = &leaves[numbers[i]];
    int slice = add_slice(p, k, PLAN_RESULT, numbers[i], leaf->shape, &capacity);
    k->outputs[i] = (kernel_output){.root = leaf->root, .element = leaf->element, .shape = leaf->shape, .slice = slice};
  }
}

// The kernel that stores the leaves numbers[0 … count).
static heddle_status plan_kernel(planner *p, const char *name, const result_leaf *leaves, const int *numbers, int count,
                                 const kernel_plan **out) {
  kernel_plan *k = arena_new(p->arena, kernel_plan);
  k->name = name;
  k->computation = p->computation;
  k->output_count = count;
  k->outputs = arena_array(p->arena, kernel_output, count);
  result_leaf *roots = arena_array(p->scratch, result_leaf, count);
  for (int i = 0; i < count; i++) roots[i] = leaves[numbers[i]];
  instruction_list body = {0};
  TRY(collect(p, roots, count, &body));
  TRY(check_called(p, &body));
  fill_buffers(p, k, &body, leaves, numbers);
  int64_t elements = shape_element_count(k->outputs[0].shape);
  k->work = work_estimate(p->scratch, &body) * (double)elements;
  launch_cost cost = cost_of(k, &body, elements);
  k->launch = launch_decide(&p->target, elements, &cost);
  *out = k;
  return status_ok();
}

// Leaves of the same element count share a kernel, in order of first appearance.
static heddle_status plan_groups(planner *p, const result_leaves *leaves, program_plan *plan) {
  VEC(const kernel_plan *) kernels = {0};
  bool *taken = arena_array(p->scratch, bool, leaves->size);
  int *numbers = arena_array(p->scratch, int, leaves->size);
  for (int first = 0; first < leaves->size; first++) {
    int64_t elements = shape_element_count(leaves->data[first].shape);
    if (taken[first] || elements == 0) continue;
    int count = 0;
    for (int i = first; i < leaves->size; i++) {
      if (shape_element_count(leaves->data[i].shape) != elements) continue;
      taken[i] = true;
      numbers[count++] = i;
    }
    const char *name = kernels.size == 0 ? "main" : arena_printf(p->arena, "main_%d", kernels.size);
    const kernel_plan *kernel = 0;
    TRY(plan_kernel(p, name, leaves->data, numbers, count, &kernel));
    vec_push(p->arena, &kernels, kernel);
  }
  plan->kernel_count = kernels.size;
  plan->kernels = kernels.data;
  return status_ok();
}

// A fusion that is all the program does: its computation is the kernel's, so that names and structure stay
// recognisable.
static bool is_single_fusion(const computation *entry) {
  const instruction *root = entry->root;
  if (root->opcode != HLO_FUSION) return false;
  for (int i = 0; i < root->operand_count; i++) {
    if (root->operands[i]->opcode != HLO_PARAMETER) return false;
  }
  return true;
}

static void choose_computation(planner *p, const computation *entry, bool single_fusion) {
  int count = single_fusion ? entry->root->operand_count : entry->parameters.size;
  int *numbers = arena_array(p->scratch, int, count);
  for (int i = 0; i < count; i++) {
    numbers[i] = single_fusion ? (int)entry->root->operands[i]->attributes->index : i;
  }
  p->computation = single_fusion ? entry->root->called[0] : entry;
  p->parameter_numbers = numbers;
}

static heddle_status refuse_side_effects(planner *p, const computation *c) {
  for (int i = 0; i < c->instructions.size; i++) {
    const instruction *x = c->instructions.data[i];
    if (hlo_op_has(x->opcode, TRAIT_SIDE_EFFECT)) {
      return status_at(HEDDLE_UNIMPLEMENTED, x->where, "%s %s cannot be part of a kernel yet", hlo_op_text(x->opcode),
                       name_of(p->scratch, x));
    }
  }
  return status_ok();
}

static heddle_status check_results(planner *p, const result_leaves *leaves) {
  for (int i = 0; i < leaves->size; i++) {
    // A result of size zero has no kernel, but must be something that a kernel could make.
    if (!shape_is_array(leaves->data[i].shape)) TRY(check_shape(p, leaves->data[i].root));
  }
  return status_ok();
}

static heddle_status plan_module(planner *p, const module *m, program_plan *plan) {
  computation *entry = m->entry;
  bool single_fusion = is_single_fusion(entry);
  TRY(call_inliner_run((module *)m, single_fusion ? entry->root : 0));
  choose_computation(p, entry, single_fusion);
  TRY(refuse_side_effects(p, entry));
  TRY(refuse_side_effects(p, p->computation));
  result_leaves leaves = {0};
  TRY(collect_leaves(p, p->computation->root, &leaves));
  TRY(check_results(p, &leaves));
  const shape **results = arena_array(p->arena, const shape *, leaves.size);
  for (int i = 0; i < leaves.size; i++) results[i] = leaves.data[i].shape;
  const shape **parameters = arena_array(p->arena, const shape *, entry->parameters.size);
  for (int i = 0; i < entry->parameters.size; i++) parameters[i] = entry->parameters.data[i]->shape;
  plan->module = m;
  plan->target = p->target;
  plan->parameter_count = entry->parameters.size;
  plan->parameters = parameters;
  plan->result_count = leaves.size;
  plan->results = results;
  plan->result_is_tuple = shape_is_tuple(entry->root->shape);
  return plan_groups(p, &leaves, plan);
}

static heddle_status check_kernel(const kernel_plan *k) {
  if (k->work <= WORK_LIMIT) return status_ok();
  const instruction *root = k->outputs[0].root;
  return status_at(HEDDLE_UNIMPLEMENTED, root->where,
                   "%s " STR_FMT
                   " as one kernel would take about %.0e operations, since values are computed again "
                   "where they are read; programs of several kernels cannot be planned yet",
                   hlo_op_text(root->opcode), STR_ARG(root->name), k->work);
}

heddle_status plan_check_work(const program_plan *plan) {
  for (int i = 0; i < plan->kernel_count; i++) TRY(check_kernel(plan->kernels[i]));
  return status_ok();
}

void plan_name_kernels(arena *a, program_plan *plan, const char *name) {
  char *clean = arena_strdup(a, name, strlen(name));
  for (char *c = clean; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  if (isdigit((unsigned char)clean[0])) clean = arena_printf(a, "_%s", clean);
  kernel_plan *copies = arena_array(a, kernel_plan, plan->kernel_count);
  const kernel_plan **kernels = arena_array(a, const kernel_plan *, plan->kernel_count);
  for (int i = 0; i < plan->kernel_count; i++) {
    copies[i] = *plan->kernels[i];
    copies[i].name = i == 0 ? clean : arena_printf(a, "%s_%d", clean, i);
    kernels[i] = &copies[i];
  }
  plan->kernels = kernels;
}

heddle_status plan_kernels(arena *a, const module *m, plan_target target, program_plan **out) {
  planner p = {.arena = a, .scratch = arena_create(), .target = target};
  *out = arena_new(a, program_plan);
  module *clone = module_clone(a, m);
  for (int c = 0; c < clone->computations.size; c++) {
    const computation *x = clone->computations.data[c];
    for (int i = 0; i < x->instructions.size; i++) x->instructions.data[i]->mark = 0;
  }
  heddle_status status = plan_module(&p, clone, *out);
  arena_destroy(p.scratch);
  return status;
}
