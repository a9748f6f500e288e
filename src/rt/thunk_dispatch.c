// Launches a kernel on a device with a queue of its own. Where several follow one another the sequence hands them over
// together (rt/launch_runs.h); one alone is a run of its own.
#include "rt/launch_runs.h"
#include "rt/thunk_types.h"

typedef struct dispatch {
  device_launch launch;
  int run;
} dispatch;

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  const program_launch *launch = &from->launch;
  const program *p = context->program;
  const int image = p->kernels[launch->kernel].image;
  if (image < 0 || image >= p->image_count || p->images[image].format != PROGRAM_SPIRV)
    return status_error(HEDDLE_INVALID, "kernel %s has no code for the device", p->kernels[launch->kernel].entry);
  dispatch *d = arena_new(a, dispatch);
  d->launch = (device_launch){.kernel = launch->kernel,
                              .buffers = launch->buffers,
                              .read_count = from->read_count,
                              .reads = from->reads,
                              .write_count = from->write_count,
                              .writes = from->writes};
  d->run = (*context->run_count)++;
  t->state = d;
  t->is_serial = true;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const dispatch *d = t->state;
  const run_context *c = f->context;
  return c->device->launch(c->loaded, f->device_frame, d->run, 1, &d->launch);
}

const device_launch *thunk_dispatch_launch(const thunk *t) {
  return t->type == &thunk_dispatch ? &((const dispatch *)t->state)->launch : NULL;
}

const thunk_type thunk_dispatch = {prepare, execute, NULL};
