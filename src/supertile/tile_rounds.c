// A round's steps are taken from the last to the first, so that who reads comes before whom it reads. A loop ends at
// the step or behind it; what it takes is estimated while a size of tile is searched.
#include "supertile/tile_rounds.h"

#include "base/call.h"
#include "base/int64.h"
#include "base/log.h"
#include "fuse/tile_loops.h"
#include "lhlo/donation.h"
#include "opt/pass.h"
#include "opt/passes.h"
#include "supertile/tile_choice.h"
#include "supertile/tile_loop.h"

// How far behind a step that does not fit the bottom of its loop is looked for.
enum { MOST_BEHIND = 8, MOST_BEHIND_DEEP = 72 };

// Values that live across a step and are looked at to be computed again.
enum { MOST_KEPT = 8 };

// What the loop of a name took more than was estimated, at its worst step: over all earlier attempts, and in this one;
// and the last estimate, which has what was learned earlier in it.
typedef struct loop_excess {
  int64_t earlier, now, estimated;
} loop_excess;

int64_t tile_rounds_bound(const tile_rounds *t, int64_t all, int64_t each) {
  return int64_max(all, each * t->instructions);
}

bool tile_rounds_give_up(tile_rounds *t, bool is_much) {
  t->is_given_up |= is_much;
  return is_much;
}

static bool step_fits(const tile_rounds *t, const plan_step *s) {
  return s->footprint_bytes <= t->limit[MEMORY_DRAM] && s->touched_bytes <= t->limit[MEMORY_L2];
}

// --- what a loop needs

// Turns beside loops are code of their own, also of loops in them: an attempt that makes so much of it is given up.
enum { MOST_INSTRUCTIONS = 8000, MOST_TIMES_LARGER = 8 };

int64_t tile_rounds_count(const module *m) {
  int64_t count = 0;
  for (int k = 0; k < m->computations.size; k++) count += m->computations.data[k]->instructions.size;
  return count;
}

bool tile_rounds_is_too_large(const tile_rounds *t, const module *m) {
  return tile_rounds_count(m) > int64_max(MOST_INSTRUCTIONS, MOST_TIMES_LARGER * t->instructions);
}

// Bytes of temporaries that live at the step and are not its own.
static int64_t bytes_across(const plan_step *step) {
  int64_t own = 0;
  const lhlo_op *op = step->op;
  for (int k = 0; k < op->operand_count + op->result_count; k++) {
    const lhlo_slice *s = k < op->operand_count ? &op->operands[k] : &op->results[k - op->operand_count];
    if (s->is_temporary) own += kernel_buffer_bytes(s->shape);
  }
  return own < op->live_bytes ? op->live_bytes - own : 0;
}

static int64_t share_of(int64_t limit, double share) {
  return limit == INT64_MAX ? limit : (int64_t)((double)limit * share);
}

// What takes so little of the limit is not what is in the way.
static bool is_small(const tile_rounds *t, const plan_step *step) {
  return step->touched_bytes < t->limit[MEMORY_DRAM] / 64 && step->touched_bytes <= t->limit[MEMORY_L2];
}

static int order_of(const tile_search *s, const instruction *i) { return (int)(intptr_t)ptr_map_get(&s->orders, i); }

static bool may_be_bottom(const tile_search *s, const instruction *i) {
  return order_of(s, i) > 0 && i->opcode != HLO_TUPLE && region_has_tiles(i) && !ptr_map_has(&s->dead, i);
}

// The last stored value that needs `i`: where branches meet that part at it or before it. Null: none in the
// computation.
static instruction *next_stored(const tile_search *s, instruction *i) {
  instruction *last = NULL;
  instruction_list work = {0};
  ptr_map seen = {0};
  vec_push(s->arena, &work, i);
  for (int w = 0; w < work.size; w++) {
    const instruction_list users = work.data[w]->users;
    for (int u = 0; u < users.size; u++) {
      instruction *user = users.data[u];
      if (ptr_map_has(&seen, user) || !may_be_bottom(s, user)) continue;
      ptr_map_put(s->arena, &seen, user, user);
      if (!plan_steps_stored(s->steps, user)) vec_push(s->arena, &work, user);
      else if (!last || order_of(s, user) > order_of(s, last)) last = user;
    }
  }
  return last;
}

typedef struct tile_try {
  instruction *bottom;
  const plan_step *step;
  tile_group group;
} tile_try;

