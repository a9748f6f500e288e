// Arguments are bound once: what is measured is what a caller's loop would see.
#include "tools/measured_run.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "rt/profile_print.h"

enum { MOST_RUNS = 1 << 20 };

typedef VEC(double) times;

// --- runs

static heddle_status run_timed(run *r, profile *watching, double *seconds) {
  const double start = log_seconds();
  if (watching) profile_begin_run(watching);
  heddle_status s = run_execute(r);
  if (watching) profile_end_run(watching);
  *seconds = log_seconds() - start;
  return s;
}

static heddle_status run_repeatedly(arena *a, const measured_run *m, run *r, profile *watching, times *out) {
  const double start = log_seconds();
  for (int i = 0; i < m->repeats || (log_seconds() - start < m->seconds && out->size < MOST_RUNS); i++) {
    double seconds;
    TRY(run_timed(r, watching, &seconds));
    vec_push(a, out, seconds);
  }
  return status_ok();
}

// --- what is said

static int compare_times(const void *l, const void *r) {
  const double a = *(const double *)l, b = *(const double *)r;
  return (a > b) - (a < b);
}

// Parameters and results once each: the least that a run has to move.
static int64_t moved_bytes(const program *p) {
  int64_t bytes = 0;
  for (int i = 0; i < p->allocation_count; i++)
    if (p->allocations[i].kind == PROGRAM_PARAMETER || p->allocations[i].kind == PROGRAM_RESULT)
      bytes += p->allocations[i].bytes;
  return bytes * p->device_count;
}

typedef struct summary {
  int runs;
  double least, median, most, mean;
  int64_t bytes;
} summary;

static summary sum_up(const times *t, const program *p) {
  summary s = {.runs = t->size, .bytes = moved_bytes(p)};
  if (t->size == 0) return s;
  if (t->size > 1) qsort(t->data, (size_t)t->size, sizeof *t->data, compare_times);
  for (int i = 0; i < t->size; i++) s.mean += t->data[i] / t->size;
  s.least = t->data[0];
  s.median = t->size % 2 ? t->data[t->size / 2] : (t->data[t->size / 2 - 1] + t->data[t->size / 2]) / 2;
  s.most = t->data[t->size - 1];
  return s;
}

static void print_summary(arena *a, const measured_program *told, const compiled *c, const summary *s) {
  printf(
      "%s on %d threads: median %s of %d runs, %s to %s, mean %s; %.2f GB/s of arguments and results; compiled in %s\n",
      told->path, c->threads, execute_seconds_text(a, s->median), s->runs, execute_seconds_text(a, s->least),
      execute_seconds_text(a, s->most), execute_seconds_text(a, s->mean),
      s->median > 0 ? (double)s->bytes / s->median * 1e-9 : 0, execute_seconds_text(a, told->compile_seconds));
}

static void put_summary(text *out, const measured_program *told, const compiled *c, const summary *s) {
  json_writer w = {.out = out};
  json_begin(&w, NULL, '{');
  json_put_string(&w, "module", str_from(told->path));
  json_put_int(&w, "threads", c->threads);
  json_put_int(&w, "runs", s->runs);
  json_put_number(&w, "median_seconds", s->median);
  json_put_number(&w, "least_seconds", s->least);
  json_put_number(&w, "most_seconds", s->most);
  json_put_number(&w, "mean_seconds", s->mean);
  json_put_int(&w, "bytes", s->bytes);
  json_put_number(&w, "compile_seconds", told->compile_seconds);
  json_end(&w, '}');
}

static heddle_status print_profile(const measured_run *m, const profile *p) {
  text t = {0};
  if (m->json) {
    profile_print_json(m->told, p);
  } else {
    profile_print_table(&t, p, m->lines);
    fwrite(t.data, 1, t.size, m->out);
    text_free(&t);
  }
  if (!m->trace) return status_ok();
  profile_print_trace(&t, p);
  heddle_status s = file_write(m->trace, text_view(&t));
  text_free(&t);
  return s;
}

// --- all of it

static heddle_status measure(arena *a, const measured_run *m, const measured_program *told, run *r, times *t) {
  double seconds;
  for (int i = 0; i < m->warmups; i++) TRY(run_timed(r, NULL, &seconds));
  if (!m->profiles) {
    TRY(run_repeatedly(a, m, r, NULL, t));
    const summary s = sum_up(t, &r->program->program);
    if (m->json) put_summary(m->told, told, r->program, &s);
    else print_summary(a, told, r->program, &s);
    return status_ok();
  }
  profile *watching;
  const profile_options options = {
      .keeps_events = m->trace != NULL, .counters = m->counters, .no_limits = m->no_limits};
  TRY(profile_start(&r->program->program, r->program->executable, &options, &watching));
  heddle_status s = run_repeatedly(a, m, r, watching, t);
  if (status_is_ok(s)) s = print_profile(m, watching);
  profile_end(watching);
  return s;
}

heddle_status measured_run_execute(arena *a, const measured_run *m, const measured_program *told, compiled *program,
                                   const argument_list *arguments, double *seconds, literal **result) {
  run r;
  times t = {0};
  TRY(run_bind(a, program, arguments->count, arguments->values, &r));
  heddle_status s = measure(a, m, told, &r, &t);
  *seconds = t.size > 0 ? t.data[0] : 0;
  if (status_is_ok(s)) s = run_fetch(a, &r, result);
  run_release(&r);
  return s;
}
