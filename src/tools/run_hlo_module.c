// run_hlo_module: runs an HLO module on a platform with generated or given inputs and compares with a reference
// platform. Flags are spelled as XLA spells them where XLA has them.
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "hlo/device_groups.h"
#include "hlo/text.h"
#include "import/hlo_proto.h"
#include "import/import.h"
#include "tools/bandwidth.h"
#include "tools/compile_log.h"
#include "tools/execute.h"
#include "tools/isolate.h"
#include "tools/literals_file.h"
#include "tools/tolerance.h"

enum { SEED = 42 };

typedef struct runner {
  const char *platform, *reference, *input_format, *input_literals, *output_literals, *dump_folder;
  bool disable_passes, print_literals, random_inputs, large_floats, isolate, exact, time, show_bandwidth,
      different_seeds;
  double abs_error, rel_error;  // negative: what the module's types allow
  int iterations, threads, v;
  platform on, reference_on;
  compile_log log;
  text literals;  // what --output_literals_file gets
  const char *path;
  int devices;      // that run the module together
  int given_count;  // arguments that came with the program, or -1
  literal **given;
} runner;

// --- reports

static void print_value(const char *title, arena *a, literal *value) {
  literal_list leaves = {0};
  literal_leaves(a, value, &leaves);
  print_leaves(stdout, title, &leaves);
}

// Bytes that go in and out of memory at least once.
static int64_t traffic(const lhlo_program *plan) {
  int64_t bytes = 0;
  for (int i = 0; i < plan->parameter_count; i++) bytes += plan_buffer_bytes(plan->parameters[i]);
  for (int i = 0; i < plan->result_count; i++) bytes += plan_buffer_bytes(plan->results[i]);
  return bytes * plan->device_count;
}

static void print_speed(arena *a, const compiled *program, const runner *r, double best, int runs) {
  printf("time: %s (best of %d)\n", seconds_text(a, best), runs);
  int64_t bytes = traffic(program->plan);
  if (!r->show_bandwidth || bytes == 0) return;
  int threads = program->threads;
  double ours = (double)bytes / best, copy = copy_bandwidth(bytes / 2, threads);
  if (copy > 0)
    printf("bandwidth: %.1f GB/s, %.0f %% of a copy's %.1f GB/s (%d threads, %.1f MB)\n", ours * 1e-9,
           100 * ours / copy, copy * 1e-9, threads, (double)bytes * 1e-6);
}

// The time of each pass, over all kernels.
static void print_pass_times(const lower_observer *o) {
  for (int i = 0; i < o->timing_count; i++) {
    const char *pass = o->timings[i].pass;
    bool is_first = true;
    double seconds = 0;
    for (int k = 0; k < o->timing_count; k++) {
      if (strcmp(o->timings[k].pass, pass) != 0) continue;
      is_first &= k >= i;
      seconds += o->timings[k].seconds;
    }
    if (is_first) printf("    %-40s %9.3f ms\n", pass, seconds * 1e3);
  }
}

// --- one module, one set of arguments

static heddle_status execute_repeatedly(arena *a, const runner *r, compiled *program, const argument_list *arguments,
                                        int runs, literal **result) {
  run bound;
  TRY(run_bind(a, program, arguments->count, arguments->values, &bound));
  double best = 0;
  heddle_status s = status_ok();
  for (int i = 0; i < runs && status_is_ok(s); i++) {
    double start = log_seconds();
    s = run_execute(&bound);
    double seconds = log_seconds() - start;
    if (i == 0 || seconds < best) best = seconds;
  }
  if (status_is_ok(s)) {
    print_speed(a, program, r, best, runs);
    s = run_fetch(a, &bound, result);
  }
  run_release(&bound);
  return s;
}

static heddle_status run_interpreter(arena *a, const module *m, const argument_list *arguments, int runs,
                                     literal **result) {
  double best = 0;
  for (int i = 0; i < runs; i++) {
    double start = log_seconds();
    TRY(interpret_module(a, m, NULL, arguments, result));
    double seconds = log_seconds() - start;
    if (i == 0 || seconds < best) best = seconds;
  }
  printf("time: %s (best of %d)\n", seconds_text(a, best), runs);
  return status_ok();
}

