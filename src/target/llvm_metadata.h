// Facts for LLVM that MLIR's translation drops: loop hints and ranges of thread numbers.
#ifndef HEDDLE_TARGET_LLVM_METADATA_H_
#define HEDDLE_TARGET_LLVM_METADATA_H_

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/target.h"

// Loops whose bodies already compute on vectors: `llvm.loop.vectorize.enable` false and `llvm.loop.unroll.disable`, so
// that no pass makes further copies of them. Loops without vectors are left to LLVM's judgement.
void llvm_hint_vector_loops(arena *scratch, LLVMModuleRef module);

// Of a kernel on a grid: `llvm.loop.unroll.count` for loops that read memory, so many iterations at once as the
// target's limits of code and the registers for what they read allow; `llvm.loop.unroll.disable` for all others, of
// which the lowering has made as many copies as it wants.
void llvm_hint_grid_loops(arena *scratch, LLVMModuleRef module, const target_description *target);

// How many threads and blocks a kernel is launched with.
typedef struct launch_bounds {
  int64_t threads_x, blocks_x, blocks_y;
} launch_bounds;

// `!range` on reads of thread and block numbers, exact for the launch: index arithmetic is then known not to wrap.
void llvm_bound_thread_numbers(LLVMModuleRef module, const launch_bounds *bounds);

#endif
