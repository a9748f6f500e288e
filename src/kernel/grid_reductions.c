// Which outputs of a kernel are reductions that have nothing to do with each other.
//
// Outputs belong to a group if an array goes into the computation of both: a parameter that both read, or what is
// computed for both. Scalars, constants and iotas join nothing, since each group has them for nothing. Groups of one
// index space could go over it together, as one reduction with several results does; but where that would leave
// multiprocessors without blocks, blocks for each group are the better way, and groups of different spaces have no
// other.
#include "kernel/grid_reductions.h"

#include "base/int64.h"
#include "kernel/grid_reduction.h"

typedef struct grouping {
  arena *scratch;
  const kernel_plan *kernel;
  int *group_of;   // by output: the group's first output
  ptr_map owners;  // instruction -> the first output that it goes into, plus one
} grouping;

static bool joins(const instruction *i) {
  const bool is_scalar = shape_is_array(i->shape) && shape_element_count(i->shape) <= 1;
  if (is_scalar || i->opcode == HLO_CONSTANT || i->opcode == HLO_IOTA) return false;
  return i->opcode != HLO_BROADCAST || joins(i->operands[0]);
}

static int group_of(const grouping *g, int output) {
  while (g->group_of[output] != output) output = g->group_of[output];
  return output;
}

static void join(const grouping *g, int x, int y) {
  x = group_of(g, x);
  y = group_of(g, y);
  g->group_of[x > y ? x : y] = x < y ? x : y;
}

// All that the output is computed of, users before operands.
static void visit_output(grouping *g, int output) {
  VEC(const instruction *) work = {0};
  ptr_map seen = {0};
  vec_push(g->scratch, &work, g->kernel->outputs[output].root);
  while (work.size > 0) {
    const instruction *i = work.data[--work.size];
    if (ptr_map_has(&seen, i)) continue;
    ptr_map_put(g->scratch, &seen, i, g->scratch);
    const intptr_t owner = (intptr_t)ptr_map_get(&g->owners, i);
    if (owner) join(g, output, (int)owner - 1);
    else if (joins(i) || i == g->kernel->outputs[output].root)
      ptr_map_put(g->scratch, &g->owners, i, (void *)(intptr_t)(output + 1));
    for (int k = 0; k < i->operand_count; k++) vec_push(g->scratch, &work, i->operands[k]);
  }
}

// Of the body, what the group's outputs depend on.
static instruction_list body_of(arena *a, const kernel_plan *k, const instruction_list *body) {
  ptr_map wanted = {0};
  instruction_list own = {0};
  for (int o = 0; o < k->output_count; o++) ptr_map_put(a, &wanted, k->outputs[o].root, a);
  for (int n = body->size - 1; n >= 0; n--) {
    const instruction *i = body->data[n];
    for (int o = 0; ptr_map_has(&wanted, i) && o < i->operand_count; o++) ptr_map_put(a, &wanted, i->operands[o], a);
  }
  for (int n = 0; n < body->size; n++)
    if (ptr_map_has(&wanted, body->data[n])) vec_push(a, &own, body->data[n]);
  return own;
}

static kernel_plan *plan_of(arena *a, const grouping *g, int first, int **numbers) {
  const kernel_plan *k = g->kernel;
  kernel_plan *own = arena_new(a, kernel_plan);
  *own = *k;
  own->name = arena_printf(a, "%s_output_%d", k->name, first);
  own->outputs = arena_array(a, kernel_output, k->output_count);
  own->output_count = 0;
  *numbers = arena_array(a, int, k->output_count);
  for (int o = 0; o < k->output_count; o++) {
    if (group_of(g, o) != first) continue;
    (*numbers)[own->output_count] = o;
    own->outputs[own->output_count++] = k->outputs[o];
  }
  return own;
}

// Plans in `groups` one reduction for each; false if one is none.
static bool plan_groups(arena *a, const grouping *g, const instruction_list *body, const target_description *target,
                        grid_group *groups, kernel_plan **plans) {
  for (int o = 0, n = 0; o < g->kernel->output_count; o++) {
    if (group_of(g, o) != o) continue;
    int *numbers;
    plans[n] = plan_of(a, g, o, &numbers);
    const instruction_list own = body_of(g->scratch, plans[n], body);
    if (!grid_reduction_takes(a, plans[n], &own, target) || plans[n]->launch.blocks_y != 1) return false;
    plans[n]->hero = HERO_REDUCTION;
    groups[n] = (grid_group){.plan = plans[n], .outputs = numbers};
    n++;
  }
  return true;
}

// Blocks of one size, one group's behind the other's.
static bool deal_blocks(const target_description *target, int count, kernel_plan **plans, grid_group *groups,
                        launch_plan *launch) {
  *launch = (launch_plan){.blocks_y = 1};
  for (int n = 0; n < count; n++) launch->threads = int64_max(launch->threads, plans[n]->launch.threads);
  for (int n = 0; n < count; n++) {
    const launch_plan *own = &plans[n]->launch;
    if (own->threads != launch->threads && !grid_reduction_widen(plans[n], target, launch->threads)) return false;
    groups[n].first_block = launch->blocks_x;
    launch->blocks_x += own->blocks_x;
    launch->elements += own->elements;
    launch->unroll = own->unroll > launch->unroll ? own->unroll : launch->unroll;
    launch->shared_bytes += own->shared_bytes;
  }
  return launch->blocks_x <= target->max_grid_x && launch->shared_bytes <= target->grid.static_shared_bytes;
}

static void finish(arena *a, kernel_plan *k, int count, kernel_plan **plans, const grid_group *groups) {
  VEC(kernel_body) bodies = {0};
  for (int n = 0; n < count; n++) {
    for (int b = 0; b < plans[n]->body_count; b++) vec_push(a, &bodies, plans[n]->bodies[b]);
    k->work += plans[n]->work;
  }
  k->bodies = bodies.data;
  k->body_count = bodies.size;
  k->hero_instruction = plans[0]->hero_instruction;
  k->reason = arena_printf(a, "%d reductions, each with blocks of its own", count);
  k->details.grid_reductions = (hero_grid_reductions){.group_count = count, .groups = groups};
}

// Whether one reduction does it all and has blocks enough.
static bool is_better_whole(arena *a, const kernel_plan *k, const instruction_list *body,
                            const target_description *target) {
  kernel_plan whole = *k;
  return grid_reduction_takes(a, &whole, body, target) && whole.launch.blocks_x >= target->cores;
}

bool grid_reductions_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  if (k->output_count < 2) return false;
  arena *scratch = arena_create();
  grouping g = {.scratch = scratch, .kernel = k, .group_of = arena_array(scratch, int, k->output_count)};
  for (int o = 0; o < k->output_count; o++) g.group_of[o] = o;
  for (int o = 0; o < k->output_count; o++) visit_output(&g, o);
  int count = 0;
  for (int o = 0; o < k->output_count; o++) count += group_of(&g, o) == o;
  bool takes = count > 1;
  if (takes) {
    grid_group *groups = arena_array(a, grid_group, count);
    kernel_plan **plans = arena_array(a, kernel_plan *, count);
    launch_plan launch;
    takes = plan_groups(a, &g, body, target, groups, plans) && deal_blocks(target, count, plans, groups, &launch) &&
            !is_better_whole(a, k, body, target);
    if (takes) k->launch = launch;
    if (takes) finish(a, k, count, plans, groups);
  }
  arena_destroy(scratch);
  return takes;
}
