// Hands a program's kernels to the simulator, and the simulator to the runtime as the device that starts them.
#include "api/simulation.h"

static heddle_status start(void *user, const program *p, int kernel, void *const *buffers, const int64_t *bytes) {
  const program_kernel *k = &p->kernels[kernel];
  simulator_grid grid;
  for (int d = 0; d < 3; d++) {
    grid.blocks[d] = k->grid[d];
    grid.threads[d] = k->block[d];
  }
  return simulator_launch(user, kernel, &grid, k->buffer_count, buffers, bytes);
}

// The simulator numbers kernels as the program does: those that run on the host come behind them.
heddle_status simulation_link(const program *p, int64_t shared_limit, simulator **device, executable *e) {
  *device = simulator_create(shared_limit);
  for (int k = 0; k < p->kernel_count; k++) {
    const program_image *image = &p->images[p->kernels[k].image];
    if (image->format == PROGRAM_LLVM) TRY(simulator_add(*device, image->data, image->size, p->kernels[k].entry));
  }
  executable_set_launcher(e, start, *device);
  return status_ok();
}
