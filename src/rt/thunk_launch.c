// Starts a kernel on its grid, by whoever has the device.
#include "rt/thunk_types.h"

// Addresses and sizes of the buffers lie in the run's scratch memory.
static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  enum { LINE = 64 };
  (void)a;
  const program_kernel *k = &context->program->kernels[from->launch.kernel];
  const int64_t bytes = (int64_t)k->buffer_count * (int64_t)(sizeof(void *) + sizeof(int64_t));
  t->scratch_bytes = (bytes + LINE - 1) / LINE * LINE;
  t->is_serial = true;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const run_context *context = f->context;
  const program_launch *launch = &t->from->launch;
  const program_kernel *k = &context->program->kernels[launch->kernel];
  if (!context->launch)
    return status_at(HEDDLE_DEVICE_FAILED, t->from->where, "there is no device to run kernel %s", k->entry);
  void **buffers = (void **)(void *)(f->scratch + t->scratch_offset);
  int64_t *bytes = (int64_t *)(void *)(buffers + k->buffer_count);
  for (int i = 0; i < k->buffer_count; i++) {
    buffers[i] = thunk_slice(f, launch->buffers[i]);
    bytes[i] = context->program->slices[launch->buffers[i]].bytes;
  }
  return status_locate(context->launch(context->launch_user, context->program, launch->kernel, buffers, bytes),
                       t->from->where);
}

const thunk_type thunk_launch = {prepare, execute, NULL};