// A file of arguments goes before those of a snapshot, and these before made ones.
static heddle_status choose_arguments(arena *a, const module *m, const runner *r, unsigned seed, argument_list *out) {
  if (r->input_literals) return literals_file_read(a, r->input_literals, m, (int)(seed - SEED), out);
  if (r->given_count > 0 && !r->isolate) return literals_as_arguments(a, r->path, m, r->given_count, r->given, out);
  return r->random_inputs ? random_arguments(a, m, seed, r->large_floats, out) : zero_arguments(a, m, out);
}

static heddle_status compare_with_reference(arena *a, const module *m, runner *r, const argument_list *arguments,
                                            literal *result) {
  literal *expected;
  compile_options options = {.exact = true, .threads = r->threads};
  double start = log_seconds();
  heddle_status s = execute_module(a, m, r->reference_on, &options, arguments, &expected);
  TRY(status_context(s, "while running the reference, %s", r->reference));
  double seconds = log_seconds() - start;
  if (r->print_literals) print_results(stdout, a, "reference", r->devices, expected);
  if (r->output_literals) literals_file_print(a, &r->literals, "reference", expected);
  tolerance t = tolerance_for_module(m, r->exact);
  if (r->rel_error >= 0) t.relative = r->rel_error;
  if (r->abs_error >= 0) t.absolute = r->abs_error;
  s = compare_results(a, result, expected, t.relative, t.absolute);
  TRY(status_context(s, "%s and %s differ (relative %.3g, absolute %.3g allowed)", r->platform, r->reference,
                     t.relative, t.absolute));
  printf("%s and %s agree (relative %.3g, absolute %.3g allowed; the reference took %s)\n", r->platform, r->reference,
         t.relative, t.absolute, seconds_text(a, seconds));
  return status_ok();
}

// `program` is null for platforms that do not compile.
static heddle_status run_and_compare(arena *a, const module *m, runner *r, compiled *program, unsigned seed, int runs) {
  argument_list arguments = {0};
  literal *result = NULL;
  TRY(device_groups_count(m, &r->devices));
  TRY(choose_arguments(a, m, r, seed, &arguments));
  for (int i = 0; i < arguments.count; i++) {
    if (r->print_literals) print_value(arena_printf(a, "argument %d, array", i), a, arguments.values[i]);
    if (r->output_literals) literals_file_print(a, &r->literals, "argument", arguments.values[i]);
  }
  if (program) TRY(execute_repeatedly(a, r, program, &arguments, runs, &result));
  else TRY(run_interpreter(a, m, &arguments, runs, &result));
  if (r->print_literals) print_results(stdout, a, "result", r->devices, result);
  if (r->output_literals) literals_file_print(a, &r->literals, "result", result);
  return r->reference[0] ? compare_with_reference(a, m, r, &arguments, result) : status_ok();
}

// --- one module

static void log_pass(void *argument, const opt_pass *pass, const module *m) {
  runner *r = argument;
  if (!r->log.print && !r->log.folder) return;
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  arena *scratch = arena_create();
  const char *name = arena_strdup(scratch, m->name.data, m->name.size);
  compile_log_add(&r->log, name, pass ? arena_printf(scratch, "after-%s.hlo", pass->name) : "hlo", text_view(&t));
  arena_destroy(scratch);
  text_free(&t);
}

static heddle_status compile_module(arena *a, const module *m, runner *r, compiled *program) {
  compile_options options = {.exact = r->exact,
                             .threads = r->threads,
                             .needed_passes_only = r->disable_passes,
                             .hlo_observer = log_pass,
                             .hlo_observer_argument = r};
  compile_log_attach(&r->log, &options);
  r->log.observer.time = r->time;
  r->log.observer.timing_count = 0;
  TRY(compile_cpu(a, m, &options, program));
  if (!r->time) return status_ok();
  print_compile_times(stdout, &program->times);
  print_pass_times(&r->log.observer);
  return status_ok();
}

// The same arguments again and again measure; different ones test. Each run of the latter kind is judged alone.
static heddle_status run_iterations(const module *m, runner *r, compiled *program) {
  int rounds = r->different_seeds ? r->iterations : 1, failed = 0;
  for (int i = 0; i < rounds; i++) {
    arena *scratch = arena_create();
    heddle_status s = run_and_compare(scratch, m, r, program, (unsigned)(SEED + i), r->iterations / rounds);
    arena_destroy(scratch);
    if (rounds == 1) return s;
    failed += report(s);
  }
  if (failed) return status_error(HEDDLE_INVALID, "%d of %d runs failed", failed, rounds);
  printf("%d runs with different arguments passed\n", rounds);
  return status_ok();
}

