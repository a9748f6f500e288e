// The search over dims, producers and sizes. Each probe grows a group and estimates it.
#include "supertile/tile_choice.h"

#include "base/int64.h"
#include "supertile/tile_carry.h"
#include "supertile/tile_estimate.h"
#include "supertile/tile_in_place.h"
#include "supertile/tile_outputs.h"
#include "supertile/tile_sum.h"

enum { MOST_STORED = 1 << 20 };

// Regions that may be asked for to choose one tiling.
enum { MOST_ASKED_FOR_ONE = 600000 };

// A result that takes less than this part of the limit may as well be there as a whole.
enum { SMALL_PART = 32 };

// Work that may be repeated before fewer producers are tried.
static const double GENTLE_REPETITION = 1.2;

static bool is_tiled(const instruction *i) {
  const bool is_name = i->opcode == HLO_CONSTANT || i->opcode == HLO_GET_TUPLE_ELEMENT;
  return !is_name && region_has_tiles(i);
}

instruction *tile_choice_bottom(instruction *i) {
  instruction *update = NULL;
  for (; i && i->opcode == HLO_DYNAMIC_UPDATE_SLICE; i = i->operands[1]) update = i;
  while (i && i->opcode == HLO_GET_TUPLE_ELEMENT && region_has_tiles(i->operands[0])) i = i->operands[0];
  if (i && is_tiled(i)) return i;
  return update;  // what it writes lies where it is
}

static bool fits(const tile_budget *b, const tile_group *g) {
  return g->needed_bytes <= b->needed && g->touched_bytes <= b->touched;
}

bool tile_choice_is_member(const tile_group *g, const instruction *i) {
  for (int k = 0; k < g->members.size; k++)
    if (g->members.data[k].instruction == i && !g->members.data[k].is_copied) return true;
  return false;
}

typedef struct probe {
  tile_search *search;
  instruction *bottom;
  const tile_budget *budget;
  int dim, most_stored;
} probe;

// Most of what growing a group takes is needed no more once it is grown.
static bool grow_apart(const probe *p, int64_t tile, tile_group *g) {
  tile_search *s = p->search;
  arena *lasting = s->arena, *scratch = arena_create();
  s->arena = s->maps->scratch = scratch;
  bool grown = tile_in_place_grow(s, p->bottom, p->dim, tile, p->most_stored, g);
  grown = grown && (!s->with || tile_choice_is_member(g, s->with));
  if (grown) tile_estimate_group(s, g, p->budget->across);
  s->arena = lasting;
  s->maps->scratch = NULL;
  if (grown) *g = tile_group_copy(lasting, g);
  arena_destroy(scratch);
  return grown;
}

// What a turn of a loop in the loop takes at the least if it has the same bottom, with what lives beside it: the tile
// of the outer loop, whole, included. INT64_MAX: there is no such loop.
static int64_t nested_bytes(const probe *p, const tile_group *outer) {
  tile_search *s = p->search;
  arena *lasting = s->arena;
  int64_t least = INT64_MAX;
  const tile_member *bottom = &outer->members.data[outer->outputs.data[0].member];
  const int64_t beside = outer->needed_bytes - outer->operation_bytes + tile_estimate_bytes(bottom) + TILE_LOOP_BYTES;
  for (int d = 0; d < tile_group_dims(p->bottom, s->exact) && s->maps->asked < s->most_asked; d++) {
    if (d == p->dim || tile_group_dim_size(p->bottom, d) < 2) continue;
    arena *scratch = arena_create();
    tile_group g;
    s->arena = s->maps->scratch = scratch;
    s->inner = (tile_inner_cut){d, 1};
    if (tile_group_grow(s, p->bottom, p->dim, outer->tile, p->most_stored, &g) && g.tile == outer->tile) {
      tile_estimate_group(s, &g, 0);
      least = int64_min(least, beside + g.operation_bytes);
    }
    s->inner = (tile_inner_cut){0};
    s->arena = lasting;
    s->maps->scratch = NULL;
    arena_destroy(scratch);
  }
  return least;
}

static void bound(tile_search *s) { s->most_asked = int64_min(s->maps->asked + MOST_ASKED_FOR_ONE, s->most_in_all); }

static bool try_tile(const probe *p, int64_t tile, tile_group *g) {
  const bool may_ask = p->search->maps->asked < p->search->most_asked;
  if (!may_ask) p->search->is_cut_short = true;
  if (may_ask && grow_apart(p, tile, g)) return fits(p->budget, g);
  *g = (tile_group){0};
  return false;
}

