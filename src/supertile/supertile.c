// Rounds: plan, find the steps that do not fit, tile each with its producers, from the last to the first; then plan
// again. What a loop takes is estimated while a size of tile is searched. If the plan takes more than the estimates
// said, all begins anew with estimates held to less; if nothing fits, the error tells of the round that came closest.
#include "supertile/supertile.h"

#include "base/int64.h"
#include "base/log.h"
#include "fuse/tile_loops.h"
#include "lhlo/donation.h"
#include "opt/pass.h"
#include "opt/passes.h"
#include "supertile/plan_cost.h"
#include "supertile/pushed_slices.h"
#include "supertile/refusal.h"
#include "supertile/tile_choice.h"
#include "supertile/tile_loop.h"

// Rounds of an attempt, and how far behind a step that does not fit the bottom of its loop is looked for.
enum { MOST_ROUNDS = 12, MOST_BEHIND = 8, MOST_BEHIND_DEEP = 72 };

// Values that live across a step and are looked at to be computed again.
enum { MOST_KEPT = 8 };

// What a search may do before it is given up, so that a refusal takes seconds and little memory: in all, or for each
// instruction of the program if that is more. Steps of an attempt are tiled until it has asked for ASKED_BY_ONE
// regions; those at work then go on up to ASKED_AT_ONCE. To find out what is needed at the least limits are tried until
// the last two are reached.
enum { ASKED_BY_ONE = 1000000, ASKED = 3000000, ASKED_AT_ONCE = 4000000, ASKED_EACH = 200 };
enum { PLANNED = 100000, PLANNED_EACH = 5, ASKED_TO_LEARN = 1000000, PLANNED_TO_LEARN = 50000 };

// What an attempt does with a step that does not fit. Near: the loop ends at the step, or as little behind it as helps,
// and fits. Deep: it ends where it leaves least to do and takes in all that it can; its body is tiled in turn. Hard:
// deep for those steps that do not fit in a near loop, which come first; the others' loops are near.
typedef enum tile_reach { REACH_NEAR, REACH_DEEP, REACH_HARD, REACHES } tile_reach;

static const char *const reach_names[] = {"near", "deep", "hard"};

typedef struct tile_manner {
  double share;  // of the limit, that estimates are held to
  tile_reach reach;
  bool is_nested;  // where no loop fits, one in whose turns another loop does
} tile_manner;

// In the order in which they are tried; those with more than all come last, for estimates that are too high.
static const tile_manner attempts[] = {
    {1.0, REACH_NEAR, false},  {1.0, REACH_NEAR, false},  {1.0, REACH_NEAR, false},  {1.0, REACH_HARD, false},
    {1.0, REACH_DEEP, false},  {1.0, REACH_NEAR, true},   {1.0, REACH_NEAR, false},  {1.0, REACH_NEAR, true},
    {0.85, REACH_HARD, false}, {0.85, REACH_DEEP, false}, {0.85, REACH_NEAR, false}, {1.0, REACH_HARD, true},
    {0.85, REACH_NEAR, true},  {0.7, REACH_NEAR, false},  {0.7, REACH_NEAR, true},   {0.7, REACH_DEEP, false},
    {0.5, REACH_NEAR, false},  {0.35, REACH_NEAR, false}, {0.35, REACH_DEEP, false}, {0.2, REACH_NEAR, false},
    {0.1, REACH_NEAR, false},  {1.15, REACH_NEAR, false}, {1.15, REACH_NEAR, true},  {1.5, REACH_NEAR, false}};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

// What the loop of a name took more than was estimated, at its worst step: over all earlier attempts, and in this one;
// and the last estimate, which has what was learned earlier in it.
typedef struct loop_excess {
  int64_t earlier, now, estimated;
} loop_excess;

typedef struct supertiling {
  const supertile_options *options;
  supertile_peaks peaks;
  arena *arena;          // of what attempts learn
  ptr_map done;          // bodies of loops, and tiles beside them, that were made to fit: the name of what is tiled
  str_map excess;        // by such a name: loop_excess *
  ptr_map choices;       // by bottom: a known_choice, of this round
  ptr_map hard;          // bottoms of this round's steps that no near loop helps; with REACH_HARD
  ptr_map kept;          // values that were looked at in this round, to be computed again
  fuse_groups groups;    // of the round at hand
  text tiled;            // the report of the attempt at hand
  refusal refused;       // of the closest attempt
  int64_t least;         // what that takes
  int64_t instructions;  // of the module that is given
  int64_t planned;       // instructions, each time that they were
  int64_t asked;         // regions, by all attempts
  int64_t most_asked;    // before the attempt at hand gives up
  bool is_given_up;      // something was not tried, because so much had been done
  bool first_serves;     // the first attempt that fits is taken, whatever it costs
  double natural_cost;   // of the program without a limit
  double cost;           // of the plan of the last attempt, if that fits
} supertiling;

