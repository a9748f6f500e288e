// run_hlo_module: runs an HLO module on a platform with generated or given inputs and compares with a reference
// platform. Flags are spelled as XLA spells them where XLA has them.
#include <stdio.h>
#include <strings.h>

#include "base/file.h"
#include "base/log.h"
#include "hlo/device_counts.h"
#include "hlo/device_groups.h"
#include "hlo/text.h"
#include "rt/bandwidth.h"
#include "target/nvptx.h"
#include "tools/codegen_flag.h"
#include "tools/compile_log.h"
#include "tools/cpu_flag.h"
#include "tools/debug_compile.h"
#include "tools/default_bounds.h"
#include "tools/device_flags.h"
#include "tools/execute.h"
#include "tools/fake_arguments.h"
#include "tools/isolate.h"
#include "tools/literals_file.h"
#include "tools/lone_transfers.h"
#include "tools/memory_flag.h"
#include "tools/module_format.h"
#include "tools/pass_flags.h"

enum { SEED = 42 };

// XLA's bounds for f32, which default_bounds_for adapts.
static const double f32_bound = 1e-3;

typedef struct runner {
  target_description gpu;  // that `chip` names
  const char *chip;
  const char *platform, *device, *reference, *cpu, *input_format, *input_literals, *output_literals;
  const char *codegen_name, *limit_text;
  target_codegen codegen;
  memory_limit limit;
  bool print_literals, random_inputs, large_floats, isolate, exact, keep_fusions, time, show_bandwidth, has_warned;
  int different_seeds, test_passes, reference_passes;  // -1: not said
  double abs_error, rel_error;                         // negative: what the module's types allow
  int iterations, repeat, threads, streams, v;
  flag_list infeeds;
  debug_options debug;
  pass_flags driver;
  platform on, reference_on;
  compile_log log;
  hlo_dump dump;
  arena *arena;  // holds what --output_literals_file gets
  VEC(proto_iteration) iterations_done;
  const char *path;
  int replicas, partitions;  // 0: what the module says
  int devices;               // that run the module together
  given_arguments given;     // with the program
} runner;

// --- reports

static void print_value(const char *title, arena *a, literal *value) {
  literal_list leaves = {0};
  execute_leaves(a, value, &leaves);
  execute_print_leaves(stdout, title, &leaves);
}

// Bytes that go in and out of memory at least once.
static int64_t traffic(const program *p) {
  int64_t bytes = 0;
  for (int i = 0; i < p->parameter_count; i++) bytes += program_shape_packed_bytes(&p->parameters[i].shape);
  for (int i = 0; i < p->result_count; i++) bytes += program_shape_packed_bytes(&p->results[i].shape);
  return bytes * p->device_count;
}

static void print_speed(arena *a, const compiled *program, const runner *r, double best, int runs) {
  printf("time: %s (best of %d)\n", execute_seconds_text(a, best), runs);
  int64_t bytes = traffic(&program->program);
  if (!r->show_bandwidth || bytes == 0) return;
  int threads = program->threads;
  double ours = (double)bytes / best, copy = bandwidth_of_copy(bytes / 2, threads);
  if (copy > 0)
    printf("bandwidth: %.1f GB/s, %.0f %% of a copy's %.1f GB/s (%d threads, %.1f MB)\n", ours * 1e-9,
           100 * ours / copy, copy * 1e-9, threads, (double)bytes * 1e-6);
}

// --- one module, one set of arguments

static void record(runner *r, const argument_list *arguments, const literal *result) {
  proto_iteration done = {.argument_count = arguments->count, .result = literal_copy(r->arena, result)};
  literal **values = arena_array(r->arena, literal *, arguments->count);
  for (int i = 0; i < arguments->count; i++) values[i] = literal_copy(r->arena, arguments->values[i]);
  done.arguments = values;
  vec_push(r->arena, &r->iterations_done, done);
}

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
    TRY(execute_in_interpreter(a, m, NULL, arguments, result));
    double seconds = log_seconds() - start;
    if (i == 0 || seconds < best) best = seconds;
  }
  printf("time: %s (best of %d)\n", execute_seconds_text(a, best), runs);
  return status_ok();
}

// A file of arguments goes before those of a snapshot, and these before made ones.
static heddle_status choose_arguments(arena *a, const module *m, const runner *r, unsigned seed, argument_list *out) {
  if (r->input_literals) return literals_file_read(a, r->input_literals, m, (int)(seed - SEED), out);
  if (r->given.count > 0 && !r->isolate)
    return literals_file_as_arguments(a, r->path, m, r->given.count, r->given.values, out);
  return r->random_inputs ? fake_arguments(a, m, seed, r->large_floats, out) : argument_list_zeros(a, m, out);
}

