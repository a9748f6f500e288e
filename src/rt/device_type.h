// What a kind of device that has memory and a queue of its own does for a program. Those of the host have no entry: its
// frames are memory of the process and its kernels are called.
//
// What has no kernel runs on the host, between kernels, on the same bytes: it reaches the device's memory, or has its
// own beside it and copies go between.
#ifndef HEDDLE_RT_DEVICE_TYPE_H_
#define HEDDLE_RT_DEVICE_TYPE_H_

#include "base/status.h"
#include "base/str.h"
#include "rt/conflicts.h"

typedef enum device_launch_kind {
  DEVICE_KERNEL,
  DEVICE_COPY,    // of the slice that is read to the one that is written
  DEVICE_CHOICE,  // of a branch, by the slice that is read: what follows is told by predicates
} device_launch_kind;

typedef struct device_launch {
  device_launch_kind kind;
  int kernel;
  const int *buffers;  // of a kernel: slices of the program
  touched touches;     // the same, by what is done to them
  // Of a choice: as program_control says it, among so many branches, the first of which has this predicate and the
  // others the following ones.
  bool is_pred;
  int branch_count;
  int64_t branches;
  // What is only done if a choice before has made it true, and not if it was not made; 0 is always true.
  int64_t predicate;
} device_launch;

// Launches that a stream takes at once.
typedef struct device_batch {
  int number;  // among the program's batches: a batch has the same launches each time
  int stream;
  int count;
  const device_launch *launches;
  int wait_count;
  const int *waits;  // numbers of batches of other streams that have to end first, submitted before
} device_batch;

// What a program runs on.
typedef struct device_abilities {
  int streams;          // of which the program may have asked for so many (program.streams)
  bool has_predicates;  // launches may depend on what the device itself has computed
} device_abilities;

// Of what a run of the program needs so many.
typedef struct device_counts {
  int batches;
  int64_t predicates;  // the one that is always true is counted
} device_counts;

typedef struct device_type {
  // A line for each device there is: "vulkan 0: NAME, …". Fails where there is none.
  heddle_status (*list)(text *out);
  // Makes the program's kernels and constants ready, once; `loaded` is what the calls below take.
  // `device` says on which device: its number or a part of its name; null: any.
  heddle_status (*load)(const program *p, const char *device, void **loaded);
  device_abilities (*abilities)(const void *loaded);
  void (*unload)(void *loaded);  // all frames must be gone
  // Asked before a run: HEDDLE_DEVICE_FAILED in a child of the process that loaded the program, since a fork copies no
  // device. The calls that free are for such a child, too.
  heddle_status (*check)(const void *loaded);
  // Memory for one run of the program at a time; allocations[i] receives where the host finds allocation i.
  heddle_status (*create_frame)(void *loaded, const device_counts *counts, char **allocations, void **frame);
  void (*destroy_frame)(void *loaded, void *frame);
  // Starts the launches, those that touch the same bytes one after the other, behind earlier batches of the stream and
  // those that it waits for. A batch is submitted again only when it has ended.
  heddle_status (*submit)(void *loaded, void *frame, const device_batch *b);
  // Waits until these batches have ended, and all before them on their streams.
  heddle_status (*wait)(void *loaded, void *frame, int count, const int *batches);
  // Waits until all that was submitted has ended.
  heddle_status (*finish)(void *loaded, void *frame);
  // Makes the host see what has ended of the slices that are read and written, and the device what the host has
  // written. They do nothing where both see the same memory.
  heddle_status (*fetch)(void *loaded, void *frame, const touched *t);
  heddle_status (*store)(void *loaded, void *frame, const touched *t);
  // The same of all parameters, and results that begin as donated ones; or, to the host, of all results.
  heddle_status (*cross)(void *loaded, void *frame, bool to_host);
  // Whether nothing of the frame runs any more, as far as the device can be asked; else it is for no other run.
  bool (*is_idle)(const void *frame);
} device_type;

#endif
