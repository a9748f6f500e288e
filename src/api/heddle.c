// The public calls (include/heddle/heddle.h) on top of compile.c and run.c.
#include "heddle/heddle.h"

#include <stdlib.h>

#include "api/argument_shapes.h"
#include "api/handle.h"
#include "api/open_compile.h"
#include "api/program_shape.h"
#include "api/run.h"
#include "base/call.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/pool.h"
#include "base/sized_struct.h"
#include "hlo/device_counts.h"
#include "import/import.h"
#include "prog/program_sizes.h"
#include "rt/overlap.h"

struct heddle_cancellation {
  atomic_bool is_cancelled;
};

// --- cancellation

heddle_status heddle_cancellation_create(heddle_cancellation **out) {
  if (!out) return status_error(HEDDLE_INVALID, "found null for the place of the cancellation");
  *out = calloc(1, sizeof **out);
  return *out ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a cancellation");
}

void heddle_cancellation_free(heddle_cancellation *cancellation) { free(cancellation); }

void heddle_cancel(heddle_cancellation *cancellation) {
  if (cancellation) atomic_store(&cancellation->is_cancelled, true);
}

bool heddle_is_cancelled(const heddle_cancellation *cancellation) {
  return cancellation && atomic_load(&cancellation->is_cancelled);
}

void heddle_cancellation_renew(heddle_cancellation *cancellation) {
  if (cancellation) atomic_store(&cancellation->is_cancelled, false);
}

static const atomic_bool *is_cancelled_of(const heddle_cancellation *cancellation) {
  return cancellation ? &cancellation->is_cancelled : NULL;
}

// --- compilation

// What kernels ask of a buffer's address.
enum { ALIGNMENT = 64 };

static int *find_heirs(arena *a, const program *p) {
  int *heirs = arena_array(a, int, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++) heirs[i] = -1;
  for (int i = 0; i < p->given_result_count; i++)
    if (p->results[i].donated_parameter >= 0) heirs[p->results[i].donated_parameter] = i;
  return heirs;
}

static bool all_plain(int count, const program_value *values) {
  for (int i = 0; i < count; i++)
    if (!program_shape_is_plain(&values[i].shape)) return false;
  return true;
}

static heddle_status check_parameters(arena *a, const program *p, int count, const shape *const *given) {
  const shape **wanted = arena_array(a, const shape *, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++) wanted[i] = program_shape_of_literal(a, &p->parameters[i].shape);
  return argument_shapes_check(a, count, given, p->parameter_count, wanted);
}

// A program written as LHLO is scheduled and has its memory: only its kernels are compiled.
static heddle_status compile_text(heddle_program *p, const char *file, str source, const import_options *import,
                                  const compile_options *options) {
  if (lhlo_is(source)) {
    lhlo_program *plan;
    target_description target = target_cpu(options->threads > 0 ? options->threads : pool_default_threads());
    TRY(lhlo_parse(p->arena, source, file, &target, &plan));
    return compile_lhlo(p->arena, plan, options, &p->code);
  }
  module *m;
  TRY(open_compile_import(p->arena, file, source, import, &m));
  if (!m) return open_compile(p->arena, file, source, import, options, &p->code);
  device_counts_adopt(m, 0, 0);
  return compile_module(p->arena, m, options, &p->code);
}

typedef struct compilation {
  heddle_program *program;
  const char *path;  // of a file to read, else null
  str source;
  const char *name;
  const heddle_compile_options *options;
} compilation;

// What is given on is the struct of the public interface.
static void tell_progress(void *user, const char *stage, int done, int total) {
  const heddle_compile_options *o = user;
  o->progress(o->progress_user,
              &(heddle_progress){.struct_size = sizeof(heddle_progress), .stage = stage, .done = done, .total = total});
}

