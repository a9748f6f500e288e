// Members are found and their regions made in one walk against the data flow. A group is grown anew for each size of
// tile that is tried: which producers can join depends on it.
#include "supertile/tile_group.h"

// What a loop carries beside arrays: the turn, its condition, in units of an allocation.
enum { LOOP_BYTES = 512 };

enum { MOST_MEMBERS = 2000, MOST_BORDERS = 4 };

void tile_search_number(tile_search *s, const computation *c) {
  instruction_list order = {0};
  heddle_status status = computation_post_order(s->arena, c, &order);
  for (int k = 0; status_is_ok(status) && k < order.size; k++)
    ptr_map_put(s->arena, &s->orders, order.data[k], (void *)(intptr_t)(k + 1));  // NOLINT(performance-no-int-to-ptr)
  heddle_status_free(status);
}

static int order_of(const tile_search *s, const instruction *i) {
  return (int)(intptr_t)ptr_map_get(&s->orders, i) - 1;
}

static const shape *array_of(const instruction *i) {
  return shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
}

static int64_t region_bytes(const instruction *i, const region *r) {
  int64_t bits = 0;
  if (shape_is_tuple(i->shape))
    for (int k = 0; k < i->shape->tuple_size; k++) bits += dtypes[i->shape->elements[k]->dtype].bits;
  else bits = dtypes[i->shape->dtype].bits;
  return (region_elements(r) * bits + 7) / 8;
}

region tile_group_region(arena *a, const tile_group *g) {
  region r = region_whole(a, array_of(g->bottom));
  r.dims[g->dim] = (region_dim){0, g->tile, g->tile};
  return r;
}

// --- who is a member

typedef struct pending {
  instruction *instruction;
  int order;
  region region;
} pending;

typedef struct growth {
  tile_search *search;
  tile_group *group;
  int most_stored;
  VEC(pending) waiting;
  ptr_map members;  // instruction: itself
} growth;

static bool is_needed_outside(const growth *g, const instruction *i) {
  if (i == i->parent->root || i->control_predecessors.size > 0) return true;
  for (int u = 0; u < i->users.size; u++)
    if (!ptr_map_has(&g->members, i->users.data[u])) return true;
  return false;
}

static bool is_stored(const growth *g, const instruction *i) {
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) return false;
  return plan_steps_stored(g->search->steps, i) != NULL;
}

static bool may_join(const growth *g, const pending *p) {
  const instruction *i = p->instruction;
  if (p->order < 0 || !region_has_tiles(i) || !region_moves(&p->region)) return false;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT && !region_has_tiles(i->operands[0])) return false;
  if (!is_stored(g, i)) return true;
  return g->group->stored_count < g->most_stored && !is_needed_outside(g, i);
}

static void ask_for(growth *g, instruction *i, const region *r) {
  arena *a = g->search->arena;
  for (int k = 0; k < g->waiting.size; k++) {
    if (g->waiting.data[k].instruction != i) continue;
    region_add(&g->waiting.data[k].region, r, array_of(i));
    return;
  }
  vec_push(a, &g->waiting, ((pending){i, order_of(g->search, i), region_copy(a, r)}));
}

static region_answer regions_of_operands(growth *g, const instruction *i, const region *r, region_turns turns,
                                         region *operands) {
  for (int k = 0; k < i->operand_count; k++) {
    region_answer answer = region_of_operand(g->search->maps, i, r, turns, k, &operands[k]);
    if (answer != REGION_FOUND) return answer;
  }
  return REGION_FOUND;
}

static bool is_scalar_constant(const instruction *i) { return i->opcode == HLO_CONSTANT && shape_is_scalar(i->shape); }

static region_answer join(growth *g, const pending *p, region_turns turns) {
  instruction *i = p->instruction;
  tile_search *s = g->search;
  region *operands = arena_array(s->arena, region, i->operand_count);
  region_answer answer = regions_of_operands(g, i, &p->region, turns, operands);
  if (answer != REGION_FOUND) return answer;
  const bool stored = is_stored(g, i);
  if (stored && g->group->members.size > 0) g->group->stored_count++;
  vec_push(s->arena, &g->group->members, ((tile_member){i, p->order, stored, p->region}));
  ptr_map_put(s->arena, &g->members, i, i);
  for (int k = 0; k < i->operand_count; k++)
    if (!is_scalar_constant(i->operands[k])) ask_for(g, i->operands[k], &operands[k]);
  return REGION_FOUND;
}

static pending next_waiting(growth *g) {
  int best = 0;
  for (int k = 1; k < g->waiting.size; k++)
    if (g->waiting.data[k].order > g->waiting.data[best].order) best = k;
  pending p = g->waiting.data[best];
  g->waiting.data[best] = vec_pop(&g->waiting);
  return p;
}