static heddle_status run_on_cpu(arena *a, const module *m, runner *r) {
  compiled program;
  TRY(compile_module(a, m, r, &program));
  heddle_status s = run_iterations(m, r, &program);
  compiled_release(&program);
  return s;
}

static heddle_status run_module(arena *a, const module *m, runner *r, const char *dump_folder) {
  heddle_status s = compile_log_open(&r->log, r->v >= 5, dump_folder);
  if (status_is_ok(s)) s = r->on == PLATFORM_CPU ? run_on_cpu(a, m, r) : run_iterations(m, r, NULL);
  heddle_status closed = compile_log_close(&r->log);
  if (status_is_ok(s)) return closed;
  heddle_status_free(closed);
  return s;
}

static void print_title(const instruction *i, int number, int count) {
  text t = {0};
  hlo_print_instruction(&t, i, (hlo_print_options){.operand_shapes = true, .elide_large = true});
  printf("[%d/%d] %s\n", number, count, text_cstr(&t));
  text_free(&t);
}

static heddle_status run_isolated(const module *m, runner *r) {
  const instruction_list *all = &m->entry->instructions;
  int count = 0, number = 0, failed = 0;
  for (int i = 0; i < all->size; i++) count += isolate_is_worth_it(all->data[i]);
  for (int i = 0; i < all->size; i++) {
    if (!isolate_is_worth_it(all->data[i])) continue;
    print_title(all->data[i], ++number, count);
    arena *scratch = arena_create();
    const char *folder =
        r->dump_folder ? arena_printf(scratch, "%s/" STR_FMT, r->dump_folder, STR_ARG(all->data[i]->name)) : NULL;
    failed += report(run_module(scratch, isolate_instruction(scratch, m, i), r, folder));
    arena_destroy(scratch);
  }
  if (failed) return status_error(HEDDLE_INVALID, "%d of %d instructions failed", failed, count);
  printf("%d instructions passed\n", count);
  return status_ok();
}

// --- command line

static heddle_status check_flags(runner *r) {
  if (r->iterations < 1) return status_error(HEDDLE_INVALID, "found --iterations=%d, wanted at least 1", r->iterations);
  if (r->isolate && r->input_literals)
    return status_error(HEDDLE_INVALID,
                        "--isolate_instructions makes arguments of its own: --input_literals_file cannot be "
                        "used with it");
  TRY(platform_from_name(r->platform, &r->on));
  return r->reference[0] ? platform_from_name(r->reference, &r->reference_on) : status_ok();
}

// What --input_format may be, and the formats it stands for.
static const struct {
  const char *name;
  unsigned formats;  // bits of import_format; none: by the looks of the file
} input_formats[] = {
    {"auto", 0},
    {"hlo", 1u << IMPORT_HLO_TEXT},
    {"pb", 1u << IMPORT_HLO_PROTO},
    {"pbtxt", 1u << IMPORT_HLO_PBTXT},
    {"stablehlo", 1u << IMPORT_MLIR_TEXT | 1u << IMPORT_MLIR_BYTECODE},
    {"mlir", 1u << IMPORT_MLIR_TEXT | 1u << IMPORT_MLIR_BYTECODE},
    {"mhlo", 1u << IMPORT_MLIR_TEXT},
};

// A file of another format than the one asked for is an error of the latter.
static heddle_status read_as(arena *a, const char *path, str bytes, import_format format, runner *r, module **out) {
  literal *result;
  switch (format) {
    case IMPORT_HLO_TEXT: return hlo_parse(a, path, bytes, out);
    case IMPORT_HLO_PROTO: return hlo_proto_read(a, path, bytes, out, &r->given_count, &r->given, &result);
    case IMPORT_HLO_PBTXT: return hlo_proto_read_text(a, path, bytes, out, &r->given_count, &r->given, &result);
    default: return import_module(a, path, bytes, NULL, out);
  }
}

