// The public calls (include/heddle/heddle.h) on top of compile.c and run.c.
#include "heddle/heddle.h"

#include <stdlib.h>

#include "api/compile.h"
#include "api/run.h"
#include "import/import.h"

struct heddle_program {
  arena *arena;
  compiled code;
  bool is_direct;  // arguments and results lie as the caller's arrays do
};

// What kernels ask of a buffer's address.
enum { ALIGNMENT = 64 };

static bool lies_as_array(const shape *s) { return dtypes[s->dtype].bits >= 8 && shape_layout_is_default(s); }

static heddle_status compile_into(heddle_program *p, str source, const char *name,
                                  const heddle_compile_options *given) {
  module *m;
  const char *file = arena_strdup(p->arena, name, strlen(name));
  TRY(import_module(p->arena, file, source, NULL, &m));
  compile_options options = {0};
  if (given) options = (compile_options){.exact = given->exact, .threads = given->threads};
  TRY(compile_cpu(p->arena, m, &options, &p->code));
  const lhlo_program *plan = p->code.plan;
  p->is_direct = plan->dynamic.count == 0;
  for (int i = 0; i < plan->parameter_count; i++) p->is_direct &= lies_as_array(plan->parameters[i]);
  for (int i = 0; i < plan->result_count; i++) p->is_direct &= lies_as_array(plan->results[i]);
  return status_ok();
}

heddle_status heddle_compile(const char *text, size_t size, const char *name, const heddle_compile_options *options,
                             heddle_program **out) {
  *out = NULL;
  heddle_program *p = calloc(1, sizeof *p);
  if (!p) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a program");
  p->arena = arena_create();
  heddle_status s = compile_into(p, (str){text, size}, name ? name : "program", options);
  if (!status_is_ok(s)) {
    arena_destroy(p->arena);
    free(p);
    return s;
  }
  *out = p;
  return s;
}

void heddle_program_free(heddle_program *program) {
  if (!program) return;
  compiled_release(&program->code);
  arena_destroy(program->arena);
  free(program);
}

int heddle_program_parameter_count(const heddle_program *program) { return program->code.plan->parameter_count; }
int heddle_program_result_count(const heddle_program *program) { return program->code.plan->dynamic.given_count; }

static heddle_array describe(const shape *s) {
  return (heddle_array){dtype_name(s->dtype), s->rank, s->dims, (size_t)shape_byte_size(s)};
}

heddle_array heddle_program_parameter(const heddle_program *program, int number) {
  return describe(program->code.plan->parameters[number]);
}

heddle_array heddle_program_result(const heddle_program *program, int number) {
  return describe(program->code.plan->results[number]);
}

int heddle_program_device_count(const heddle_program *program) { return program->code.plan->device_count; }

// The literals are views of the caller's memory, so that run_bind and run_fetch do the only copies.
static heddle_status run_in(arena *a, heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                            int64_t *const *dims) {
  const lhlo_program *plan = p->code.plan;
  const int each = plan->parameter_count, count = each * plan->device_count;
  literal *views = arena_array(a, literal, count);
  literal **arguments = arena_array(a, literal *, count);
  for (int k = 0; k < count; k++) {
    views[k] = (literal){.shape = plan->parameters[k % each], .data = (void *)inputs[k / each][k % each]};
    arguments[k] = &views[k];
  }
  run r;
  TRY(run_bind(a, &p->code, count, arguments, &r));
  heddle_status s = run_execute(&r);
  int64_t unseen[SHAPE_MAX_RANK];
  const int results = plan->dynamic.given_count;
  for (int k = 0; k < plan->device_count * results && status_is_ok(s); k++)
    s = run_fetch_into(&r, k / results, k % results, outputs[k / results][k % results],
                       dims ? dims[k % results] : unseen);
  run_release(&r);
  return s;
}

static bool all_aligned(int count, const void *const *pointers) {
  for (int i = 0; i < count; i++)
    if ((uintptr_t)pointers[i] % ALIGNMENT != 0) return false;
  return true;
}

static bool can_run_directly(const heddle_program *p, const void *const *inputs, void *const *outputs) {
  const lhlo_program *plan = p->code.plan;
  return p->is_direct && all_aligned(plan->parameter_count, inputs) &&
         all_aligned(plan->result_count, (const void *const *)outputs);
}

static heddle_status run_copied(heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                                int64_t *const *dims) {
  arena *a = arena_create();
  heddle_status s = run_in(a, p, inputs, outputs, dims);
  arena_destroy(a);
  return s;
}

static heddle_status wants_devices(const heddle_program *p) {
  return status_error(HEDDLE_INVALID, "the program runs on %d devices together: call heddle_program_run_devices",
                      p->code.plan->device_count);
}

// Arrays that lie as kernels want them are used where they are; then nothing is allocated or copied.
heddle_status heddle_program_run(heddle_program *program, const void *const *inputs, void *const *outputs) {
  if (program->code.plan->device_count > 1) return wants_devices(program);
  if (can_run_directly(program, inputs, outputs))
    return executable_run(program->code.executable, (void *const *)inputs, outputs);
  return run_copied(program, &inputs, &outputs, NULL);
}

heddle_status heddle_program_run_devices(heddle_program *program, const void *const *const *inputs,
                                         void *const *const *outputs) {
  bool is_direct = true;
  for (int d = 0; d < program->code.plan->device_count; d++)
    is_direct = is_direct && can_run_directly(program, inputs[d], outputs[d]);
  if (!is_direct) return run_copied(program, inputs, outputs, NULL);
  return executable_run_devices(program->code.executable, (void *const *const *)inputs, outputs);
}

heddle_status heddle_program_run_dynamic(heddle_program *program, const void *const *inputs, void *const *outputs,
                                         int64_t *const *dims) {
  if (program->code.plan->device_count > 1) return wants_devices(program);
  return run_copied(program, &inputs, &outputs, dims);
}