// At the step's own bottom; null: it has none.
static tile_try try_at(const plan_step *step) {
  const bool has_one = step->bottom && step->bottom->parent;
  return (tile_try){.bottom = has_one ? tile_choice_bottom(step->bottom) : NULL, .step = step};
}

static loop_excess *excess_of(tile_rounds *t, str name) {
  loop_excess *known = str_map_get(&t->excess, name);
  if (known) return known;
  known = arena_new(t->arena, loop_excess);
  str_map_put(t->arena, &t->excess, name, known);
  return known;
}

// A loop that was made to fit and does not: when all begins anew its estimate is raised by what it was too low.
static void learn(tile_rounds *t, const plan_step *step) {
  const instruction *i = step->bottom ? step->bottom : step->op->source;
  const str *name = i ? ptr_map_get(&t->done, i) : NULL;
  if (!name && i) name = ptr_map_get(&t->done, i->parent);
  if (!name) return;
  loop_excess *known = excess_of(t, *name);
  const int64_t expected = int64_min(known->estimated, t->limit[MEMORY_DRAM]);
  known->now = int64_max(known->now, step->footprint_bytes - expected);
}

bool tile_rounds_settle(const tile_rounds *t) {
  bool any = false;
  for (int k = 0; k < t->excess.capacity; k++) {
    loop_excess *known = t->excess.slots[k].key.data ? t->excess.slots[k].value : NULL;
    if (!known) continue;
    any |= known->now > 0;
    known->earlier += known->now;
    known->now = 0;
  }
  return any;
}

static tile_budget budget_of(const tile_rounds *t, double share, const instruction *bottom, const plan_step *step) {
  const loop_excess *excess = str_map_get(&t->excess, bottom->name);
  return (tile_budget){.needed = share_of(t->limit[MEMORY_DRAM], share),
                       .touched = share_of(t->limit[MEMORY_L2], share),
                       .across = bytes_across(step) + (excess ? excess->earlier : 0)};
}

// What was found for a bottom since the last loop was made.
typedef struct known_choice {
  bool is_found;
  tile_group group;
} known_choice;

// A loop that ends at the bottom and computes `with`. Where the best one does not another is looked for.
static bool try_bottom(tile_rounds *t, tile_search *s, double share, const instruction *with, tile_try *x) {
  known_choice *known = ptr_map_get(&t->choices, x->bottom);
  const tile_budget budget = budget_of(t, share, x->bottom, x->step);
  if (!known) {
    known = arena_new(s->arena, known_choice);
    known->is_found = tile_choice_find(s, x->bottom, &budget, &known->group);
    ptr_map_put(s->arena, &t->choices, x->bottom, known);
  }
  x->group = known->group;
  if (!known->is_found || tile_choice_is_member(&known->group, with)) return known->is_found;
  s->with = with;
  const bool found = tile_choice_find(s, x->bottom, &budget, &x->group);
  s->with = NULL;
  return found;
}

static bool is_free(const tile_rounds *t, const tile_search *s, const instruction *i) {
  return i && i->parent && !ptr_map_has(&s->dead, i) && ptr_map_has(&s->orders, i) &&
         !ptr_map_has(&t->done, i->parent) && !ptr_map_has(&t->done, i);
}

// The next stored value behind it becomes the bottom. False if there is none, or it is no more to be tiled.
static bool go_behind(const tile_rounds *t, const tile_search *s, tile_try *x) {
  x->bottom = next_stored(s, x->bottom);
  x->step = x->bottom ? plan_steps_of(s->steps, x->bottom) : NULL;
  return x->step && is_free(t, s, x->bottom);
}

// The outer of two loops, one in the other, at the step or behind it.
static bool find_nested(tile_rounds *t, tile_search *s, double share, tile_try *out) {
  tile_try next = *out;
  s->with = out->bottom;
  bool found = false;
  for (int k = 0; k < MOST_BEHIND && !found && (k == 0 || go_behind(t, s, &next)); k++) {
    const tile_budget budget = budget_of(t, share, next.bottom, next.step);
    found = tile_choice_find_nested(s, next.bottom, &budget, &next.group);
  }
  s->with = NULL;
  if (found) *out = next;
  return found;
}

// A step whose operation cannot be made to fit alone may do so as a producer of what needs its result: what lives
// beside it is then part of the loop, too.
static bool find_group(tile_rounds *t, tile_search *s, double share, tile_try *out) {
  const instruction *with = out->bottom;
  bool found = try_bottom(t, s, share, with, out);
  tile_try next = *out;
  for (int k = 0; k < MOST_BEHIND && !(found && out->group.fits); k++) {
    if (!go_behind(t, s, &next)) break;
    if (!try_bottom(t, s, share, with, &next) || (found && !next.group.fits)) continue;
    *out = next;
    found = true;
  }
  return found;
}