static heddle_status compile(void *argument) {
  const compilation *c = argument;
  heddle_program *p = c->program;
  const heddle_compile_options *given = c->options;
  p->arena = arena_create();
  const char *file = arena_strdup(p->arena, c->name, strlen(c->name));
  p->options = (compile_options){.exact = given->exact, .threads = given->threads};
  compile_options options = p->options;
  if (given->progress) options.progress = (compile_progress){tell_progress, (void *)given};
  progress_tell(&options.progress, "import", 0, 0);
  str source = c->source;
  if (c->path) TRY(file_read(p->arena, c->path, &source));
  if (given->memory_limit) TRY(memory_limit_parse(given->memory_limit, &options.limit));
  import_options import = {.argument_count = given->parameter_count};
  TRY(argument_shapes_read(p->arena, given->parameter_count, given->parameters, &import.argument_shapes));
  TRY(compile_text(p, file, source, &import, &options));
  const program *made = &p->code.program;
  // Import has compared them with `?`; a program without does not ask for them.
  heddle_status s = check_parameters(p->arena, made, import.argument_count, import.argument_shapes);
  if (!status_is_ok(s)) {
    compiled_release(&p->code);
    return s;
  }
  if (p->code.is_open) {
    p->instances = open_instances_create(&p->code);
    if (!p->instances) {
      compiled_release(&p->code);
      return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
    }
  }
  p->shown = p->code.is_open ? program_sizes_show(p->arena, made) : made;
  p->heirs = find_heirs(p->arena, made);
  p->is_direct = made->dynamic_count == 0 && all_plain(made->parameter_count, made->parameters) &&
                 all_plain(made->result_count, made->results);
  progress_tell(&options.progress, "done", 0, 0);
  return status_ok();
}

static void release_code(void *argument, bool is_torn) {
  (void)is_torn;
  heddle_program *p = ((compilation *)argument)->program;
  open_instances_destroy(p->instances);
  p->instances = NULL;
  compiled_release(&p->code);
  p->arena = NULL;  // the guard's
}

// `c` has all but the program and the options.
static heddle_status compile_guarded(compilation *c, const heddle_compile_options *options, heddle_program **out) {
  if (!out) return status_error(HEDDLE_INVALID, "heddle_compile: found null for the place of the program");
  *out = NULL;
  heddle_compile_options taken;
  TRY(sized_struct_take("heddle_compile_options", options, &taken, sizeof taken));
  if (taken.threads < 0 || taken.threads > POOL_THREADS_MAX)
    return status_error(HEDDLE_INVALID, "heddle_compile: found %d threads, wanted 0 to %d", taken.threads,
                        POOL_THREADS_MAX);
  heddle_program *p = calloc(1, sizeof *p);
  if (!p) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program");
  c->program = p;
  c->options = &taken;
  const call_context call = {is_cancelled_of(taken.cancellation)};
  const call_context *outer = call_enter(&call);
  heddle_status s = guard_run(compile, release_code, c);
  call_enter(outer);
  if (!status_is_ok(s)) {
    arena_destroy(p->arena);
    free(p);
    return s;
  }
  *out = p;
  return s;
}

heddle_status heddle_compile(const char *text, size_t size, const char *name, const heddle_compile_options *options,
                             heddle_program **out) {
  if (out) *out = NULL;
  if (!text && size) return status_error(HEDDLE_INVALID, "heddle_compile: found null for a text of %zu bytes", size);
  compilation c = {.source = {text ? text : "", size}, .name = name ? name : "program"};
  return compile_guarded(&c, options, out);
}

heddle_status heddle_compile_file(const char *path, const heddle_compile_options *options, heddle_program **out) {
  if (out) *out = NULL;
  if (!path) return status_error(HEDDLE_INVALID, "heddle_compile_file: found null for the path");
  compilation c = {.path = path, .name = path};
  return compile_guarded(&c, options, out);
}

void heddle_program_free(heddle_program *program) {
  if (!program) return;
  open_instances_destroy(program->instances);
  compiled_release(&program->code);
  arena_destroy(program->arena);
  free(program);
}

// --- what a run is given