static heddle_status compare_with_reference(arena *a, const module *m, runner *r, const argument_list *arguments,
                                            literal *result) {
  literal *expected;
  compile_options options = {.exact = true, .threads = r->threads};
  debug_compile_numbers(&r->debug, &options);
  debug_compile_passes(a, NULL, r->reference_passes == 0 ? PASS_NEEDED : PASS_FOLDS, &options);
  double start = log_seconds();
  heddle_status s = execute_module(a, m, r->reference_on, &options, arguments, &expected);
  TRY(status_context(s, "while running the reference, %s", r->reference));
  double seconds = log_seconds() - start;
  if (r->print_literals) execute_print_results(stdout, a, "reference", r->devices, expected);
  if (r->output_literals) vec_last(&r->iterations_done).reference = literal_copy(r->arena, expected);
  default_bounds t = default_bounds_for(m, f32_bound);
  if (r->rel_error >= 0) t.relative = r->rel_error;
  if (r->abs_error >= 0) t.absolute = r->abs_error;
  s = execute_compare(a, result, expected, t.relative, t.absolute);
  TRY(status_context(s, "%s and %s differ (relative %.3g, absolute %.3g allowed)", r->platform, r->reference,
                     t.relative, t.absolute));
  printf("%s and %s agree (relative %.3g, absolute %.3g allowed; the reference took %s)\n", r->platform, r->reference,
         t.relative, t.absolute, execute_seconds_text(a, seconds));
  return status_ok();
}

// `program` is null for platforms that do not compile.
static heddle_status run_and_compare(arena *a, const module *m, runner *r, compiled *program, unsigned seed, int runs) {
  argument_list arguments = {0};
  literal *result = NULL;
  TRY(device_groups_count(m, &r->devices));
  TRY(choose_arguments(a, m, r, seed, &arguments));
  for (int i = 0; i < arguments.count && r->print_literals; i++)
    print_value(arena_printf(a, "argument %d, array", i), a, arguments.values[i]);
  if (program) TRY(execute_repeatedly(a, r, program, &arguments, runs, &result));
  else TRY(run_interpreter(a, m, &arguments, runs, &result));
  if (r->print_literals) execute_print_results(stdout, a, "result", r->devices, result);
  if (r->output_literals) record(r, &arguments, result);
  return r->reference[0] ? compare_with_reference(a, m, r, &arguments, result) : status_ok();
}

// --- one module

static heddle_status compile_program(arena *a, const module *m, runner *r, compiled *program) {
  compile_options options = {.exact = r->exact,
                             .codegen = r->codegen,
                             .limit = r->limit,
                             .simulate = r->on == PLATFORM_SIMULATOR,
                             .threads = r->threads,
                             .streams = r->streams,
                             .device = r->device,
                             .control = pass_flags_open(&r->driver, r->time, true)};
  platform_compiles_for(r->on, &r->gpu, &options);
  hlo_dump_watch(&r->dump, options.control);
  debug_compile_passes(a, &r->debug, r->test_passes == 0 ? PASS_NEEDED : PASS_FOLDS, &options);
  debug_compile_numbers(&r->debug, &options);
  // With all passes disabled XLA has no fusions but those that are written; neither does a dump of its stages.
  if (r->keep_fusions || r->debug.disable_all_hlo_passes) options.keep_fusions = &debug_compile_remarks;
  compile_log_attach(&r->log, &options);
  TRY(compile_module(a, m, &options, program));
  if (!r->time) return status_ok();
  execute_print_times(stdout, &program->times);
  pass_times_print(stdout, options.control);
  return status_ok();
}

// Each iteration has arguments of its own and is judged alone.
static heddle_status run_iterations(const module *m, runner *r, compiled *program) {
  int failed = 0;
  for (int i = 0; i < r->iterations; i++) {
    arena *scratch = arena_create();
    heddle_status s = run_and_compare(scratch, m, r, program, (unsigned)(SEED + i), r->repeat);
    arena_destroy(scratch);
    if (r->iterations == 1) return s;
    failed += command_line_exit_status(s) != 0;
  }
  if (failed) return status_error(HEDDLE_INVALID, "%d of %d runs failed", failed, r->iterations);
  printf("%d runs with different arguments passed\n", r->iterations);
  return status_ok();
}

static void print_traffic(const compiled *program) {
  text t = {0};
  simulator_print(program->simulator, &t);
  fputs(text_cstr(&t), stdout);
  text_free(&t);
}

static heddle_status run_compiled(arena *a, const module *m, runner *r) {
  compiled program;
  TRY(compile_program(a, m, r, &program));
  heddle_status s = platform_has_device(&program);
  if (status_is_ok(s)) s = run_iterations(m, r, &program);
  if (program.simulator) print_traffic(&program);
  compiled_release(&program);
  return s;
}