// Elements of a tuple whose readers have taken a loop's values are left without any.
static bool is_unread(const tile_search *s, const instruction *user) {
  const bool is_left = user->opcode == HLO_GET_TUPLE_ELEMENT && user->users.size == 0 && user != user->parent->root;
  return is_left || ptr_map_has(&s->dead, user);
}

// --- deep loops

typedef struct remaining {
  const tile_rounds *tiling;
  const tile_search *search;
  bool hard_alone;  // others have near loops of their own
} remaining;

// Of the largest step of the computation that does not fit and that the group does not compute in place of it.
static int64_t bytes_left(const void *argument, const tile_group *g) {
  const remaining *r = argument;
  arena *a = r->search->arena;
  int64_t most = 0;
  ptr_map covered = {0};
  for (int k = 0; k < g->members.size; k++)
    if (!g->members.data[k].is_repeated && !g->members.data[k].is_copied)
      ptr_map_put(a, &covered, g->members.data[k].instruction, a);
  for (int k = 0; k < r->search->steps->steps.size; k++) {
    const plan_step *x = &r->search->steps->steps.data[k];
    if (x->footprint_bytes <= most || step_fits(r->tiling, x) || !x->bottom) continue;
    if (x->bottom->parent != g->bottom->parent || ptr_map_has(&r->search->dead, x->bottom)) continue;
    if (r->hard_alone && !ptr_map_has(&r->tiling->hard, x->bottom)) continue;
    if (!ptr_map_has(&covered, x->bottom)) most = x->footprint_bytes;
  }
  return most;
}

// The loop around the step that leaves least to do, of all that end at it or behind it.
static bool find_deep(tile_rounds *t, tile_search *s, tile_manner how, tile_try *x) {
  const remaining of = {t, s, how.reach == REACH_HARD};
  const tile_choice_rest rest = {x->bottom, bytes_left, &of};
  const int64_t bytes = x->step->footprint_bytes;
  tile_try next = *x;
  bool found = false;
  int64_t least = INT64_MAX;
  tile_group best;
  for (int k = 0; k < MOST_BEHIND_DEEP; k++) {
    if (k > 0) next.bottom = next_stored(s, next.bottom);
    next.step = next.bottom ? plan_steps_of(s->steps, next.bottom) : NULL;
    if (!next.step || !is_free(t, s, next.bottom) || tile_rounds_give_up(t, s->maps->asked >= s->most_in_all)) break;
    const tile_budget budget = budget_of(t, how.share, next.bottom, next.step);
    const stored_value *result = plan_steps_stored(s->steps, next.bottom);
    if (k > 0 && result && result->is_temporary && result->bytes > budget.needed) continue;
    if (!tile_choice_find_deep(s, next.bottom, &rest, &budget, &best, &least)) continue;
    *x = next;
    found = true;
  }
  if (!found) return false;
  const tile_budget budget = budget_of(t, how.share, x->bottom, x->step);
  tile_choice_leave_more(s, &budget, &best);
  x->group = best;
  return best.least_bytes < bytes;
}

// Members that nobody else needs: consumers come before producers.
static void bury(tile_search *s, const tile_group *g) {
  for (int k = 0; k < g->outputs.size; k++)
    if (g->outputs.data[k].update) ptr_map_put(s->arena, &s->dead, g->outputs.data[k].update, s);
  for (int k = 0; k < g->members.size; k++) {
    const instruction *i = g->members.data[k].instruction;
    bool is_dead = i != i->parent->root && i->control_predecessors.size == 0 && !g->members.data[k].is_copied;
    for (int u = 0; u < i->users.size && is_dead; u++) is_dead = is_unread(s, i->users.data[u]);
    if (is_dead) ptr_map_put(s->arena, &s->dead, i, s);
  }
}

