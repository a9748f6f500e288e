// The public calls that run a program (include/heddle/runtime.h), whether it was compiled or loaded.
#include <stdlib.h>

#include "base/ambient.h"
#include "base/call.h"
#include "base/guard.h"
#include "base/sized_struct.h"
#include "prog/program_sizes.h"
#include "rt/cancellation.h"
#include "rt/overlap.h"
#include "rt/program_handle.h"

// What kernels ask of a buffer's address.
enum { ALIGNMENT = 64 };

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
  const program *made = p->callable.program;
  for (int d = 0; d < made->device_count; d++) {
    TRY(check_list("input", d, made->parameter_count, made->parameters, inputs[d]));
    TRY(check_list("output", d, made->given_result_count, made->results, (const void *const *)outputs[d]));
  }
  return status_ok();
}

// A result without dimensions needs no place for their sizes.
static heddle_status check_sizes(const heddle_program *p, int64_t *const *const *dims) {
  const program *made = p->callable.program;
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
  const program *made = p->callable.program;
  return p->is_direct && all_aligned(made->parameter_count, inputs) &&
         all_aligned(made->result_count, (const void *const *)outputs);
}

// A run whose arrays have to be copied.
typedef struct copied_run {
  heddle_program *program;
  const void *const *const *inputs;
  void *const *const *outputs;
  int64_t *const *const *dims;
  invocation run;
} copied_run;

static heddle_status run_in(arena *a, copied_run *c) {
  heddle_program *p = c->program;
  const program *made = p->callable.program;
  TRY(invocation_bind(a, &p->callable, c->inputs, false, &c->run));
  heddle_status s = invocation_execute(&c->run);
  int64_t unseen[PROGRAM_MAX_RANK];
  const int results = made->given_result_count;
  for (int k = 0; k < made->device_count * results && status_is_ok(s); k++)
    s = invocation_fetch(&c->run, k / results, k % results, c->outputs[k / results][k % results],
                         c->dims ? c->dims[k / results][k % results] : unseen);
  invocation_release(&c->run);
  c->run.of = NULL;
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
  if (c->run.of) invocation_release(&c->run);
}

static heddle_status run_copied(heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                                int64_t *const *const *dims) {
  copied_run c = {.program = p, .inputs = inputs, .outputs = outputs, .dims = dims};
  return guard_run(run_in_arena, release_run, &c);
}

// Arrays that lie as kernels want them are used where they are; then nothing is copied. Results that lie over inputs
// are written when all inputs have been copied and all kernels have run.
heddle_status program_call_given(heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                                 int64_t *const *const *dims) {
  TRY(check_given(p, inputs, outputs));
  if (dims) TRY(check_sizes(p, dims));
  bool reads_results;
  TRY(overlap_find(p->callable.program, p->heirs, p->bytes, inputs, outputs, &reads_results));
  bool is_direct = !reads_results && !dims;
  for (int d = 0; d < p->callable.program->device_count; d++)
    is_direct = is_direct && can_run_directly(p, inputs[d], outputs[d]);
  if (!is_direct) return run_copied(p, inputs, outputs, dims);
  if (p->callable.program->device_count == 1)
    return executable_run(p->callable.executable, (void *const *)inputs[0], outputs[0]);
  return executable_run_devices(p->callable.executable, (void *const *const *)inputs, outputs);
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
  if (!program->run_open) {
    for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
    return status_ok();
  }
  TRY(check_input_dims(program, input_dims));
  if (program->dims_open) return program->dims_open(program, input_dims, number, dims);
  return program_sizes_result(program->callable.program, input_dims, number, dims);
}

static heddle_status run_open(heddle_program *p, const int64_t *const *input_dims, const void *const *const *inputs,
                              void *const *const *outputs, int64_t *const *const *dims) {
  TRY(check_input_dims(p, input_dims));
  return p->run_open(p, input_dims, inputs, outputs, dims);
}

heddle_status heddle_program_run_with(heddle_program *program, const heddle_run_options *options,
                                      const void *const *const *inputs, void *const *const *outputs) {
  if (!program) return status_error(HEDDLE_INVALID, "found null for the program to run");
  heddle_run_options taken = {0};
  if (options) TRY(sized_struct_take("heddle_run_options", options, &taken, sizeof taken));
  const call_context call = {cancellation_flag(taken.cancellation)};
  const call_context *outer = call_enter(&call);
  const ambient_arithmetic arithmetic = ambient_enter_arithmetic();
  if (program->profile) profile_begin_run(program->profile);
  heddle_status s = program->run_open ? run_open(program, taken.input_dims, inputs, outputs, taken.dims)
                                      : program_call_given(program, inputs, outputs, taken.dims);
  if (program->profile) profile_end_run(program->profile);
  ambient_leave_arithmetic(arithmetic);
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
