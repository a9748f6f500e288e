// Kernels of tiles whose code could not be made: what they hold is planned again without tiles.
//
// Whether tiles of a kernel can be made is known when they are there: a proof that its memory suffices, a pass of MLIR
// or LLVM's code generator may refuse it. So planning is repeated with the instructions of such kernels marked
// (kernel/untiled.h), each time with more of them, until what is left has code.
#ifndef HEDDLE_API_TILE_FAILURES_H_
#define HEDDLE_API_TILE_FAILURES_H_

#include "base/map.h"
#include "kernel/kernel.h"

typedef struct tile_failure {
  str root;         // the kernel's, by name
  const char *why;  // the error's message
} tile_failure;

typedef struct tile_failures {
  arena *arena;  // of names and messages; all else is zero at the beginning
  VEC(tile_failure) list;
  str_map names;  // of the kernels' instructions; values say nothing
  bool has_all;   // names no longer tell what fails: nothing is made of tiles
} tile_failures;

// Takes note of a kernel that failed: false if it is none of tiles, or planning again would not help (memory ran out,
// the call was cancelled).
bool tile_failures_note(tile_failures *f, const kernel_plan *kernel, heddle_status s);

// Marks the instructions of all kernels that failed, in whichever computations they are. A module is marked behind
// the passes, whose names are the same each time. What fusion writes itself it marks by f->names (fuse_run).
void tile_failures_mark(const tile_failures *f, const module *m);

// Who is to make code in the next attempt, where `asked` was asked for: anybody but tiles once f->has_all.
target_codegen tile_failures_codegen(const tile_failures *f, target_codegen asked);

// A line for each kernel, as planning's reasons are.
void tile_failures_print(const tile_failures *f, text *out);

#endif