// Tiles that divide the dim leave no short one over, whose code is made once more; if that costs few turns.
static void take_even(const probe *p, int64_t size, int64_t fitting, tile_group *best) {
  const int64_t turns = (size + fitting - 1) / fitting;
  tile_group g;
  for (int64_t n = turns; n <= turns + turns / 4 + 1 && n <= size; n++) {
    const int64_t tile = size % n == 0 ? size / n : 0;
    if (tile == 0 || !try_tile(p, tile, &g)) continue;
    *best = g;
    return;
  }
  const int64_t even = (size + turns - 1) / turns;
  if (even < fitting && try_tile(p, even, &g)) *best = g;
}

// Halves the tile until it fits, then grows it again. Where none fits *best is the smallest. That is looked at first:
// most searches end there.
static bool largest_tile(const probe *p, tile_group *best) {
  const int64_t size = tile_group_dim_size(p->bottom, p->dim);
  int64_t fitting = 0, failing = size;
  tile_group g = {0};
  if (!try_tile(p, 1, &g) && g.members.size > 0) {
    *best = g;
    return false;
  }
  for (int64_t turns = 2; turns < 2 * size; turns *= 2) {
    const int64_t tile = (size + turns - 1) / turns;
    if (try_tile(p, tile, &g)) {
      fitting = tile;
      *best = g;
      break;
    }
    failing = tile;
    *best = g;
    if (tile == 1) break;
  }
  while (fitting > 0 && failing - fitting > 1 && failing - fitting > fitting / 8) {
    const int64_t tile = fitting + (failing - fitting) / 2;
    if (try_tile(p, tile, &g)) {
      fitting = tile;
      *best = g;
    } else {
      failing = tile;
    }
  }
  if (fitting > 0) take_even(p, size, fitting, best);
  return fitting > 0;
}

// What a turn costs beside its work, and how much dearer short runs of memory are.
static double cost_of(const tile_group *g) {
  const shape *s = tile_group_array(g->bottom);
  double cost = g->repeated + 0.002 * (double)g->turns;
  if (g->dim == s->rank - 1 && s->rank > 1) cost *= g->tile < 16 ? 2 : g->tile < 64 ? 1.2 : 1.05;
  return cost;
}

// Whether the group, or one that was grown since that was asked last, would be another one if no rows were kept.
static bool carries(tile_search *s, const tile_group *g) {
  bool any = s->has_joined;
  for (int k = 0; k < g->members.size; k++) any = any || g->members.data[k].carry_dim >= 0;
  s->has_joined = false;
  return any;
}

static bool choose_producers(const probe *p, tile_group *best, bool *carried) {
  probe q = *p;
  tile_group g = {0};
  bool any = false;
  q.most_stored = MOST_STORED;
  *carried = false;
  for (;;) {
    const bool fit = largest_tile(&q, &g);
    *carried |= carries(p->search, &g);
    if (fit && (!any || cost_of(&g) < cost_of(best))) {
      *best = g;
      any = true;
    }
    if (any && cost_of(best) <= GENTLE_REPETITION) break;
    const int joined = g.stored_count < q.most_stored ? g.stored_count : q.most_stored;
    if (joined == 0) break;
    q.most_stored = joined > 8 ? joined / 2 : joined - 1;
  }
  return any;
}

// Rows are kept from turn to turn where that fits and does less.
static bool choose_dim(const probe *p, tile_group *best) {
  tile_search *s = p->search;
  bool carried;
  tile_group g;
  s->may_carry = true;
  const bool any = choose_producers(p, best, &carried);
  s->may_carry = false;
  if (!carried || (any && cost_of(best) <= GENTLE_REPETITION)) return any;
  if (!choose_producers(p, &g, &carried)) return any;
  if (!any || cost_of(&g) < cost_of(best)) *best = g;
  return true;
}

// The largest tile along the probe's dim with which a loop in the loop fits that cuts the same bottom along another
// dim.
static bool choose_nested_size(const probe *p, tile_group *out) {
  const int64_t size = tile_group_dim_size(p->bottom, p->dim);
  for (int64_t tile = (size + 1) / 2; tile > 0 && size > 1; tile /= 2) {
    tile_group g;
    try_tile(p, tile, &g);
    if (g.members.size == 0 || nested_bytes(p, &g) > p->budget->needed) continue;
    *out = g;
    return true;
  }
  return false;
}

