// One module under measurement: a process that does what lines on standard input say and answers each with one line.
//
//   bench_kernel MODULE [--exact] [--threads=N] [--codegen=WHO] [--cpu=LEVEL] [--passes] --input=@in0.npy ...
//
// MODULE is in any format.
//
//   compile      text to runnable, anew:  compile SECONDS cpu=SECONDS parse=SECONDS plan=SECONDS ...
//   run N [M]    best of N runs:          run SECONDS cpu=SECONDS       by the clock, and of all its threads together;
//                with M of N times M runs in a row, divided by M: what is short is not measured with the clock's own
//                time
//   copy         a plain copy of the same traffic:  copy SECONDS
//   write PREFIX the last results as PREFIX0000.npy, …: written
//
// run.py talks to two such processes in turn, so that both sides see the same machine.
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "hlo/npy.h"
#include "import/import.h"
#include "rt/bandwidth.h"
#include "tools/codegen_flag.h"
#include "tools/cpu_flag.h"
#include "tools/execute.h"
#include "tools/fake_arguments.h"

typedef struct bench {
  flag_list inputs;
  int threads;
  bool exact, unbound, random, passes;
  const char *codegen_name, *cpu;
  target_codegen codegen;
  const char *path;
  str source;
  arena *arena;  // of the compiled program; a new one for each compilation
  compiled program;
  run bound;
  pass_control control;  // of the last compilation
} bench;

static void release(bench *b) {
  if (!b->arena) return;
  if (!b->unbound) run_release(&b->bound);
  compiled_release(&b->program);
  arena_destroy(b->arena);
  b->arena = NULL;
}

static heddle_status read_input(void *context, arena *a, int number, const shape *s, literal **out) {
  const bench *b = context;
  if (number >= b->inputs.size) return status_error(HEDDLE_INVALID, "no --input for %s", shape_text(a, s));
  const char *path = b->inputs.data[number];
  return npy_read(a, path + (path[0] == '@'), s, out);
}

static heddle_status bind_inputs(bench *b, const module *m) {
  arena *scratch = arena_create();
  argument_list arguments;
  heddle_status s = b->random ? fake_arguments(scratch, m, 0, false, &arguments)
                              : argument_list_make(scratch, m, b->inputs.size, read_input, b, &arguments);
  if (status_is_ok(s)) s = run_bind(b->arena, &b->program, arguments.count, arguments.values, &b->bound);
  arena_destroy(scratch);
  return s;
}

static void print_stages(double seconds, double busy, double parse, const compile_times *times) {
  printf("compile %.9f cpu=%.9f parse=%.9f", seconds, busy, parse);
  for (int i = 0; i < times->count; i++) printf(" %s=%.9f", times->stages[i].name, times->stages[i].seconds);
  printf("\n");
}

static heddle_status compile_in(bench *b) {
  double start = log_seconds(), busy = log_cpu_seconds();
  module *m;
  TRY(import_module(b->arena, b->path, b->source, NULL, &m));
  double parsed = log_seconds();
  b->control = (pass_control){.bisect = -1, .time = true};
  const compile_options options = {
      .exact = b->exact, .threads = b->threads, .codegen = b->codegen, .control = b->passes ? &b->control : NULL};
  TRY(compile_module(b->arena, m, &options, &b->program));
  double end = log_seconds();
  busy = log_cpu_seconds() - busy;
  heddle_status s = b->unbound ? status_ok() : bind_inputs(b, m);
  if (!status_is_ok(s)) {
    compiled_release(&b->program);
    return s;
  }
  print_stages(end - start, busy, parsed - start, &b->program.times);
  return s;
}

static heddle_status compile(bench *b) {
  release(b);
  b->arena = arena_create();
  heddle_status s = compile_in(b);
  if (!status_is_ok(s)) {  // there is no program that release() could let go
    arena_destroy(b->arena);
    b->arena = NULL;
  }
  return s;
}

