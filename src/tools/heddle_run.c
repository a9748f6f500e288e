// heddle run MODULE: inputs from .npy files, results to .npy files, compared with expected ones.
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "hlo/device_groups.h"
#include "hlo/npy.h"
#include "import/import.h"
#include "tools/execute.h"
#include "tools/heddle_commands.h"
#include "tools/profile.h"
#include "tools/reading.h"

typedef struct run_flags {
  flag_list inputs, expected, outputs;
  const char *platform;
  const char *dump_folder, *entry;
  double rtol, atol;
  int threads, v;
  bool exact, time, print, profile;
  VEC(literal *)
  made_up;  // arguments of a program with open dims that came without --input; null for other than arrays
} run_flags;

// "@file.npy" or "file.npy".
static const char *npy_path(const char *text) { return text[0] == '@' ? text + 1 : text; }

static heddle_status read_input(void *context, arena *a, int number, const shape *s, literal **out) {
  const flag_list *files = context;
  if (number >= files->size)
    return status_error(HEDDLE_INVALID, "found %d --input files, wanted one for input %d, %s, too", files->size, number,
                        shape_text(a, s));
  return status_context(npy_read(a, npy_path(files->data[number]), s, out), "while reading input %d, %s", number,
                        shape_text(a, s));
}

// The size of every `?` of a program that runs without --input, and the value of its integer scalars: jax.export hands
// sizes over as such.
enum { MADE_UP_SIZE = 4 };

static heddle_status make_up_argument(arena *a, unsigned seed, const shape *declared, literal **out) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0; i < declared->rank; i++) dims[i] = declared->dims[i] < 0 ? MADE_UP_SIZE : declared->dims[i];
  TRY(random_literal(a, shape_array(a, declared->dtype, declared->rank, dims), seed, out));
  if (declared->rank == 0 && dtype_is_integer(declared->dtype)) literal_set_int(*out, 0, MADE_UP_SIZE);
  return status_ok();
}

// What decides the open dims of a program.
static heddle_status give_argument(void *context, arena *a, int number, const shape *declared, literal **out) {
  run_flags *f = context;
  *out = NULL;
  if (f->inputs.size > 0)
    return shape_is_array(declared) ? read_input(&f->inputs, a, number, declared, out) : status_ok();
  if (number == 0) {
    fprintf(stderr, "note: no --input: arguments are made up, every ? is %d\n", MADE_UP_SIZE);
    f->made_up.size = 0;
  }
  if (shape_is_array(declared)) TRY(make_up_argument(a, (unsigned)number, declared, out));
  vec_push(a, &f->made_up, *out);
  return status_ok();
}

static heddle_status take_made_up(void *context, arena *a, int number, const shape *s, literal **out) {
  const run_flags *f = context;
  (void)a;
  if (number >= f->made_up.size || !f->made_up.data[number])
    return status_error(HEDDLE_INVALID, "found no value for input %d, %s: give one with --input", number,
                        shape_text(a, s));
  *out = f->made_up.data[number];
  return status_ok();
}

static heddle_status read_inputs(arena *a, const module *m, run_flags *f, argument_list *out) {
  if (f->made_up.size > 0) return make_arguments(a, m, f->made_up.size, take_made_up, f, out);
  TRY(make_arguments(a, m, f->inputs.size, read_input, &f->inputs, out));
  if (f->inputs.size == out->leaf_count) return status_ok();
  return status_error(HEDDLE_INVALID, "found %d --input files, wanted %d: one for each parameter", f->inputs.size,
                      out->leaf_count);
}

// What one device must have stands for all of them.
static heddle_status check_expected(arena *a, const literal_list *results, int devices, const run_flags *f) {
  const int each = results->size / devices;
  if (f->expected.size == 0) return status_ok();
  if (f->expected.size != results->size && f->expected.size != each)
    return status_error(HEDDLE_INVALID, "found %d --expected_output files, wanted %d: one for each result",
                        f->expected.size, results->size);
  for (int i = 0; i < results->size; i++) {
    literal *expected;
    TRY(npy_read(a, npy_path(f->expected.data[i % f->expected.size]), results->data[i]->shape, &expected));
    heddle_status s = literal_compare(results->data[i], expected, f->rtol, f->atol);
    TRY(devices > 1 ? status_context(s, "in result %d of device %d", i % each, i / each)
                    : status_context(s, "in result %d", i));
  }
  return status_ok();
}

