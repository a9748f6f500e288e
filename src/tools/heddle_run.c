// heddle run MODULE: inputs from .npy files, results to .npy files, compared with expected ones. heddle profile and
// heddle bench do the same several times, and say how long it took.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/program_shape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/pool.h"
#include "hlo/device_counts.h"
#include "hlo/device_groups.h"
#include "hlo/npy.h"
#include "import/import.h"
#include "opt/constant_parameters.h"
#include "prog/program_sizes.h"
#include "rt/memory_watch.h"
#include "rt/saved_program.h"
#include "target/nvptx.h"
#include "tools/array_files.h"
#include "tools/codegen_flag.h"
#include "tools/commands.h"
#include "tools/cpu_flag.h"
#include "tools/debug_compile.h"
#include "tools/device_flags.h"
#include "tools/execute.h"
#include "tools/facts.h"
#include "tools/fake_arguments.h"
#include "tools/lone_transfers.h"
#include "tools/measured_run.h"
#include "tools/memory_flag.h"
#include "tools/open_dims.h"
#include "tools/open_run.h"
#include "tools/pass_flags.h"
#include "tools/progress_line.h"
#include "tools/reading.h"

typedef struct run_flags {
  flag_list inputs, expected, outputs, infeeds, sizes;
  const char *platform, *device, *cpu, *chip;
  target_description gpu;  // that `chip` names
  const char *entry;
  const char *input_files, *expected_files;  // a folder or an archive each, or null
  array_files listed, listed_expected;       // what is there
  bool is_matched;                           // the files of `listed` to the parameters
  bool is_noted;                             // what `?` are made up as
  dump_target dump;
  debug_options debug;
  pass_flags driver;
  platform on;
  bool names_platform;  // with --platform
  double rtol, atol;
  int random;  // the seed of random arguments, or -1: they come from files
  int threads, streams, v, replicas, partitions;
  const char *codegen_name, *limit_text;
  target_codegen codegen;
  memory_limit limit;
  bool specializes, exact, no_folding, keep_fusions, time, print, profile, json;
  facts *facts;          // that --json asks for; else null
  bool is_measured;      // by heddle profile or heddle bench
  measured_run measure;  // how; also of heddle run --profile
  const char *path;      // of the program
  const char *output_files;
  VEC(literal *)
  made_up;  // arguments of a program with open dims that came without --input; null for other than arrays
} run_flags;

// "@file.npy" or "file.npy".
static const char *npy_path(const char *text) { return text[0] == '@' ? text + 1 : text; }

static int given_arrays(const run_flags *f) {
  return f->inputs.size + f->expected.size + f->outputs.size + f->infeeds.size;
}

static bool wants_arrays(const run_flags *f) {
  return f->outputs.size || f->output_files || f->expected.size || f->expected_files;
}

static int given_inputs(const run_flags *f) { return f->input_files ? f->listed.names.size : f->inputs.size; }

static heddle_status read_input(void *context, arena *a, int number, const shape *s, literal **out) {
  const run_flags *f = context;
  if (number >= given_inputs(f))
    return status_error(HEDDLE_INVALID, "found %d --input files, wanted one for input %d, %s, too", given_inputs(f),
                        number, shape_text(a, s));
  return status_context(f->input_files ? array_files_read(&f->listed, a, number, s, out)
                                       : npy_read(a, npy_path(f->inputs.data[number]), s, out),
                        "while reading input %d, %s", number, shape_text(a, s));
}

// Once for a program. Parameters that are tuples have no names for their parts, so that numbers count them.
static heddle_status match_inputs(arena *a, run_flags *f, const instruction_list *parameters) {
  if (!f->input_files || f->is_matched) return status_ok();
  const int count = parameters ? parameters->size : 0;
  str *names = arena_array(a, str, count);
  bool are_arrays = true;
  for (int i = 0; i < count; i++) {
    names[i] = parameters->data[i]->name;
    are_arrays &= shape_is_array(parameters->data[i]->shape);
  }
  f->is_matched = true;
  return array_files_match(a, &f->listed, are_arrays ? count : 0, names);
}

static void note_made_up(run_flags *f, const shape *declared) {
  for (int d = 0; d < declared->rank && !f->is_noted; d++) f->is_noted = declared->dims[d] < 0;
  if (f->is_noted)
    fprintf(stderr,
            f->random >= 0 ? "note: every ? is %d\n" : "note: no --input: arguments are made up, every ? is %d\n",
            OPEN_DIMS_MADE_UP);
}

