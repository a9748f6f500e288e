// A loop whose turns a point of the index space can go through without any other point. Run turn by turn it would send
// its whole state through memory in each turn; here each point's state stays in registers until the last turn, and only
// then is stored. Where points need others, turns go step by step on small arrays (while_steps.h).
//
// For points on their own two computations are made: what the carried values are before the first turn, and one turn,
// which takes the counter and the carried values and gives their next values and the elements of rows. Both are copies
// of what the program has, with scalars in the place of carried arrays.
#include "kernel/hero_while.h"

#include "base/int64.h"
#include "kernel/while_body.h"
#include "kernel/while_steps.h"
#include "kernel/work_estimate.h"

// --- bodies

static void make_bodies(arena *a, kernel_plan *k, const while_state *s) {
  module *in = module_create(a, STR("turns"));
  in->open_from = k->computation->module->open_from;
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
  while_body turn = {.arena = a, .plan = k, .state = s}, before = turn;
  bodies[0] = while_body_make(&turn, in, "turn", count, nexts, s->space);
  if (s->carried_count > 0) bodies[1] = while_body_make(&before, in, "before", s->carried_count, firsts, s->space);
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
    if (!is_stacked && leaf->role != WHILE_CARRIED) return false;
    if (!is_stacked && s->is_pointwise && is_same_for_all(s, number)) return false;
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

// Points on their own.
static bool takes_points(arena *a, kernel_plan *k, const while_state *s, const target_description *target) {
  make_bodies(a, k, s);
  launch_cost cost = turn_cost(k);
  const int64_t of_turn = cost.operations, elements = shape_element_count(s->space);
  cost.operations = of_turn < INT64_MAX / s->turns ? of_turn * s->turns : INT64_MAX;
  for (int n = 0; n < k->slice_count; n++) cost.bytes += kernel_buffer_bytes(k->slices[n].shape) / elements;
  k->launch = launch_decide(target, elements, &cost);
  if (!walks_cheaply(target, k, s)) return false;
  if (!has_room(target, k, s, int64_min(k->launch.tile, elements), of_turn)) return false;
  k->work = (double)of_turn * (double)s->turns * (double)elements;
  k->reason = "all turns of a loop for one element after the other, with its state in registers";
  return true;
}

static bool takes_steps(arena *a, kernel_plan *k, const while_state *s, const target_description *target) {
  double work;
  if (!while_steps_make(a, k, s, target, &work)) return false;
  k->launch = (launch_plan){.elements = 1, .tile = 1, .tiles = 1};
  for (int n = 0; n < k->slice_count; n++) k->launch.tile_bytes += kernel_buffer_bytes(k->slices[n].shape);
  k->work = work * (double)s->turns;
  k->reason = "all turns of a loop on small arrays, step by step";
  return true;
}

bool hero_while_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  (void)body;
  while_state s;
  hero_while *h = &k->details.turns;
  const instruction *root = k->outputs[0].root;
  if (root->opcode != HLO_GET_TUPLE_ELEMENT || root->operands[0]->opcode != HLO_WHILE) return false;
  if (!while_state_of(a, root->operands[0], &s) || !find_outputs(a, k, &s, h)) return false;
  h->loop = s.loop;
  h->space = s.space;
  h->turns = s.turns;
  h->start = s.start;
  h->step = s.step;
  h->carried_count = s.carried_count;
  h->counter = s.counter;
  k->hero_instruction = s.loop;
  return s.is_pointwise ? takes_points(a, k, &s, target) : takes_steps(a, k, &s, target);
}
