// Members are found and their regions made in one walk against the data flow. A group is grown anew for each size of
// tile that is tried: which producers can join depends on it.
#include "supertile/tile_group.h"

#include "supertile/tile_carry.h"
#include "supertile/tile_sum.h"

enum { MOST_MEMBERS = 50000, MOST_BORDERS = 8, MOST_AHEAD = 16 };

void tile_search_number(tile_search *s, const computation *c) {
  instruction_list order = {0};
  heddle_status status = computation_post_order(s->arena, c, &order);
  for (int k = 0; status_is_ok(status) && k < order.size; k++)
    ptr_map_put(s->arena, &s->orders, order.data[k], (void *)(intptr_t)(k + 1));  // NOLINT(performance-no-int-to-ptr)
  heddle_status_free(status);
}

int tile_search_order(const tile_search *s, const instruction *i) {
  return (int)(intptr_t)ptr_map_get(&s->orders, i) - 1;
}

const shape *tile_group_array(const instruction *i) {
  return shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
}

// --- dims that are summed over

int tile_group_dims(const instruction *bottom, bool exact) {
  return tile_group_array(bottom)->rank + tile_sum_dims(bottom, exact);
}

int64_t tile_group_dim_size(const instruction *bottom, int dim) {
  const shape *s = tile_group_array(bottom);
  return dim < s->rank ? s->dims[dim] : tile_sum_dim_size(bottom, dim - s->rank);
}

double tile_group_tiling_factor(const tile_group *g) {
  return (double)tile_group_dim_size(g->bottom, g->dim) / (double)g->tile;
}

static region_dim full_place(const tile_group *g) { return (region_dim){0, g->tile, g->tile}; }

tile_output *tile_group_output(const tile_group *g, const instruction *i) {
  for (int k = 0; k < g->outputs.size; k++)
    if (g->outputs.data[k].instruction == i) return &g->outputs.data[k];
  return NULL;
}

const tile_output *tile_group_over(const tile_group *g, const instruction *array) {
  for (int k = 0; k < g->outputs.size; k++)
    if (g->outputs.data[k].array == array) return &g->outputs.data[k];
  return NULL;
}

bool tile_group_goes_on(const tile_group *g, const instruction *i, int operand) {
  const tile_output *o = tile_group_output(g, i);
  return o && o->is_sum && tile_sum_goes_on(i, operand);
}

bool tile_group_is_given(const tile_group *g, const instruction *i, int operand) {
  const instruction *x = i->operands[operand];
  return (x->opcode == HLO_CONSTANT && shape_is_scalar(x->shape)) || tile_group_goes_on(g, i, operand);
}

// Says which tile is meant by what follows: `base + step * turn` and `size` along the dims that are cut.
static void set_place(tile_group *g, region_dim place) {
  for (int k = 0; k < g->outputs.size; k++) g->outputs.data[k].summed = place;
}

// What the loop in the loop takes of the bottom: a tile in the middle, where no window hangs out.
static region_dim inner_place(const tile_search *s, const tile_group *g) {
  const int64_t tile = s->inner.tile, turns = tile_group_dim_size(g->bottom, s->inner.dim) / tile;
  return (region_dim){turns / 2 * tile, 0, tile};
}

// Of an output that sums it is the whole.
static region output_region(const tile_search *s, const tile_group *g, int number, region_dim place) {
  const tile_output *o = &g->outputs.data[number];
  region r = region_whole(s->arena, tile_group_array(o->instruction));
  if (!o->is_sum) r.dims[o->dim] = place;
  if (number == 0 && s->inner.tile > 0 && s->inner.dim < r.rank) r.dims[s->inner.dim] = inner_place(s, g);
  return r;
}

region_answer tile_group_operand(tile_search *s, const tile_group *g, const tile_member *m, region_turns turns,
                                 int operand, region *in) {
  const instruction *i = m->instruction;
  const region_answer answer = region_of_operand(s->maps, i, &m->computed, turns, operand, in);
  const tile_output *o = tile_group_output(g, i);
  const int rank = tile_group_array(i)->rank;
  const int cut = o && o->is_sum ? tile_sum_dim(i, operand, o->dim - rank) : -1;
  if (answer == REGION_FOUND && cut >= 0) in->dims[cut] = o->summed;
  const bool is_cut_again = i == g->bottom && s->inner.tile > 0 && s->inner.dim >= rank;
  const int again = is_cut_again ? tile_sum_dim(i, operand, s->inner.dim - rank) : -1;
  if (answer == REGION_FOUND && again >= 0) in->dims[again] = inner_place(s, g);
  return answer;
}