// What decides the open dims of a program.
static heddle_status give_argument(void *context, arena *a, int number, const shape *declared, literal **out) {
  run_flags *f = context;
  *out = NULL;
  if (f->input_files || f->inputs.size > 0) {
    TRY(match_inputs(a, f, NULL));
    return shape_is_array(declared) ? read_input(f, a, number, declared, out) : status_ok();
  }
  if (number == 0) {
    f->made_up.size = 0;
    f->is_noted = false;
  }
  if (!f->is_noted) note_made_up(f, declared);
  if (shape_is_array(declared))
    TRY(open_dims_argument(a, (unsigned)number + (f->random > 0 ? (unsigned)f->random : 0), declared, out));
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
  if (f->made_up.size > 0) return argument_list_make(a, m, f->made_up.size, take_made_up, f, out);
  if (f->random >= 0) return fake_arguments(a, m, (unsigned)f->random, false, out);
  TRY(match_inputs(a, f, &m->entry->parameters));
  TRY(argument_list_make(a, m, given_inputs(f), read_input, f, out));
  if (given_inputs(f) == out->leaf_count) return status_ok();
  return status_error(HEDDLE_INVALID, "found %d --input files, wanted %d: one for each parameter", given_inputs(f),
                      out->leaf_count);
}

static heddle_status check_result(arena *a, literal *result, int number, int given, const run_flags *f) {
  literal *expected;
  const shape *wanted = result->shape;
  TRY(f->expected_files ? array_files_read(&f->listed_expected, a, number % given, wanted, &expected)
                        : npy_read(a, npy_path(f->expected.data[number % given]), wanted, &expected));
  return literal_compare(result, expected, f->rtol, f->atol);
}

// What one device must have stands for all of them. Ends with the first result that differs; facts name all of them.
static heddle_status check_expected(arena *a, const literal_list *results, int devices, const run_flags *f) {
  const int each = results->size / devices;
  const int given = f->expected_files ? f->listed_expected.names.size : f->expected.size;
  const bool compares = f->expected_files || given > 0;
  if (compares && given != results->size && given != each)
    return status_error(HEDDLE_INVALID, "found %d --expected_output files, wanted %d: one for each result", given,
                        results->size);
  heddle_status first = status_ok();
  for (int i = 0; i < results->size && (f->facts || status_is_ok(first)); i++) {
    heddle_status s = compares ? check_result(a, results->data[i], i, given, f) : status_ok();
    if (f->facts) facts_put_result(f->facts, i / each, results->data[i]->shape, compares, s);
    s = devices > 1 ? status_context(s, "in result %d of device %d", i % each, i / each)
                    : status_context(s, "in result %d", i);
    if (status_is_ok(first)) first = s;
    else heddle_status_free(s);
  }
  return first;
}

static heddle_status write_outputs(const literal_list *results, const flag_list *files) {
  if (files->size > results->size)
    return status_error(HEDDLE_INVALID, "found %d --output files, but the module has %d results", files->size,
                        results->size);
  for (int i = 0; i < files->size; i++) TRY(npy_write(npy_path(files->data[i]), results->data[i]));
  return status_ok();
}

static heddle_status compile_options_of(run_flags *f, compile_options *out) {
  *out = (compile_options){.exact = f->exact,
                           .codegen = f->codegen,
                           .specializes = f->specializes,
                           .limit = f->limit,
                           .threads = f->threads,
                           .streams = f->streams,
                           .device = f->device,
                           .control = pass_flags_open(&f->driver, f->time, true),
                           .progress = progress_line_make()};
  platform_compiles_for(f->on, &f->gpu, out);
  debug_compile_numbers(&f->debug, out);
  if (f->keep_fusions) out->keep_fusions = &debug_compile_remarks;
  if (!f->dump.folder) return status_ok();
  out->dump = dump_target_write;
  out->dump_argument = &f->dump;
  return file_make_folder(f->dump.folder);
}

// `s` is what compiling `program` gave; a dump that could not be written fails it.
static heddle_status end_dump(run_flags *f, heddle_status s, compiled *program) {
  heddle_status failed = f->dump.failed;
  f->dump.failed = status_ok();
  if (status_is_ok(failed)) return s;
  if (status_is_ok(s)) {
    compiled_release(program);
    return failed;
  }
  heddle_status_free(failed);
  return s;
}

// The same of a compilation behind debug_compile_open.
static heddle_status end_compile(run_flags *f, debug_compile *debug, heddle_status s, compiled *program) {
  const bool is_compiled = status_is_ok(s);
  progress_line_clear();
  s = debug_compile_close(debug, s);
  if (is_compiled && !status_is_ok(s)) compiled_release(program);
  return end_dump(f, s, program);
}

enum { PROFILE_LINES = 40 };

// What a run measures.
typedef struct timing {
  compile_times times;
  double seconds;
  int64_t planned_bytes, measured_bytes;  // run_told
} timing;

static heddle_status report_memory(const compiled *program, memory_watch *memory) {
  const long long limit = program->program.memory_limit, measured = atomic_load(&memory->peak);
  fprintf(stderr, "memory: limit %lld bytes, predicted peak %lld, measured %lld; scratch memory of libraries %lld\n",
          limit, (long long)program->plan->footprint_bytes, measured, (long long)memory->scratch_bytes);
  return measured <= limit ? status_ok()
                           : status_error(HEDDLE_INTERNAL, "the run took %lld bytes of %lld", measured, limit);
}

static double compile_seconds(const compile_times *times) {
  double sum = 0;
  for (int i = 0; i < times->count; i++) sum += times->stages[i].seconds;
  return sum;
}