static void peaks_of(const lhlo_program *p, int64_t *out) {
  out[MEMORY_DRAM] = p->footprint_bytes;
  out[MEMORY_L2] = p->step_bytes;
}

// What may be done in all, where `each` instruction may take so much.
static int64_t most_of(const supertiling *t, int64_t all, int64_t each) {
  return int64_max(all, each * t->instructions);
}

// Whether no more is tried where so much is done.
static bool gives_up(supertiling *t, bool is_much) {
  t->is_given_up |= is_much;
  return is_much;
}

static heddle_status plan_copy(supertiling *t, arena *a, const module *m, lhlo_program **out) {
  for (int k = 0; k < m->computations.size; k++) t->planned += m->computations.data[k]->instructions.size;
  return t->options->plan(t->options->argument, a, module_clone(a, m), out);
}

static bool fits(const supertiling *t, const int64_t *peaks) {
  for (int k = 0; k < MEMORY_LEVELS; k++)
    if (peaks[k] > t->peaks.limit[k]) return false;
  return true;
}

static bool step_fits(const supertiling *t, const plan_step *s) {
  return s->footprint_bytes <= t->peaks.limit[MEMORY_DRAM] && s->touched_bytes <= t->peaks.limit[MEMORY_L2];
}

// A plan that costs no more than so many times the natural one is taken as it is. Else, of the first attempts, the
// cheapest one that fits is, for programs of so few instructions, as long as so few regions were asked for.
static const double CHEAP = 1.25;
enum { LOOKED_FURTHER = 10, ASKED_FURTHER = 250000, INSTRUCTIONS_FURTHER = 300 };

// --- one round

// Turns beside loops are code of their own, also of loops in them: an attempt that makes so much of it is given up.
enum { MOST_INSTRUCTIONS = 8000, MOST_TIMES_LARGER = 8 };

static int64_t instructions_of(const module *m) {
  int64_t count = 0;
  for (int k = 0; k < m->computations.size; k++) count += m->computations.data[k]->instructions.size;
  return count;
}

