// Operations of a warp that are neither branches nor calls nor barriers.
#ifndef HEDDLE_SIMULATE_EXECUTE_H_
#define HEDDLE_SIMULATE_EXECUTE_H_

#include "simulate/warp.h"

heddle_status execute_op(warp *w, const warp_call *c, const sim_op *op, sim_mask active);

// Slots as the call sees them: its own, or constants.
const uint64_t *execute_slot(const warp *w, const warp_call *c, int slot);

// HEDDLE_DEVICE_FAILED that names the kernel, the thread of the lane, and the instruction.
heddle_status execute_fail(const warp *w, const sim_op *op, int lane, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