static heddle_status run_compiled(arena *a, const run_flags *f, compiled *program, const argument_list *arguments,
                                  timing *t, literal **result) {
  compile_times *times = &t->times;
  const bool is_measured = f->is_measured || f->profile;
  memory_watch memory;
  const bool has_limit = program->program.memory_limit > 0;
  // LHLO that was read does not say what its operations touch, of which a peak is made.
  const bool is_known = program->plan->footprint_bytes > 0;
  const bool is_watched = (has_limit || (f->facts && is_known)) && program->executable && !is_measured;
  if (is_watched) memory_watch_start(&memory, a, program->executable);
  for (int i = 0; i < program->times.count && times->count < COMPILE_STAGES_MAX; i++)
    times->stages[times->count++] = program->times.stages[i];
  double start = log_seconds();
  heddle_status s = platform_has_device(program);
  const measured_program told = {f->path, compile_seconds(times)};
  if (status_is_ok(s) && is_measured) {
    s = measured_run_execute(a, &f->measure, &told, program, arguments, &t->seconds, result);
  } else if (status_is_ok(s)) {
    s = run_once(a, program, arguments->count, arguments->values, result);
    t->seconds = log_seconds() - start;
  }
  t->planned_bytes = program->plan->peak_bytes;
  if (is_watched) t->measured_bytes = atomic_load(&memory.peak);
  if (is_watched && has_limit && status_is_ok(s)) s = report_memory(program, &memory);
  compiled_release(program);
  return s;
}

static heddle_status compile_to_run(arena *a, const module *m, run_flags *f, compiled *program) {
  compile_options options;
  debug_compile debug;
  TRY(compile_options_of(f, &options));
  heddle_status s = debug_compile_open(&debug, a, &f->debug, f->no_folding ? PASS_IMPROVES : PASS_FOLDS, m, &options);
  if (status_is_ok(s)) s = compile_module(a, m, &options, program);
  return end_compile(f, &debug, s, program);
}

static heddle_status run_cpu(arena *a, const module *m, run_flags *f, const argument_list *arguments, timing *t,
                             literal **result) {
  compiled program = {0};
  TRY(compile_to_run(a, m, f, &program));
  return run_compiled(a, f, &program, arguments, t, result);
}

static heddle_status give_results(arena *a, const run_flags *f, const literal_list *results, int devices) {
  TRY(write_outputs(results, &f->outputs));
  if (f->output_files) TRY(array_files_write(npy_path(f->output_files), results->size, results->data));
  return check_expected(a, results, devices, f);
}

static heddle_status report_run(arena *a, const run_flags *f, str name, const timing *t, int devices,
                                const argument_list *arguments, literal *result) {
  if (f->time) {
    execute_print_times(stderr, &t->times);
    pass_times_print(stderr, &f->driver.control);
    fprintf(stderr, "  %-10s %9.3f ms\n", "run", t->seconds * 1e3);
  }
  literal_list results = {0};
  execute_leaves(a, result, &results);
  if (f->print) execute_print_results(stdout, a, "result", devices, result);
  if (!f->facts) return give_results(a, f, &results, devices);
  facts_begin_run(f->facts, &(run_told){.name = name,
                                        .devices = devices,
                                        .times = &t->times,
                                        .seconds = t->seconds,
                                        .planned_bytes = t->planned_bytes,
                                        .measured_bytes = t->measured_bytes,
                                        .argument_count = arguments->count,
                                        .arguments = arguments->values});
  heddle_status s = give_results(a, f, &results, devices);
  facts_end_run(f->facts);
  return s;
}

// A program written as LHLO: what passes and planning would have decided stands in it.
// Arguments of a program whose parameters are arrays, `each` for every device or for all.
static heddle_status read_arrays(arena *a, run_flags *f, int each, int devices, const shape *const *wanted,
                                 argument_list *out) {
  TRY(match_inputs(a, f, NULL));
  const bool is_random = f->random >= 0 || f->sizes.size > 0;
  const unsigned seed = f->random > 0 ? (unsigned)f->random : 0;
  const int given = is_random ? each : given_inputs(f);
  if (given != each && given != each * devices)
    return status_error(HEDDLE_INVALID, "found %d --input files, wanted %d: one for each parameter", given, each);
  *out = (argument_list){.count = given, .values = arena_array(a, literal *, given)};
  for (int i = 0; i < given; i++)
    TRY(is_random ? execute_random_literal(a, wanted[i % each], seed + (unsigned)i, &out->values[i])
                  : read_input(f, a, i, wanted[i % each], &out->values[i]));
  for (int i = each; i < given; i++) {
    const shape *first = out->values[i % each]->shape, *other = out->values[i]->shape;
    if (!shape_same_dims(first, other))
      return status_error(HEDDLE_INVALID, "found %s for input %d, %s on the first device", shape_text(a, other), i,
                          shape_text(a, first));
  }
  return status_ok();
}

