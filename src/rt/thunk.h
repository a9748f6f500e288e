// One interface for all kinds of thunks, on every device.
//
// `program_thunk` (prog/program.h) says what to do; a `thunk` is that made ready to run: slices resolved, library state
// made, scratch memory counted. Made once with the executable, executed many times, also from several threads at once:
// executing changes nothing but memory of the frame.
#ifndef HEDDLE_RT_THUNK_H_
#define HEDDLE_RT_THUNK_H_

#include "base/arena.h"
#include "lib/draw.h"
#include "rt/context.h"

typedef struct thunk thunk;
typedef struct device_group device_group;  // rt/device_group.h

// One run in progress on one device. Recycled with all memory it points at.
typedef struct run_frame {
  const run_context *context;
  char *const *allocations;  // base address of every allocation
  char *scratch;             // executable-wide scratch memory of this frame; thunks own ranges of it
  void *device_frame;        // of context->device
  int device;                // 0 … device_count - 1
  int threads;               // that the thunk at hand may use; 1 inside a parallel step of small thunks
  draw_stream *draws;        // random numbers of this run
  device_group *devices;     // that run the program together with this one; null when there is one device
} run_frame;

typedef struct thunk_type {
  // Makes t->state, counts t->scratch_bytes, checks what of `from` can go wrong. Memory from the arena lives as long as
  // the executable. When it fails it leaves nothing to release.
  heddle_status (*prepare)(arena *a, const run_context *context, const program_thunk *from, thunk *t);
  heddle_status (*execute)(const thunk *t, const run_frame *f);
  void (*release)(thunk *t);  // what the arena does not hold (library handles); null: nothing
} thunk_type;

struct thunk {
  const thunk_type *type;
  const program_thunk *from;
  void *state;
  int64_t scratch_bytes;   // wanted while it runs, aligned to 64
  int64_t scratch_offset;  // where they lie in f->scratch, given after prepare
  double cost;             // seconds on one thread, estimated, to tell small from large; 0: judged by the bytes moved
  int stream;              // of the device, that runs it; -1: the host does
  bool is_serial;          // uses one thread however many the frame allows; prepare may set it
  bool has_effects;        // on more than its slices: keeps its order among others that have; prepare may set it
};

// Address of a slice in this run; null where nothing lies there.
static inline void *thunk_slice(const run_frame *f, int slice) {
  const program_slice *s = &f->context->program->slices[slice];
  char *base = f->allocations[s->allocation];
  return base ? base + s->offset : NULL;
}

#endif