static heddle_status write_outputs(const literal_list *results, const flag_list *files) {
  if (files->size > results->size)
    return status_error(HEDDLE_INVALID, "found %d --output files, but the module has %d results", files->size,
                        results->size);
  for (int i = 0; i < files->size; i++) TRY(npy_write(npy_path(files->data[i]), results->data[i]));
  return status_ok();
}

static heddle_status compile_options_of(const run_flags *f, compile_options *out) {
  *out = (compile_options){.exact = f->exact, .threads = f->threads};
  if (!f->dump_folder) return status_ok();
  out->dump = dump_to_folder;
  out->dump_argument = (void *)f->dump_folder;
  return file_make_folder(f->dump_folder);
}

enum { PROFILE_LINES = 40 };

typedef struct timing {
  compile_times *times;
  double *seconds;
} timing;

static heddle_status run_compiled(arena *a, const run_flags *f, compiled *program, const argument_list *arguments,
                                  const timing *t, literal **result) {
  compile_times *times = t->times;
  profile seen;
  if (f->profile) profile_start(&seen, a, program->executable);
  for (int i = 0; i < program->times.count && times->count < COMPILE_STAGES_MAX; i++)
    times->stages[times->count++] = program->times.stages[i];
  double start = log_seconds();
  heddle_status s = run_once(a, program, arguments->count, arguments->values, result);
  *t->seconds = log_seconds() - start;
  if (f->profile) profile_print(stderr, &seen, PROFILE_LINES);
  compiled_release(program);
  return s;
}

static heddle_status run_cpu(arena *a, const module *m, const run_flags *f, const argument_list *arguments,
                             compile_times *times, double *seconds, literal **result) {
  compile_options options;
  TRY(compile_options_of(f, &options));
  compiled program;
  TRY(compile_cpu(a, m, &options, &program));
  return run_compiled(a, f, &program, arguments, &(timing){times, seconds}, result);
}

// Of what `devices` have, which are elements of the result if there are several.
static heddle_status report_run(arena *a, const run_flags *f, const compile_times *times, double seconds, int devices,
                                literal *result) {
  if (f->time) {
    print_compile_times(stderr, times);
    fprintf(stderr, "  %-10s %9.3f ms\n", "run", seconds * 1e3);
  }
  literal_list results = {0};
  literal_leaves(a, result, &results);
  if (f->print) print_results(stdout, a, "result", devices, result);
  TRY(write_outputs(&results, &f->outputs));
  return check_expected(a, &results, devices, f);
}

// A program written as LHLO: what passes and planning would have decided stands in it.
static heddle_status run_lhlo(arena *a, const char *path, str source, run_flags *f) {
  compile_options options;
  TRY(compile_options_of(f, &options));
  plan_target target = plan_target_cpu(f->threads > 0 ? f->threads : pool_default_threads());
  double start = log_seconds();
  lhlo_program *plan;
  TRY(lhlo_parse(a, source, path, &target, &plan));
  compile_times times = {.stages = {{"parse", log_seconds() - start}}, .count = 1};
  const int each = plan->parameter_count, given = f->inputs.size;
  if (given != each && given != each * plan->device_count)
    return status_error(HEDDLE_INVALID, "found %d --input files, wanted %d: one for each parameter", given, each);
  argument_list arguments = {.count = given, .values = arena_array(a, literal *, given)};
  for (int i = 0; i < given; i++) TRY(read_input(&f->inputs, a, i, plan->parameters[i % each], &arguments.values[i]));
  compiled program;
  TRY(compile_lhlo(a, plan, &options, &program));
  double seconds;
  literal *result;
  TRY(run_compiled(a, f, &program, &arguments, &(timing){&times, &seconds}, &result));
  return report_run(a, f, &times, seconds, plan->device_count, result);
}

// Names in HLO may hold anything.
static bool is_lhlo(str source) {
  return memmem(source.data, source.size, "lmhlo.", 6) && import_sniff(source) == IMPORT_MLIR_TEXT;
}

