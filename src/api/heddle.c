// The public calls that compile (include/heddle/heddle.h) on top of compile.c. What runs programs lies in rt.
#include "heddle/heddle.h"

#include <stdlib.h>

#include "api/argument_shapes.h"
#include "api/handle.h"
#include "api/open_classes.h"
#include "api/open_compile.h"
#include "api/program_shape.h"
#include "base/call.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/pool.h"
#include "base/sized_struct.h"
#include "hlo/device_counts.h"
#include "import/import.h"
#include "prog/program_file.h"
#include "rt/cancellation.h"
#include "rt/device_types.h"

static heddle_status check_parameters(arena *a, const program *p, int count, const shape *const *given) {
  const shape **wanted = arena_array(a, const shape *, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++) wanted[i] = program_shape_of_literal(a, &p->parameters[i].shape);
  return argument_shapes_check(a, count, given, p->parameter_count, wanted);
}

// A program written as LHLO is scheduled and has its memory: only its kernels are compiled.
static heddle_status compile_text(compiled_program *p, const char *file, str source, const import_options *import,
                                  const compile_options *options) {
  if (lhlo_is(source)) {
    lhlo_program *plan;
    const target_description cpu = target_cpu(options->threads > 0 ? options->threads : pool_default_threads());
    const target_description target = options->target ? *options->target : cpu;
    TRY(lhlo_parse(p->arena, source, file, &target, &plan));
    return compile_lhlo(p->arena, plan, options, &p->code);
  }
  module *m;
  TRY(open_compile_import(p->arena, file, source, import, &m));
  if (!m) return open_classes_compile(p->arena, file, source, import, options, &p->code);
  device_counts_adopt(m, 0, 0);
  return compile_module(p->arena, m, options, &p->code);
}

typedef struct compilation {
  compiled_program *program;
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

static void destroy(heddle_program *program) {
  compiled_program *p = (compiled_program *)program;
  open_instances_destroy(p->instances);
  compiled_release(&p->code);
  arena_destroy(p->arena);
  free(p);
}

const compiled_program *handle_compiled(const heddle_program *p) {
  return p->destroy == destroy ? (const compiled_program *)p : NULL;
}

// As a program of these sizes is run.
static heddle_status run_open(heddle_program *program, const int64_t *const *input_dims,
                              const void *const *const *inputs, void *const *const *outputs,
                              int64_t *const *const *dims) {
  const compiled_program *p = (const compiled_program *)program;
  return open_instances_run(p->instances, program, input_dims, inputs, outputs, dims);
}

// Of a program that is compiled for each size, or has code for some alone: what is compiled for it says.
static heddle_status result_dims(const heddle_program *program, const int64_t *const *input_dims, int number,
                                 int64_t *dims) {
  const compiled_program *p = (const compiled_program *)program;
  return open_instances_result_dims(p->instances, input_dims, number, dims);
}

static heddle_status choose_platform(const char *name, compile_options *options) {
  if (!name) return status_ok();
  target_kind platform;
  TRY(device_types_platform(name, &platform));
  options->runs = platform != TARGET_CPU;
  if (platform == TARGET_VULKAN) options->target = target_vulkan();
  return status_ok();
}

static heddle_status choose_codegen(const char *name, target_codegen *out) {
  *out = CODEGEN_CHOSEN;
  for (int k = CODEGEN_CHOSEN + 1; name && k < CODEGEN_COUNT; k++)
    if (strcmp(name, target_codegen_name((target_codegen)k)) == 0) *out = (target_codegen)k;
  if (!name || *out != CODEGEN_CHOSEN) return status_ok();
  return status_error(HEDDLE_INVALID, "heddle_compile: found the codegen \"%s\", wanted library, emitters or tiles",
                      name);
}

static heddle_status compile(void *argument) {
  const compilation *c = argument;
  compiled_program *p = c->program;
  const heddle_compile_options *given = c->options;
  p->arena = arena_create();
  const char *file = arena_strdup(p->arena, c->name, strlen(c->name));
  p->options = (compile_options){
      .exact = given->exact, .threads = given->threads, .specializes = given->specializes, .streams = given->streams};
  if (given->device) p->options.device = arena_strdup(p->arena, given->device, strlen(given->device));
  TRY(choose_platform(given->platform, &p->options));
  TRY(choose_codegen(given->codegen, &p->options.codegen));
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
    p->instances = open_compile_instances(&p->code);
    if (!p->instances) {
      compiled_release(&p->code);
      return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program's sizes");
    }
  }
  const invocable callable = {made, p->code.executable, p->code.buffers};
  program_handle_fill(p->arena, &callable, destroy, &p->handle);
  if (p->code.is_open) p->handle.run_open = run_open;
  if (p->code.symbols || made->sizes.is_for_given) p->handle.dims_open = result_dims;
  progress_tell(&options.progress, "done", 0, 0);
  return status_ok();
}

