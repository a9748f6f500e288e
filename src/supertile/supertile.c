// Attempts: plan, tile the steps that do not fit, plan again, until the plan fits. Where it takes more than estimates
// said, all begins anew with estimates held to less; of what fits the cheapest is taken. If nothing does, the error
// tells of the round that came closest.
#include "supertile/supertile.h"

#include "base/int64.h"
#include "base/log.h"
#include "fuse/tile_loops.h"
#include "opt/pass.h"
#include "opt/passes.h"
#include "supertile/plan_cost.h"
#include "supertile/pushed_slices.h"
#include "supertile/refusal.h"
#include "supertile/tile_attempts.h"

// Rounds of an attempt.
enum { MOST_ROUNDS = 12 };

// Rounds in which the same is in the way of an attempt before it is given up.
enum { MOST_STUCK = 2 };

// What a search may do before it is given up, so that a refusal takes seconds and little memory: in all, or for each
// instruction of the program if that is more. Steps of an attempt are tiled until it has asked for ASKED_BY_ONE
// regions; those at work then go on up to ASKED_AT_ONCE. Later attempts may do as much again, a few times over. To
// find out what is needed at the least limits are tried until the last two are reached.
enum { ASKED_BY_ONE = 1000000, ASKED = 3000000, ASKED_AT_ONCE = 4000000, ASKED_EACH = 200 };
enum { PLANNED = 100000, PLANNED_EACH = 5, ASKED_TO_LEARN = 3000000, PLANNED_TO_LEARN = 150000 };

enum { TIMES_ASKED = 4, TIMES_WITH_DIMS = 4, TIMES_PLANNED = 6 };

static const char *const reach_names[] = {"near", "deep", "hard"};

// An attempt comes near if it takes no more than so many times the limit: then it is made again with what it has
// learned.
static const double COMES_NEAR = 1.25;

typedef struct supertiling {
  const supertile_options *options;
  supertile_peaks peaks;
  tile_rounds rounds;                // its arena is that of all that attempts learn
  refusal refused;                   // of the closest attempt
  int64_t least;                     // what that takes
  int64_t closest;                   // what the closest plan of the attempt at hand takes
  int64_t planned;                   // instructions, each time that they were
  int64_t most_planned, most_asked;  // what a search that only asks whether something fits may do; 0: any
  bool is_out_of_time;               // it would have done more
  bool first_serves;                 // the first attempt that fits is taken, whatever it costs
  double natural_cost;               // of the program without a limit
  double cost;                       // of the plan of the last attempt, if that fits
  lower_bound bounds[MEMORY_LEVELS];
} supertiling;

static void peaks_of(const lhlo_program *p, int64_t *out) {
  out[MEMORY_DRAM] = p->footprint_bytes;
  out[MEMORY_L2] = p->step_bytes;
}

static heddle_status plan_copy(supertiling *t, arena *a, const module *m, lhlo_program **out) {
  t->planned += tile_rounds_count(m);
  return t->options->plan(t->options->argument, a, module_clone_around_values(a, m), out);
}

static bool fits(const supertiling *t, const int64_t *peaks) {
  for (int k = 0; k < MEMORY_LEVELS; k++)
    if (peaks[k] > t->peaks.limit[k]) return false;
  return true;
}

// A plan that costs no more than so many times the natural one is taken as it is. Else attempts go on, for programs of
// so few instructions, until so many more were made or so many more regions were asked for, and the cheapest is taken.
// What is cheaper by less than a few hundredths is as cheap: the first such serves, whose tiles are more even.
static const double CHEAP = 1.25, CHEAPER = 0.97;
enum { LOOKED_FURTHER = 100, ASKED_FURTHER = 1000000, INSTRUCTIONS_FURTHER = 300 };

// --- attempts

