#include "rt/executor.h"

#include "base/pool.h"

// Less memory traffic than this is done before another thread has woken up (an empty parallel region costs 1 to 10 µs).
enum { PARALLEL_BYTES = 64 << 10 };

typedef struct call {
  kernel_fn entry;
  void *const *buffers;
} call;

static void run_tiles(void *argument, int64_t begin, int64_t end) {
  const call *c = argument;
  c->entry(c->buffers, begin, end);
}

static heddle_status run_kernel(const executable *e, int number, void *const *parameters, void *const *results) {
  const program_kernel *k = &e->program->kernels[number];
  void *buffers[PROGRAM_KERNEL_SLICES_MAX];
  if (k->slice_count > PROGRAM_KERNEL_SLICES_MAX)
    return status_error(HEDDLE_UNIMPLEMENTED, "kernel %s uses %d buffers, at most %d can be passed", k->name,
                        k->slice_count, PROGRAM_KERNEL_SLICES_MAX);
  for (int i = 0; i < k->slice_count; i++) {
    const program_slice *s = &e->program->slices[k->slices[i]];
    buffers[i] = s->kind == PROGRAM_PARAMETER ? parameters[s->number] : results[s->number];
  }
  call c = {e->entries[number], buffers};
  int64_t bytes = k->tile_bytes > INT64_MAX / (k->tile_count + 1) ? INT64_MAX : k->tile_bytes * k->tile_count;
  pool_run(bytes < PARALLEL_BYTES ? 1 : e->threads, k->tile_count, run_tiles, &c);
  return status_ok();
}

heddle_status executor_run(const executable *e, void *const *parameters, void *const *results) {
  for (int i = 0; i < e->program->kernel_count; i++) TRY(run_kernel(e, i, parameters, results));
  return status_ok();
}
