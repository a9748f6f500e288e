// Launches a kernel on a device with a queue of its own. A sequence hands over many together (rt/device_steps.h); one
// that is to be seen alone is a batch of its own.
#include "rt/device_steps.h"
#include "rt/thunk_types.h"

typedef struct dispatch {
  device_launch launch;
  device_batch batch;
} dispatch;

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  const program_launch *launch = &from->launch;
  const program *p = context->program;
  const int image = p->kernels[launch->kernel].image;
  if (image < 0 || image >= p->image_count || p->images[image].format != PROGRAM_SPIRV)
    return status_error(HEDDLE_INVALID, "kernel %s has no code for the device", p->kernels[launch->kernel].entry);
  dispatch *d = arena_new(a, dispatch);
  d->launch = (device_launch){.kernel = launch->kernel, .buffers = launch->buffers, .touches = touched_by(from)};
  d->batch = (device_batch){.number = (*context->batch_count)++, .count = 1, .launches = &d->launch};
  t->state = d;
  t->is_serial = true;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const dispatch *d = t->state;
  const run_context *c = f->context;
  TRY(c->device->submit(c->loaded, f->device_frame, &d->batch));
  return c->device->wait(c->loaded, f->device_frame, 1, &d->batch.number);
}

const device_launch *thunk_dispatch_launch(const thunk *t) {
  return t->type == &thunk_dispatch ? &((const dispatch *)t->state)->launch : NULL;
}

const thunk_type thunk_dispatch = {prepare, execute, NULL};