static void release_code(void *argument, bool is_torn) {
  (void)is_torn;
  compiled_program *p = ((compilation *)argument)->program;
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
  if (taken.streams < 0 || taken.streams > PROGRAM_MOST_STREAMS)
    return status_error(HEDDLE_INVALID, "heddle_compile: found %d streams, wanted 0 to %d", taken.streams,
                        PROGRAM_MOST_STREAMS);
  compiled_program *p = calloc(1, sizeof *p);
  if (!p) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program");
  c->program = p;
  c->options = &taken;
  const call_context call = {cancellation_flag(taken.cancellation)};
  const call_context *outer = call_enter(&call);
  heddle_status s = guard_run(compile, release_code, c);
  call_enter(outer);
  if (!status_is_ok(s)) {
    arena_destroy(p->arena);
    free(p);
    return s;
  }
  *out = &p->handle;
  return s;
}

// --- saved programs

static heddle_status check_platform(const char *name, const heddle_program *p) {
  if (!name) return status_ok();
  target_kind wanted;
  TRY(device_types_platform(name, &wanted));
  if (wanted == p->callable.program->device) return status_ok();
  return status_error(HEDDLE_INVALID, "found the platform %s, but the program was saved for %s",
                      target_kind_name(wanted), heddle_program_platform(p));
}

static heddle_status check_loaded(void *argument) {
  const compilation *c = argument;
  const heddle_program *p = &c->program->handle;
  TRY(check_platform(c->options->platform, p));
  arena *a = arena_create();
  const shape *const *given;
  heddle_status s = argument_shapes_read(a, c->options->parameter_count, c->options->parameters, &given);
  if (status_is_ok(s)) s = check_parameters(a, p->callable.program, c->options->parameter_count, given);
  arena_destroy(a);
  return s;
}

// Of the options what a program that is compiled already can heed.
static heddle_status load(const char *path, str bytes, const heddle_compile_options *options, heddle_program **out) {
  heddle_compile_options taken;
  if (!out) return status_error(HEDDLE_INVALID, "heddle_compile: found null for the place of the program");
  TRY(sized_struct_take("heddle_compile_options", options, &taken, sizeof taken));
  const heddle_load_options loading = {HEDDLE_SIZED(heddle_load_options), .threads = taken.threads,
                                       .device = taken.device};
  TRY(path ? heddle_program_load(path, &loading, out)
           : heddle_program_load_memory(bytes.data, bytes.size, &loading, out));
  compilation c = {.program = (compiled_program *)*out, .options = &taken};
  heddle_status s = guard_run(check_loaded, NULL, &c);
  if (status_is_ok(s)) return s;
  heddle_program_free(*out);
  *out = NULL;
  return s;
}

// A pipe is read once, and only its bytes tell what is in them.
static heddle_status compile_stream(const char *path, const heddle_compile_options *options, heddle_program **out) {
  heddle_compile_options taken;
  str bytes;
  TRY(sized_struct_take("heddle_compile_options", options, &taken, sizeof taken));
  const call_context call = {cancellation_flag(taken.cancellation)};
  const call_context *outer = call_enter(&call);
  heddle_status s = file_map(path, &bytes);
  call_enter(outer);
  TRY(s);
  s = heddle_compile(bytes.data, bytes.size, path, options, out);
  file_unmap(bytes);
  return s;
}

// --- all formats

heddle_status heddle_compile(const char *text, size_t size, const char *name, const heddle_compile_options *options,
                             heddle_program **out) {
  if (out) *out = NULL;
  if (!text && size) return status_error(HEDDLE_INVALID, "heddle_compile: found null for a text of %zu bytes", size);
  if (program_file_is((str){text, size})) return load(NULL, (str){text, size}, options, out);
  compilation c = {.source = {text ? text : "", size}, .name = name ? name : "program"};
  return compile_guarded(&c, options, out);
}

heddle_status heddle_compile_file(const char *path, const heddle_compile_options *options, heddle_program **out) {
  if (out) *out = NULL;
  if (!path) return status_error(HEDDLE_INVALID, "heddle_compile_file: found null for the path");
  if (program_file_is_at(path)) return load(path, STR(""), options, out);
  if (!file_is_regular(path)) return compile_stream(path, options, out);
  compilation c = {.path = path, .name = path};
  return compile_guarded(&c, options, out);
}