static heddle_status make_loop(tile_rounds *t, tile_search *s, tile_try *x) {
  tile_group *group = &x->group;
  computation *body, *c = x->bottom->parent;
  const int before = c->instructions.size;
  const size_t told = t->tiled.size;
  tile_choice_print(&t->tiled, &t->groups, group);
  log_print(2, "%s, the step takes %lld bytes: " STR_FMT, group->fits ? "fits" : "closest",
            (long long)x->step->footprint_bytes, STR_ARG(((str){t->tiled.data + told, t->tiled.size - told})));
  TRY(tile_loop_make(s, group, &body));
  t->choices = (ptr_map){0};
  arena *a = c->module->arena;
  str *name = arena_new(t->arena, str);
  *name = str_copy(t->arena, x->bottom->name);
  excess_of(t, *name)->estimated = group->needed_bytes;
  if (body && group->fits) ptr_map_put(a, &t->done, body, name);
  for (int k = before; group->fits && k < c->instructions.size; k++)
    ptr_map_put(a, &t->done, c->instructions.data[k], name);
  bury(s, group);
  return status_ok();
}

// --- what lives across

// A stored value that lives while the step runs, because something behind it reads it.
typedef struct kept_value {
  instruction *value, *reader;
  int64_t bytes;
} kept_value;

// The stored value behind the step that reads `i` last; null: none.
static instruction *last_reader(const tile_search *s, instruction *i, int step_order) {
  instruction *reader = next_stored(s, i);
  return reader && order_of(s, reader) > step_order ? reader : NULL;
}

// The largest value that lives across the step and was not looked at in this round.
static kept_value largest_kept(const tile_rounds *t, const tile_search *s, const instruction *bottom) {
  const int order = order_of(s, bottom);
  kept_value best = {0};
  for (int k = 0; k < bottom->parent->instructions.size; k++) {
    instruction *i = bottom->parent->instructions.data[k];
    const stored_value *v = plan_steps_stored(s->steps, i);
    const int at = order_of(s, i);
    if (!v || !v->is_temporary || v->bytes <= best.bytes || at == 0 || at >= order || ptr_map_has(&t->kept, i))
      continue;
    instruction *reader = last_reader(s, i, order);
    if (reader && region_has_tiles(i)) best = (kept_value){i, reader, v->bytes};
  }
  return best;
}

// Where a step does not fit because of what lives across it, that is computed again where it is read behind the step,
// in tiles.
static heddle_status compute_again(tile_rounds *t, tile_search *s, const instruction *bottom, double share,
                                   bool *changed) {
  for (int k = 0; k < MOST_KEPT; k++) {
    const kept_value kept = largest_kept(t, s, bottom);
    if (!kept.value) break;
    ptr_map_put(bottom->parent->module->arena, &t->kept, kept.value, t);
    tile_try x = {.bottom = kept.reader, .step = plan_steps_of(s->steps, kept.reader)};
    if (!x.step || !is_free(t, s, kept.reader)) continue;
    const tile_budget budget = budget_of(t, share, x.bottom, x.step);
    if (!tile_choice_find_with(s, x.bottom, kept.value, &budget, &x.group)) continue;
    *changed = true;
    return make_loop(t, s, &x);
  }
  return status_ok();
}

static heddle_status tile_step(tile_rounds *t, tile_search *s, const plan_step *step, tile_manner how, bool *changed) {
  if (step->bottom && step->bottom->opcode == HLO_WHILE && step->bottom->parent && !tile_loops_has(step->bottom)) {
    // A kernel that is a loop holds all that its turns read: it becomes a loop of kernels, which can be tiled.
    tile_loops_mark(step->bottom);
    *changed = true;
    return status_ok();
  }
  tile_try x = try_at(step);
  if (!is_free(t, s, x.bottom)) return status_ok();
  const bool is_deep = how.reach == REACH_DEEP || (how.reach == REACH_HARD && ptr_map_has(&t->hard, step->bottom));
  const tile_try here = x;
  bool is_found = !is_small(t, step) && (is_deep ? find_deep(t, s, how, &x) : find_group(t, s, how.share, &x));
  if (how.is_nested && !is_deep && !is_small(t, step) && !(is_found && x.group.fits)) {
    tile_try nested = here;
    if (find_nested(t, s, how.share, &nested)) {
      is_found = true;
      x = nested;
    }
  }
  if (!is_found) return compute_again(t, s, x.bottom, how.share, changed);
  *changed = true;
  return make_loop(t, s, &x);
}

// Library calls for which only loops stand have no effects, whatever calls have in general.
static bool drop_calls(const tile_search *s, module *m) {
  bool any = false;
  for (int c = 0; c < m->computations.size; c++) {
    instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = all->size; k-- > 0;) {
      instruction *i = all->data[k];
      if (i->opcode != HLO_CUSTOM_CALL || i->users.size > 0 || !ptr_map_has(&s->dead, i)) continue;
      computation_remove(i->parent, i);
      any = true;
    }
  }
  return any;
}

