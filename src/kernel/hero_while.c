// A loop whose turns a point of the index space can go through without any other point. Run turn by turn it would send
// its whole state through memory in each turn; here each point's state stays in registers until the last turn, and only
// then is stored.
//
// Two computations are made: what the carried values are before the first turn, and one turn, which takes the counter
// and the carried values and gives their next values and the elements of rows. Both are copies of what the program has,
// with scalars in the place of carried arrays.
#include "kernel/hero_while.h"

#include "base/int64.h"
#include "kernel/while_state.h"
#include "kernel/work_estimate.h"

bool hero_while_has(const instruction *i) {
  if (i->opcode == HLO_WHILE) return true;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) return i->operands[0]->opcode == HLO_WHILE;
  return i->opcode == HLO_TUPLE && i->users.size == 1 && i->users.data[0]->opcode == HLO_WHILE;
}

// --- bodies

typedef struct body_maker {
  arena *arena;  // the plan's
  const kernel_plan *plan;
  const while_state *state;
  computation *to;
  ptr_map copies;
  VEC(int) arguments;
} body_maker;

// `argument`: see kernel_body.
static instruction *add_argument(body_maker *m, const shape *s, int argument) {
  const int number = m->arguments.size;
  str name = str_from(arena_printf(m->arena, argument < 0 ? "value_%d" : "input_%d", number));
  vec_push(m->arena, &m->arguments, argument);
  return computation_add_parameter(m->to, number, name, s);
}

static instruction *spread(body_maker *m, instruction *scalar, const shape *dims) {
  if (dims->rank == 0) return scalar;
  const shape *s = shape_array(m->arena, scalar->shape->dtype, dims->rank, dims->dims);
  return computation_add(m->to, HLO_BROADCAST, (str){0}, s, 1, &scalar);
}

static instruction *copy_instruction(body_maker *m, const instruction *from) {
  if (from->opcode == HLO_PARAMETER) return add_argument(m, from->shape, kernel_plan_input(m->plan, from));
  instruction **operands = arena_array(m->arena, instruction *, from->operand_count);
  for (int k = 0; k < from->operand_count; k++) operands[k] = ptr_map_get(&m->copies, from->operands[k]);
  instruction *to = computation_add(m->to, from->opcode, from->name, from->shape, from->operand_count, operands);
  to->attributes = from->attributes;
  to->literal = from->literal;
  to->where = from->where;
  return to;
}

// What stands for a leaf of the state within a turn; null for what is copied from outside of the loop.
static instruction *leaf_value(body_maker *m, int number) {
  const while_leaf *leaf = &m->state->leaves[number];
  const shape *s = m->state->loop->shape->elements[number];
  if (leaf->role != WHILE_COUNTER && leaf->role != WHILE_CARRIED) return NULL;
  const int argument = leaf->role == WHILE_COUNTER ? -1 : -2 - leaf->number;
  return spread(m, add_argument(m, shape_scalar(m->arena, s->dtype), argument), s);
}

// The instruction that is copied for `i`: values that the loop keeps are those from outside.
static const instruction *origin_of(const body_maker *m, const instruction *i) {
  const bool is_leaf = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
  if (!is_leaf || m->state->leaves[i->attributes->index].role != WHILE_KEPT) return i;
  return m->state->values[i->attributes->index];
}

// Copies the instruction, once all it needs has been copied; false if something was pushed that has to come first.
static bool copy_one(body_maker *m, instruction_list *stack, const instruction *i) {
  const instruction *origin = origin_of(m, i);
  if (origin != i) {
    instruction *copy = ptr_map_get(&m->copies, origin);
    if (!copy) vec_push(m->arena, stack, (instruction *)origin);
    else ptr_map_put(m->arena, &m->copies, i, copy);
    return copy;
  }
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) {
    ptr_map_put(m->arena, &m->copies, i, leaf_value(m, (int)i->attributes->index));
    return true;
  }
  const int before = stack->size;
  for (int k = 0; k < i->operand_count; k++)
    if (!ptr_map_has(&m->copies, i->operands[k])) vec_push(m->arena, stack, i->operands[k]);
  if (stack->size > before) return false;
  ptr_map_put(m->arena, &m->copies, i, copy_instruction(m, i));
  return true;
}

// The value over the dims of the space: an element for each point, or the same for all.
static instruction *in_space(body_maker *m, const instruction *root) {
  instruction_list stack = {0};
  vec_push(m->arena, &stack, (instruction *)root);
  while (stack.size > 0) {
    const instruction *i = vec_last(&stack);
    if (ptr_map_has(&m->copies, i) || copy_one(m, &stack, i)) vec_drop(&stack);
  }
  instruction *copy = ptr_map_get(&m->copies, root);
  const shape *space = m->state->space;
  if (shape_same_dims(copy->shape, space)) return copy;
  if (copy->shape->rank == 0) return spread(m, copy, space);
  const shape *s = shape_array(m->arena, copy->shape->dtype, space->rank, space->dims);
  return computation_add(m->to, HLO_RESHAPE, (str){0}, s, 1, &copy);
}

static kernel_body make_body(body_maker *m, module *in, const char *name, int count, const instruction *const *roots) {
  m->to = module_add_computation(in, str_from(name));
  instruction **elements = arena_array(m->arena, instruction *, count);
  const shape **shapes = arena_array(m->arena, const shape *, count);
  for (int n = 0; n < count; n++) {
    elements[n] = in_space(m, roots[n]);
    shapes[n] = elements[n]->shape;
  }
  const shape *tuple = shape_tuple(m->arena, count, shapes);
  computation_set_root(m->to, computation_add(m->to, HLO_TUPLE, (str){0}, tuple, count, elements));
  return (kernel_body){m->to, m->arguments.data};
}

