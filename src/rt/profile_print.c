// What a reader is told of a thunk is the same in all three forms: what it is, where it came from, and what it reached.
#include "rt/profile_print.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/map.h"

static double rate(double amount, const profile_row *row) {
  return row->seconds > 0 ? amount * (double)row->calls / row->seconds : 0;
}

// --- the table

typedef struct ranked {
  const profile_row **rows;
  int count;
  double seconds;  // of those that hold no others
} ranked;

static int costliest_first(const void *l, const void *r) {
  const profile_row *a = *(const profile_row *const *)l, *b = *(const profile_row *const *)r;
  if (a->seconds != b->seconds) return a->seconds < b->seconds ? 1 : -1;
  return (a > b) - (a < b);
}

static ranked rank(arena *a, const profile *p) {
  ranked made = {.rows = arena_array(a, const profile_row *, profile_row_count(p))};
  for (int i = 0; i < profile_row_count(p); i++) {
    const profile_row *row = profile_row_at(p, i);
    if (row->calls == 0) continue;
    made.rows[made.count++] = row;
    if (!row->holds) made.seconds += row->seconds;
  }
  if (made.count > 1) qsort(made.rows, (size_t)made.count, sizeof *made.rows, costliest_first);
  return made;
}

static void print_figure(text *out, double value, const char *format, int width) {
  if (value > 0) text_printf(out, format, width, value);
  else text_printf(out, "%*s", width, "-");
}

// The place in the user's program where the metadata tell it, else in the HLO.
static void print_origin(text *out, const program_thunk *t) {
  if (t->origin && t->origin[0]) text_printf(out, "  %s", t->origin);
  else if (t->where.line > 0) text_printf(out, "  %s:%d", t->where.file ? t->where.file : "", t->where.line);
}

static void print_row(text *out, const profile *p, const profile_row *row, double all) {
  const machine_limits *limits = profile_limits(p);
  text_printf(out, "  %10.3f %5.1f %7lld", row->seconds * 1e3, all > 0 ? row->seconds / all * 100 : 0,
              (long long)row->calls);
  print_figure(out, (double)row->bytes * 1e-6, " %*.3f", 9);
  print_figure(out, rate((double)row->bytes, row) * 1e-9, " %*.1f", 8);
  print_figure(out, row->holds ? 0 : rate(row->operations, row) * 1e-9, " %*.1f", 8);
  if (limits) print_figure(out, profile_share(p, row) * 100, " %*.0f", 6);
  for (int k = 0; profile_has_counters(p) && k < HARDWARE_COUNTER_COUNT; k++)
    text_printf(out, " %12.3g", (double)row->counters[k]);
  text_printf(out, "  %-11s %*s%s", row->kind, 2 * row->depth, "", row->thunk->name ? row->thunk->name : "");
  print_origin(out, row->thunk);
  text_putc(out, '\n');
}

static void print_notes(text *out, const profile *p) {
  const machine_limits *limits = profile_limits(p);
  if (limits)
    text_printf(out, "  limits of this machine with %d threads: %.1f GB/s, %.1f GFLOP/s (%s)\n", limits->threads,
                limits->bytes_per_second * 1e-9, limits->flops * 1e-9, limits->was_kept ? "kept" : "measured now");
  if (profile_no_counters(p)[0]) text_printf(out, "  %s\n", profile_no_counters(p));
  if (profile_lost_executions(p))
    text_printf(out, "  %lld executions were counted, but not kept for the trace\n",
                (long long)profile_lost_executions(p));
}

void profile_print_table(text *out, const profile *p, int most) {
  arena *a = arena_create();
  const ranked r = rank(a, p);
  text_printf(out, "  %10s %5s %7s %9s %8s %8s", "ms", "%", "calls", "MB", "GB/s", "GFLOP/s");
  if (profile_limits(p)) text_printf(out, " %6s", "limit%");
  for (int k = 0; profile_has_counters(p) && k < HARDWARE_COUNTER_COUNT; k++)
    text_printf(out, " %12s", hardware_counters_name((hardware_counter)k));
  text_printf(out, "  %-11s %s\n", "kind", "operation");
  for (int i = 0; i < r.count && (most <= 0 || i < most); i++) print_row(out, p, r.rows[i], r.seconds);
  text_printf(out, "  %10.3f in %d of %d operations; %d runs took %.3f ms\n", r.seconds * 1e3, r.count,
              profile_row_count(p), profile_runs(p), profile_seconds(p) * 1e3);
  print_notes(out, p);
  arena_destroy(a);
}

// --- JSON

static void put_limits(json_writer *w, const profile *p) {
  const machine_limits *limits = profile_limits(p);
  if (!limits) return;
  arena *a = arena_create();
  json_begin(w, "machine", '{');
  json_put_string(w, "cpu", str_from(machine_limits_cpu(a)));
  json_put_int(w, "threads", limits->threads);
  json_put_number(w, "bytes_per_second", limits->bytes_per_second);
  json_put_number(w, "flops", limits->flops);
  json_put_bool(w, "was_kept", limits->was_kept);
  json_end(w, '}');
  arena_destroy(a);
}

static void put_text(json_writer *w, const char *name, const char *value) {
  json_put_string(w, name, str_from(value ? value : ""));
}

