// Launches a kernel on a device with a queue of its own. A sequence hands over many together (rt/device_steps.h); one
// that is to be seen alone is a batch of its own.
#include "rt/device_steps.h"
#include "rt/thunk_types.h"

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  const program *p = context->program;
  const int image = p->kernels[from->launch.kernel].image;
  if (image < 0 || image >= p->image_count || p->images[image].format != PROGRAM_SPIRV)
    return status_error(HEDDLE_INVALID, "kernel %s has no code for the device", p->kernels[from->launch.kernel].entry);
  device_launch_list launches = {0};
  device_steps_launch(a, context, from, 0, &launches);
  device_batch *b = arena_new(a, device_batch);
  *b = (device_batch){.number = context->counts->batches++, .count = launches.size, .launches = launches.data};
  t->state = b;
  t->is_serial = true;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const device_batch *b = t->state;
  const run_context *c = f->context;
  TRY(c->device->submit(c->loaded, f->device_frame, b));
  return c->device->wait(c->loaded, f->device_frame, 1, &b->number);
}

const thunk_type thunk_dispatch = {prepare, execute, NULL};
