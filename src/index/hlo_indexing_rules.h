// What the two directions of hlo_indexing share: a job (one instruction, one output or operand) and building its maps.
#ifndef HEDDLE_INDEX_HLO_INDEXING_RULES_H_
#define HEDDLE_INDEX_HLO_INDEXING_RULES_H_

#include "base/vec.h"
#include "hlo/index_dims.h"
#include "index/hlo_indexing.h"

typedef struct indexing_job {
  arena *arena;
  const instruction *instruction;
  int index;           // the output (output to input) or operand (input to output) asked about
  const shape *shape;  // its shape: the dims of all maps
  hlo_indexing *out;
} indexing_job;

typedef heddle_status (*indexing_rule_fn)(indexing_job *job);

// Shape of output `index`: the instruction's own unless it is a tuple.
const shape *hlo_indexing_output_shape(const instruction *i, int index);
int hlo_indexing_output_count(const instruction *i);

typedef struct map_builder {
  indexing_job *job;
  VEC(indexing_variable) ranges;
  VEC(indexing_variable) rts;
  VEC(runtime_value) values;
  VEC(const affine_expr *) results;
  VEC(indexing_constraint) constraints;
} map_builder;

map_builder map_builder_begin(indexing_job *job);
const affine_expr *map_builder_dim(map_builder *b, int64_t position);
// A new range in [0, size - 1]. All ranges come before the first runtime variable.
const affine_expr *map_builder_range(map_builder *b, int64_t size);
void map_builder_result(map_builder *b, const affine_expr *e);
void map_builder_require(map_builder *b, const affine_expr *e, int64_t lower, int64_t upper);
// e = factor * quotient exactly, and quotient in [0, size - 1]: requires that and gives the quotient.
const affine_expr *map_builder_exact_quotient(map_builder *b, const affine_expr *e, int64_t factor, int64_t size);
// Simplifies, drops runtime variables that turned out not to matter, and makes the map the only one of slot `slot`.
void map_builder_finish(map_builder *b, int slot);

void indexing_job_identity(indexing_job *job, int slot);             // one result per dim
void indexing_job_scalar(indexing_job *job, int slot);               // no results
void indexing_job_all(indexing_job *job, int slot, const shape *s);  // every element of s, as ranges

static inline const affine_expr *map_builder_add(map_builder *b, const affine_expr *l, const affine_expr *r) {
  return affine_add(b->job->arena, l, r);
}
static inline const affine_expr *map_builder_sub(map_builder *b, const affine_expr *l, const affine_expr *r) {
  return affine_sub(b->job->arena, l, r);
}
static inline const affine_expr *map_builder_mul(map_builder *b, const affine_expr *l, int64_t r) {
  return affine_mul_constant(b->job->arena, l, r);
}
static inline const affine_expr *map_builder_add_constant(map_builder *b, const affine_expr *l, int64_t r) {
  return affine_add_constant(b->job->arena, l, r);
}
static inline const affine_expr *map_builder_constant(map_builder *b, int64_t v) {
  return affine_constant(b->job->arena, v);
}

// Of window dim w: where window position s of output o lies in the input dilated by base_dilation (padding counts
// below 0): o * stride + s * window_dilation - padding_low.
const affine_expr *map_builder_window_position(map_builder *b, window_dim w, const affine_expr *o,
                                               const affine_expr *s);

// Runtime start of dim `dim` of a dynamic-slice or dynamic-update-slice whose starts begin at operand `first`.
const affine_expr *map_builder_start(map_builder *b, int first, int dim, int64_t upper);

// Dims of a gather's result or a scatter's updates: which are window (offset) dims, which come from the indices.
typedef struct window_dims {
  int operand_rank;
  int *window_at;  // by operand dim: the window dim of result (updates) for it, or -1
  int *batch_at;   // by operand dim: the dim of result (updates) for an operand batching dim, or -1
  int *index_at;   // by indices dim: the dim of result (updates) for it; -1 for the index vector dim
  int64_t index_vector_dim;
  int indices_rank;
} window_dims;
window_dims window_dims_of(arena *a, const index_dims *x, int operand_rank, int indices_rank, int result_rank);
window_dims window_dims_of_gather(indexing_job *job, const shape *result);
// Runtime variable for component k of the index vector that belongs to this map's dims.
const affine_expr *map_builder_index_component(map_builder *b, const window_dims *d, int indices_operand, int k,
                                               int64_t upper);

extern const indexing_rule_fn output_to_input_rules[];
extern const indexing_rule_fn input_to_output_rules[];

#endif