static int64_t planned_bytes(const program *p) {
  int64_t bytes = p->temporary_bytes;
  for (int i = 0; i < p->allocation_count; i++)
    if (p->allocations[i].kind == PROGRAM_PARAMETER || p->allocations[i].kind == PROGRAM_RESULT)
      bytes += p->allocations[i].bytes;
  return bytes;
}

static heddle_status run_invocable(arena *a, const run_flags *f, const invocable *callable,
                                   const argument_list *arguments, timing *t) {
  const program *p = callable->program;
  compiled program = {.program = *p,
                      .executable = callable->executable,
                      .buffers = callable->buffers,
                      .threads = f->threads > 0 ? f->threads : pool_default_threads()};
  literal *result = NULL;
  t->planned_bytes = planned_bytes(p);
  const measured_program told = {f->path, compile_seconds(&t->times)};
  const double start = log_seconds();
  if (f->is_measured || f->profile)
    TRY(measured_run_execute(a, &f->measure, &told, &program, arguments, &t->seconds, &result));
  else TRY(memory_flag_run(a, &program, arguments->count, arguments->values, &result));
  if (!f->is_measured && !f->profile) t->seconds = log_seconds() - start;
  return report_run(a, f, str_from(p->name), t, p->device_count, arguments, result);
}

static const shape *shape_of_argument(arena *a, const program_shape *from) {
  shape *s = shape_copy(a, program_shape_of_literal(a, from));
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] < 0) s->dynamic_dims |= (uint64_t)1 << d;
  return s;
}

// `wanted`: the program with dims that are open (-1) or those of the run.
static heddle_status read_saved_arguments(arena *a, run_flags *f, const program *wanted, argument_list *out) {
  const int each = wanted->parameter_count;
  const shape **shapes = arena_array(a, const shape *, each);
  for (int i = 0; i < each; i++) shapes[i] = shape_of_argument(a, &wanted->parameters[i].shape);
  return read_arrays(a, f, each, wanted->device_count, shapes, out);
}

// At the sizes that the text says, or that the arguments have (null).
static heddle_status run_saved_at(arena *a, const saved_program *saved, run_flags *f, const char *sizes, timing *t) {
  const program *p = saved_program_plan(saved), *wanted = program_sizes_show(a, p);
  if (sizes) {
    int64_t symbols[PROGRAM_MOST_SYMBOLS] = {0};
    TRY(program_sizes_read(&p->sizes, sizes, symbols));
    wanted = program_sizes_fill(a, p, symbols);
  }
  argument_list arguments = {0};
  TRY(read_saved_arguments(a, f, wanted, &arguments));
  const int64_t **dims = arena_array(a, const int64_t *, p->parameter_count);
  for (int i = 0; i < p->parameter_count && i < arguments.count; i++) dims[i] = arguments.values[i]->shape->dims;
  open_instances *all = saved_program_instances(saved);
  open_instance *instance;
  TRY(open_instances_take(all, dims, &instance));
  heddle_status s = run_invocable(a, f, &instance->callable, &arguments, t);
  open_instances_give(all, instance);
  return s;
}

static heddle_status run_loaded(arena *a, const saved_program *saved, run_flags *f, timing *t) {
  const program *p = saved_program_plan(saved);
  if (!saved_program_instances(saved)) {
    argument_list arguments = {0};
    if (f->sizes.size) return status_error(HEDDLE_INVALID, "found --sizes, but the program declares no size as `?`");
    TRY(read_saved_arguments(a, f, p, &arguments));
    return run_invocable(a, f, saved_program_invocable(saved), &arguments, t);
  }
  if (f->sizes.size > 1 && wants_arrays(f))
    return status_error(HEDDLE_INVALID, "found --sizes twice and files of results, which are of one size");
  for (int k = 0; k < f->sizes.size; k++) TRY(run_saved_at(a, saved, f, f->sizes.data[k], t));
  if (f->sizes.size) return status_ok();
  if (!f->input_files && !f->inputs.size)
    return status_error(HEDDLE_INVALID,
                        "the program has sizes that its runs decide: give --sizes=N, %d numbers, or --input",
                        program_sizes_given_count(&p->sizes));
  return run_saved_at(a, saved, f, NULL, t);
}

static heddle_status take_saved_platform(run_flags *f, const program *p) {
  const char *of_program = target_kind_name(p->device);
  if (f->names_platform && strcasecmp(f->platform, of_program) != 0)
    return status_error(HEDDLE_INVALID, "found --platform=%s, but the program was saved for %s", f->platform,
                        of_program);
  f->platform = of_program;
  return status_ok();
}