static heddle_status first_error(heddle_status s, heddle_status next) {
  if (status_is_ok(s)) return next;
  heddle_status_free(next);
  return s;
}

// `folder` is null where the debug options say where dumps go.
static heddle_status run_module(arena *a, const module *m, runner *r, const char *folder) {
  debug_options options = r->debug;
  options.dump_to = folder ? folder : r->debug.dump_to;
  heddle_status s = hlo_dump_open(&r->dump, &options, m);
  if (!status_is_ok(s)) return first_error(s, hlo_dump_close(&r->dump));
  if (r->v >= 5) r->dump.out = stdout;
  s = compile_log_open(&r->log, r->v >= 5 ? stdout : NULL, r->dump.folder);
  if (status_is_ok(s)) s = r->on != PLATFORM_INTERPRETER ? run_compiled(a, m, r) : run_iterations(m, r, NULL);
  s = first_error(s, compile_log_close(&r->log));
  return first_error(s, hlo_dump_close(&r->dump));
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
    const char *to = r->debug.dump_to, *folder = NULL;
    if (to && to[0] && strcmp(to, "-") != 0)
      folder = arena_printf(scratch, "%s/" STR_FMT, to, STR_ARG(all->data[i]->name));
    failed += command_line_exit_status(run_module(scratch, isolate_instruction(scratch, m, i), r, folder)) != 0;
    arena_destroy(scratch);
  }
  if (failed) return status_error(HEDDLE_INVALID, "%d of %d instructions failed", failed, count);
  printf("%d instructions passed\n", count);
  return status_ok();
}

// --- command line

static void say_idle(const char *flag, const char *why) {
  fprintf(stderr, "warning: --%s has no effect: %s\n", flag, why);
}

// Flags that were given and change nothing.
static void warn(const runner *r) {
  static const char *const as_it_is = "the interpreter takes HLO as it is";
  debug_options_warn(&r->debug);
  if (r->different_seeds >= 0)
    say_idle("different_random_seeds", "each iteration has random arguments of its own in any case");
  if (r->test_passes == 1 && r->on == PLATFORM_INTERPRETER) say_idle("run_test_hlo_passes", as_it_is);
  if (r->reference_passes == 1 && r->reference[0] && r->reference_on == PLATFORM_INTERPRETER)
    say_idle("run_reference_hlo_passes", as_it_is);
  if (r->show_bandwidth && r->on == PLATFORM_INTERPRETER) say_idle("show_bandwidth", "only compiled code is measured");
  if (r->keep_fusions && r->on == PLATFORM_INTERPRETER) say_idle("keep_fusions", as_it_is);
  if (r->input_literals && r->large_floats) say_idle("use_large_float_range", "the arguments are given");
}

static heddle_status run_program(arena *a, const char *path, runner *r) {
  module *m = NULL;
  double start = log_seconds();
  r->path = path;
  str bytes;
  TRY(file_read(a, path, &bytes));
  TRY(module_format_read(a, path, bytes, r->input_format, &r->given, &m));
  device_counts_adopt(m, r->replicas, r->partitions);
  TRY(lone_transfers_feed(m, r->infeeds.size, r->infeeds.data));
  if (r->time) printf("  %-10s %9.3f ms\n", "parse", (log_seconds() - start) * 1e3);
  return r->isolate ? run_isolated(m, r) : run_module(a, m, r, NULL);
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  runner *r = argument;
  log_set_level(r->v);
  if (!r->has_warned) warn(r);
  r->has_warned = true;
  r->arena = a;
  r->iterations_done.size = r->iterations_done.capacity = 0;
  heddle_status s = run_program(a, path, r);
  if (r->output_literals && status_is_ok(s))
    s = literals_file_write(a, r->output_literals, r->iterations_done.size, r->iterations_done.data);
  return s;
}

static heddle_status check_flags(void *argument) {
  runner *r = argument;
  if (r->isolate && r->input_literals)
    return status_error(HEDDLE_INVALID,
                        "--isolate_instructions makes arguments of its own: --input_literals_file cannot be "
                        "used with it");
  TRY(module_format_check("input_format", r->input_format));
  TRY(hlo_dump_check(&r->debug));
  TRY(pass_flags_check(&r->driver, PASS_FLAGS_HLO | PASS_FLAGS_MLIR));
  TRY(codegen_flag_take(r->codegen_name, &r->codegen));
  TRY(memory_flag_take(r->limit_text, &r->limit));
  TRY(cpu_flag_take(r->cpu, true));
  TRY(status_context(nvptx_target(r->chip, &r->gpu), "in --chip=%s", r->chip));
  if (strcasecmp(r->reference, "default") == 0) r->reference = "Interpreter";
  TRY(platform_from_name("platform", r->platform, &r->on));
  TRY(device_flags_check(r->streams));
  TRY(platform_check_device(r->device, r->on));
  return r->reference[0] ? platform_from_name("reference_platform", r->reference, &r->reference_on) : status_ok();
}