// Notes what is in the way of a plan that comes closer than all before.
static void note_refusal(supertiling *t, const module *m, const lhlo_program *plan, tile_manner how, int round) {
  const bool is_closest = plan->footprint_bytes < t->least || t->refused.step.size == 0;
  if (!is_closest && log_level() < 2) return;
  arena *scratch = arena_create();
  plan_steps steps;
  refusal now;
  plan_steps_find(scratch, m, plan, &steps);
  refusal_find(is_closest ? t->rounds.arena : scratch, m, &steps, t->peaks.limit, &now);
  log_print(2, "share %g, %s, round %d: " STR_FMT " takes %lld bytes of %s", how.share, reach_names[how.reach], round,
            STR_ARG(now.step), (long long)now.bytes, memory_level_name(now.level));
  if (is_closest) {
    t->refused = now;
    t->least = plan->footprint_bytes;
  }
  arena_destroy(scratch);
}

static bool has_convolution(const module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (m->computations.data[c]->instructions.data[k]->opcode == HLO_CONVOLUTION) return true;
  return false;
}

static void mark_products(const module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++)
      if (all->data[k]->opcode == HLO_CONVOLUTION || all->data[k]->opcode == HLO_DOT) tile_loops_mark(all->data[k]);
  }
}

// Sets the limit that rounds aim at.
static void aim(supertiling *t, double loosened) {
  for (int k = 0; k < MEMORY_LEVELS; k++) {
    const int64_t limit = t->peaks.limit[k];
    const bool is_raised = loosened > 1 && limit < INT64_MAX / 2;
    t->rounds.limit[k] = is_raised ? (int64_t)((double)limit * loosened) : limit;
  }
}

// What is in the way of a plan: what its largest step takes, and how many take as much.
typedef struct plan_peak {
  int64_t bytes;
  int steps;
} plan_peak;

static void find_peak(const lhlo_body *body, plan_peak *out) {
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    const int64_t bytes = op->live_bytes + op->resident_bytes;
    if (bytes > out->bytes) *out = (plan_peak){bytes, 0};
    out->steps += bytes == out->bytes;
    for (int b = 0; b < op->body_count; b++) find_peak(&op->bodies[b], out);
  }
}

// For how many rounds the same has been in the way.
static int rounds_stuck(const lhlo_program *plan, plan_peak *last, int before) {
  plan_peak now = {0};
  find_peak(&plan->entry, &now);
  const bool is_same = now.bytes == last->bytes && now.steps == last->steps;
  *last = now;
  return is_same ? before + 1 : 0;
}

static bool is_out_of_time(supertiling *t) {
  const bool is_much = t->planned >= t->most_planned || t->rounds.asked >= t->most_asked;
  t->is_out_of_time |= t->most_planned > 0 && is_much;
  return t->is_out_of_time;
}