// A saved program is loaded, not compiled: from its file, or from bytes that can be read only once.
static heddle_status run_saved(arena *a, const char *path, const str *bytes, run_flags *f) {
  if (f->infeeds.size || f->specializes)
    return status_error(HEDDLE_UNIMPLEMENTED, "saved programs run as they are, found --%s",
                        f->specializes ? "specialize" : "infeed");
  if (f->limit_text)
    return status_error(HEDDLE_UNIMPLEMENTED, "saved programs keep to the limit of memory that they were compiled for");
  const double start = log_seconds();
  const bool is_native = !f->cpu || strcmp(f->cpu, "native") == 0;
  const saved_program_options options = {
      .threads = f->threads, .device = f->device, .level = is_native ? NULL : f->cpu};
  saved_program *saved;
  TRY(bytes ? status_context(saved_program_read(*bytes, &options, &saved), "while loading '%s'", path)
            : saved_program_open(path, &options, &saved));
  timing t = {.times = {.stages = {{"load", log_seconds() - start}}, .count = 1}};
  heddle_status s = take_saved_platform(f, saved_program_plan(saved));
  if (status_is_ok(s)) s = run_loaded(a, saved, f, &t);
  saved_program_close(saved);
  return s;
}

static heddle_status run_lhlo(arena *a, const char *path, str source, run_flags *f) {
  compile_options options;
  TRY(compile_options_of(f, &options));
  const target_description target = compile_target(&options);
  double start = log_seconds();
  lhlo_program *plan;
  TRY(lhlo_parse(a, source, path, &target, &plan));
  if (f->entry[0] && strcmp(f->entry, "main") != 0)
    return status_error(HEDDLE_INVALID, "found --entry=%s, wanted main: LHLO has no other function to run", f->entry);
  timing t = {.times = {.stages = {{"parse", log_seconds() - start}}, .count = 1}};
  argument_list arguments = {0};
  TRY(read_arrays(a, f, plan->parameter_count, plan->device_count, plan->parameters, &arguments));
  compiled program;
  debug_compile debug;
  heddle_status s = debug_compile_open(&debug, a, &f->debug, PASS_FOLDS, plan->module, &options);
  if (status_is_ok(s)) s = compile_lhlo(a, plan, &options, &program);
  TRY(end_compile(f, &debug, s, &program));
  literal *result;
  TRY(run_compiled(a, f, &program, &arguments, &t, &result));
  return report_run(a, f, plan->module->name, &t, plan->device_count, &arguments, result);
}

// The program with its constants as parameters behind its own, and their values behind each device's arguments.
static heddle_status unfold(arena *a, module *m, argument_list *arguments) {
  const int each = m->entry->parameters.size, sets = each > 0 ? arguments->count / each : 1;
  constant_values values = {0};
  TRY(constant_parameters_run(a, m, &values));
  const int wanted = each + values.size;
  argument_list all = {.count = sets * wanted, .values = arena_array(a, literal *, sets * wanted)};
  for (int k = 0; k < all.count; k++) {
    const int set = k / wanted, number = k % wanted;
    all.values[k] = number < each ? arguments->values[set * each + number] : values.data[number - each];
  }
  *arguments = all;
  return status_ok();
}

static heddle_status run_module(arena *a, module *m, run_flags *f, timing *t) {
  argument_list arguments = {0};
  literal *result;
  int devices;
  TRY(device_groups_count(m, &devices));
  TRY(read_inputs(a, m, f, &arguments));
  if (f->no_folding) TRY(unfold(a, m, &arguments));
  t->seconds = 0;
  if (f->on != PLATFORM_INTERPRETER) {
    TRY(run_cpu(a, m, f, &arguments, t, &result));
  } else {
    double start = log_seconds();
    TRY(execute_module(a, m, f->on, &(compile_options){0}, &arguments, &result));
    t->seconds = log_seconds() - start;
  }
  return report_run(a, f, m->name, t, devices, &arguments, result);
}

// Made-up sizes need not fit a program. It is then only read, written and read back, and has not run. Takes ownership
// of `misfit`.
static heddle_status read_only(arena *a, const char *path, str bytes, heddle_status misfit) {
  heddle_status s = reading_check(a, path, bytes);
  if (status_is_ok(s))
    s = status_at(HEDDLE_INVALID, status_where(misfit), "read and written back, but not run: %s", status_brief(misfit));
  heddle_status_free(misfit);
  return s;
}

static heddle_status open_files(arena *a, run_flags *f) {
  if (f->input_files) TRY(array_files_open(a, npy_path(f->input_files), ARRAY_FILES_INPUTS, &f->listed));
  if (!f->expected_files) return status_ok();
  TRY(array_files_open(a, npy_path(f->expected_files), ARRAY_FILES_RESULTS, &f->listed_expected));
  return array_files_match(a, &f->listed_expected, 0, NULL);
}

// At several sizes, compiled once.
static heddle_status run_open(arena *a, const char *path, str bytes, run_flags *f) {
  if (wants_arrays(f))
    return status_error(HEDDLE_INVALID,
                        "found --sizes and files of results, which the interpreter gives for each size");
  compile_options options;
  debug_compile debug;
  TRY(compile_options_of(f, &options));
  heddle_status s = debug_compile_open(&debug, a, &f->debug, PASS_FOLDS, NULL, &options);
  const import_options import = {.entry = str_from(f->entry)};
  const open_run_request request = {.path = path,
                                    .source = bytes,
                                    .import = &import,
                                    .options = &options,
                                    .sizes = &f->sizes,
                                    .seed = f->random > 0 ? (unsigned)f->random : 0,
                                    .measure = f->is_measured || f->profile ? &f->measure : NULL,
                                    .compares = !f->is_measured,
                                    .rtol = f->rtol,
                                    .atol = f->atol,
                                    .print = f->print,
                                    .facts = f->facts};
  if (status_is_ok(s)) s = open_run(a, &request);
  return debug_compile_close(&debug, s);
}

