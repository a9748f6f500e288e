// A block of threads under way: warps that run in lock step, and parted lanes that meet again.
#ifndef HEDDLE_SIMULATE_WARP_H_
#define HEDDLE_SIMULATE_WARP_H_

#include "simulate/memory.h"

// Lanes that are at the same place. The path on top of the stack runs; when it comes to where it meets the path below
// it, it is gone, as its lanes are the other's, too.
typedef struct warp_path {
  sim_mask lanes;
  int block, op;
  int meets;  // block; -1: nowhere before the function's end
} warp_path;

// A function that a warp has begun.
typedef struct warp_call {
  const sim_function *function;
  sim_slot *slots;
  sim_mask live;  // lanes that have not returned
  int path_count;
  warp_path *paths;   // room for WARP_MAX_PATHS
  sim_slot *results;  // of the caller, where returned values go; null: nowhere
} warp_call;

// Paths part until each has a lane of its own, and each waits once where it parted.
enum { WARP_MAX_PATHS = 2 * SIM_LANES + 2 };

typedef struct block_state block_state;

typedef struct warp {
  block_state *block;
  int number;        // in its block
  sim_mask threads;  // lanes that have a thread
  warp_call kernel;
  const sim_op *waits;  // at a barrier; null: it does not
  bool has_ended;
  int64_t steps;
} warp;

// The block that runs, and what all blocks have alike.
struct block_state {
  const sim_code *code;
  memory *memory;
  const char *name;  // of the kernel
  int64_t grid[3], threads[3];
  int64_t thread_count;
  int64_t at[3];    // the block's place in the grid
  uint32_t number;  // the same counted from 1 on
  uint32_t epoch;   // barriers passed
  int warp_count;
  warp *warps;
  char *stacks;        // of all threads, code->stack_bytes each
  warp_call *calls;    // by function: one call at a time, as no function calls itself and none waits
  sim_slot *gathered;  // room for the phis of one way between blocks
};

// Starts the kernel in the warp.
void warp_start(warp *w, void *const *arguments);

// Runs it until it has ended or waits at a barrier. HEDDLE_DEVICE_FAILED for what a GPU would not do, with the thread
// and the instruction.
heddle_status warp_run(warp *w);

#endif
