// The thunks that this build can run. A new kind of device adds a row, as long as its thunks differ from the CPU's:
// those that hold sequences may well be shared.
#include "rt/thunk_types.h"

// What runs on the host whatever the device is.
#define HOST_THUNKS                                                                                                 \
  [THUNK_SEQUENCE] = &thunk_sequence, [THUNK_CONDITIONAL] = &thunk_conditional, [THUNK_FOR] = &thunk_for,           \
  [THUNK_CALL] = &thunk_call, [THUNK_COPY] = &thunk_copy, [THUNK_MEMSET] = &thunk_memset,                           \
  [THUNK_CUSTOM_CALL] = &thunk_custom_call, [THUNK_GEMM] = &thunk_gemm, [THUNK_CONVOLUTION] = &thunk_convolution,   \
  [THUNK_FFT] = &thunk_fft, [THUNK_SORT] = &thunk_sort, [THUNK_TOP_K] = &thunk_top_k,                               \
  [THUNK_CONCATENATE] = &thunk_concatenate, [THUNK_RANDOM] = &thunk_random, [THUNK_COLLECTIVE] = &thunk_collective, \
  [THUNK_TRANSFER] = &thunk_transfer

const thunk_type *const thunk_types[TARGET_KIND_COUNT][PROGRAM_THUNK_KIND_COUNT] = {
    [TARGET_CPU] = {[THUNK_KERNEL] = &thunk_kernel, [THUNK_WHILE] = &thunk_while, HOST_THUNKS},
    [TARGET_VULKAN] = {[THUNK_KERNEL] = &thunk_dispatch, [THUNK_WHILE] = &thunk_device_while, HOST_THUNKS},
    [TARGET_NVPTX] = {[THUNK_KERNEL] = &thunk_launch, [THUNK_WHILE] = &thunk_while, HOST_THUNKS},
};
