// heddle-run: saved programs without the compiler. It links nothing but base, lib, link, prog and rt.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cpu_level.h"
#include "base/log.h"
#include "prog/program_sizes.h"
#include "rt/memory_watch.h"
#include "rt/saved_program.h"
#include "tools/device_flags.h"
#include "tools/flags.h"
#include "tools/plain_array.h"
#include "tools/saved_facts.h"
#include "tools/saved_print.h"

typedef struct run_flags {
  flag_list inputs, outputs;
  const char *cpu, *device, *sizes;
  int random;  // the seed of made-up arguments, or -1: they come from files
  int threads, repeat, v;
  bool trusts_checksums, print, info, time, json;
  saved_facts *facts;  // that --json asks for; else null
} run_flags;

// --- arguments and results

static heddle_status find_arguments(arena *a, const program *p, const run_flags *f, const void ****out) {
  const int each = p->parameter_count, given = f->inputs.size;
  const bool is_random = f->random >= 0;
  if (!is_random && given != each && given != each * p->device_count)
    return status_error(HEDDLE_INVALID, "found %d --input files, wanted %d: one for each parameter (or --random)",
                        given, each);
  const void ***arrays = arena_array(a, const void **, p->device_count);
  for (int d = 0; d < p->device_count; d++) {
    arrays[d] = arena_array(a, const void *, each);
    for (int k = 0; k < each; k++) {
      const program_shape *s = &p->parameters[k].shape;
      void *memory = arena_try_alloc(a, (size_t)program_shape_bytes(s));
      if (!memory) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for argument %d", k);
      arrays[d][k] = memory;
      if (is_random) plain_array_fill(s, (uint64_t)f->random + (uint64_t)k, memory);
      else
        TRY(status_context(plain_array_read(f->inputs.data[(d * each + k) % given], s, memory),
                           "while reading input %d", k));
    }
  }
  *out = arrays;
  return status_ok();
}

static heddle_status take_result(arena *a, const invocation *i, int device, int number, const run_flags *f) {
  const program *p = i->of->program;
  const program_shape *s = &p->results[number].shape;
  const int place = device * p->given_result_count + number;
  int64_t dims[PROGRAM_MAX_RANK];
  void *memory = arena_try_alloc(a, (size_t)program_shape_bytes(s));
  if (!memory) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for result %d", number);
  TRY(invocation_fetch(i, device, number, memory, dims));
  if (f->print) plain_array_print(stdout, place, s, dims, memory);
  return place < f->outputs.size ? plain_array_write(f->outputs.data[place], s, dims, memory) : status_ok();
}

static heddle_status execute(const invocation *i, const run_flags *f) {
  double best = 0;
  for (int k = 0; k < f->repeat; k++) {
    const double start = log_seconds();
    TRY(invocation_execute(i));
    const double seconds = log_seconds() - start;
    if (!k || seconds < best) best = seconds;
  }
  if (f->time) fprintf(stderr, "run %.3f ms\n", best * 1e3);
  if (f->facts) saved_facts_put_run(f->facts, f->repeat, best);
  return status_ok();
}

// Of a program with a limit what its runs take is measured, but while they are timed.
static heddle_status execute_within_limit(arena *a, const invocable *callable, const invocation *i,
                                          const run_flags *f) {
  const int64_t limit = callable->program->memory_limit;
  if (limit == 0 || f->time || f->facts) return execute(i, f);
  memory_watch watch;
  memory_watch_start(&watch, a, callable->executable);
  heddle_status s = execute(i, f);
  executable_set_profiler(callable->executable, NULL, NULL);
  TRY(s);
  const int64_t measured = atomic_load(&watch.peak);
  fprintf(stderr, "memory: limit %" PRId64 " bytes, measured %" PRId64 "\n", limit, measured);
  if (measured <= limit) return status_ok();
  return status_error(HEDDLE_INTERNAL, "the run took %" PRId64 " bytes of %" PRId64, measured, limit);
}

static heddle_status run_program(arena *a, const invocable *callable, const run_flags *f) {
  const program *p = callable->program;
  const void ***arguments = NULL;
  invocation i;
  TRY(find_arguments(a, p, f, &arguments));
  if (f->outputs.size > p->given_result_count * p->device_count)
    return status_error(HEDDLE_INVALID, "found %d --output files for %d results", f->outputs.size,
                        p->given_result_count * p->device_count);
  TRY(invocation_bind(a, callable, (const void *const *const *)arguments, false, &i));
  heddle_status s = execute_within_limit(a, callable, &i, f);
  for (int d = 0; d < p->device_count; d++)
    for (int k = 0; k < p->given_result_count && status_is_ok(s); k++) s = take_result(a, &i, d, k, f);
  invocation_release(&i);
  return s;
}