static void put_row(json_writer *w, const profile *p, const profile_row *row) {
  const program_thunk *t = row->thunk;
  json_begin(w, NULL, '{');
  put_text(w, "kind", row->kind);
  put_text(w, "operation", t->name);
  put_text(w, "origin", t->origin);
  put_text(w, "file", t->where.file);
  json_put_int(w, "line", t->where.line);
  json_put_int(w, "depth", row->depth);
  json_put_bool(w, "holds_others", row->holds);
  json_put_int(w, "calls", row->calls);
  json_put_number(w, "seconds", row->seconds);
  json_put_number(w, "least_seconds", row->least_seconds);
  json_put_number(w, "most_seconds", row->most_seconds);
  json_put_int(w, "bytes", row->bytes);
  json_put_number(w, "operations", row->operations);
  json_put_number(w, "bytes_per_second", rate((double)row->bytes, row));
  json_put_number(w, "flops", row->holds ? 0 : rate(row->operations, row));
  if (profile_limits(p)) json_put_number(w, "share_of_limit", profile_share(p, row));
  for (int k = 0; profile_has_counters(p) && k < HARDWARE_COUNTER_COUNT; k++)
    json_put_int(w, hardware_counters_name((hardware_counter)k), (int64_t)row->counters[k]);
  json_end(w, '}');
}

void profile_print_json(text *out, const profile *p) {
  json_writer w = {.out = out};
  json_begin(&w, NULL, '{');
  put_text(&w, "program", profile_program(p)->name);
  json_put_int(&w, "runs", profile_runs(p));
  json_put_number(&w, "seconds", profile_seconds(p));
  put_limits(&w, p);
  if (profile_no_counters(p)[0]) put_text(&w, "no_counters", profile_no_counters(p));
  json_begin(&w, "thunks", '[');
  for (int i = 0; i < profile_row_count(p); i++) put_row(&w, p, profile_row_at(p, i));
  json_end(&w, ']');
  json_end(&w, '}');
}

// --- the trace

static void put_name(json_writer *w, const char *what, int device, int thread, const char *name) {
  json_begin(w, NULL, '{');
  put_text(w, "ph", "M");
  put_text(w, "name", what);
  json_put_int(w, "pid", device);
  json_put_int(w, "tid", thread);
  json_begin(w, "args", '{');
  put_text(w, "name", name);
  json_end(w, '}');
  json_end(w, '}');
}

// Rows of streams come below those of threads.
enum { STREAM_ROWS = 1 << 16 };

static int trace_row(const profile_execution *e) { return e->stream >= 0 ? STREAM_ROWS + e->stream : e->thread; }

static void put_row_name(json_writer *w, arena *a, const profile_execution *e) {
  const bool is_stream = e->stream >= 0;
  put_name(w, "thread_name", e->device, trace_row(e),
           arena_printf(a, "%s %d", is_stream ? "stream" : "thread", is_stream ? e->stream : e->thread));
}

// Which threads and streams have worked for which device: they are given names in the order in which they came.
static void put_names(json_writer *w, const profile *p) {
  arena *a = arena_create();
  ptr_map seen = {0};
  for (int64_t i = 0; i < profile_execution_count(p); i++) {
    const profile_execution *e = profile_execution_at(p, i);
    const void *device = (void *)(intptr_t)(e->device + 1);
    const void *row = (void *)(((intptr_t)(e->device + 1) << 32) + trace_row(e) + 1);
    if (!ptr_map_has(&seen, device)) put_name(w, "process_name", e->device, 0, arena_printf(a, "device %d", e->device));
    if (!ptr_map_has(&seen, row)) put_row_name(w, a, e);
    ptr_map_put(a, &seen, device, (void *)w);
    ptr_map_put(a, &seen, row, (void *)w);
  }
  arena_destroy(a);
}

static void put_execution(json_writer *w, const profile *p, const profile_execution *e) {
  const profile_row *row = profile_row_at(p, e->row);
  const program_thunk *t = row->thunk;
  const double seconds = e->end - e->begin;
  json_begin(w, NULL, '{');
  put_text(w, "ph", "X");
  put_text(w, "name", t->name);
  put_text(w, "cat", row->kind);
  json_put_number(w, "ts", round(e->begin * 1e9) * 1e-3);
  json_put_number(w, "dur", round(seconds * 1e9) * 1e-3);
  json_put_int(w, "pid", e->device);
  json_put_int(w, "tid", trace_row(e));
  json_begin(w, "args", '{');
  if (e->stream >= 0) json_put_int(w, "stream", e->stream);
  else json_put_int(w, "threads", e->threads);
  put_text(w, "origin", t->origin);
  put_text(w, "file", t->where.file);
  json_put_int(w, "line", t->where.line);
  json_put_int(w, "bytes", row->bytes);
  json_put_number(w, "operations", row->operations);
  json_put_number(w, "GB/s", seconds > 0 ? (double)row->bytes / seconds * 1e-9 : 0);
  json_put_number(w, "GFLOP/s", seconds > 0 && !row->holds ? row->operations / seconds * 1e-9 : 0);
  json_end(w, '}');
  json_end(w, '}');
}

void profile_print_trace(text *out, const profile *p) {
  json_writer w = {.out = out};
  json_begin(&w, NULL, '{');
  put_text(&w, "displayTimeUnit", "ns");
  json_begin(&w, "otherData", '{');
  put_text(&w, "program", profile_program(p)->name);
  json_put_int(&w, "lost_executions", profile_lost_executions(p));
  json_end(&w, '}');
  json_begin(&w, "traceEvents", '[');
  put_names(&w, p);
  for (int64_t i = 0; i < profile_execution_count(p); i++) put_execution(&w, p, profile_execution_at(p, i));
  json_end(&w, ']');
  json_end(&w, '}');
}