// Tiles `m` as far as that helps. *fit: its plan is within the limit; else what is in the way of the closest plan is
// kept. *found: something was tiled.
static heddle_status attempt(supertiling *t, module *m, tile_manner how, bool *fit, bool *found) {
  *fit = *found = false;
  t->rounds.most_asked = t->rounds.asked + ASKED_BY_ONE;
  t->rounds.most_in_all = t->rounds.asked + tile_rounds_bound(&t->rounds, ASKED_AT_ONCE, ASKED_EACH);
  t->rounds.done = (ptr_map){0};
  t->closest = INT64_MAX;
  bool aims_higher = how.loosened > 1;
  plan_peak peak = {0};
  int stuck = 0;
  aim(t, aims_higher ? how.loosened : 1);
  if (how.in_kernels) mark_products(m);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (tile_rounds_give_up(&t->rounds,
                            is_out_of_time(t) ||
                                t->planned >= TIMES_PLANNED * tile_rounds_bound(&t->rounds, PLANNED, PLANNED_EACH) ||
                                tile_rounds_is_too_large(&t->rounds, m)))
      break;
    arena *scratch = arena_create();
    lhlo_program *plan = NULL;
    bool changed = false;
    tile_loops_set_apart(m, how.is_apart);
    heddle_status s = plan_copy(t, scratch, m, &plan);
    if (round > 0 && heddle_status_code(s) == HEDDLE_UNIMPLEMENTED) {
      // What was made of the program has no code: another attempt may do without.
      log_print(2, "share %g, %s, round %d: %s", how.share, reach_names[how.reach], round, status_brief(s));
      heddle_status_free(s);
      arena_destroy(scratch);
      break;
    }
    int64_t peaks[MEMORY_LEVELS] = {0};
    if (status_is_ok(s)) {
      peaks_of(plan, peaks);
      t->closest = int64_min(t->closest, peaks[MEMORY_DRAM]);
    }
    *fit = status_is_ok(s) && fits(t, peaks);
    if (*fit) {
      memcpy(t->peaks.predicted, peaks, sizeof peaks);
      t->cost = plan_cost_find(plan);
    } else if (status_is_ok(s)) {
      stuck = rounds_stuck(plan, &peak, stuck);
      note_refusal(t, m, plan, how, round);
      s = tile_rounds_run(&t->rounds, scratch, m, plan, how, round, &changed);
    }
    arena_destroy(scratch);
    TRY(s);
    *found = *found || changed;
    if (stuck >= MOST_STUCK && !aims_higher) break;
    if (*fit || (!changed && !aims_higher)) break;
    if (changed) continue;
    // What keeps to the larger limit is cut once more where it does not keep to the one that there is.
    aims_higher = false;
    t->rounds.done = (ptr_map){0};
    aim(t, 1);
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
  text_append(out, text_view(&t->rounds.tiled));
  for (int k = 0; k < MEMORY_LEVELS; k++) {
    if (t->peaks.limit[k] == INT64_MAX) continue;
    text_printf(out, "%s: limit %lld bytes, predicted peak %lld, natural peak %lld", memory_level_name(k),
                (long long)t->peaks.limit[k], (long long)t->peaks.predicted[k], (long long)t->peaks.natural[k]);
    if (t->bounds[k].bytes > 0)
      text_printf(out, "; no tiling takes less than %lld: " STR_FMT, (long long)t->bounds[k].bytes,
                  STR_ARG(t->bounds[k].reason));
    text_puts(out, "\n");
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
    lower_bound_find(t->rounds.arena, m, plan, t->options->exact, t->bounds);
  }
  arena_destroy(scratch);
  return s;
}

// The cheapest attempt that fits.
typedef struct best_attempt {
  arena *arena;
  module *module;  // null: none fits so far
  str tiled;
  int64_t predicted[MEMORY_LEVELS];
  double cost;
  int64_t asked;  // before the first that fits was found
  int more;       // attempts since then
} best_attempt;

static void keep_if_best(supertiling *t, const module *m, best_attempt *best) {
  log_print(2, "fits, at %.2f times the cost of the program without a limit", t->cost / t->natural_cost);
  if (!best->module) best->asked = t->rounds.asked;
  if (best->module && t->cost >= CHEAPER * best->cost) return;
  if (best->arena) arena_destroy(best->arena);
  best->arena = arena_create();
  best->module = module_clone(best->arena, m);
  best->tiled = str_copy(best->arena, text_view(&t->rounds.tiled));
  best->cost = t->cost;
  memcpy(best->predicted, t->peaks.predicted, sizeof best->predicted);
}

// Whether another attempt may be cheaper than what was found, and there is time for it.
static bool looks_further(const supertiling *t, const best_attempt *best) {
  if (!best->module) return true;
  const bool is_cheap = best->cost <= CHEAP * t->natural_cost;
  return !t->first_serves && !is_cheap && best->more < LOOKED_FURTHER &&
         t->rounds.asked - best->asked < ASKED_FURTHER && t->rounds.instructions <= INSTRUCTIONS_FURTHER;
}

// Whether attempt `k` is left out. `known`: how often something was learned before each.
static bool is_skipped(const supertiling *t, const module *m, int k, const int *known) {
  const tile_manner how = tile_attempts_manner(k);
  // Kernels round each product, which libraries do not. Of convolutions libraries copy most.
  if (how.in_kernels && (t->options->exact || !has_convolution(m))) return true;
  if (tile_attempts_is_again(k) && (double)t->closest > COMES_NEAR * (double)t->peaks.limit[MEMORY_DRAM]) return true;
  return tile_attempts_is_repeated(k, known);
}