static void make_bodies(arena *a, kernel_plan *k, const while_state *s) {
  module *in = module_create(a, STR("turns"));
  kernel_body *bodies = arena_array(a, kernel_body, 2);
  const int count = s->carried_count + s->stacked_count;
  const instruction **nexts = arena_array(a, const instruction *, count);
  const instruction **firsts = arena_array(a, const instruction *, s->carried_count);
  for (int n = 0; n < s->leaf_count; n++) {
    const while_leaf *leaf = &s->leaves[n];
    if (leaf->role == WHILE_CARRIED) firsts[leaf->number] = s->values[n];
    if (leaf->role == WHILE_CARRIED) nexts[leaf->number] = leaf->next;
    if (leaf->role == WHILE_STACKED) nexts[s->carried_count + leaf->number] = leaf->next;
  }
  body_maker turn = {.arena = a, .plan = k, .state = s}, before = turn;
  bodies[0] = make_body(&turn, in, "turn", count, nexts);
  if (s->carried_count > 0) bodies[1] = make_body(&before, in, "before", s->carried_count, firsts);
  k->bodies = bodies;
  k->body_count = 1 + (s->carried_count > 0);
}

// --- outputs

static bool is_same_for_all(const while_state *s, int leaf) {
  return s->loop->shape->elements[leaf]->rank == 0 && s->space->rank > 0;
}

// Where outputs come from: values that are there after the last turn, one for each point, and rows.
static bool find_outputs(arena *a, const kernel_plan *k, const while_state *s, hero_while *h) {
  h->outputs = arena_array(a, while_output, k->output_count);
  for (int n = 0; n < k->output_count; n++) {
    const instruction *root = k->outputs[n].root;
    if (root->opcode != HLO_GET_TUPLE_ELEMENT || root->operands[0] != s->loop) return false;
    const int number = (int)root->attributes->index;
    const while_leaf *leaf = &s->leaves[number];
    const bool is_stacked = leaf->role == WHILE_STACKED;
    if (!is_stacked && (leaf->role != WHILE_CARRIED || is_same_for_all(s, number))) return false;
    h->outputs[n] = (while_output){.is_stacked = is_stacked,
                                   .value = is_stacked ? s->carried_count + leaf->number : leaf->number,
                                   .first_row = leaf->first_row,
                                   .by_row = leaf->by_row};
  }
  return true;
}

// --- figures

// Of one point in one turn.
static launch_cost turn_cost(const kernel_plan *k) {
  launch_cost cost = {0};
  const instruction_list *all = &k->bodies[0].computation->instructions;
  for (int n = 0; n < all->size; n++) {
    const instruction *i = all->data[n];
    const bool computes = i->opcode != HLO_PARAMETER && i->opcode != HLO_TUPLE && i->opcode != HLO_BROADCAST;
    if (computes) cost.operations += work_estimate_operations(i);
  }
  return cost;
}

// Points one after the other go down the columns of arrays that have a row for each turn: beyond the caches such rows
// have to be short.
static bool walks_cheaply(const target_description *target, const kernel_plan *k, const while_state *s) {
  int64_t bytes = 0, most_rows = 0;
  for (int n = 0; n < k->slice_count; n++) {
    const int64_t all = kernel_buffer_bytes(k->slices[n].shape), points = shape_element_count(s->space);
    bytes += all;
    if (shape_element_count(k->slices[n].shape) > points) most_rows = int64_max(most_rows, all / s->turns);
  }
  return bytes <= target->cache_bytes || most_rows <= target->fusion.max_walked_row_bytes;
}

static bool has_room(const target_description *target, const kernel_plan *k, const while_state *s, int64_t tile,
                     int64_t operations) {
  const target_fusion_costs *limits = &target->fusion;
  return s->carried_count <= limits->max_carried_values &&
         k->bodies[0].computation->instructions.size <= limits->max_turn_instructions &&
         (double)tile * (double)s->turns * (double)operations <= limits->max_turns_operations;
}

bool hero_while_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  (void)body;
  while_state s;
  hero_while *h = &k->details.turns;
  const instruction *root = k->outputs[0].root;
  if (root->opcode != HLO_GET_TUPLE_ELEMENT || root->operands[0]->opcode != HLO_WHILE) return false;
  if (!while_state_of(a, root->operands[0], &s) || !find_outputs(a, k, &s, h)) return false;
  make_bodies(a, k, &s);
  launch_cost cost = turn_cost(k);
  const int64_t of_turn = cost.operations, elements = shape_element_count(s.space);
  cost.operations = of_turn < INT64_MAX / s.turns ? of_turn * s.turns : INT64_MAX;
  for (int n = 0; n < k->slice_count; n++) cost.bytes += kernel_buffer_bytes(k->slices[n].shape) / elements;
  k->launch = launch_decide(target, elements, &cost);
  if (!walks_cheaply(target, k, &s)) return false;
  if (!has_room(target, k, &s, int64_min(k->launch.tile, elements), of_turn)) return false;
  h->loop = s.loop;
  h->space = s.space;
  h->turns = s.turns;
  h->start = s.start;
  h->step = s.step;
  h->carried_count = s.carried_count;
  h->counter = s.counter;
  k->work = (double)of_turn * (double)s.turns * (double)elements;
  k->hero_instruction = s.loop;
  k->reason = "all turns of a loop for one element after the other, with its state in registers";
  return true;
}