static heddle_status run_programs(arena *a, const char *path, run_flags *f) {
  double start = log_seconds();
  str bytes;
  module **programs;
  int count;
  if (program_file_is_at(path)) return run_saved(a, path, NULL, f);
  TRY(file_read(a, path, &bytes));
  if (program_file_is(bytes)) return run_saved(a, path, &bytes, f);
  if (lhlo_is(bytes)) {
    if (f->infeeds.size) return status_error(HEDDLE_UNIMPLEMENTED, "LHLO has no infeeds, found --infeed");
    if (f->on != PLATFORM_INTERPRETER) return run_lhlo(a, path, bytes, f);
    return status_error(HEDDLE_UNIMPLEMENTED, "LHLO is compiled, found --platform=%s", f->platform);
  }
  if (f->sizes.size) return run_open(a, path, bytes, f);
  const import_options options = {.argument = give_argument,
                                  .argument_context = f,
                                  .entry = str_from(f->entry),
                                  .keeps_bounds = f->on == PLATFORM_INTERPRETER};
  heddle_status read = import_all(a, path, bytes, &options, &count, &programs);
  if (!status_is_ok(read) && f->made_up.size > 0 && import_is_mlir(import_sniff(bytes)))
    return read_only(a, path, bytes, read);
  TRY(read);
  if (count > 1 && (f->input_files || f->expected_files || given_arrays(f) > 0))
    return status_error(HEDDLE_INVALID,
                        "found %d programs in '%s', wanted one for --input, --output and so on: name it "
                        "with --entry",
                        count, path);
  timing t = {.times = {.stages = {{"parse", log_seconds() - start}}, .count = 1}};
  for (int i = 0; i < count; i++) {
    device_counts_adopt(programs[i], f->replicas, f->partitions);
    TRY(lone_transfers_feed(programs[i], f->infeeds.size, f->infeeds.data));
    heddle_status s = run_module(a, programs[i], f, &t);
    TRY(count > 1 ? status_context(s, "in program %d of %d, " STR_FMT, i + 1, count, STR_ARG(programs[i]->name)) : s);
  }
  return status_ok();
}

static heddle_status run_listed(arena *a, const char *path, run_flags *f) {
  TRY(open_files(a, f));
  return run_programs(a, path, f);
}

// What was measured, or the error alone.
static heddle_status tell_measured(arena *a, const char *path, run_flags *f) {
  text told = {0};
  f->measure.told = &told;
  heddle_status s = run_listed(a, path, f);
  if (status_is_ok(s)) fwrite(told.data, 1, told.size, stdout);
  text_free(&told);
  return facts_print_error(path, s);
}

static heddle_status tell_programs(arena *a, const char *path, run_flags *f) {
  facts told;
  facts_begin(&told, a, path);
  json_begin(&told.out, "runs", '[');
  f->facts = &told;
  heddle_status s = run_listed(a, path, f);
  f->facts = NULL;
  json_end(&told.out, ']');
  json_put_string(&told.out, "platform", str_from(f->platform));
  return facts_end(&told, s);
}

static heddle_status run_file(arena *a, const char *path, void *argument) {
  run_flags *f = argument;
  log_set_level(f->v);
  debug_options_warn(&f->debug);
  f->path = path;
  heddle_status s = f->json           ? tell_programs(a, path, f)
                    : f->measure.json ? tell_measured(a, path, f)
                                      : run_listed(a, path, f);
  array_files_close(&f->listed);
  array_files_close(&f->listed_expected);
  return s;
}

static bool writes_to_standard_output(const run_flags *f) {
  for (int k = 0; k < f->outputs.size; k++)
    if (strcmp(npy_path(f->outputs.data[k]), "-") == 0) return true;
  return false;
}

// Standard output takes one thing.
static heddle_status check_outputs(const run_flags *f) {
  if (f->json && f->print)
    return status_error(HEDDLE_INVALID, "found --json and --print, wanted one of them: both are for standard output");
  if ((f->json || f->print) && writes_to_standard_output(f))
    return status_error(HEDDLE_INVALID, "found %s and --output=-, wanted one of them: both are for standard output",
                        f->json ? "--json" : "--print");
  if (f->output_files && strcmp(npy_path(f->output_files), "-") == 0)
    return status_error(HEDDLE_INVALID, "found --outputs=-, wanted a folder or x.npz (--output=- writes one result)");
  if (f->measure.trace && strcmp(f->measure.trace, "-") == 0)
    return status_error(HEDDLE_INVALID, "found --trace=-, wanted a file: standard output is for the profile");
  return status_ok();
}