static heddle_status run_module(arena *a, const module *m, platform on, run_flags *f, compile_times *times) {
  argument_list arguments;
  literal *result;
  int devices;
  TRY(device_groups_count(m, &devices));
  TRY(read_inputs(a, m, f, &arguments));
  double seconds = 0;
  if (on == PLATFORM_CPU) {
    TRY(run_cpu(a, m, f, &arguments, times, &seconds, &result));
  } else {
    double start = log_seconds();
    TRY(execute_module(a, m, on, &(compile_options){0}, &arguments, &result));
    seconds = log_seconds() - start;
  }
  return report_run(a, f, times, seconds, devices, result);
}

// Made-up sizes need not fit a program. It is then only read, written and read back. Takes ownership of `misfit`.
static heddle_status read_only(arena *a, const char *path, str bytes, heddle_status misfit) {
  fprintf(stderr, "note: read, but not run: %s\n", status_brief(misfit));
  heddle_status_free(misfit);
  return reading_check(a, path, bytes);
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  run_flags *f = argument;
  log_set_level(f->v);
  platform on;
  TRY(platform_from_name(f->platform, &on));
  double start = log_seconds();
  str bytes;
  module **programs;
  int count;
  TRY(file_read(a, path, &bytes));
  if (is_lhlo(bytes)) {
    if (on == PLATFORM_CPU) return run_lhlo(a, path, bytes, f);
    return status_error(HEDDLE_UNIMPLEMENTED, "LHLO runs on the CPU, found --platform=%s", f->platform);
  }
  const import_options options = {.argument = give_argument, .argument_context = f, .entry = str_from(f->entry)};
  heddle_status read = import_all(a, path, bytes, &options, &count, &programs);
  if (!status_is_ok(read) && f->made_up.size > 0) return read_only(a, path, bytes, read);
  TRY(read);
  if (count > 1 && f->inputs.size + f->expected.size + f->outputs.size > 0)
    return status_error(HEDDLE_INVALID,
                        "found %d programs in '%s', wanted one for --input, --output and so on: name it "
                        "with --entry",
                        count, path);
  compile_times times = {.stages = {{"parse", log_seconds() - start}}, .count = 1};
  for (int i = 0; i < count; i++) {
    heddle_status s = run_module(a, programs[i], on, f, &times);
    TRY(count > 1 ? status_context(s, "in program %d of %d, " STR_FMT, i + 1, count, STR_ARG(programs[i]->name)) : s);
  }
  return status_ok();
}

int heddle_run(int argc, char **argv) {
  run_flags f = {.platform = "cpu", .entry = "", .rtol = 1e-5, .atol = 1e-6};
  const flag flags[] = {
      {"input", FLAG_LIST, &f.inputs, "@FILE.npy", "an argument, in the order of the parameters (and devices)"},
      {"expected_output", FLAG_LIST, &f.expected, "@FILE.npy", "an expected result; exit status 1 if one differs"},
      {"output", FLAG_LIST, &f.outputs, "@FILE.npy", "where to write a result"},
      {"platform", FLAG_TEXT, &f.platform, "cpu|interpreter", "where to run (cpu)"},
      {"entry", FLAG_TEXT, &f.entry, "NAME", "the function to run, of StableHLO (main, or the only public one)"},
      {"rtol", FLAG_DOUBLE, &f.rtol, "R", "relative tolerance of the comparison (1e-5)"},
      {"atol", FLAG_DOUBLE, &f.atol, "A", "absolute tolerance of the comparison (1e-6)"},
      {"exact", FLAG_BOOL, &f.exact, NULL, "keep every rounding the HLO asks for (no excess precision in bf16, f16)"},
      {"threads", FLAG_INT, &f.threads, "N", "threads to run on (all cores)"},
      {"print", FLAG_BOOL, &f.print, NULL, "print the results"},
      {"time", FLAG_BOOL, &f.time, NULL, "print the time of every stage on standard error"},
      {"profile", FLAG_BOOL, &f.profile, NULL, "print the time of every operation of the run on standard error (cpu)"},
      {"dump_to", FLAG_TEXT, &f.dump_folder, "FOLDER", "write the IR of every stage there"},
      {"v", FLAG_INT, &f.v, "LEVEL", "log level"},
      {0},
  };
  const command_line line = {
      "heddle run MODULE [flags]",
      "Compiles and runs a program (HLO text or proto, StableHLO text or bytecode, LHLO) and compares its results.",
      flags};
  return command_main(&line, argc, argv, NULL, run_file, &f);
}
