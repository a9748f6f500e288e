// The kernel simulator: executes kernels for GPUs on this machine, from the LLVM IR that PTX would be made of.
//
// Threads run in warps of 32 in lock step, warp after warp up to the next barrier, block after block, in a fixed order.
// What a GPU would not take, or would take silently with results that nobody can rely on, is an error that names
// kernel, thread and instruction: accesses out of bounds or out of line, races, barriers and shuffles in divergent
// code, shared memory that was never written. What accesses move is counted.
#ifndef HEDDLE_SIMULATE_SIMULATOR_H_
#define HEDDLE_SIMULATE_SIMULATOR_H_

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

typedef struct simulator simulator;

// Of a GPU whose blocks may share so many bytes. Kernels are numbered as they are added. Not thread-safe, but for
// simulator_launch.
simulator *simulator_create(int64_t shared_limit);
void simulator_destroy(simulator *s);  // null is allowed

// Adds the kernel `entry` of a module of LLVM IR (text or bitcode) for NVPTX. HEDDLE_INVALID for what is no IR,
// HEDDLE_UNIMPLEMENTED for instructions that the simulator lacks.
heddle_status simulator_add(simulator *s, const void *ir, size_t size, const char *entry);

typedef struct simulator_grid {
  int64_t blocks[3], threads[3];
} simulator_grid;

// Runs a kernel on its whole grid: argument i points to bytes[i] bytes. HEDDLE_DEVICE_FAILED for what a GPU would not
// do (memory may have been written by then), HEDDLE_CANCELLED when the call is over. May be called from several
// threads; they take turns.
heddle_status simulator_launch(simulator *s, int kernel, const simulator_grid *grid, int count, void *const *arguments,
                               const int64_t *bytes);

// What a kernel's launches have moved so far.
typedef struct simulator_traffic {
  int64_t launches;
  // Global memory: bytes that lanes asked for, each once, and bytes of the 32-byte sectors that held them, both counted
  // for each access of a warp. Broadcasts of one address are left out.
  int64_t requested, moved;
  int64_t passes, ideal_passes;  // over the banks of shared memory
  int64_t local_bytes;           // of threads' own memory
  bool is_watched;               // races were looked for everywhere
} simulator_traffic;

simulator_traffic simulator_traffic_of(const simulator *s, int kernel);

// A line for each kernel that ran: its name, and of the bytes that its accesses move the part that it asked for.
void simulator_print(const simulator *s, text *out);

#endif