// --- who is a member

// What was asked for of an instruction, by those who are members.
typedef struct pending {
  instruction *instruction;
  int order;
  region region;
  bool is_taken;
  int member;  // its number; -1: it stays outside
} pending;

typedef struct growth {
  tile_search *search;
  tile_group *group;
  int most_stored;
  VEC(pending) asked;
  VEC(int) waiting;  // of them, that are not taken
  ptr_map members;   // instruction: itself
  ptr_map shared;    // members that are computed within steps, of which some are outside
} growth;

static bool is_needed_outside(const growth *g, const instruction *i) {
  if (tile_group_output(g->group, i)) return false;
  if (i == i->parent->root || i->control_predecessors.size > 0) return true;
  for (int u = 0; u < i->users.size; u++) {
    const instruction *user = i->users.data[u];
    if (ptr_map_has(&g->shared, user)) return true;
    if (!ptr_map_has(&g->members, user) && !ptr_map_has(&g->search->dead, user)) return true;
  }
  return false;
}

// A slice of a parameter, a constant, or of what a loop around this one reads: none of these would be gone if the slice
// were there in its place.
static bool is_slice_of_given(const instruction *i) {
  const instruction *x = i;
  while (x->opcode == HLO_SLICE || x->opcode == HLO_DYNAMIC_SLICE) x = x->operands[0];
  if (x == i) return false;
  if (x->opcode == HLO_GET_TUPLE_ELEMENT) x = x->operands[0];
  return x->opcode == HLO_PARAMETER || x->opcode == HLO_CONSTANT;
}

static bool is_stored(const growth *g, const instruction *i) {
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) return false;
  if (g->search->in_kernels && is_slice_of_given(i)) return false;
  return plan_steps_stored(g->search->steps, i) != NULL;
}

static bool may_join(const growth *g, const pending *p) {
  const instruction *i = p->instruction;
  if (p->order < 0 || !region_has_tiles(i)) return false;
  if (g->search->slices_inside && is_slice_of_given(i)) return true;
  if (!region_moves(&p->region) && !g->search->takes_all) return false;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT && !region_has_tiles(i->operands[0])) return false;
  if (!is_stored(g, i)) return true;
  if (plan_steps_stored(g->search->steps, i)->bytes < g->search->small_bytes) return false;
  return g->group->stored_count < g->most_stored && (g->search->may_repeat || !is_needed_outside(g, i));
}

// Whether the boxes differ in where they begin and end alone.
static bool move_together(const region *l, const region *r) {
  for (int d = 0; d < l->rank; d++)
    if (l->dims[d].step != r->dims[d].step) return false;
  return true;
}

// Whether one box for both holds little that nobody needs. What is needed early and late is kept in between.
static bool belong_together(const growth *g, const instruction *i, const region *l, const region *r, region *both) {
  *both = region_copy(g->search->arena, l);
  region_add(both, r, tile_group_array(i));
  const bool may_keep = is_stored(g, i) || i == g->search->rows_of;
  if ((double)region_elements(both) <= 1.25 * (double)(region_elements(l) + region_elements(r))) return true;
  if (!g->search->may_carry || !may_keep || !move_together(l, r)) return false;
  return g->search->has_joined = true;
}

static int ask_for(growth *g, instruction *i, const region *r) {
  arena *a = g->search->arena;
  for (int k = 0; k < g->waiting.size; k++) {
    pending *p = &g->asked.data[g->waiting.data[k]];
    region both;
    if (p->instruction != i || !belong_together(g, i, &p->region, r, &both)) continue;
    p->region = both;
    return g->waiting.data[k];
  }
  vec_push(a, &g->asked, ((pending){i, tile_search_order(g->search, i), region_copy(a, r), false, -1}));
  vec_push(a, &g->waiting, g->asked.size - 1);
  return g->asked.size - 1;
}

static bool may_carry(const tile_group *g, const tile_member *m) {
  return g->may_carry && m->is_stored && !tile_group_output(g, m->instruction);
}

