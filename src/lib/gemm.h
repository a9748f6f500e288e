// Batched matrix products of every element type that HLO's dot takes, with a bias and an activation.
//
// The shapes decide how the work is cut into tiles, never the number of threads; each tile is multiplied by one thread.
// So the same input gives the same bits for every number of threads.
#ifndef HEDDLE_LIB_GEMM_H_
#define HEDDLE_LIB_GEMM_H_

#include "lib/call.h"
#include "lib/work.h"

// Where a left side comes from that is no array: copies rows row … row + rows - 1, of each the elements depth …
// depth + depths - 1, widened to `w`, to rows of `leading` elements.
typedef struct gemm_tile {
  int64_t batch, row, rows, depth, depths;
  int64_t leading;
} gemm_tile;
typedef void (*gemm_load_fn)(const void *argument, work_type w, const gemm_tile *tile, void *to);

// Where the matrices of an operand or of the result lie: elements between rows as they lie in memory, between members
// of the batch, and between groups of members; and in front of the first matrix.
typedef struct gemm_strides {
  int64_t leading, member, group, offset;
} gemm_strides;

// A product of given shapes and types, made once. Read only from then on.
typedef struct gemm_plan {
  work_type work;  // of the multiplications
  work_type sums;  // that their sums end in: another one if they are integers in floats, or by pairs
  bool is_exact;   // products of integers in floats, taken out of them before they are no longer exact
  int64_t batch, rows, columns, depth;
  bool transpose_lhs, transpose_rhs;
  bool has_bias, has_relu;
  bool copies_lhs, copies_rhs;  // tiles are widened or packed before they are multiplied
  bool is_streamed;             // by gemm_stream, `tile_rows` rows at a time
  bool in_strips;               // of these, by gemm_strips
  bool in_bytes;                // by gemm_bytes, as they lie
  const float *kept;            // by which the right side was packed beforehand; null: it was not
  bool turns;                   // tiles are multiplied with their sides changed, and turned round where they go
  bool is_whole;                // each member of the batch is one call of gemm_near_product
  bool copies_sums;             // tiles of sums lie in scratch memory and are narrowed from there
  int64_t group;                // members of the batch that make a group
  gemm_strides lhs, rhs, result;
  int64_t bias_batch;
  int64_t tile_rows, tile_columns, tile_depth;
  int64_t depth_parts;  // > 1: parts of the depth are summed apart, then together
  int max_threads;      // more are no use, or would step on each other's bytes
} gemm_plan;

// What the plan of a product that is not described by a call's arrays is made from.
typedef struct gemm_form {
  dtype lhs, rhs, result;
  int64_t batch, rows, columns, depth;
  bool loads_lhs;        // the left side has no array of its own
  bool keeps_rhs;        // the right side is the same in every call, and may be packed for all of them
  int64_t right_groups;  // > 1: the columns of the batch's members lie side by side in the right side and the result
  bool has_bias, has_relu;
} gemm_form;

heddle_status gemm_plan_make_of(const gemm_form *form, gemm_plan *plan);

// From the shapes, types and attributes of a call (prog/library.h, program_gemm); HEDDLE_INVALID when they do not fit
// together.
heddle_status gemm_plan_make(const lib_call *call, gemm_plan *plan);

// The same for calls that all have the same right side.
heddle_status gemm_plan_make_constant(const lib_call *call, gemm_plan *plan);

// How many elements the array of an operand has: its dims' product, unless the call says that there are more.
int64_t gemm_operand_elements(const lib_call *call, int operand);

// Bytes of scratch memory that a call on so many threads wants.
int64_t gemm_plan_scratch(const gemm_plan *plan, int threads);

// For products whose right side is the same in every call: bytes that it takes packed, 0 if the plan does not gain by
// that. gemm_plan_keep packs it, given operand 1's data, to `kept`, which lies at a multiple of 64 bytes and must
// outlive the plan; scratch memory is to be asked for again, and calls' operands[1] is not looked at from then on.
int64_t gemm_plan_kept_bytes(const gemm_plan *plan);
void gemm_plan_keep(gemm_plan *plan, int threads, const float *rhs, float *kept);

// `call` is of the shapes that the plan was made for, with data and scratch memory. Fails only when a library has no
// memory left.
heddle_status gemm_plan_execute(const gemm_plan *plan, const lib_call *call);

// The same with a left side that `load` makes, which must be thread-safe. Of the call's arrays only types and data are
// looked at; operands[0] is not.
heddle_status gemm_plan_execute_with(const gemm_plan *plan, const lib_call *call, gemm_load_fn load,
                                     const void *argument);

#endif