// Whether so much has been done that attempt `k` is not made.
static bool has_done_much(supertiling *t, int k) {
  const int asked = k < TILE_ATTEMPTS_FIXED ? 1 : TIMES_ASKED;
  const int planned = k < TILE_ATTEMPTS_FIXED ? 1 : k < TILE_ATTEMPTS_FROM_ABOVE ? TIMES_WITH_DIMS : TIMES_PLANNED;
  return is_out_of_time(t) || t->rounds.asked >= asked * tile_rounds_bound(&t->rounds, ASKED, ASKED_EACH) ||
         t->planned >= planned * tile_rounds_bound(&t->rounds, PLANNED, PLANNED_EACH);
}

// What was found with products apart may fit with them written to their places as well, which is cheaper.
static heddle_status write_products(supertiling *t, module *m) {
  if (!tile_loops_are_apart(m)) return status_ok();
  arena *scratch = arena_create();
  lhlo_program *plan = NULL;
  int64_t peaks[MEMORY_LEVELS] = {0};
  tile_loops_set_apart(m, false);
  heddle_status s = plan_copy(t, scratch, m, &plan);
  if (status_is_ok(s)) peaks_of(plan, peaks);
  const bool fit = status_is_ok(s) && fits(t, peaks);
  const double cost = fit ? plan_cost_find(plan) : 0;
  if (fit && cost <= t->cost) {
    memcpy(t->peaks.predicted, peaks, sizeof peaks);
    t->cost = cost;
  } else {
    tile_loops_set_apart(m, true);
  }
  arena_destroy(scratch);
  if (heddle_status_code(s) != HEDDLE_UNIMPLEMENTED) return s;
  heddle_status_free(s);
  return status_ok();
}

// All attempts, in turn, each with what those before have learned.
static heddle_status try_all(supertiling *t, const module *m, best_attempt *best) {
  int known[TILE_ATTEMPTS] = {0}, lessons = 0;
  bool found[REACHES] = {true, true, true};
  for (int k = 0; k < TILE_ATTEMPTS && looks_further(t, best); k++) {
    if (tile_rounds_give_up(&t->rounds, has_done_much(t, k))) continue;
    const tile_manner how = tile_attempts_manner(k);
    known[k] = lessons += tile_rounds_settle(&t->rounds);
    if (tile_attempts_begins_anew(k)) t->rounds.excess = (str_map){0};
    // Where nothing can be tiled less room is of no use.
    const bool is_told_dims = tile_attempts_is_told_dims(k);
    if (is_skipped(t, m, k, known) || (!found[how.reach] && how.share <= 1 && !is_told_dims)) continue;
    arena *a = arena_create();
    module *copy = module_clone_around_values(a, m);
    bool fit;
    best->more += best->module != NULL;
    t->rounds.tiled.size = 0;
    bool any;  // along the dims that it is told an attempt may find nothing
    heddle_status s = attempt(t, copy, how, &fit, is_told_dims ? &any : &found[how.reach]);
    if (status_is_ok(s) && fit) s = write_products(t, copy);
    if (status_is_ok(s) && fit) keep_if_best(t, copy, best);
    arena_destroy(a);
    TRY(s);
  }
  return status_ok();
}