static heddle_status measure(bench *b, const char *counts) {
  char *rest = NULL;
  const long runs = strtol(counts, &rest, 10), wanted = strtol(rest, NULL, 10), repeats = wanted > 1 ? wanted : 1;
  double best = 0, least = 0;
  for (long i = 0; i < runs; i++) {
    double start = log_seconds(), busy = log_cpu_seconds();
    for (long k = 0; k < repeats; k++) TRY(run_execute(&b->bound));
    double seconds = (log_seconds() - start) / (double)repeats;
    busy = (log_cpu_seconds() - busy) / (double)repeats;
    if (i == 0 || seconds < best) best = seconds;
    if (i == 0 || busy < least) least = busy;
  }
  printf("run %.9f cpu=%.9f\n", best, least);
  return status_ok();
}

static heddle_status measure_copy(const bench *b) {
  int64_t bytes = 0;
  const program *p = &b->program.program;
  for (int i = 0; i < p->allocation_count; i++)
    if (p->allocations[i].kind == PROGRAM_PARAMETER || p->allocations[i].kind == PROGRAM_RESULT)
      bytes += p->allocations[i].bytes;
  double speed = bandwidth_of_copy(bytes / 2, b->program.threads);
  if (speed <= 0) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a copy of %lld bytes", (long long)bytes / 2);
  printf("copy %.9f\n", (double)bytes / speed);
  return status_ok();
}

static heddle_status write_results(const bench *b, const char *prefix) {
  arena *scratch = arena_create();
  literal *result;
  literal_list leaves = {0};
  heddle_status s = run_fetch(scratch, &b->bound, &result);
  if (status_is_ok(s)) execute_leaves(scratch, result, &leaves);
  for (int i = 0; i < leaves.size && status_is_ok(s); i++)
    s = npy_write(arena_printf(scratch, "%s%04d.npy", prefix, i), leaves.data[i]);
  arena_destroy(scratch);
  if (status_is_ok(s)) printf("written\n");
  return s;
}

static heddle_status obey(bench *b, char *line) {
  line[strcspn(line, "\n")] = 0;
  if (strcmp(line, "compile") == 0) return compile(b);
  if (!b->arena || b->unbound) return status_error(HEDDLE_INVALID, "found %s, wanted compile first", line);
  if (strncmp(line, "run ", 4) == 0) return measure(b, line + 4);
  if (strcmp(line, "copy") == 0) return measure_copy(b);
  if (strncmp(line, "write ", 6) == 0) return write_results(b, line + 6);
  return status_error(HEDDLE_INVALID, "found %s, wanted compile, run, copy or write", line);
}

static heddle_status serve(arena *a, const char *path, void *argument) {
  bench *b = argument;
  char line[4096];
  b->path = path;
  TRY(cpu_flag_take(b->cpu, true));
  TRY(codegen_flag_take(b->codegen_name, &b->codegen));
  heddle_status s = file_read(a, path, &b->source);
  while (status_is_ok(s) && fgets(line, sizeof line, stdin)) {
    s = obey(b, line);
    fflush(stdout);
  }
  if (b->passes) pass_times_print(stderr, &b->control);
  release(b);
  return s;
}

int main(int argc, char **argv) {
  bench b = {.threads = 2};
  const flag flags[] = {
      {"input", FLAG_LIST, &b.inputs, "@FILE.npy", "an argument"},
      {"exact", FLAG_BOOL, &b.exact, NULL, "keep every rounding the HLO asks for"},
      {"random", FLAG_BOOL, &b.random, NULL, "arguments are made up: there is no --input"},
      CODEGEN_FLAG(b.codegen_name),
      {"cpu", FLAG_TEXT, &b.cpu, CPU_FLAG_ARGUMENT, "the instruction set that code and libraries keep to (native)"},
      {"unbound", FLAG_BOOL, &b.unbound, NULL, "compile only: there are no arguments"},
      {"passes", FLAG_BOOL, &b.passes, NULL, "at the end the time of each pass of the last compilation"},
      {"threads", FLAG_INT, &b.threads, "N", "threads to run on (2)"},
      {0},
  };
  const command_line line = {"bench_kernel MODULE [flags]", "Compiles and runs as standard input says.", flags};
  return command_line_main(&line, argc - 1, argv + 1, NULL, serve, &b);
}
