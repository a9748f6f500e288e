// What a kind of device that has memory and a queue of its own does for a program. Those of the host have no entry: its
// frames are memory of the process and its kernels are called.
//
// The host reaches a device's memory: what has no kernel runs there, between kernels, on the same bytes.
#ifndef HEDDLE_RT_DEVICE_TYPE_H_
#define HEDDLE_RT_DEVICE_TYPE_H_

#include "base/status.h"
#include "base/str.h"
#include "prog/program.h"

typedef struct device_launch {
  int kernel;
  const int *buffers;  // slices of the program
  int read_count, write_count;
  const int *reads, *writes;  // the same, by what is done to them
} device_launch;

typedef struct device_type {
  // A line for each device there is: "vulkan 0: NAME, …". Fails where there is none.
  heddle_status (*list)(text *out);
  // Makes the program's kernels and constants ready, once; `programs` are what the calls below take. Launches that
  // follow one another with nothing of the host's between them are a run, of which there are `run_count`.
  heddle_status (*load)(const program *p, int run_count, void **loaded);
  void (*unload)(void *loaded);  // all frames must be gone
  // Asked before a run: HEDDLE_DEVICE_FAILED in a child of the process that loaded the program, since a fork copies no
  // device. The calls that free are for such a child, too.
  heddle_status (*check)(const void *loaded);
  // Memory for one run of the program at a time; allocations[i] receives where the host finds allocation i.
  heddle_status (*create_frame)(void *loaded, char **allocations, void **frame);
  void (*destroy_frame)(void *loaded, void *frame);
  // Starts the launches, those that touch the same bytes one after the other, and waits for them. A run has the same
  // launches each time.
  heddle_status (*launch)(void *loaded, void *frame, int run, int count, const device_launch *launches);
} device_type;

extern const device_type *const device_types[TARGET_KIND_COUNT];  // null: the host

// What a caller calls a platform that programs can run on: "cpu", "vulkan"; case does not matter. HEDDLE_INVALID, with
// the names there are, for others and for null.
heddle_status device_type_platform(const char *name, target_kind *out);
// A line for each device of the platform: HEDDLE_DEVICE_FAILED, with the reason, where there is none.
heddle_status device_type_list(target_kind platform, text *out);

#endif