static region_answer grow(growth *g, const region *bottom) {
  tile_group *t = g->group;
  arena *a = g->search->arena;
  t->members.size = t->externals.size = t->stored_count = 0;
  g->waiting.size = 0;
  g->members = (ptr_map){0};
  pending p = {t->bottom, order_of(g->search, t->bottom), *bottom};
  region_answer answer = join(g, &p, t->inside);
  while (answer == REGION_FOUND && g->waiting.size > 0) {
    p = next_waiting(g);
    if (may_join(g, &p) && t->members.size < MOST_MEMBERS) {
      answer = join(g, &p, t->inside);
      if (answer != REGION_UNKNOWN) continue;
      answer = REGION_FOUND;
    }
    vec_push(a, &t->externals, ((tile_external){p.instruction, p.region}));
  }
  return answer;
}

// --- regions of given members

static tile_member *member_of(const tile_group *g, const ptr_map *numbers, const instruction *i) {
  const intptr_t number = (intptr_t)ptr_map_get(numbers, i);
  return number ? &g->members.data[number - 1] : NULL;
}

region_answer tile_group_regions(tile_search *s, tile_group *g, const region *bottom, region_turns turns) {
  ptr_map numbers = {0};
  bool *is_known = arena_array(s->arena, bool, g->members.size);
  for (int k = 0; k < g->members.size; k++)
    ptr_map_put(s->arena, &numbers, g->members.data[k].instruction,
                (void *)(intptr_t)(k + 1));  // NOLINT(performance-no-int-to-ptr)
  g->members.data[0].region = region_copy(s->arena, bottom);
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    for (int o = 0; o < m->instruction->operand_count; o++) {
      instruction *x = m->instruction->operands[o];
      tile_member *of = member_of(g, &numbers, x);
      region in;
      region_answer answer = region_of_operand(s->maps, m->instruction, &m->region, turns, o, &in);
      if (answer != REGION_FOUND) return answer;
      if (!of) continue;
      if (is_known[of - g->members.data]) region_add(&of->region, &in, array_of(x));
      else of->region = region_copy(s->arena, &in);
      is_known[of - g->members.data] = true;
    }
  }
  return REGION_FOUND;
}

// Tiles at the borders, whose windows hang out, have regions of their own.
static bool has_border_tiles(tile_search *s, tile_group *g) {
  for (int64_t turn = 0; turn <= g->turns; turn++) {
    if (turn == g->inside.first) turn = g->inside.last + 1;
    const int64_t size = turn < g->turns ? g->tile : g->remainder;
    if (turn > g->turns || size == 0) break;
    region r = tile_group_region(s->arena, g);
    r.dims[g->dim] = (region_dim){g->tile * turn, 0, size};
    if (tile_group_regions(s, g, &r, (region_turns){0, 0}) != REGION_FOUND) return false;
  }
  return true;
}

bool tile_group_grow(tile_search *s, instruction *bottom, int dim, int64_t tile, int most_stored, tile_group *out) {
  const int64_t size = array_of(bottom)->dims[dim];
  *out = (tile_group){.bottom = bottom, .dim = dim, .tile = tile, .turns = size / tile, .remainder = size % tile};
  growth g = {.search = s, .group = out, .most_stored = most_stored};
  const region r = tile_group_region(s->arena, out);
  for (int low = 0; low <= MOST_BORDERS; low++) {
    for (int high = 0; high <= low && low + high < out->turns; high++) {
      const int borders[2] = {low, high};
      for (int way = 0; way < (low == high ? 1 : 2); way++) {
        out->inside = (region_turns){borders[way], out->turns - 1 - borders[1 - way]};
        const region_answer answer = grow(&g, &r);
        if (answer == REGION_UNKNOWN) return false;
        if (answer != REGION_FOUND) continue;
        if (!has_border_tiles(s, out)) return false;
        return tile_group_regions(s, out, &r, out->inside) == REGION_FOUND;
      }
    }
  }
  return false;
}

// --- estimates

// Operations of one element, roughly.
static double element_work(const instruction *i) {
  if (i->opcode == HLO_DOT) {
    const int_list k = i->attributes->lhs_contracting_dims;
    double depth = 1;
    for (int d = 0; d < k.size; d++) depth *= (double)i->operands[0]->shape->dims[k.data[d]];
    return depth;
  }
  if (i->opcode == HLO_CONVOLUTION) {
    const shape *kernel = i->operands[1]->shape;
    return (double)shape_element_count(kernel) / (double)kernel->dims[i->attributes->dim_labels.kernel_output_feature];
  }
  if (i->opcode == HLO_REDUCE && shape_element_count(array_of(i)) > 0)
    return (double)shape_element_count(i->operands[0]->shape) / (double)shape_element_count(array_of(i));
  return 1;
}

// A library takes whole arrays: what it reads of one is copied for it.
static bool is_library(const instruction *i) { return i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION; }

typedef struct estimate {
  tile_search *search;
  tile_group *group;
  ptr_map numbers;             // member: its number, plus one
  int *reader;                 // by member: the earliest in the list, so the last that runs, of the steps that read it
  int64_t *resident, *copied;  // by member that is a step
} estimate;

static bool is_step(const tile_group *g, int member) { return member == 0 || g->members.data[member].is_stored; }