// Parameters that are arrays, and whose memory a result that is an array takes over.
static heddle_status find_donated(tile_search *s, const module *m) {
  int *donated, leaf = 0;
  const instruction *root = m->entry->root;
  const bool is_tuple = shape_is_tuple(root->shape);
  const int count = is_tuple ? root->shape->tuple_size : 1;
  TRY(donation_find(s->arena, m, &donated));
  if (is_tuple && root->opcode != HLO_TUPLE) return status_ok();
  for (int k = 0; k < count; k++)
    if (is_tuple && !shape_is_array(root->shape->elements[k])) return status_ok();
  for (int p = 0; p < m->entry->parameters.size; p++) {
    instruction *parameter = m->entry->parameters.data[p];
    if (!shape_is_array(parameter->shape)) return status_ok();
    for (int k = 0; k < count; k++)
      if (donated[k] == leaf)
        ptr_map_put(s->arena, &s->donated, parameter, is_tuple ? root->operands[k] : (instruction *)root);
    leaf++;
  }
  return status_ok();
}

// Steps that no near loop helps get their loops before the others close the way to them, the largest first.
static heddle_status tile_hard_steps(tile_rounds *t, tile_search *s, tile_manner how, bool *changed) {
  const plan_steps *steps = s->steps;
  VEC(const plan_step *) hard = {0};
  t->hard = (ptr_map){0};
  for (int k = 0; k < steps->steps.size; k++) {
    const plan_step *step = &steps->steps.data[k];
    tile_try x = try_at(step);
    if (step_fits(t, step) || is_small(t, step) || !is_free(t, s, x.bottom)) continue;
    if (tile_rounds_give_up(t, s->maps->asked >= s->most_in_all)) break;
    TRY(call_check());
    if (find_group(t, s, how.share, &x) && x.group.fits) continue;
    ptr_map_put(s->arena, &t->hard, step->bottom, s);
    vec_push(s->arena, &hard, step);
  }
  for (int n = 0; n < hard.size; n++) {
    int worst = n;
    for (int k = n + 1; k < hard.size; k++)
      if (hard.data[k]->footprint_bytes > hard.data[worst]->footprint_bytes) worst = k;
    const plan_step *step = hard.data[worst];
    hard.data[worst] = hard.data[n];
    const bool is_large = step->bottom->parent && tile_rounds_is_too_large(t, step->bottom->parent->module);
    if (tile_rounds_give_up(t, is_large || s->maps->asked >= s->most_in_all)) break;
    TRY(tile_step(t, s, step, how, changed));
  }
  return status_ok();
}

heddle_status tile_rounds_run(tile_rounds *t, arena *scratch, module *m, const lhlo_program *plan, tile_manner how,
                              int round, bool *changed) {
  plan_steps steps;
  t->kept = t->choices = (ptr_map){0};
  plan_steps_find(scratch, m, plan, &steps);
  fuse_groups_mark(scratch, &steps, &t->groups);
  region_maps maps = {.arena = scratch, .asked = t->asked};
  tile_search s = {.arena = scratch,
                   .steps = &steps,
                   .maps = &maps,
                   .exact = t->exact,
                   .slices_inside = how.slices_inside,
                   .takes_all = how.takes_all && round == 0,
                   .in_kernels = how.in_kernels,
                   .dim = round < TILE_FIRST_ROUNDS ? how.dims[round] : 0,
                   .taken = &t->done,
                   .most_in_all = t->most_in_all};
  for (int k = 0; k < m->computations.size; k++) tile_search_number(&s, m->computations.data[k]);
  TRY(find_donated(&s, m));
  if (how.reach == REACH_HARD) TRY(tile_hard_steps(t, &s, how, changed));
  for (int k = steps.steps.size; k-- > 0;) {
    const plan_step *step = &steps.steps.data[k];
    if (step_fits(t, step) || tile_rounds_give_up(t, maps.asked >= t->most_asked || tile_rounds_is_too_large(t, m)))
      continue;
    TRY(call_check());
    learn(t, step);
    TRY(tile_step(t, &s, step, how, changed));
  }
  t->asked = maps.asked;
  t->is_given_up |= s.is_cut_short;
  TRY(pass_apply(&opt_dead_code, m));
  if (drop_calls(&s, m)) TRY(pass_apply(&opt_dead_code, m));
  return opt_sort(scratch, m);
}