static region_answer join(growth *g, int number, region_turns turns) {
  const pending p = g->asked.data[number];
  instruction *i = p.instruction;
  tile_search *s = g->search;
  tile_member m = {.instruction = i,
                   .order = p.order,
                   .is_stored = is_stored(g, i),
                   .region = p.region,
                   .operands = arena_array(s->arena, int, i->operand_count)};
  m.is_repeated = m.is_stored && is_needed_outside(g, i);
  region_align(s->maps, i, turns, &m.region);
  tile_carry_split(s->arena, &m, may_carry(g->group, &m));
  region *operands = arena_array(s->arena, region, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    const region_answer answer = tile_group_operand(s, g->group, &m, turns, k, &operands[k]);
    if (answer != REGION_FOUND) return answer;
  }
  if (m.is_stored && !tile_group_output(g->group, i)) g->group->stored_count++;
  g->asked.data[number].member = g->group->members.size;
  ptr_map_put(s->arena, &g->members, i, i);
  if (!m.is_stored && is_needed_outside(g, i)) ptr_map_put(s->arena, &g->shared, i, i);
  for (int k = 0; k < i->operand_count; k++)
    m.operands[k] = tile_group_is_given(g->group, i, k) ? -1 : ask_for(g, i->operands[k], &operands[k]);
  vec_push(s->arena, &g->group->members, m);
  return REGION_FOUND;
}

// Rows of an array outside, of which the turn reads those that no turn before has read. False: turns share none.
static bool join_copied(growth *g, int number) {
  const pending *p = &g->asked.data[number];
  arena *a = g->search->arena;
  instruction *i = p->instruction;
  tile_member m = {.instruction = i,
                   .order = p->order,
                   .is_stored = true,
                   .is_copied = true,
                   .region = p->region,
                   .operands = arena_array(a, int, i->operand_count)};
  for (int k = 0; k < i->operand_count; k++) m.operands[k] = -1;
  tile_carry_split(a, &m, true);
  if (m.carry_dim < 0) return false;
  g->asked.data[number].member = g->group->members.size;
  vec_push(a, &g->group->members, m);
  return true;
}

static int next_waiting(growth *g) {
  int best = 0;
  for (int k = 1; k < g->waiting.size; k++)
    if (g->asked.data[g->waiting.data[k]].order > g->asked.data[g->waiting.data[best]].order) best = k;
  const int number = g->waiting.data[best];
  const int last = vec_pop(&g->waiting);
  if (best < g->waiting.size) g->waiting.data[best] = last;
  return number;
}

static void add_external(growth *g, instruction *i) {
  instruction_list *all = &g->group->externals;
  for (int k = 0; k < all->size; k++)
    if (all->data[k] == i) return;
  vec_push(g->search->arena, all, i);
}

// Elements of a tuple that stays outside are read from there, each an array of its own.
static void take_elements(growth *g) {
  const instruction_list before = g->group->externals;
  g->group->externals = (instruction_list){0};
  for (int k = 0; k < before.size; k++)
    if (!shape_is_tuple(before.data[k]->shape)) add_external(g, before.data[k]);
  for (int k = 0; k < g->group->members.size; k++) {
    const tile_member *m = &g->group->members.data[k];
    if (m->instruction->opcode == HLO_GET_TUPLE_ELEMENT && m->operands[0] < 0) add_external(g, m->instruction);
  }
}

// Numbers of what was asked for become numbers of members.
static void resolve(growth *g) {
  for (int k = 0; k < g->group->members.size; k++) {
    tile_member *m = &g->group->members.data[k];
    for (int o = 0; o < m->instruction->operand_count; o++)
      if (m->operands[o] >= 0) m->operands[o] = g->asked.data[m->operands[o]].member;
  }
}

// The outputs' own tiles are asked for first.
static int *ask_for_outputs(growth *g, region_dim place) {
  arena *a = g->search->arena;
  const tile_output_list *all = &g->group->outputs;
  int *numbers = arena_array(a, int, all->size);
  set_place(g->group, place);
  for (int k = 0; k < all->size; k++) {
    const region r = output_region(g->search, g->group, k, place);
    numbers[k] = ask_for(g, all->data[k].instruction, &r);
  }
  return numbers;
}

// Values of outputs are the loop's: what is read from outside must not need them. Whoever needs a value has a higher
// number, or, as a loop that was made since, none.
static bool externals_need_outputs(const tile_search *s, const tile_group *g) {
  int least = INT32_MAX;
  for (int k = 0; k < g->outputs.size; k++) {
    const int order = tile_search_order(s, g->outputs.data[k].instruction);
    if (order < least) least = order;
  }
  instruction_list work = {0};
  ptr_map seen = {0};
  for (int k = 0; k < g->externals.size; k++) vec_push(s->arena, &work, g->externals.data[k]);
  for (int w = 0; w < work.size; w++) {
    instruction *i = work.data[w];
    const int order = tile_search_order(s, i);
    if ((order >= 0 && order < least) || ptr_map_has(&seen, i)) continue;
    if (tile_group_output(g, i)) return true;
    ptr_map_put(s->arena, &seen, i, i);
    for (int k = 0; k < i->operand_count; k++) vec_push(s->arena, &work, i->operands[k]);
    for (int k = 0; k < i->control_predecessors.size; k++) vec_push(s->arena, &work, i->control_predecessors.data[k]);
  }
  return false;
}