static heddle_status check_sizes(const run_flags *f) {
  if (f->sizes.size && (f->input_files || f->inputs.size || f->infeeds.size || f->on != PLATFORM_CPU))
    return status_error(HEDDLE_INVALID, "found --sizes and arrays, whose sizes are their own, or another platform");
  if (f->sizes.size > 1 && (f->measure.json || f->measure.trace))
    return status_error(HEDDLE_INVALID, "found --sizes twice, wanted it once: --json and --trace are of one size");
  return status_ok();
}

static heddle_status check_platform(run_flags *f) {
  f->names_platform = f->platform;
  if (!f->platform) f->platform = "cpu";
  TRY(platform_from_name("platform", f->platform, &f->on));
  TRY(platform_check_device(f->device, f->on));
  if (f->is_measured && f->on != PLATFORM_CPU && f->on != PLATFORM_VULKAN)
    return status_error(HEDDLE_INVALID, "--platform: found %s, wanted cpu or vulkan, whose runs are measured",
                        f->platform);
  return status_ok();
}

static heddle_status check_flags(void *argument) {
  run_flags *f = argument;
  if (f->is_measured && f->random < 0 && !f->input_files && !f->inputs.size) f->random = 0;
  if (f->random >= 0 && (f->input_files || f->inputs.size))
    return status_error(HEDDLE_INVALID, "found --random and --input or --inputs, wanted one of them");
  if (f->input_files && f->inputs.size)
    return status_error(HEDDLE_INVALID, "found --inputs and --input, wanted one of them");
  if (f->expected_files && f->expected.size)
    return status_error(HEDDLE_INVALID, "found --expected_outputs and --expected_output, wanted one of them");
  TRY(check_outputs(f));
  TRY(hlo_dump_check(&f->debug));
  TRY(pass_flags_check(&f->driver, PASS_FLAGS_HLO | PASS_FLAGS_MLIR));
  TRY(codegen_flag_take(f->codegen_name, &f->codegen));
  TRY(memory_flag_take(f->limit_text, &f->limit));
  TRY(device_flags_check(f->streams));
  TRY(cpu_flag_take(f->cpu, true));
  TRY(status_context(nvptx_target(f->chip, &f->gpu), "in --chip=%s", f->chip));
  TRY(check_platform(f));
  return check_sizes(f);
}

static run_flags run_flags_default(void) {
  return (run_flags){.chip = "sm_90",
                     .entry = "",
                     .rtol = 1e-5,
                     .atol = 1e-6,
                     .random = -1,
                     .debug = DEBUG_OPTIONS_DEFAULT,
                     .driver = PASS_FLAGS_DEFAULT};
}

// What all three commands take, in front of their own flags and behind them.
#define INPUT_FLAGS(f)                                                                                               \
  {"input", FLAG_LIST, &(f).inputs, "@FILE.npy", "an argument, in the order of the parameters (and devices)"},       \
      {"inputs", FLAG_TEXT, &(f).input_files, "FOLDER|x.npz",                                                        \
       "all arguments: files named as the parameters, or numbered from 0; not those named out* or expected*"},       \
      {"random", FLAG_SEED, &(f).random, "SEED", "random arguments that follow their use, the same for a seed (0)"}, \
      {"infeed", FLAG_LIST, &(f).infeeds, "@FILE.npy", INFEED_HELP},                                                 \
      {"entry", FLAG_TEXT, &(f).entry, "NAME", "the function to run, of StableHLO (main, or the only public one)"}
#define SIZES_FLAGS(f)                                                                         \
  {"sizes", FLAG_LIST, &(f).sizes, "N[,M]", "with `?` at these sizes, compiled once for all"}, \
      {"specialize", FLAG_BOOL, &(f).specializes, NULL, "with --sizes: compile for each of them instead"}
#define COMPILE_FLAGS(f)                                                                                               \
  {"exact", FLAG_BOOL, &(f).exact, NULL, "keep every rounding the HLO asks for (no excess precision in bf16, f16)"},   \
      {"num_replicas", FLAG_COUNT, &(f).replicas, "N", "replicas that run the module (what it says)"},                 \
      {"num_partitions", FLAG_COUNT, &(f).partitions, "N", "partitions that run the module (what it says)"},           \
      {"no-folding", FLAG_BOOL, &(f).no_folding, NULL,                                                                 \
       "constants are arguments: nothing is evaluated while compiling"},                                               \
      {"keep-fusions", FLAG_BOOL, &(f).keep_fusions, NULL, KEEP_FUSIONS_HELP}, CODEGEN_FLAG((f).codegen_name),         \
      MEMORY_FLAG((f).limit_text),                                                                                     \
      {"cpu", FLAG_TEXT, &(f).cpu, CPU_FLAG_ARGUMENT, "the instruction set that code and libraries keep to (native)"}, \
      {"threads", FLAG_THREADS, &(f).threads, "N", "threads to run on (all cores)"}, STREAMS_FLAG((f).streams),        \
      DEVICE_FLAG((f).device), DEBUG_OPTIONS_FILE((f).debug), VERBOSE_FLAG((f).v)

#define MEASURED_PLATFORM_FLAG(f) {"platform", FLAG_TEXT, &(f).platform, "cpu|vulkan", "where to run (cpu)"}