// At the sizes that --sizes gives.
static heddle_status run_open(arena *a, const saved_program *saved, const run_flags *f) {
  const program *p = saved_program_plan(saved);
  if (!f->sizes)
    return status_error(HEDDLE_INVALID, "the program has sizes that its runs decide: give --sizes=N, %d numbers",
                        program_sizes_given_count(&p->sizes));
  int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
  TRY(program_sizes_read(&p->sizes, f->sizes, symbols));
  const program *filled = program_sizes_fill(a, p, symbols);
  const int64_t **dims = arena_array(a, const int64_t *, p->parameter_count);
  for (int k = 0; k < p->parameter_count; k++) dims[k] = filled->parameters[k].shape.dims;
  open_instance *instance;
  TRY(open_instances_take(saved_program_instances(saved), dims, &instance));
  heddle_status s = run_program(a, &instance->callable, f);
  open_instances_give(saved_program_instances(saved), instance);
  return s;
}

static heddle_status run_path(arena *a, const char *path, const run_flags *f) {
  const double start = log_seconds();
  const saved_program_options options = {.trusts_checksums = f->trusts_checksums,
                                         .threads = f->threads,
                                         .device = f->device,
                                         .level = f->cpu,
                                         .inspects = f->info};
  saved_program *saved;
  TRY(saved_program_open(path, &options, &saved));
  if (f->time) fprintf(stderr, "load %.3f ms\n", (log_seconds() - start) * 1e3);
  heddle_status s = status_ok();
  if (f->facts) saved_facts_put_file(f->facts, a, saved);
  if (f->info && !f->facts) {
    text shown = {0};
    saved_print(&shown, a, saved);
    fwrite(shown.data, 1, shown.size, stdout);
    text_free(&shown);
  }
  if (f->info) {
    saved_program_close(saved);
    return s;
  }
  if (saved_program_instances(saved)) s = run_open(a, saved, f);
  else s = run_program(a, saved_program_invocable(saved), f);
  saved_program_close(saved);
  return s;
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  run_flags *f = argument;
  log_set_level(f->v);
  if (!f->json) return run_path(a, path, f);
  saved_facts told;
  saved_facts_begin(&told, path);
  f->facts = &told;
  heddle_status s = run_path(a, path, f);
  f->facts = NULL;
  return saved_facts_end(&told, s);
}

// The libraries are loaded when a program needs them, so that their limits can still be set.
static heddle_status check_flags(void *argument) {
  const run_flags *f = argument;
  cpu_level level;
  if (f->random >= 0 && f->inputs.size)
    return status_error(HEDDLE_INVALID, "found --random and --input, wanted one of them");
  if (f->json && f->print) return status_error(HEDDLE_INVALID, "found --json and --print, wanted one of them");
  for (int k = 0; k < f->outputs.size && (f->json || f->print); k++)
    if (strcmp(f->outputs.data[k], "-") == 0 || strcmp(f->outputs.data[k], "@-") == 0)
      return status_error(HEDDLE_INVALID, "found %s and --output=-, wanted one of them: both are for standard output",
                          f->json ? "--json" : "--print");
  if (!f->cpu || !cpu_level_find(f->cpu, &level) || level == CPU_LEVEL_NATIVE) return status_ok();
  if (setenv("ONEDNN_MAX_CPU_ISA", cpu_levels[level].onednn, 1) != 0 ||
      setenv("OPENBLAS_CORETYPE", cpu_levels[level].openblas, 1) != 0)
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the environment");
  cpu_level_limit(level);
  return status_ok();
}

int main(int argc, char **argv) {
  run_flags f = {.random = -1, .repeat = 1};
  const flag flags[] = {
      {"input", FLAG_LIST, &f.inputs, "FILE", "an argument: x.npy, or a file of its bytes, row-major"},
      {"random", FLAG_SEED, &f.random, "SEED", "made-up arguments, the same for a seed (0)"},
      {"output", FLAG_LIST, &f.outputs, "FILE", "where to write a result: x.npy, or its bytes"},
      {"print", FLAG_BOOL, &f.print, NULL, "print the results"},
      {"info", FLAG_BOOL, &f.info, NULL, "print what the file holds, and do not run it"},
      {"json", FLAG_BOOL, &f.json, NULL, "print JSON: what the file holds, times, the error"},
      {"sizes", FLAG_TEXT, &f.sizes, "N[,M]", "the sizes of a program that was saved for all of them"},
      {"repeat", FLAG_COUNT, &f.repeat, "N", "run so many times (1)"},
      {"time", FLAG_BOOL, &f.time, NULL, "print the time of loading and of the fastest run on standard error"},
      {"threads", FLAG_THREADS, &f.threads, "N", "threads to run on (all cores)"},
      DEVICE_FLAG(f.device),
      {"cpu", FLAG_TEXT, &f.cpu, "LEVEL", "the code to take and the limit of the libraries (the best that runs)"},
      {"trust-checksums", FLAG_BOOL, &f.trusts_checksums, NULL, "do not look whether the file is damaged"},
      {"v", FLAG_SIZE, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {"heddle-run MODEL.heddle [flags]",
                             "Runs a program that `heddle compile -o MODEL.heddle` has saved.", flags, check_flags};
  return command_line_main(&line, argc - 1, argv + 1, NULL, run_file, &f);
}