// What a sum has come to in a turn is no tile of its value.
static bool reads_sum(const tile_group *g) {
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    for (int o = 0; o < m->instruction->operand_count; o++) {
      const tile_output *of = m->operands[o] < 0 ? NULL : tile_group_output(g, m->instruction->operands[o]);
      if (of && of->is_sum) return true;
    }
  }
  return false;
}

static region_answer grow(growth *g) {
  tile_group *t = g->group;
  t->members.size = t->externals.size = t->stored_count = 0;
  g->asked.size = g->waiting.size = 0;
  g->members = g->shared = (ptr_map){0};
  const int *numbers = ask_for_outputs(g, full_place(t));
  region_answer answer = REGION_FOUND;
  while (answer == REGION_FOUND && g->waiting.size > 0) {
    const int next = next_waiting(g);
    const bool is_output = tile_group_output(t, g->asked.data[next].instruction);
    if (is_output || (may_join(g, &g->asked.data[next]) && t->members.size < MOST_MEMBERS)) {
      answer = join(g, next, t->inside);
      if (answer != REGION_UNKNOWN || is_output) continue;
      answer = REGION_FOUND;
    }
    instruction *outside = g->asked.data[next].instruction;
    if (outside == g->search->rows_of) join_copied(g, next);
    add_external(g, outside);
  }
  resolve(g);
  for (int k = 0; k < t->outputs.size; k++) t->outputs.data[k].member = g->asked.data[numbers[k]].member;
  take_elements(g);
  if (answer != REGION_FOUND || t->outputs.size == 1) return answer;
  return reads_sum(t) || externals_need_outputs(g->search, t) ? REGION_UNKNOWN : REGION_FOUND;
}

// --- regions of given members

static region_answer add_operand(tile_search *s, tile_group *g, const region_dim *place, region_turns turns, int member,
                                 int operand, bool *is_known) {
  const tile_member *m = &g->members.data[member];
  const int number = m->operands[operand];
  region in;
  const region_answer answer = tile_group_operand(s, g, m, turns, operand, &in);
  if (answer != REGION_FOUND || number < 0) return answer;
  tile_member *of = &g->members.data[number];
  if (place->step == 0 && of->carry_dim >= 0)
    return tile_carry_has(s->arena, of, place->base / g->tile, &in) ? REGION_FOUND : REGION_UNKNOWN;
  if (is_known[number]) region_add(&of->region, &in, tile_group_array(of->instruction));
  else of->region = region_copy(s->arena, &in);
  is_known[number] = true;
  return REGION_FOUND;
}

// For the tile at the place.
static region_answer find_regions(tile_search *s, tile_group *g, region_dim place, region_turns turns) {
  bool *is_known = arena_array(s->arena, bool, g->members.size);
  const bool is_alone = place.step == 0;
  set_place(g, place);
  for (int k = 0; k < g->outputs.size; k++) {
    const tile_output *o = &g->outputs.data[k];
    g->members.data[o->member].region = output_region(s, g, k, place);
    is_known[o->member] = place.base >= 0;
  }
  for (int k = 0; k < g->members.size; k++) {
    tile_member *m = &g->members.data[k];
    if (is_alone && m->carry_dim >= 0) {
      tile_carry_place(s->arena, m, place.base / g->tile);
    } else {
      if (is_known[k] && !m->is_copied) region_align(s->maps, m->instruction, turns, &m->region);
      tile_carry_split(s->arena, m, !is_alone && may_carry(g, m));
      m->is_idle = !is_known[k];
    }
    for (int o = 0; o < m->instruction->operand_count && !m->is_idle && !m->is_copied; o++) {
      const region_answer answer = add_operand(s, g, &place, turns, k, o, is_known);
      if (answer != REGION_FOUND) return answer;
    }
  }
  return REGION_FOUND;
}

region_answer tile_group_regions(tile_search *s, tile_group *g) { return find_regions(s, g, full_place(g), g->inside); }

region_answer tile_group_regions_of_turn(tile_search *s, tile_group *g, int64_t turn) {
  const region_dim place = {g->tile * turn, 0, turn < g->turns ? g->tile : g->remainder};
  return find_regions(s, g, place, (region_turns){0, 0});
}

