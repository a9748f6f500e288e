// The pass driver runs passes one after another, stops behind the pass that the caller names, and shows watchers the
// module behind each pass.
#include "base/pass.h"

#include <string.h>

#include "base/call.h"
#include "base/guard.h"
#include "base/lock.h"
#include "base/log.h"

#ifdef NDEBUG
enum { VERIFIES_EACH = 0 };
#else
enum { VERIFIES_EACH = 1 };
#endif

typedef struct run {
  const pass_unit_kind *kind;
  void *unit;
  pass_control *control;
  pass_context context;
  text printed;     // the unit as it was printed last, where prints are compared
  bool is_settled;  // by the run of an earlier pass
} run;

const pass *pass_find(const pass *const *passes, str name) {
  for (int i = 0; passes[i]; i++)
    if (str_is(name, passes[i]->name)) return passes[i];
  return NULL;
}

// --- watchers

static bool is_of_kind(const pass_watcher *w, const pass_unit_kind *kind) { return !w->kind || w->kind == kind; }

static bool names(const char *list, const char *name) {
  const size_t size = strlen(name);
  for (const char *next = list; next && *next;) {
    const size_t length = strcspn(next, ",");
    if (length == size && memcmp(next, name, size) == 0) return true;
    next += length + (next[length] == ',');
  }
  return false;
}

void pass_show(const pass_unit_kind *kind, const pass *p, str printed) {
  fprintf(stderr, "%s%s%s" STR_FMT "\n", kind->title[0], p ? p->name : "nothing", kind->title[1], STR_ARG(printed));
}

static void show_on_stderr(const pass *p, const pass_unit_kind *kind, const void *unit) {
  text t = {0};
  kind->print(unit, &t);
  pass_show(kind, p, text_view(&t));
  text_free(&t);
}

static void show(const run *r, const pass *p, bool changed) {
  for (const pass_watcher *w = r->control->watchers; w; w = w->next) {
    const bool is_wanted = p ? w->all || (w->changes && changed) || names(w->after, p->name) : w->first;
    if (!is_wanted || !is_of_kind(w, r->kind)) continue;
    if (w->see) w->see(w->argument, p, r->kind, r->unit);
    else show_on_stderr(p, r->kind, r->unit);
  }
}

static bool compares_prints(const run *r) {
  bool any = false;
  for (const pass_watcher *w = r->control->watchers; w; w = w->next) any |= w->changes && is_of_kind(w, r->kind);
  return any && !r->kind->tells;
}

static bool differs_from_print(run *r) {
  text now = {0};
  r->kind->print(r->unit, &now);
  const bool differs = !str_equal(text_view(&r->printed), text_view(&now));
  text_free(&r->printed);
  r->printed = now;
  return differs;
}

// --- times

// The row of a pass; null if there is no room for another.
static pass_time *row_of(pass_control *control, const pass *p) {
  int k = 0;
  while (k < control->time_count && control->times[k].pass != p) k++;
  if (k == PASS_TIMES_MAX) return NULL;
  if (k == control->time_count) control->times[control->time_count++] = (pass_time){.pass = p};
  return &control->times[k];
}

// Kernels that are lowered on several threads share the table.
static void add_time(const run *r, const pass *p, double seconds) {
  static lock of_tables = LOCK_INITIALIZER;
  if (!r->control->time) return;
  lock_take(&of_tables);
  pass_time *t = row_of(r->control, p);
  if (t) {
    t->seconds += seconds;
    t->runs++;
    t->changes = r->kind->tells ? t->changes + r->context.changed : -1;
  }
  lock_give(&of_tables);
}

void pass_times_print(FILE *out, const pass_control *control) {
  for (int i = 0; i < control->time_count; i++) {
    const pass_time *t = &control->times[i];
    fprintf(out, "    %-40s %9.3f ms", t->pass->name, t->seconds * 1e3);
    if (t->changes >= 0) fprintf(out, ", %d of %d changed something", t->changes, t->runs);
    fputc('\n', out);
  }
}

// --- runs

static heddle_status verify(run *r) { return r->kind->verify(r->unit); }

// What did not change is in order, once a pass has been behind it.
static heddle_status settle(run *r) {
  if (r->is_settled && r->kind->tells && !r->context.changed) return status_ok();
  r->is_settled = true;
  return r->kind->settle(&r->context, r->unit);
}

static heddle_status run_one(run *r, const pass *p) {
  r->context.changed = false;
  TRY(p->run(&r->context, r->unit));
  TRY(settle(r));
  return VERIFIES_EACH ? verify(r) : status_ok();
}

// Whether bisection leaves it out.
static bool is_left_out(pass_control *control, const pass *p) {
  if (control->keeps_needed && p->use == PASS_NEEDED) return false;
  return control->bisect >= 0 && control->counted++ >= control->bisect;
}

static heddle_status run_all(run *r, const pass *const *passes) {
  pass_control *control = r->control;
  const bool compares = compares_prints(r);
  if (compares) r->kind->print(r->unit, &r->printed);
  show(r, NULL, false);
  for (int i = 0; passes[i]; i++) {
    const pass *p = passes[i];
    if (is_left_out(control, p)) continue;
    TRY(call_check());
    if (r->kind->needs_room) TRY(guard_check_room());
    const double start = log_seconds();
    const heddle_status s = run_one(r, p);
    if (!status_is_ok(s)) return status_context(s, "in %s %s", r->kind->noun, p->name);
    add_time(r, p, log_seconds() - start);
    show(r, p, compares ? differs_from_print(r) : r->context.changed);
    arena_reset(r->context.scratch);
    if (control->until && strcmp(control->until, p->name) == 0) break;
  }
  return status_context(verify(r), "behind the last %s", r->kind->noun);
}

heddle_status pass_run(const pass_unit_kind *kind, void *unit, const pass *const *passes, void *given,
                       pass_control *control) {
  pass_control nobody = PASS_CONTROL_DEFAULT;
  run r = {kind, unit, control ? control : &nobody, {.scratch = arena_create(), .given = given}, {0}, false};
  const heddle_status s = run_all(&r, passes);
  arena_destroy(r.context.scratch);
  text_free(&r.printed);
  return s;
}

heddle_status pass_apply(const pass *p, void *unit) {
  pass_context context = {.scratch = arena_create()};
  const heddle_status s = p->run(&context, unit);
  arena_destroy(context.scratch);
  return s;
}

// --- for tools

bool pass_control_orders(const pass_control *control, const pass_unit_kind *kind) {
  if (!control) return false;
  bool is_watched = false;
  for (const pass_watcher *w = control->watchers; w; w = w->next) is_watched |= is_of_kind(w, kind);
  return is_watched || control->bisect >= 0;
}

void pass_control_add(pass_control *control, pass_watcher *watcher) {
  watcher->next = control->watchers;
  control->watchers = watcher;
}

void pass_print_entry(FILE *out, const char *dash, const pass *p, const char *note) {
  static const char *const uses[] = {"needed", "improves", "folds", "on request"};
  const int width = 36 - (int)strlen(dash);
  fprintf(out, "  %s%-*s %s%s\n  %-36s %s: %s\n", dash, width, p->name, p->summary, note, "", uses[p->use],
          p->order_reason);
}