// The step that computes the member.
static int step_of(const estimate *e, int member) { return is_step(e->group, member) ? member : e->reader[member]; }

static void find_readers(estimate *e) {
  tile_group *g = e->group;
  for (int k = 0; k < g->members.size; k++) e->reader[k] = g->members.size;
  for (int k = 0; k < g->members.size; k++) {
    const instruction *i = g->members.data[k].instruction;
    for (int o = 0; o < i->operand_count; o++) {
      const intptr_t of = (intptr_t)ptr_map_get(&e->numbers, i->operands[o]);
      if (of && step_of(e, k) < e->reader[of - 1]) e->reader[of - 1] = step_of(e, k);
    }
  }
}

static void add_externals(estimate *e) {
  tile_group *g = e->group;
  for (int k = 0; k < g->members.size; k++) {
    const instruction *i = g->members.data[k].instruction;
    for (int o = 0; o < i->operand_count; o++) {
      const instruction *x = i->operands[o];
      region in;
      if (ptr_map_has(&e->numbers, x) || is_scalar_constant(x)) continue;
      if (region_of_operand(e->search->maps, i, &g->members.data[k].region, g->inside, o, &in) != REGION_FOUND)
        continue;
      const bool is_temporary = plan_steps_is_temporary(e->search->steps, x);
      const int64_t all = region_bytes(x, &in);
      const int64_t bytes = i->opcode == HLO_GATHER && o == 0 ? region_bytes(i, &g->members.data[k].region) : all;
      const int step = step_of(e, k);
      if (is_library(i) && !region_is_whole(&in, array_of(x))) e->copied[step] += bytes;
      if (!is_temporary) e->resident[step] += bytes;
    }
  }
}

static int64_t whole_bytes(const instruction *i) {
  int64_t bytes = 0;
  if (shape_is_array(i->shape)) return kernel_buffer_bytes(i->shape);
  for (int k = 0; k < i->shape->tuple_size; k++) bytes += kernel_buffer_bytes(i->shape->elements[k]);
  return bytes;
}

// Most of all steps: tiles that live, and what is read and written of other arrays.
static void walk_steps(estimate *e) {
  tile_group *g = e->group;
  const bool is_temporary = plan_steps_is_temporary(e->search->steps, g->bottom);
  const int64_t out = region_bytes(g->bottom, &g->members.data[0].region);
  g->operation_bytes = g->touched_bytes = 0;
  for (int k = g->members.size; k-- > 0;) {
    if (!is_step(g, k)) continue;
    int64_t live = e->copied[k], touched = e->copied[k] + e->resident[k];
    for (int m = k + (k > 0 ? 0 : 1); m < g->members.size; m++) {
      if (!is_step(g, m) || (m != k && e->reader[m] > k)) continue;
      const int64_t bytes = region_bytes(g->members.data[m].instruction, &g->members.data[m].region);
      live += bytes;
      if (m == k || e->reader[m] == k) touched += bytes;
    }
    if (k == 0) {
      // The tile of a library's result is written beside the result itself.
      live += is_library(g->bottom) ? out : 0;
      if (!is_temporary) live += out;
      touched += out;
    }
    if (live + e->resident[k] > g->operation_bytes) g->operation_bytes = live + e->resident[k];
    if (touched > g->touched_bytes) g->touched_bytes = touched;
  }
}

static void count_work(tile_group *g) {
  double whole = 0, tiled = 0;
  const double turns = (double)array_of(g->bottom)->dims[g->dim] / (double)g->tile;
  for (int k = 0; k < g->members.size; k++) {
    const instruction *i = g->members.data[k].instruction;
    const double work = element_work(i);
    whole += work * (double)shape_element_count(array_of(i));
    tiled += work * (double)region_elements(&g->members.data[k].region) * turns;
  }
  g->repeated = whole > 0 && tiled > whole ? tiled / whole : 1;
}

void tile_group_estimate(tile_search *s, tile_group *g, int64_t across) {
  const int count = g->members.size;
  estimate e = {.search = s,
                .group = g,
                .reader = arena_array(s->arena, int, count),
                .resident = arena_array(s->arena, int64_t, count + 1),
                .copied = arena_array(s->arena, int64_t, count + 1)};
  for (int k = 0; k < count; k++)
    ptr_map_put(s->arena, &e.numbers, g->members.data[k].instruction,
                (void *)(intptr_t)(k + 1));  // NOLINT(performance-no-int-to-ptr)
  find_readers(&e);
  add_externals(&e);
  walk_steps(&e);
  count_work(g);
  g->needed_bytes = across + g->operation_bytes + LOOP_BYTES;
  for (int k = 0; k < g->externals.size; k++) {
    const instruction *x = g->externals.data[k].instruction;
    if (plan_steps_is_temporary(s->steps, x)) g->needed_bytes += whole_bytes(x);
  }
  if (plan_steps_is_temporary(s->steps, g->bottom)) g->needed_bytes += whole_bytes(g->bottom);
}