// Turns beside the loop, where windows hang out, have regions of their own.
static bool has_border_tiles(tile_search *s, tile_group *g) {
  for (int64_t turn = g->first_turn; turn < g->turns + (g->remainder > 0); turn++) {
    if (turn == g->inside.first) turn = g->inside.last;
    else if (tile_group_regions_of_turn(s, g, turn) != REGION_FOUND) return false;
  }
  return true;
}

// The first turn from `from` on, in steps of `step`, whose windows lie within their arrays; -1: none near.
static int64_t first_inside(growth *g, int64_t from, int step, region_answer *answer) {
  tile_group *t = g->group;
  for (int k = 0; k <= MOST_BORDERS; k++) {
    const int64_t turn = from + k * step;
    if (turn < 0 || turn >= t->turns) return -1;
    t->inside = (region_turns){turn, turn};
    *answer = grow(g);
    if (*answer != REGION_BORDER) return turn;
  }
  return -1;
}

static bool has_sum(const tile_group *g) {
  for (int k = 0; k < g->outputs.size; k++)
    if (g->outputs.data[k].is_sum) return true;
  return false;
}

static void set_outputs(tile_search *s, tile_group *g) {
  vec_push(s->arena, &g->outputs, ((tile_output){.instruction = g->bottom, .dim = g->dim}));
  for (int k = 0; k < s->further.size; k++) vec_push(s->arena, &g->outputs, s->further.data[k]);
  for (int k = 0; k < g->outputs.size; k++) {
    tile_output *o = &g->outputs.data[k];
    o->is_sum = o->dim >= tile_group_array(o->instruction)->rank;
  }
  g->is_sum = g->outputs.data[0].is_sum;
}

static bool grow_tiles(tile_search *s, instruction *bottom, int dim, int64_t tile, int most_stored, tile_group *out) {
  s->maps->tile = tile;
  s->maps->multiple = 1;
  const int64_t size = tile_group_dim_size(bottom, dim);
  *out = (tile_group){.bottom = bottom,
                      .dim = dim,
                      .tile = tile,
                      .turns = size / tile,
                      .remainder = size % tile,
                      .may_carry = s->may_carry};
  set_outputs(s, out);
  growth g = {.search = s, .group = out, .most_stored = most_stored};
  // The first turn of a sum begins with the operation's own initial value.
  out->inside = (region_turns){has_sum(out), out->turns - 1};
  if (out->inside.last < out->inside.first) return false;
  region_answer answer = grow(&g);
  if (answer == REGION_BORDER) {
    const int64_t first = first_inside(&g, 0, 1, &answer);
    if (first < 0 || answer != REGION_FOUND) return false;
    const int64_t last = first_inside(&g, out->turns - 1, -1, &answer);
    if (last < first || answer != REGION_FOUND) return false;
    out->inside = (region_turns){first, last};
    answer = grow(&g);
  }
  if (answer != REGION_FOUND || (has_sum(out) && out->inside.first == 0)) return false;
  out->first_turn = tile_carry_first_turn(out);
  if (out->first_turn < -MOST_AHEAD || !has_border_tiles(s, out)) return false;
  return tile_group_regions(s, out) == REGION_FOUND;
}

// Where an operation does not allow tiles of that size, it stays outside, or there is no group.
bool tile_group_grow(tile_search *s, instruction *bottom, int dim, int64_t tile, int most_stored, tile_group *out) {
  bool found = grow_tiles(s, bottom, dim, tile, most_stored, out);
  for (int64_t smaller; (smaller = tile - tile % s->maps->multiple) > 0 && smaller < tile; tile = smaller) {
    tile_group g;
    if (!grow_tiles(s, bottom, dim, smaller, most_stored, &g)) continue;
    *out = g;
    found = true;
  }
  return found;
}

tile_group tile_group_copy(arena *a, const tile_group *g) {
  tile_group copy = *g;
  copy.outputs = (tile_output_list){0};
  copy.externals = (instruction_list){0};
  for (int k = 0; k < g->outputs.size; k++) vec_push(a, &copy.outputs, g->outputs.data[k]);
  for (int k = 0; k < g->externals.size; k++) vec_push(a, &copy.externals, g->externals.data[k]);
  copy.members.data = arena_array(a, tile_member, g->members.size);
  copy.members.capacity = g->members.size;
  for (int k = 0; k < g->members.size; k++) {
    tile_member m = g->members.data[k];
    m.region = region_copy(a, &m.region);
    m.computed = region_copy(a, &m.computed);
    m.operands = arena_array(a, int, m.instruction->operand_count);
    for (int o = 0; o < m.instruction->operand_count; o++) m.operands[o] = g->members.data[k].operands[o];
    copy.members.data[k] = m;
  }
  return copy;
}