static heddle_status check_list(const char *what, int device, int count, const program_value *values,
                                const void *const *given) {
  if (!given && count) return status_error(HEDDLE_INVALID, "found null for the %ss of device %d", what, device);
  for (int i = 0; i < count; i++)
    if (!given[i] && program_shape_bytes(&values[i].shape) > 0)
      return status_error(HEDDLE_INVALID, "found null for %s %d of device %d, wanted %lld bytes", what, i, device,
                          (long long)program_shape_bytes(&values[i].shape));
  return status_ok();
}

static heddle_status check_given(const heddle_program *p, const void *const *const *inputs,
                                 void *const *const *outputs) {
  if (!inputs || !outputs) return status_error(HEDDLE_INVALID, "found null for the devices' inputs or outputs");
  const program *made = &p->code.program;
  for (int d = 0; d < made->device_count; d++) {
    TRY(check_list("input", d, made->parameter_count, made->parameters, inputs[d]));
    TRY(check_list("output", d, made->given_result_count, made->results, (const void *const *)outputs[d]));
  }
  return status_ok();
}

// A result without dimensions needs no place for their sizes.
static heddle_status check_sizes(const heddle_program *p, int64_t *const *const *dims) {
  const program *made = &p->code.program;
  const int count = made->given_result_count;
  for (int d = 0; d < made->device_count; d++)
    for (int i = 0; i < count; i++)
      if (!dims[d] || (!dims[d][i] && made->results[i].shape.rank > 0))
        return status_error(HEDDLE_INVALID, "found null for the sizes of result %d of device %d", i, d);
  return status_ok();
}

static bool all_aligned(int count, const void *const *pointers) {
  for (int i = 0; i < count; i++)
    if ((uintptr_t)pointers[i] % ALIGNMENT != 0) return false;
  return true;
}

static bool can_run_directly(const heddle_program *p, const void *const *inputs, void *const *outputs) {
  const program *made = &p->code.program;
  return p->is_direct && all_aligned(made->parameter_count, inputs) &&
         all_aligned(made->result_count, (const void *const *)outputs);
}

// A run whose arrays have to be copied.
typedef struct copied_run {
  heddle_program *program;
  const void *const *const *inputs;
  void *const *const *outputs;
  int64_t *const *const *dims;
  run run;
} copied_run;

static heddle_status run_in(arena *a, copied_run *c) {
  heddle_program *p = c->program;
  const program *made = &p->code.program;
  TRY(run_bind_arrays(a, &p->code, c->inputs, &c->run));
  heddle_status s = run_execute(&c->run);
  int64_t unseen[PROGRAM_MAX_RANK];
  const int results = made->given_result_count;
  for (int k = 0; k < made->device_count * results && status_is_ok(s); k++)
    s = run_fetch_into(&c->run, k / results, k % results, c->outputs[k / results][k % results],
                       c->dims ? c->dims[k / results][k % results] : unseen);
  run_release(&c->run);
  c->run.program = NULL;
  return s;
}

static heddle_status run_in_arena(void *argument) {
  copied_run *c = argument;
  arena *a = arena_create();
  heddle_status s = run_in(a, c);
  arena_destroy(a);
  return s;
}

static void release_run(void *argument, bool is_torn) {
  (void)is_torn;
  copied_run *c = argument;
  if (c->run.program) run_release(&c->run);
}

static heddle_status run_copied(heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                                int64_t *const *const *dims) {
  copied_run c = {.program = p, .inputs = inputs, .outputs = outputs, .dims = dims};
  return guard_run(run_in_arena, release_run, &c);
}

// Arrays that lie as kernels want them are used where they are; then nothing is copied. Results that lie over inputs
// are written when all inputs have been copied and all kernels have run.
static heddle_status run_given(heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                               int64_t *const *const *dims) {
  TRY(check_given(p, inputs, outputs));
  if (dims) TRY(check_sizes(p, dims));
  bool reads_results;
  TRY(overlap_find(&p->code.program, p->heirs, inputs, outputs, &reads_results));
  bool is_direct = !reads_results && !dims;
  for (int d = 0; d < p->code.program.device_count; d++)
    is_direct = is_direct && can_run_directly(p, inputs[d], outputs[d]);
  if (!is_direct) return run_copied(p, inputs, outputs, dims);
  if (p->code.program.device_count == 1)
    return executable_run(p->code.executable, (void *const *)inputs[0], outputs[0]);
  return executable_run_devices(p->code.executable, (void *const *const *)inputs, outputs);
}