static heddle_status read_program(arena *a, const char *path, runner *r, module **out) {
  str bytes;
  TRY(file_read(a, path, &bytes));
  import_format found = import_sniff(bytes);
  for (size_t i = 0; i < sizeof input_formats / sizeof *input_formats; i++) {
    if (strcmp(r->input_format, input_formats[i].name) != 0) continue;
    unsigned wanted = input_formats[i].formats;
    if (!wanted || (wanted >> found & 1)) return read_as(a, path, bytes, found, r, out);
    if (wanted & 1u << IMPORT_MLIR_TEXT)
      return status_error(HEDDLE_INVALID, "%s: found %s, wanted StableHLO", path, import_format_name(found));
    return read_as(a, path, bytes, (import_format)__builtin_ctz(wanted), r, out);
  }
  return status_error(HEDDLE_INVALID, "found --input_format=%s, wanted auto, hlo, pb, pbtxt, stablehlo, mlir or mhlo",
                      r->input_format);
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  runner *r = argument;
  log_set_level(r->v);
  TRY(check_flags(r));
  module *m = NULL;
  double start = log_seconds();
  r->path = path;
  TRY(read_program(a, path, r, &m));
  if (r->time) printf("  %-10s %9.3f ms\n", "parse", (log_seconds() - start) * 1e3);
  heddle_status s = r->isolate ? run_isolated(m, r) : run_module(a, m, r, r->dump_folder);
  if (r->output_literals && status_is_ok(s)) s = file_write(r->output_literals, text_view(&r->literals));
  text_free(&r->literals);
  return s;
}

int main(int argc, char **argv) {
  runner r = {.platform = "CPU",
              .reference = "Interpreter",
              .input_format = "auto",
              .random_inputs = true,
              .abs_error = -1,
              .rel_error = -1,
              .iterations = 1};
  const flag flags[] = {
      {"platform", FLAG_TEXT, &r.platform, "CPU|Interpreter", "where to run (CPU)"},
      {"reference_platform", FLAG_TEXT, &r.reference, "PLATFORM", "what to compare with (Interpreter); empty: nothing"},
      {"xla_disable_all_hlo_passes", FLAG_BOOL, &r.disable_passes, NULL,
       "run only the HLO passes without which there is no code"},
      {"input_format", FLAG_TEXT, &r.input_format, "FORMAT",
       "hlo, pb, pbtxt, stablehlo, mlir, mhlo; auto (the default) looks"},
      {"iterations", FLAG_INT, &r.iterations, "N", "runs (1); the best time is reported"},
      {"different_random_seeds", FLAG_BOOL, &r.different_seeds, NULL, "new arguments for each run, each compared"},
      {"random_init_input_literals", FLAG_BOOL, &r.random_inputs, NULL, "random arguments (the default); else zeros"},
      {"use_large_float_range", FLAG_BOOL, &r.large_floats, NULL, "random floats over the whole range, not [-1, 1)"},
      {"input_literals_file", FLAG_TEXT, &r.input_literals, "FILE", "arguments, one a line: f32[2] {1, 2}; or protos"},
      {"output_literals_file", FLAG_TEXT, &r.output_literals, "FILE", "write arguments and results there"},
      {"print_literals", FLAG_BOOL, &r.print_literals, NULL, "print arguments and results"},
      {"abs_error_bound", FLAG_DOUBLE, &r.abs_error, "A", "absolute error allowed (by the module's types)"},
      {"rel_error_bound", FLAG_DOUBLE, &r.rel_error, "R", "relative error allowed (by the module's types)"},
      {"isolate_instructions", FLAG_BOOL, &r.isolate, NULL, "run each instruction of the entry alone"},
      {"xla_dump_to", FLAG_TEXT, &r.dump_folder, "FOLDER", "write every stage there"},
      {"exact", FLAG_BOOL, &r.exact, NULL, "keep every rounding the HLO asks for (no excess precision)"},
      {"threads", FLAG_INT, &r.threads, "N", "threads to run on (all cores)"},
      {"time", FLAG_BOOL, &r.time, NULL, "print the time of every stage and pass"},
      {"show_bandwidth", FLAG_BOOL, &r.show_bandwidth, NULL, "compare the memory traffic with a plain copy's"},
      {"v", FLAG_INT, &r.v, "LEVEL", "5: print every stage, the IR after each pass included"},
      {0},
  };
  const command_line line = {"run_hlo_module FILE [flags]",
                             "Runs an HLO module and compares its results with those of a reference platform.", flags};
  return command_main(&line, argc - 1, argv + 1, NULL, run_file, &r);
}