// Of two loops, one in the other, the outer one, where they fit together.
static bool choose_nested(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out) {
  bool any = false;
  probe p = {.search = s, .bottom = bottom, .budget = budget, .most_stored = MOST_STORED};
  for (int manner = 0; manner < 2 && !any; manner++) {
    s->may_carry = manner == 0;
    for (p.dim = 0; p.dim < tile_group_dims(bottom, s->exact); p.dim++) {
      tile_group g;
      if (!choose_nested_size(&p, &g) || (any && cost_of(&g) >= cost_of(out) - 0.01)) continue;
      *out = g;
      any = true;
    }
  }
  s->may_carry = false;
  return any;
}

// The size of tile along the probe's dim that leaves least to a loop in the loop, or the largest that leaves room for
// it.
static void choose_outer_size(const probe *p, int64_t *least, tile_group *out) {
  const int64_t size = tile_group_array(p->bottom)->dims[p->dim];
  for (int64_t tile = (size + 1) / 2; tile > 0 && size > 1; tile /= 2) {
    tile_group g;
    try_tile(p, tile, &g);
    if (g.members.size == 0 || g.least_bytes >= *least) continue;
    *least = g.least_bytes;
    *out = g;
    if (*least <= p->budget->needed / 2) return;
  }
}

// Where no tile along one dim fits, the loop's body is tiled again along another one. The dim is the one that leaves
// least to that, and tiles are as large as leaves room for it; rows are kept if that leaves room, too.
static bool choose_outer(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out) {
  int64_t least = INT64_MAX;
  probe p = {.search = s, .bottom = bottom, .budget = budget, .most_stored = MOST_STORED};
  for (int manner = 0; manner < 2 && (manner == 0 || least > budget->needed); manner++) {
    s->may_carry = manner == 0;
    for (p.dim = 0; p.dim < tile_group_array(bottom)->rank; p.dim++) choose_outer_size(&p, &least, out);
  }
  s->may_carry = false;
  return least < INT64_MAX && least <= budget->needed;
}

static bool choose_fitting(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out) {
  const int rank = tile_group_array(bottom)->rank, dims = tile_group_dims(bottom, s->exact);
  bool any = false;
  for (int d = 0; d < dims && (d < rank || !any); d++) {
    const probe p = {.search = s, .bottom = bottom, .budget = budget, .dim = d};
    tile_group g;
    if (tile_group_dim_size(bottom, d) < 2 || !choose_dim(&p, &g)) continue;
    if (any && cost_of(&g) >= cost_of(out) - 0.01) continue;
    *out = g;
    any = true;
  }
  return any;
}

// What would be computed twice may be left behind by the loop, or used up in it.
static void leave_more(tile_search *s, const tile_budget *budget, tile_group *best) {
  tile_group g = *best;
  s->may_carry = best->may_carry;
  const bool more = tile_outputs_are_missing(best) && tile_outputs_add(s, &g, budget->across);
  s->may_carry = false;
  if (!more) return;
  const probe p = {.search = s, .bottom = g.bottom, .budget = budget, .dim = g.dim, .most_stored = MOST_STORED};
  s->may_carry = best->may_carry;
  if (largest_tile(&p, &g) && cost_of(&g) < cost_of(best)) *best = g;
  s->further = (tile_output_list){0};
  s->may_carry = false;
}

typedef bool chooser(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out);

// What is needed outside, too, stays there if that fits; else the loop leaves it behind, or it is computed again.
// Whether it may be is left to be seen by whoever adds to the group.
static bool choose_with_repeats(chooser *choose, tile_search *s, instruction *bottom, const tile_budget *budget,
                                tile_group *out) {
  bool found = false;
  s->small_bytes = budget->needed / SMALL_PART;
  for (int repeats = 0; repeats < 2 && !found; repeats++) {
    s->may_repeat = repeats;
    found = choose(s, bottom, budget, out);
  }
  return found;
}

bool tile_choice_find(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out) {
  bound(s);
  bool found = choose_with_repeats(choose_fitting, s, bottom, budget, out);
  if (found) leave_more(s, budget, out);
  if (found) out->fits = true;
  else found = choose_with_repeats(choose_outer, s, bottom, budget, out);
  s->may_repeat = false;
  return found;
}

bool tile_choice_find_nested(tile_search *s, instruction *bottom, const tile_budget *budget, tile_group *out) {
  bound(s);
  const bool found = choose_with_repeats(choose_nested, s, bottom, budget, out);
  s->may_repeat = false;
  return found;
}