static runner runner_default(void) {
  return (runner){.chip = "sm_90",
                  .platform = "CPU",
                  .reference = "Interpreter",
                  .input_format = "auto",
                  .random_inputs = true,
                  .abs_error = -1,
                  .rel_error = -1,
                  .different_seeds = -1,
                  .test_passes = -1,
                  .reference_passes = -1,
                  .debug = DEBUG_OPTIONS_DEFAULT,
                  .driver = PASS_FLAGS_DEFAULT,
                  .iterations = 1,
                  .repeat = 1};
}

int main(int argc, char **argv) {
  runner r = runner_default();
  const flag flags[] = {
      {"platform", FLAG_TEXT, &r.platform, "CPU|CUDA|Vulkan|Simulator|Interpreter", "where to run (CPU)"},
      {"reference_platform", FLAG_TEXT, &r.reference, "PLATFORM",
       "what to compare with (default: Interpreter); empty: nothing"},
      {"run_test_hlo_passes", FLAG_MAYBE, &r.test_passes, NULL,
       "=false: before compiling run only the HLO passes without which there is no code"},
      {"run_reference_hlo_passes", FLAG_MAYBE, &r.reference_passes, NULL, "=false: the same for the reference"},
      {"input_format", FLAG_TEXT, &r.input_format, "FORMAT", MODULE_FORMATS},
      {"iterations", FLAG_COUNT, &r.iterations, "N", "runs with arguments of their own (1), each compared"},
      {"repeat", FLAG_COUNT, &r.repeat, "N", "how often each of them runs (1); the best time is reported"},
      {"different_random_seeds", FLAG_MAYBE, &r.different_seeds, NULL, "what --iterations does anyway: no effect"},
      {"random_init_input_literals", FLAG_BOOL, &r.random_inputs, NULL,
       "random arguments that follow their use (the default); else zeros"},
      {"use_large_float_range", FLAG_BOOL, &r.large_floats, NULL, "random floats over the whole range, not [-1, 1)"},
      {"input_literals_file", FLAG_TEXT, &r.input_literals, "FILE", "arguments, one a line: f32[2] {1, 2}; or protos"},
      {"infeed", FLAG_LIST, &r.infeeds, "@FILE.npy", INFEED_HELP},
      {"output_literals_file", FLAG_TEXT, &r.output_literals, "FILE",
       "write arguments and results there, as RunHloModuleLiterals if it ends in .pb"},
      {"print_literals", FLAG_BOOL, &r.print_literals, NULL, "print arguments and results"},
      {"abs_error_bound", FLAG_DOUBLE, &r.abs_error, "A",
       "absolute error allowed (1e-3; more for narrow types and long sums)"},
      {"rel_error_bound", FLAG_DOUBLE, &r.rel_error, "R", "relative error allowed (the same)"},
      {"isolate_instructions", FLAG_BOOL, &r.isolate, NULL, "run each instruction of the entry alone"},
      {"num_replicas", FLAG_COUNT, &r.replicas, "N", "replicas that run the module (what it says)"},
      {"num_partitions", FLAG_COUNT, &r.partitions, "N", "partitions that run the module (what it says)"},
      DEBUG_OPTIONS_FILE(r.debug),
      {"exact", FLAG_BOOL, &r.exact, NULL, "keep every rounding the HLO asks for (no excess precision)"},
      {"keep_fusions", FLAG_BOOL, &r.keep_fusions, NULL, KEEP_FUSIONS_HELP},
      CHIP_FLAG(&r.chip),
      CODEGEN_FLAG(r.codegen_name),
      MEMORY_FLAG(r.limit_text),
      {"cpu", FLAG_TEXT, &r.cpu, CPU_FLAG_ARGUMENT, "the instruction set that code and libraries keep to (native)"},
      {"threads", FLAG_THREADS, &r.threads, "N", "threads to run on (all cores)"},
      STREAMS_FLAG(r.streams),
      DEVICE_FLAG(r.device),
      {"time", FLAG_BOOL, &r.time, NULL, "print the time of every stage and pass"},
      PASS_FLAGS(r.driver),
      {"show_bandwidth", FLAG_BOOL, &r.show_bandwidth, NULL, "compare the memory traffic with a plain copy's"},
      {"v", FLAG_SIZE, &r.v, "LEVEL", "5: print every stage, the IR after each pass included"},
      {0},
  };
  const command_line line = {"run_hlo_module FILE... [flags]",
                             "Runs HLO modules and compares their results with those of a reference platform.", flags,
                             check_flags, NULL};
  return debug_options_main_files(&line, &r.debug, argc - 1, argv + 1, run_file, &r);
}
