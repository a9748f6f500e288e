// Batched matrix products of every element type that HLO's dot takes, with a bias and an activation.
//
// The shapes decide how the work is cut into tiles, never the number of threads; each tile is multiplied by one thread.
// So the same input gives the same bits for every number of threads.
#ifndef HEDDLE_LIB_GEMM_H_
#define HEDDLE_LIB_GEMM_H_

#include "lib/call.h"
#include "lib/work.h"

// A product of given shapes and types, made once. Read only from then on.
typedef struct gemm_plan {
  work_type work;  // of the multiplications
  work_type sums;  // that their sums end in: another one if they are exact
  bool is_exact;   // products of integers in floats, taken out of them before they are no longer exact
  int64_t batch, rows, columns, depth;
  bool transpose_lhs, transpose_rhs;
  bool has_bias, has_relu;
  bool copies_lhs, copies_rhs;  // tiles are widened or packed before they are multiplied
  bool copies_sums;             // tiles of sums lie in scratch memory and are narrowed from there
  int64_t tile_rows, tile_columns, tile_depth;
  int64_t depth_parts;  // > 1: parts of the depth are summed apart, then together
  int max_threads;      // more are no use, or would step on each other's bytes
} gemm_plan;

// From the shapes, types and attributes of a call (prog/program.h, GEMM); HEDDLE_INVALID when they do not fit together.
heddle_status gemm_plan_make(const lib_call *call, gemm_plan *plan);

// Bytes of scratch memory that a call on so many threads wants.
int64_t gemm_plan_scratch(const gemm_plan *plan, int threads);

// `call` is of the shapes that the plan was made for, with data and scratch memory. Fails only when a library has no
// memory left.
heddle_status gemm_plan_execute(const gemm_plan *plan, const lib_call *call);

#endif