// Bytes that are needed somewhere when the group is a loop; half of what there is, is as good as none.
static int64_t most_left(const tile_choice_rest *rest, const tile_budget *budget, const tile_group *g) {
  int64_t most = g->fits ? budget->needed / 2 : g->least_bytes;
  if (most < budget->needed / 2) most = budget->needed / 2;
  const int64_t others = rest->bytes(rest->argument, g);
  return others > most ? others : most;
}

// What the group itself takes too much of, whatever is left elsewhere.
static int64_t excess_of(const tile_group *g, const tile_budget *budget) {
  return g->fits ? 0 : int64_max(0, g->least_bytes - budget->needed);
}

static bool is_better(const tile_group *g, int64_t left, const tile_group *than, int64_t than_left,
                      const tile_budget *budget) {
  if (left != than_left) return left < than_left;
  if (excess_of(g, budget) != excess_of(than, budget)) return excess_of(g, budget) < excess_of(than, budget);
  if (g->fits != than->fits) return g->fits;
  return cost_of(g) < cost_of(than) - 0.01;
}

typedef struct deep_search {
  const tile_choice_rest *rest;
  tile_group *best;
  int64_t *least;
  bool found;
  bool carried, repeated;  // some group that was tried keeps rows, computes again what is needed outside
} deep_search;

static bool repeats(const tile_group *g) {
  for (int k = 0; k < g->members.size; k++)
    if (g->members.data[k].is_repeated) return true;
  return false;
}

// The sizes of one dim, from the largest on, until what is left is as good as nothing.
static void choose_deep_size(const probe *p, deep_search *d) {
  const int64_t size = tile_group_dim_size(p->bottom, p->dim);
  for (int64_t tile = (size + 1) / 2; tile > 0 && size > 1; tile /= 2) {
    tile_group g = {0};
    const bool fit = try_tile(p, tile, &g);
    g.fits = fit;
    d->carried |= carries(p->search, &g);
    d->repeated = d->repeated || repeats(&g);
    if (g.members.size == 0 || !tile_choice_is_member(&g, d->rest->step)) continue;
    const int64_t left = most_left(d->rest, p->budget, &g);
    if (*d->least == INT64_MAX || is_better(&g, left, d->best, *d->least, p->budget)) {
      *d->least = left;
      *d->best = g;
      d->found = true;
    }
    if (fit) break;
  }
}

bool tile_choice_find_deep(tile_search *s, instruction *bottom, const tile_choice_rest *rest, const tile_budget *budget,
                           tile_group *best, int64_t *least) {
  deep_search d = {.rest = rest, .best = best, .least = least};
  bound(s);
  s->small_bytes = budget->needed / SMALL_PART;
  for (int manner = 4; manner-- > 0;) {
    probe p = {.search = s, .bottom = bottom, .budget = budget, .most_stored = MOST_STORED};
    s->may_repeat = manner / 2;
    s->may_carry = manner % 2;
    // Where nothing is repeated or kept that is the same search once more.
    if ((!s->may_repeat && !d.repeated) || (!s->may_carry && !d.carried)) continue;
    for (p.dim = 0; p.dim < tile_group_dims(bottom, s->exact); p.dim++)
      if (s->dim == 0 || s->dim == p.dim + 1) choose_deep_size(&p, &d);
  }
  s->may_repeat = s->may_carry = false;
  return d.found;
}

// Halves the tile of a group that has further outputs, s->further, until it fits. False: the smallest does not.
static bool shrink(tile_search *s, const tile_budget *budget, tile_group *g) {
  const probe p = {.search = s, .bottom = g->bottom, .budget = budget, .dim = g->dim, .most_stored = MOST_STORED};
  while (!fits(budget, g) && g->tile > 1) {
    tile_group smaller;
    try_tile(&p, g->tile / 2, &smaller);
    if (smaller.members.size == 0 || smaller.tile >= g->tile || smaller.outputs.size < g->outputs.size) break;
    *g = smaller;
  }
  return fits(budget, g);
}

// What others read of the arrays that the loop writes over is computed in it, first with producers as they are.
static void write_over_more(tile_search *s, const tile_budget *budget, tile_group *best) {
  bool any = false;
  for (int repeats_more = 0; repeats_more < 2 && !any; repeats_more++) {
    tile_group g = *best;
    s->may_repeat = repeats_more || repeats(best);
    any = tile_outputs_add_readers(s, &g, budget->across);
    if (!any) continue;
    g.fits = best->fits && shrink(s, budget, &g);
    any = g.operation_bytes <= budget->needed;
    if (any) *best = g;
  }
}