int command_run(int argc, char **argv) {
  run_flags f = run_flags_default();
  f.measure = (measured_run){.profiles = true, .no_limits = true, .lines = PROFILE_LINES, .out = stderr, .repeats = 1};
  const flag flags[] = {
      INPUT_FLAGS(f),
      {"sizes", FLAG_LIST, &f.sizes, "N[,M]",
       "run with random arguments at these sizes of `?`, compiled once for all, and compare with the interpreter"},
      {"specialize", FLAG_BOOL, &f.specializes, NULL, "with --sizes: compile for each of them instead"},
      {"expected_output", FLAG_LIST, &f.expected, "@FILE.npy", "an expected result; exit status 3 if one differs"},
      {"expected_outputs", FLAG_TEXT, &f.expected_files, "FOLDER|x.npz",
       "all expected results, numbered from 0: the folder's files named out* or expected*"},
      {"output", FLAG_LIST, &f.outputs, "@FILE.npy", "where to write a result"},
      {"outputs", FLAG_TEXT, &f.output_files, "FOLDER|x.npz", "where to write all results: output_0.npy, …"},
      {"platform", FLAG_TEXT, &f.platform, "cpu|cuda|vulkan|simulator|interpreter", "where to run (cpu)"},
      {"rtol", FLAG_DOUBLE, &f.rtol, "R", "relative tolerance of the comparison (1e-5)"},
      {"atol", FLAG_DOUBLE, &f.atol, "A", "absolute tolerance of the comparison (1e-6)"},
      CHIP_FLAG(&f.chip),
      {"print", FLAG_BOOL, &f.print, NULL, "print the results"},
      {"json", FLAG_BOOL, &f.json, NULL, "print JSON: shapes, times, memory, what was compared, the error"},
      {"time", FLAG_BOOL, &f.time, NULL, "print the time of every stage and pass on standard error"},
      PASS_FLAGS(f.driver),
      {"profile", FLAG_BOOL, &f.profile, NULL,
       "print the time of every operation of the run on standard error (cpu, vulkan)"},
      {"dump_to", FLAG_TEXT, &f.dump.folder, "FOLDER", "write the IR of every stage there"},
      COMPILE_FLAGS(f),
      {0},
  };
  const command_line line = {
      "heddle run MODULE [flags]",
      "Compiles and runs a program (HLO text or proto, StableHLO text or bytecode, LHLO) and compares its results.",
      flags, check_flags};
  return debug_options_main(&line, &f.debug, argc, argv, NULL, run_file, &f);
}

int command_profile(int argc, char **argv) {
  run_flags f = run_flags_default();
  f.is_measured = true;
  f.measure = (measured_run){.profiles = true, .out = stdout, .warmups = 1, .repeats = 10};
  const flag flags[] = {
      INPUT_FLAGS(f),
      SIZES_FLAGS(f),
      MEASURED_PLATFORM_FLAG(f),
      {"repeat", FLAG_COUNT, &f.measure.repeats, "N", "runs that are watched, behind a first one that is not (10)"},
      {"top", FLAG_SIZE, &f.measure.lines, "N", "the costliest operations only (0: all)"},
      {"json", FLAG_BOOL, &f.measure.json, NULL, "print JSON"},
      {"trace", FLAG_TEXT, &f.measure.trace, "FILE", "write every execution as trace events, which Perfetto opens"},
      {"counters", FLAG_BOOL, &f.measure.counters, NULL, "read the CPU's counters around each operation"},
      {"no-limits", FLAG_BOOL, &f.measure.no_limits, NULL, "do not measure what the machine can do"},
      COMPILE_FLAGS(f),
      {0},
  };
  const command_line line = {"heddle profile MODULE [flags]",
                             "Runs a program, with random arguments unless it gets others, and shows what each of its "
                             "operations took, moved and computed, and how near that is to what this machine can do.",
                             flags, check_flags};
  return debug_options_main(&line, &f.debug, argc, argv, NULL, run_file, &f);
}

int command_bench(int argc, char **argv) {
  run_flags f = run_flags_default();
  f.is_measured = true;
  f.measure = (measured_run){.out = stdout, .warmups = 1, .repeats = 3, .seconds = 1};
  const flag flags[] = {
      INPUT_FLAGS(f),
      SIZES_FLAGS(f),
      MEASURED_PLATFORM_FLAG(f),
      {"repeat", FLAG_COUNT, &f.measure.repeats, "N", "runs at least, behind a first one that is not counted (3)"},
      {"seconds", FLAG_DOUBLE, &f.measure.seconds, "S", "how long runs go on (1)"},
      {"json", FLAG_BOOL, &f.measure.json, NULL, "print JSON"},
      COMPILE_FLAGS(f),
      {0},
  };
  const command_line line = {
      "heddle bench MODULE [flags]",
      "Runs a program again and again, with random arguments unless it gets others, and says how "
      "long a run takes.",
      flags, check_flags};
  return debug_options_main(&line, &f.debug, argc, argv, NULL, run_file, &f);
}
