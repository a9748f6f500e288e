// Declares the table of what runs each kind of thunk on each kind of device.
#ifndef HEDDLE_RT_THUNK_TYPES_H_
#define HEDDLE_RT_THUNK_TYPES_H_

#include "rt/thunk.h"

// An empty entry means that this build cannot run the kind on that device.
extern const thunk_type *const thunk_types[TARGET_KIND_COUNT][PROGRAM_THUNK_KIND_COUNT];

// One file for each kind on CPUs: thunk_kernel.c, thunk_while.c, …
extern const thunk_type thunk_kernel;
extern const thunk_type thunk_launch;        // of a kernel on a grid, by a launcher
extern const thunk_type thunk_dispatch;      // of a kernel on a device with a queue
extern const thunk_type thunk_device_while;  // of a loop on such a device
extern const thunk_type thunk_sequence;
extern const thunk_type thunk_conditional;
extern const thunk_type thunk_while;
extern const thunk_type thunk_for;
extern const thunk_type thunk_call;
extern const thunk_type thunk_copy;
extern const thunk_type thunk_memset;
extern const thunk_type thunk_custom_call;
extern const thunk_type thunk_gemm;
extern const thunk_type thunk_convolution;
extern const thunk_type thunk_fft;
extern const thunk_type thunk_sort;
extern const thunk_type thunk_top_k;
extern const thunk_type thunk_concatenate;
extern const thunk_type thunk_random;
extern const thunk_type thunk_collective;
extern const thunk_type thunk_transfer;

// Whether the thunk sends or receives, for which a run has a device group even of one device.
bool thunk_transfer_needs_group(const program_thunk *t);

#endif
