// Calls a kernel's native function for each tile.
#include "base/call.h"
#include "base/pool.h"
#include "rt/cost.h"
#include "rt/thunk_types.h"

// Buffers whose addresses lie on the stack of a run; more of them lie in its scratch memory.
enum { STACK_BUFFERS = 48, LINE = 64, STRETCHES = 16 };

typedef struct kernel_call {
  kernel_fn entry;
  void *const *buffers;
} kernel_call;

// A call that can be cancelled asks a few times. The tiles that are left out then are seen by nobody: the run ends
// before its next thunk.
static void run_tiles(void *argument, int64_t begin, int64_t end) {
  const kernel_call *c = argument;
  const int64_t stretch = call_can_end() ? (end - begin) / STRETCHES + 1 : end - begin;
  for (; begin < end && !call_is_over(); begin += stretch)
    c->entry(c->buffers, begin, end - begin < stretch ? end : begin + stretch);
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  (void)a;
  const program_kernel *k = &context->program->kernels[from->launch.kernel];
  t->cost = (double)k->tiles *
            ((double)k->tile_bytes / COST_BYTES_PER_SECOND + (double)k->tile_operations / COST_OPERATIONS_PER_SECOND);
  t->is_serial = k->tiles < 2;
  if (k->buffer_count > STACK_BUFFERS)
    t->scratch_bytes = ((int64_t)k->buffer_count * (int64_t)sizeof(void *) + LINE - 1) / LINE * LINE;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const run_context *context = f->context;
  void *few[STACK_BUFFERS];
  void **buffers = t->scratch_bytes ? (void **)(void *)(f->scratch + t->scratch_offset) : few;
  const program_launch *launch = &t->from->launch;
  const program_kernel *k = &context->program->kernels[launch->kernel];
  for (int i = 0; i < k->buffer_count; i++) buffers[i] = thunk_slice(f, launch->buffers[i]);
  kernel_call c = {context->entries[launch->kernel], buffers};
  pool_run(t->cost < COST_PARALLEL_SECONDS ? 1 : f->threads, k->tiles, run_tiles, &c);
  for (int number = k->rest; number > 0; number = context->program->kernels[number].rest) {
    const program_kernel *rest = &context->program->kernels[number];
    if (rest->first_tile < rest->tiles) context->entries[number](buffers, rest->first_tile, rest->tiles);
  }
  return status_ok();
}

const thunk_type thunk_kernel = {prepare, execute, NULL};