static bool is_too_large(const supertiling *t, const module *m) {
  return instructions_of(m) > int64_max(MOST_INSTRUCTIONS, MOST_TIMES_LARGER * t->instructions);
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
static bool is_small(const supertiling *t, const plan_step *step) {
  return step->touched_bytes < t->peaks.limit[MEMORY_DRAM] / 64 && step->touched_bytes <= t->peaks.limit[MEMORY_L2];
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

static loop_excess *excess_of(supertiling *t, str name) {
  loop_excess *known = str_map_get(&t->excess, name);
  if (known) return known;
  known = arena_new(t->arena, loop_excess);
  str_map_put(t->arena, &t->excess, name, known);
  return known;
}

// A loop that was made to fit and does not: when all begins anew its estimate is raised by what it was too low.
static void learn(supertiling *t, const plan_step *step) {
  const instruction *i = step->bottom ? step->bottom : step->op->source;
  const str *name = i ? ptr_map_get(&t->done, i) : NULL;
  if (!name && i) name = ptr_map_get(&t->done, i->parent);
  if (!name) return;
  loop_excess *known = excess_of(t, *name);
  const int64_t expected = int64_min(known->estimated, t->peaks.limit[MEMORY_DRAM]);
  known->now = int64_max(known->now, step->footprint_bytes - expected);
}

// False if nothing was learned in the last attempt.
static bool settle_excess(const supertiling *t) {
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

static tile_budget budget_of(const supertiling *t, double share, const instruction *bottom, const plan_step *step) {
  const loop_excess *excess = str_map_get(&t->excess, bottom->name);
  return (tile_budget){.needed = share_of(t->peaks.limit[MEMORY_DRAM], share),
                       .touched = share_of(t->peaks.limit[MEMORY_L2], share),
                       .across = bytes_across(step) + (excess ? excess->earlier : 0)};
}

// What was found for a bottom since the last loop was made.
typedef struct known_choice {
  bool is_found;
  tile_group group;
} known_choice;

// A loop that ends at the bottom and computes `with`. Where the best one does not another is looked for.
static bool try_bottom(supertiling *t, tile_search *s, double share, const instruction *with, tile_try *x) {
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

static bool is_free(const supertiling *t, const tile_search *s, const instruction *i) {
  return i && i->parent && !ptr_map_has(&s->dead, i) && ptr_map_has(&s->orders, i) &&
         !ptr_map_has(&t->done, i->parent) && !ptr_map_has(&t->done, i);
}

// The next stored value behind it becomes the bottom. False if there is none, or it is no more to be tiled.
static bool go_behind(const supertiling *t, const tile_search *s, tile_try *x) {
  x->bottom = next_stored(s, x->bottom);
  x->step = x->bottom ? plan_steps_of(s->steps, x->bottom) : NULL;
  return x->step && is_free(t, s, x->bottom);
}

// The outer of two loops, one in the other, at the step or behind it.
static bool find_nested(supertiling *t, tile_search *s, double share, tile_try *out) {
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
static bool find_group(supertiling *t, tile_search *s, double share, tile_try *out) {
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
  const supertiling *tiling;
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
    if (!g->members.data[k].is_repeated) ptr_map_put(a, &covered, g->members.data[k].instruction, a);
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
static bool find_deep(supertiling *t, tile_search *s, tile_manner how, tile_try *x) {
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
    if (!next.step || !is_free(t, s, next.bottom) || gives_up(t, s->maps->asked >= s->most_in_all)) break;
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
  for (int k = 0; k < g->members.size; k++) {
    const instruction *i = g->members.data[k].instruction;
    bool is_dead = i != i->parent->root && i->control_predecessors.size == 0;
    for (int u = 0; u < i->users.size && is_dead; u++) is_dead = is_unread(s, i->users.data[u]);
    if (is_dead) ptr_map_put(s->arena, &s->dead, i, s);
  }
}

static heddle_status make_loop(supertiling *t, tile_search *s, tile_try *x) {
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
static kept_value largest_kept(const supertiling *t, const tile_search *s, const instruction *bottom) {
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
static heddle_status compute_again(supertiling *t, tile_search *s, const instruction *bottom, double share,
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

static heddle_status tile_step(supertiling *t, tile_search *s, const plan_step *step, tile_manner how, bool *changed) {
  if (step->bottom && step->bottom->opcode == HLO_WHILE && step->bottom->parent && !tile_loops_has(step->bottom)) {
    // A kernel that is a loop holds all that its turns read: it becomes a loop of kernels, which can be tiled.
    tile_loops_mark(step->bottom);
    *changed = true;
    return status_ok();
  }
  tile_try x = {.bottom = step->bottom && step->bottom->parent ? tile_choice_bottom(step->bottom) : NULL, .step = step};
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
static heddle_status tile_hard_steps(supertiling *t, tile_search *s, tile_manner how, bool *changed) {
  const plan_steps *steps = s->steps;
  VEC(const plan_step *) hard = {0};
  t->hard = (ptr_map){0};
  for (int k = 0; k < steps->steps.size; k++) {
    const plan_step *step = &steps->steps.data[k];
    tile_try x = {.bottom = step->bottom && step->bottom->parent ? tile_choice_bottom(step->bottom) : NULL,
                  .step = step};
    if (step_fits(t, step) || is_small(t, step) || !is_free(t, s, x.bottom)) continue;
    if (gives_up(t, s->maps->asked >= s->most_in_all)) break;
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
    const bool is_large = step->bottom->parent && is_too_large(t, step->bottom->parent->module);
    if (gives_up(t, is_large || s->maps->asked >= s->most_in_all)) break;
    TRY(tile_step(t, s, step, how, changed));
  }
  return status_ok();
}

static heddle_status run_round(supertiling *t, arena *scratch, module *m, const lhlo_program *plan, tile_manner how,
                               bool *changed) {
  plan_steps steps;
  t->kept = t->choices = (ptr_map){0};
  plan_steps_find(scratch, m, plan, &steps);
  fuse_groups_mark(scratch, &steps, &t->groups);
  region_maps maps = {.arena = scratch, .asked = t->asked};
  tile_search s = {.arena = scratch,
                   .steps = &steps,
                   .maps = &maps,
                   .exact = t->options->exact,
                   .taken = &t->done,
                   .most_in_all = t->most_asked - ASKED_BY_ONE + most_of(t, ASKED_AT_ONCE, ASKED_EACH)};
  for (int k = 0; k < m->computations.size; k++) tile_search_number(&s, m->computations.data[k]);
  TRY(find_donated(&s, m));
  if (how.reach == REACH_HARD) TRY(tile_hard_steps(t, &s, how, changed));
  for (int k = steps.steps.size; k-- > 0;) {
    const plan_step *step = &steps.steps.data[k];
    if (step_fits(t, step) || gives_up(t, maps.asked >= t->most_asked || is_too_large(t, m))) continue;
    learn(t, step);
    TRY(tile_step(t, &s, step, how, changed));
  }
  t->asked = maps.asked;
  t->is_given_up |= s.is_cut_short;
  TRY(pass_apply(&opt_dead_code, m));
  if (drop_calls(&s, m)) TRY(pass_apply(&opt_dead_code, m));
  return opt_sort(scratch, m);
}

// --- attempts

// Notes what is in the way of a plan that comes closer than all before.
static void note_refusal(supertiling *t, const module *m, const lhlo_program *plan, tile_manner how, int round) {
  const bool is_closest = plan->footprint_bytes < t->least || t->refused.step.size == 0;
  if (!is_closest && log_level() < 2) return;
  arena *scratch = arena_create();
  plan_steps steps;
  refusal now;
  plan_steps_find(scratch, m, plan, &steps);
  refusal_find(is_closest ? t->arena : scratch, m, &steps, t->peaks.limit, &now);
  log_print(2, "share %g, %s, round %d: " STR_FMT " takes %lld bytes of %s", how.share, reach_names[how.reach], round,
            STR_ARG(now.step), (long long)now.bytes, memory_level_name(now.level));
  if (is_closest) {
    t->refused = now;
    t->least = plan->footprint_bytes;
  }
  arena_destroy(scratch);
}

// Tiles `m` as far as that helps. *fit: its plan is within the limit; else what is in the way of the closest plan is
// kept. *found: something was tiled.
static heddle_status attempt(supertiling *t, module *m, tile_manner how, bool *fit, bool *found) {
  *fit = *found = false;
  t->most_asked = t->asked + ASKED_BY_ONE;
  t->done = (ptr_map){0};
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (gives_up(t, t->planned >= most_of(t, PLANNED, PLANNED_EACH) || is_too_large(t, m))) break;
    arena *scratch = arena_create();
    lhlo_program *plan = NULL;
    bool changed = false;
    heddle_status s = plan_copy(t, scratch, m, &plan);
    if (round > 0 && heddle_status_code(s) == HEDDLE_UNIMPLEMENTED) {
      // What was made of the program has no code: another attempt may do without.
      log_print(2, "share %g, %s, round %d: %s", how.share, reach_names[how.reach], round, status_brief(s));
      heddle_status_free(s);
      arena_destroy(scratch);
      break;
    }
    int64_t peaks[MEMORY_LEVELS] = {0};
    if (status_is_ok(s)) peaks_of(plan, peaks);
    *fit = status_is_ok(s) && fits(t, peaks);
    if (*fit) {
      memcpy(t->peaks.predicted, peaks, sizeof peaks);
      t->cost = plan_cost_find(plan);
    } else if (status_is_ok(s)) {
      note_refusal(t, m, plan, how, round);
      s = run_round(t, scratch, m, plan, how, &changed);
    }
    arena_destroy(scratch);
    TRY(s);
    *found = *found || changed;
    if (*fit || !changed) break;
  }
  return status_ok();
}

// Takes over what was made of a copy: the caller's module is the one that goes on.
static void adopt(module *m, const module *from) {
  arena *a = m->arena;
  const module *copy = module_clone(a, from);
  *m = *copy;
  for (int k = 0; k < m->computations.size; k++) m->computations.data[k]->module = m;
}

static void report(const supertiling *t) {
  text *out = t->options->report;
  if (!out) return;
  text_append(out, text_view(&t->tiled));
  for (int k = 0; k < MEMORY_LEVELS; k++) {
    if (t->peaks.limit[k] == INT64_MAX) continue;
    text_printf(out, "%s: limit %lld bytes, predicted peak %lld, natural peak %lld\n", memory_level_name(k),
                (long long)t->peaks.limit[k], (long long)t->peaks.predicted[k], (long long)t->peaks.natural[k]);
  }
}

static heddle_status find_natural(supertiling *t, const module *m, bool *fit) {
  arena *scratch = arena_create();
  lhlo_program *plan;
  heddle_status s = plan_copy(t, scratch, m, &plan);
  if (status_is_ok(s)) {
    peaks_of(plan, t->peaks.natural);
    peaks_of(plan, t->peaks.predicted);
    t->natural_cost = plan_cost_find(plan);
    for (int k = 0; k < MEMORY_LEVELS; k++)
      t->peaks.limit[k] = memory_limit_bytes(&t->options->limit, k, t->peaks.natural[k]);
    *fit = fits(t, t->peaks.natural);
  }
  arena_destroy(scratch);
  return s;
}

// Whether attempt `k` would do what an earlier one did. `known`: what each knew.
static bool is_repeated(int k, const int *known) {
  for (int j = 0; j < k; j++)
    if (attempts[j].share == attempts[k].share && attempts[j].reach == attempts[k].reach &&
        attempts[j].is_nested == attempts[k].is_nested && known[j] == known[k])
      return true;
  return false;
}

// The cheapest attempt that fits.
typedef struct best_attempt {
  arena *arena;
  module *module;  // null: none fits so far
  str tiled;
  int64_t predicted[MEMORY_LEVELS];
  double cost;
} best_attempt;

static void keep_if_best(supertiling *t, const module *m, best_attempt *best) {
  log_print(2, "fits, at %.2f times the cost of the program without a limit", t->cost / t->natural_cost);
  if (best->module && t->cost >= best->cost) return;
  if (best->arena) arena_destroy(best->arena);
  best->arena = arena_create();
  best->module = module_clone(best->arena, m);
  best->tiled = str_copy(best->arena, text_view(&t->tiled));
  best->cost = t->cost;
  memcpy(best->predicted, t->peaks.predicted, sizeof best->predicted);
}

// Whether another attempt may be cheaper than what was found, and there is time for it.
static bool looks_further(const supertiling *t, const best_attempt *best, int tried) {
  if (!best->module) return true;
  const bool is_cheap = best->cost <= CHEAP * t->natural_cost;
  return !t->first_serves && !is_cheap && tried < LOOKED_FURTHER && t->asked < ASKED_FURTHER &&
         t->instructions <= INSTRUCTIONS_FURTHER;
}

// All attempts, in turn, each with what those before have learned.
static heddle_status try_all(supertiling *t, const module *m, best_attempt *best) {
  int known[ATTEMPTS] = {0}, lessons = 0;
  bool found[REACHES] = {true, true, true};
  for (int k = 0; k < ATTEMPTS && looks_further(t, best, k); k++) {
    if (gives_up(t, t->asked >= most_of(t, ASKED, ASKED_EACH) || t->planned >= most_of(t, PLANNED, PLANNED_EACH)))
      break;
    const tile_manner how = attempts[k];
    known[k] = lessons += settle_excess(t);
    // Where nothing can be tiled less room is of no use.
    if (is_repeated(k, known) || (!found[how.reach] && how.share <= 1)) continue;
    arena *a = arena_create();
    module *copy = module_clone(a, m);
    bool fit;
    t->tiled.size = 0;
    heddle_status s = attempt(t, copy, how, &fit, &found[how.reach]);
    if (status_is_ok(s) && fit) keep_if_best(t, copy, best);
    arena_destroy(a);
    TRY(s);
  }
  return status_ok();
}

// The module is taken over if it fits.
static heddle_status search(supertiling *t, module *m, bool *fit) {
  t->instructions = instructions_of(m);
  if (*fit) return status_ok();
  best_attempt best = {0};
  heddle_status s = try_all(t, m, &best);
  if (status_is_ok(s) && best.module) {
    *fit = true;
    t->tiled.size = 0;
    text_append(&t->tiled, best.tiled);
    memcpy(t->peaks.predicted, best.predicted, sizeof best.predicted);
    adopt(m, best.module);
  }
  if (best.arena) arena_destroy(best.arena);
  return s;
}

// --- what is needed at the least

typedef struct limit_question {
  supertiling *of;
  const module *module;
  int64_t limits[MEMORY_LEVELS];
  memory_level level;
} limit_question;

static heddle_status ask_limit(void *argument, int64_t limit, bool *fit, bool *goes_on) {
  limit_question *q = argument;
  supertiling t = {.options = q->of->options,
                   .least = INT64_MAX,
                   .arena = arena_create(),
                   .peaks = q->of->peaks,
                   .first_serves = true};
  memcpy(t.peaks.limit, q->limits, sizeof q->limits);
  t.peaks.limit[q->level] = limit;
  *fit = fits(&t, t.peaks.natural);
  heddle_status s = search(&t, module_clone(t.arena, q->module), fit);
  q->of->planned += t.planned;
  q->of->asked += t.asked;
  *goes_on = q->of->planned < PLANNED_TO_LEARN && q->of->asked < ASKED_TO_LEARN;
  if (!*fit && t.refused.step.size > 0 && t.refused.level == q->level)
    q->of->refused = refusal_copy(q->of->arena, &t.refused);
  log_print(2, "%lld bytes %s, %lld instructions planned", (long long)limit, *fit ? "fit" : "do not fit",
            (long long)t.planned);
  text_free(&t.tiled);
  arena_destroy(t.arena);
  return s;
}

// The error for a program that does not fit. It tells of the step that is in the way of one byte less, and whether
// all was tried.
static heddle_status refuse(supertiling *t, const module *m) {
  const supertiling first = *t;
  const memory_level level = t->refused.level;
  const int64_t limit = t->peaks.limit[level];
  limit_question q = {.of = t, .module = m, .level = level};
  least_limit needed = {limit, t->peaks.natural[level]};
  bool fit = false, goes_on;
  memcpy(q.limits, t->peaks.limit, sizeof q.limits);
  t->planned = t->asked = 0;
  TRY(ask_limit(&q, needed.fitting, &fit, &goes_on));
  // Another level is short as well: what would be needed of this one if it were not.
  for (int k = 0; k < MEMORY_LEVELS && !fit; k++) q.limits[k] = INT64_MAX;
  TRY(least_limit_find(&needed, t->least, ask_limit, &q));
  heddle_status s = refusal_status(&t->refused, needed, limit);
  if (first.is_given_up)
    s = status_context(s,
                       "the search was given up after %lld regions of tiles and %lld planned instructions, for a "
                       "program of %lld",
                       (long long)first.asked, (long long)first.planned, (long long)first.instructions);
  return status_context(s, "while tiling for --memory-limit");
}

// The error where nothing may be tiled.
static heddle_status refuse_whole(supertiling *t, const module *m) {
  arena *scratch = arena_create();
  lhlo_program *plan;
  heddle_status s = plan_copy(t, scratch, m, &plan);
  if (status_is_ok(s)) {
    note_refusal(t, m, plan, attempts[0], 0);
    const int64_t natural = t->peaks.natural[t->refused.level];
    s = refusal_status(&t->refused, (least_limit){natural - 1, natural}, t->peaks.limit[t->refused.level]);
  }
  arena_destroy(scratch);
  return status_context(s, "programs are tiled for --memory-limit for CPUs so far, and counted for others");
}

heddle_status supertile_run(module *m, const supertile_options *options, supertile_peaks *peaks) {
  supertiling t = {.options = options, .least = INT64_MAX, .arena = arena_create()};
  bool fit = false;
  heddle_status s = pass_apply(&opt_dot_sums, m);  // as fusion begins, so that what it makes has a name here
  if (status_is_ok(s)) s = pass_apply(&opt_dead_code, m);
  if (status_is_ok(s)) s = find_natural(&t, m, &fit);
  if (status_is_ok(s) && !fit && options->only_counts) s = refuse_whole(&t, m);
  if (status_is_ok(s) && !fit) s = pushed_slices_run(m);
  if (status_is_ok(s)) s = search(&t, m, &fit);
  if (status_is_ok(s) && fit) report(&t);
  if (status_is_ok(s) && !fit) s = refuse(&t, m);
  if (peaks) *peaks = t.peaks;
  text_free(&t.tiled);
  arena_destroy(t.arena);
  return s;
}