static heddle_status check_input_dims(const heddle_program *p, const int64_t *const *dims) {
  if (!dims)
    return status_error(HEDDLE_INVALID,
                        "the program has sizes that its runs decide: give heddle_run_options.input_dims");
  for (int i = 0; i < p->shown->parameter_count; i++)
    if (!dims[i] && p->shown->parameters[i].shape.rank > 0)
      return status_error(HEDDLE_INVALID, "found null for the sizes of input %d", i);
  return status_ok();
}

heddle_status heddle_program_result_dims(const heddle_program *program, const int64_t *const *input_dims, int number,
                                         int64_t *dims) {
  if (!program) return status_error(HEDDLE_INVALID, "found null for the program");
  if (number < 0 || number >= program->shown->given_result_count)
    return status_error(HEDDLE_INVALID, "found result %d, the program has %d", number,
                        program->shown->given_result_count);
  const program_shape *s = &program->shown->results[number].shape;
  if (!dims && s->rank > 0) return status_error(HEDDLE_INVALID, "found null for the place of the dims");
  if (!program->instances) {
    for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
    return status_ok();
  }
  TRY(check_input_dims(program, input_dims));
  return program_sizes_result(&program->code.program, input_dims, number, dims);
}

// As run_given, at the sizes that the inputs have.
static heddle_status run_open(heddle_program *p, const int64_t *const *input_dims, const void *const *const *inputs,
                              void *const *const *outputs, int64_t *const *const *dims) {
  TRY(check_input_dims(p, input_dims));
  open_instance *instance;
  TRY(open_instances_take(p->instances, input_dims, &instance));
  heddle_program at_sizes = {.code = instance->code, .is_direct = p->is_direct, .heirs = p->heirs};
  heddle_status s = run_given(&at_sizes, inputs, outputs, dims);
  open_instances_give(p->instances, instance);
  return s;
}

heddle_status heddle_program_run_with(heddle_program *program, const heddle_run_options *options,
                                      const void *const *const *inputs, void *const *const *outputs) {
  if (!program) return status_error(HEDDLE_INVALID, "found null for the program to run");
  heddle_run_options taken;
  TRY(sized_struct_take("heddle_run_options", options, &taken, sizeof taken));
  const call_context call = {is_cancelled_of(taken.cancellation)};
  const call_context *outer = call_enter(&call);
  heddle_status s = program->instances ? run_open(program, taken.input_dims, inputs, outputs, taken.dims)
                                       : run_given(program, inputs, outputs, taken.dims);
  call_enter(outer);
  return s;
}

static heddle_status check_single(const heddle_program *p) {
  const int count = heddle_program_device_count(p);
  if (count <= 1) return status_ok();
  return status_error(HEDDLE_INVALID, "the program runs on %d devices together: call heddle_program_run_devices",
                      count);
}

heddle_status heddle_program_run(heddle_program *program, const void *const *inputs, void *const *outputs) {
  TRY(check_single(program));
  return heddle_program_run_with(program, NULL, &inputs, &outputs);
}

heddle_status heddle_program_run_devices(heddle_program *program, const void *const *const *inputs,
                                         void *const *const *outputs) {
  return heddle_program_run_with(program, NULL, inputs, outputs);
}

heddle_status heddle_program_run_dynamic(heddle_program *program, const void *const *inputs, void *const *outputs,
                                         int64_t *const *dims) {
  TRY(check_single(program));
  if (!dims) return status_error(HEDDLE_INVALID, "found null for the results' sizes");
  return heddle_program_run_with(program, &(heddle_run_options){HEDDLE_SIZED(heddle_run_options), .dims = &dims},
                                 &inputs, &outputs);
}