// The module is taken over if it fits.
static heddle_status search(supertiling *t, module *m, bool *fit) {
  t->rounds.instructions = tile_rounds_count(m);
  t->rounds.exact = t->options->exact;
  if (*fit) return status_ok();
  best_attempt best = {0};
  heddle_status s = try_all(t, m, &best);
  if (status_is_ok(s) && best.module) {
    *fit = true;
    t->rounds.tiled.size = 0;
    text_append(&t->rounds.tiled, best.tiled);
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

// A search that ends since there is no more time says nothing of what does not fit.
static heddle_status ask_limit(void *argument, int64_t limit, least_limit_answer *answer, bool *goes_on) {
  limit_question *q = argument;
  supertiling t = {.options = q->of->options,
                   .least = INT64_MAX,
                   .rounds = {.arena = arena_create()},
                   .peaks = q->of->peaks,
                   .most_planned = int64_max(1, PLANNED_TO_LEARN - q->of->planned),
                   .most_asked = int64_max(1, ASKED_TO_LEARN - q->of->rounds.asked),
                   .first_serves = true};
  memcpy(t.peaks.limit, q->limits, sizeof q->limits);
  t.peaks.limit[q->level] = limit;
  bool fit = fits(&t, t.peaks.natural);
  heddle_status s = search(&t, module_clone_around_values(t.rounds.arena, q->module), &fit);
  *answer = fit ? LEAST_LIMIT_FITS : t.is_out_of_time ? LEAST_LIMIT_UNKNOWN : LEAST_LIMIT_FAILS;
  q->of->planned += t.planned;
  q->of->rounds.asked += t.rounds.asked;
  *goes_on = q->of->planned < PLANNED_TO_LEARN && q->of->rounds.asked < ASKED_TO_LEARN;
  if (*answer == LEAST_LIMIT_FAILS && t.refused.step.size > 0 && t.refused.level == q->level)
    q->of->refused = refusal_copy(q->of->rounds.arena, &t.refused);
  static const char *const answers[] = {"fit", "do not fit", "may fit"};
  log_print(2, "%lld bytes %s, %lld instructions planned", (long long)limit, answers[*answer], (long long)t.planned);
  text_free(&t.rounds.tiled);
  arena_destroy(t.rounds.arena);
  return s;
}

// The error for a program that does not fit. It tells of the step that is in the way of one byte less, and whether
// all was tried.
static heddle_status refuse(supertiling *t, const module *m) {
  const supertiling first = *t;
  const memory_level level = t->refused.level;
  const int64_t limit = t->peaks.limit[level];
  limit_question q = {.of = t, .module = m, .level = level};
  least_limit needed = {int64_max(limit, t->bounds[level].bytes - 1), t->peaks.natural[level]};
  least_limit_answer answer = LEAST_LIMIT_UNKNOWN;
  bool goes_on;
  memcpy(q.limits, t->peaks.limit, sizeof q.limits);
  t->planned = t->rounds.asked = 0;
  TRY(ask_limit(&q, needed.fitting, &answer, &goes_on));
  // Another level is short as well: what would be needed of this one if it were not.
  for (int k = 0; k < MEMORY_LEVELS && answer != LEAST_LIMIT_FITS; k++) q.limits[k] = INT64_MAX;
  // What takes long to fail is asked late: what fits is found soon, and tells more than one question about the closest.
  const int64_t guess = first.planned < PLANNED_TO_LEARN ? t->least : 0;
  TRY(least_limit_find(&needed, guess, ask_limit, &q));
  heddle_status s = refusal_status(&t->refused, needed, limit, &t->bounds[level]);
  if (first.rounds.is_given_up)
    s = status_context(s,
                       "the search was given up after %lld regions of tiles and %lld planned instructions, for a "
                       "program of %lld",
                       (long long)first.rounds.asked, (long long)first.planned, (long long)first.rounds.instructions);
  return status_context(s, "while tiling for --memory-limit");
}

// The error where nothing may be tiled.
static heddle_status refuse_whole(supertiling *t, const module *m) {
  arena *scratch = arena_create();
  lhlo_program *plan;
  heddle_status s = plan_copy(t, scratch, m, &plan);
  if (status_is_ok(s)) {
    note_refusal(t, m, plan, tile_attempts_manner(0), 0);
    const int64_t natural = t->peaks.natural[t->refused.level];
    s = refusal_status(&t->refused, (least_limit){natural - 1, natural}, t->peaks.limit[t->refused.level],
                       &(lower_bound){0});
  }
  arena_destroy(scratch);
  return status_context(s, "programs for NVIDIA GPUs are counted for --memory-limit and not tiled");
}

heddle_status supertile_run(module *m, const supertile_options *options, supertile_peaks *peaks) {
  supertiling t = {.options = options, .least = INT64_MAX, .rounds = {.arena = arena_create()}};
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
  text_free(&t.rounds.tiled);
  arena_destroy(t.rounds.arena);
  return s;
}
