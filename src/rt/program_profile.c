// The public calls that watch runs (include/heddle/profile.h), on top of rt/profile.h.
#include "heddle/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/sized_struct.h"
#include "rt/open_instances.h"
#include "rt/profile_print.h"
#include "rt/program_handle.h"
#include "rt/text_copy.h"

struct heddle_profile {
  heddle_program *program;
  profile *given;   // of a program without open sizes
  open_watch open;  // of others
  bool has_trace;
};

// Null before the first run of a program with open sizes.
static profile *watching(const heddle_profile *p) { return p->given ? p->given : p->open.watching; }

heddle_status heddle_profile_start(heddle_program *program, const heddle_profile_options *options,
                                   heddle_profile **out) {
  if (!program || !out) return status_error(HEDDLE_INVALID, "heddle_profile_start: found null");
  *out = NULL;
  heddle_profile_options taken;
  TRY(sized_struct_take("heddle_profile_options", options, &taken, sizeof taken));
  if (program->profile || program->watch)
    return status_error(HEDDLE_INVALID, "the program has a profile: free it first");
  heddle_profile *p = calloc(1, sizeof *p);
  if (!p) return status_no_memory();
  *p = (heddle_profile){.program = program, .has_trace = taken.trace};
  const profile_options wanted = {.keeps_events = taken.trace,
                                  .most_events = taken.most_executions,
                                  .counters = taken.hardware_counters,
                                  .no_limits = taken.no_limits};
  open_watch_begin(&p->open, &wanted);
  heddle_status s = status_ok();
  if (program->run_open) program->watch = &p->open;
  else s = profile_start(program->callable.program, program->callable.executable, &wanted, &p->given);
  if (!status_is_ok(s)) {
    open_watch_end(&p->open);
    free(p);
    return s;
  }
  program->profile = p->given;
  *out = p;
  return s;
}

void heddle_profile_free(heddle_profile *profile) {
  if (!profile) return;
  profile->program->profile = NULL;
  profile->program->watch = NULL;
  profile_end(profile->given);
  open_watch_end(&profile->open);
  free(profile);
}

int heddle_profile_row_count(const heddle_profile *profile) {
  return profile && watching(profile) ? profile_row_count(watching(profile)) : 0;
}

static const char *text_or_none(const char *text) { return text ? text : ""; }

heddle_status heddle_profile_row_at(const heddle_profile *profile, int number, heddle_profile_row *out) {
  if (number < 0 || number >= heddle_profile_row_count(profile))
    return status_error(HEDDLE_INVALID, "found row %d of a profile of %d", number, heddle_profile_row_count(profile));
  const profile_row *from = profile_row_at(watching(profile), number);
  const heddle_profile_row row = {.struct_size = sizeof row,
                                  .kind = from->kind,
                                  .operation = text_or_none(from->thunk->name),
                                  .origin = text_or_none(from->thunk->origin),
                                  .file = text_or_none(from->thunk->where.file),
                                  .line = from->thunk->where.line,
                                  .depth = from->depth,
                                  .holds_others = from->holds,
                                  .calls = from->calls,
                                  .seconds = from->seconds,
                                  .least_seconds = from->least_seconds,
                                  .most_seconds = from->most_seconds,
                                  .bytes = from->bytes,
                                  .operations = from->operations,
                                  .share_of_limit = profile_share(watching(profile), from),
                                  .cycles = from->counters[COUNTER_CYCLES],
                                  .instructions = from->counters[COUNTER_INSTRUCTIONS],
                                  .cache_misses = from->counters[COUNTER_CACHE_MISSES]};
  return sized_struct_fill("heddle_profile_row", out, &row, sizeof row);
}

typedef struct writing {
  const heddle_profile *profile;
  const char *form;
  char *out;
} writing;

static heddle_status write_form(text *t, const writing *w) {
  const heddle_profile *p = w->profile;
  const profile *seen = watching(p);
  if (!seen) return status_error(HEDDLE_INVALID, "the program has not run since the profile was started");
  if (strcmp(w->form, "table") == 0) profile_print_table(t, seen, 0);
  else if (strcmp(w->form, "json") == 0) profile_print_json(t, seen);
  else if (strcmp(w->form, "trace") != 0)
    return status_error(HEDDLE_INVALID, "found the form \"%s\", wanted table, json or trace", w->form);
  else if (!p->has_trace)
    return status_error(HEDDLE_INVALID, "a trace wants a profile that was started with the option trace");
  else profile_print_trace(t, seen);
  return status_ok();
}

static heddle_status write_guarded(void *argument) {
  writing *w = argument;
  text t = {0};
  heddle_status s = write_form(&t, w);
  if (status_is_ok(s)) s = text_copy_give(&t, &w->out);
  text_free(&t);
  return s;
}

heddle_status heddle_profile_text(const heddle_profile *profile, const char *form, char **out) {
  if (!profile || !form || !out) return status_error(HEDDLE_INVALID, "heddle_profile_text: found null");
  *out = NULL;
  writing w = {.profile = profile, .form = form};
  TRY(guard_run(write_guarded, NULL, &w));
  *out = w.out;
  return status_ok();
}