void tile_choice_leave_more(tile_search *s, const tile_budget *budget, tile_group *best) {
  s->may_carry = best->may_carry;
  write_over_more(s, budget, best);
  tile_group g = *best;
  s->may_repeat = true;
  const bool more = tile_outputs_are_missing(best) && tile_outputs_add(s, &g, budget->across);
  g.fits = best->fits && fits(budget, &g);
  if (more && g.fits == best->fits && excess_of(&g, budget) <= excess_of(best, budget)) *best = g;
  s->further = (tile_output_list){0};
  s->may_carry = s->may_repeat = false;
}

bool tile_choice_find_with(tile_search *s, instruction *bottom, const instruction *with, const tile_budget *budget,
                           tile_group *out) {
  s->may_repeat = true;
  bound(s);
  s->small_bytes = budget->needed / SMALL_PART;
  bool found = choose_fitting(s, bottom, budget, out);
  s->may_repeat = false;
  out->fits = found;
  return found && tile_choice_is_member(out, with);
}

static void print_array(text *out, const tile_output *o) {
  if (o->array) text_printf(out, "; %s " STR_FMT, o->update ? "into" : "in place of", STR_ARG(o->array->name));
}

// How often the loop and what stays outside compute an element of the member, on average.
static double times_computed(const tile_group *g, const tile_member *m) {
  const double all = (double)shape_element_count(tile_group_array(m->instruction));
  const double once = all > 0 ? (double)region_elements(&m->computed) / all : 0;
  return once * tile_group_tiling_factor(g) + m->is_repeated;
}

static void print_producer(text *out, const tile_group *g, const tile_member *m) {
  const double times = times_computed(g, m);
  text_printf(out, "  with " STR_FMT "%s", STR_ARG(m->instruction->name),
              m->is_repeated ? ", which is needed outside as well" : "");
  if (times > 1.0001) text_printf(out, "; computed %.2f times", times);
  if (m->carry_dim >= 0)
    text_printf(out, "; keeps %lld of %lld along dim %d", (long long)tile_carry_rows(m), (long long)m->window.size,
                m->carry_dim);
  text_puts(out, "\n");
}

void tile_choice_print(text *out, const fuse_groups *groups, const tile_group *g) {
  const int rank = tile_group_array(g->bottom)->rank;
  const int64_t turns = g->inside.last - g->inside.first + 1;
  text_printf(out, STR_FMT ": %s %d of %lld in tiles of %lld, %lld turns", STR_ARG(g->bottom->name),
              g->is_sum ? "summed dim" : "dim", g->is_sum ? g->dim - rank : g->dim,
              (long long)tile_group_dim_size(g->bottom, g->dim), (long long)g->tile, (long long)turns);
  const int64_t alone = g->inside.first + (g->turns - 1 - g->inside.last) + (g->remainder > 0);
  if (alone > 0) text_printf(out, " and %lld tiles alone", (long long)alone);
  text_printf(out, "; a turn takes %lld bytes, with what lives %lld", (long long)g->operation_bytes,
              (long long)g->needed_bytes);
  if (g->repeated > 1.0001) text_printf(out, "; %.2f times the work", g->repeated);
  const bool is_float = dtype_is_float(tile_group_array(g->bottom)->dtype);
  print_array(out, &g->outputs.data[0]);
  if (g->is_sum && is_float && tile_sum_combiner(g->bottom) != HLO_OPCODE_COUNT)
    text_puts(out, "; sums in another order");
  text_puts(out, "\n");
  for (int k = 1; k < g->outputs.size; k++) {
    const tile_output *o = &g->outputs.data[k];
    const shape *array = tile_group_array(o->instruction);
    text_printf(out, "  and " STR_FMT ": %s %d", STR_ARG(o->instruction->name), o->is_sum ? "summed dim" : "dim",
                o->is_sum ? o->dim - array->rank : o->dim);
    print_array(out, o);
    text_puts(out, o->is_sum && dtype_is_float(array->dtype) && tile_sum_combiner(o->instruction) != HLO_OPCODE_COUNT
                       ? "; sums in another order\n"
                       : "\n");
  }
  fuse_groups_print(out, groups, g->bottom);
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    if (!m->is_stored || tile_group_output(g, m->instruction)) continue;
    print_producer(out, g, m);
  }
}
