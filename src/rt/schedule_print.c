#include "rt/schedule_print.h"

#include "rt/nested.h"
#include "rt/program_check.h"
#include "rt/stream_schedule.h"

enum { INDENT = 2 };

static void print_thunk(text *out, const program_thunk *t) {
  text_printf(out, " %s%s%s", program_thunk_kind_name(t->kind), t->name && t->name[0] ? " " : "",
              t->name ? t->name : "");
}

// Sequences of a while are its condition and its body, of a conditional its branches.
static void print_title(text *out, const program_thunk *t, int number, int depth) {
  text_printf(out, "%*s", depth * INDENT, "");
  if (t->kind == THUNK_CONDITIONAL) text_printf(out, "branch %d\n", number);
  else text_puts(out, t->kind == THUNK_WHILE && number == 0 ? "condition\n" : "body\n");
}

// --- streams of a device

typedef struct printing {
  text *out;
  arena *arena;
  const program *program;
  int streams;
} printing;

static void print_streams(const printing *w, const program_sequence *s, int depth);

static void print_batch(const printing *w, const program_sequence *s, const stream_batch *b, int number, int depth) {
  text_printf(w->out, "%*s%d ", depth * INDENT, "", number);
  if (b->stream == STREAM_HOST) text_puts(w->out, "host");
  else text_printf(w->out, "stream %d", b->stream);
  for (int k = 0; k < b->wait_count; k++) text_printf(w->out, "%s %d", k ? "," : " behind", b->waits[k]);
  text_putc(w->out, ':');
  for (int k = 0; k < b->count; k++) {
    if (k) text_putc(w->out, ',');
    print_thunk(w->out, s->thunks[b->thunks[k]]);
  }
  const program_thunk *first = s->thunks[b->thunks[0]];
  const int turns = first->kind == THUNK_WHILE ? stream_schedule_turns(w->program, first) : 0;
  if (turns) text_printf(w->out, ", the device makes %d turns at a time", turns);
  text_putc(w->out, '\n');
  for (int k = 0; b->stream == STREAM_HOST && k < first->sequence_count; k++) {
    print_title(w->out, first, k, depth + 1);
    print_streams(w, &first->sequences[k], depth + 2);
  }
}

// Sequences nest as deep as program_check allows.
static void print_streams(const printing *w, const program_sequence *s, int depth) {
  stream_schedule schedule;
  stream_schedule_make(w->arena, w->program, s, &(device_abilities){w->streams, true}, &schedule);
  for (int k = 0; k < schedule.batch_count; k++) print_batch(w, s, &schedule.batches[k], k, depth);
}

// --- steps of threads

static void print_steps(text *out, const sequence *s, int depth) {
  for (int i = 0; i < sequence_step_count(s); i++) {
    const int size = sequence_step_size(s, i);
    text_printf(out, "%*s%d%s:", depth * INDENT, "", i, size > 1 ? " side by side" : "");
    for (int k = 0; k < size; k++) {
      if (k) text_putc(out, ',');
      print_thunk(out, sequence_step_thunk(s, i, k)->from);
    }
    text_putc(out, '\n');
    for (int k = 0; k < size; k++) {
      const thunk *t = sequence_step_thunk(s, i, k);
      for (int n = 0; n < t->from->sequence_count; n++) {
        print_title(out, t->from, n, depth + 1);
        print_steps(out, nested_sequence(t, n), depth + 2);
      }
    }
  }
}

static heddle_status print_for_threads(text *out, arena *a, const program *p, int threads) {
  const run_context context = {.program = p, .threads = threads};
  sequence *entry;
  TRY(sequence_create(a, &context, &p->entry, &entry));
  text_printf(out, "schedule of %s for %d threads\n", p->name, threads);
  print_steps(out, entry, 1);
  sequence_release(entry);
  return status_ok();
}

heddle_status schedule_print(text *out, const program *p, int threads) {
  TRY(program_check(p));
  arena *a = arena_create();
  heddle_status s = status_ok();
  if (p->device == TARGET_CPU) {
    s = print_for_threads(out, a, p, threads);
  } else {
    const printing w = {out, a, p, p->streams ? p->streams : SCHEDULE_SHOWN_STREAMS};
    text_printf(out, "schedule of %s for %d streams of %s\n", p->name, w.streams, target_kind_name(p->device));
    print_streams(&w, &p->entry, 1);
  }
  arena_destroy(a);
  return s;
}
