// Indexing maps of instructions: entry points and the building blocks of the rules.
//
// The opcode table names an index rule for each opcode; output_to_input_rules (hlo_indexing_inputs.c) and
// input_to_output_rules (hlo_indexing_outputs.c) have one function per rule and direction.
#include "index/hlo_indexing.h"

#include "index/hlo_indexing_rules.h"

int hlo_indexing_output_count(const instruction *i) { return shape_is_tuple(i->shape) ? i->shape->tuple_size : 1; }

const shape *hlo_indexing_output_shape(const instruction *i, int index) {
  return shape_is_tuple(i->shape) ? i->shape->elements[index] : i->shape;
}

// ---- Building a map

map_builder map_builder_begin(indexing_job *job) { return (map_builder){.job = job}; }

const affine_expr *map_builder_dim(map_builder *b, int64_t position) {
  return affine_dim(b->job->arena, (int)position);
}

const affine_expr *map_builder_range(map_builder *b, int64_t size) {
  vec_push(b->job->arena, &b->ranges, (indexing_variable){.bounds = {0, size - 1}});
  return affine_symbol(b->job->arena, b->ranges.size - 1);
}

static void fill_dims(indexing_map *m, const shape *s) {
  for (int i = 0; i < m->dim_count; ++i) m->dims[i].bounds = (interval){0, s->dims[i] - 1};
}

// A new runtime variable in [0, upper], the element at `indices` (expressions of this map's dims and ranges) of
// `operand`.
static const affine_expr *map_runtime(map_builder *b, int64_t upper, int operand, int rank,
                                      const affine_expr *const *indices) {
  arena *a = b->job->arena;
  indexing_map *value = indexing_map_create(a, b->job->shape->rank, b->ranges.size, 0, rank, 0);
  fill_dims(value, b->job->shape);
  for (int i = 0; i < b->ranges.size; ++i) value->ranges[i] = b->ranges.data[i];
  for (int i = 0; i < rank; ++i) value->results[i] = indices[i];
  vec_push(a, &b->rts, (indexing_variable){.bounds = {0, upper}});
  vec_push(a, &b->values, (runtime_value){operand, indexing_map_simplify(a, value)});
  return affine_symbol(a, b->ranges.size + b->rts.size - 1);
}

void map_builder_result(map_builder *b, const affine_expr *e) { vec_push(b->job->arena, &b->results, e); }

void map_builder_require(map_builder *b, const affine_expr *e, int64_t lower, int64_t upper) {
  vec_push(b->job->arena, &b->constraints, (indexing_constraint){e, {lower, upper}});
}

const affine_expr *map_builder_exact_quotient(map_builder *b, const affine_expr *e, int64_t factor, int64_t size) {
  if (factor != 1) map_builder_require(b, affine_mod(b->job->arena, e, factor), 0, 0);
  const affine_expr *quotient = affine_floordiv(b->job->arena, e, factor);
  map_builder_require(b, quotient, 0, size - 1);
  return quotient;
}

static indexing_map *assemble(const map_builder *b) {
  const shape *s = b->job->shape;
  indexing_map *m = indexing_map_create(b->job->arena, s->rank, 0, 0, 0, 0);
  fill_dims(m, s);
  m->range_count = b->ranges.size;
  m->ranges = b->ranges.data;
  m->rt_count = b->rts.size;
  m->rts = b->rts.data;
  m->result_count = b->results.size;
  m->results = b->results.data;
  m->constraint_count = b->constraints.size;
  m->constraints = b->constraints.data;
  return m;
}

// A runtime variable that can only be 0 (the slice is the whole dim) is a constant by now; its value need not be read.
static operand_map drop_unused_runtime(arena *a, const map_builder *b, const indexing_map *m) {
  bool *removed = arena_array(a, bool, m->rt_count);
  runtime_value *rts = arena_array(a, runtime_value, m->rt_count);
  int kept = 0;
  m = indexing_map_remove_unused_rts(a, m, removed);
  for (int i = 0; i < b->rts.size; ++i) {
    if (!removed[i]) rts[kept++] = b->values.data[i];
  }
  return (operand_map){m, rts};
}

void map_builder_finish(map_builder *b, int slot) {
  arena *a = b->job->arena;
  operand_map *one = arena_new(a, operand_map);
  *one = drop_unused_runtime(a, b, indexing_map_simplify(a, assemble(b)));
  b->job->out->operands[slot] = (operand_maps){.count = 1, .maps = one};
}

void indexing_job_identity(indexing_job *job, int slot) {
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < job->shape->rank; ++i) map_builder_result(&b, map_builder_dim(&b, i));
  map_builder_finish(&b, slot);
}

void indexing_job_scalar(indexing_job *job, int slot) {
  map_builder b = map_builder_begin(job);
  map_builder_finish(&b, slot);
}

void indexing_job_all(indexing_job *job, int slot, const shape *s) {
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < s->rank; ++i) map_builder_result(&b, map_builder_range(&b, s->dims[i]));
  map_builder_finish(&b, slot);
}

// ---- What several rules share

const affine_expr *map_builder_window_position(map_builder *b, window_dim w, const affine_expr *o,
                                               const affine_expr *s) {
  return map_builder_add_constant(
      b, map_builder_add(b, map_builder_mul(b, o, w.stride), map_builder_mul(b, s, w.window_dilation)), -w.padding_low);
}

const affine_expr *map_builder_start(map_builder *b, int first, int dim, int64_t upper) {
  const instruction *i = b->job->instruction;
  // The old form has all starts in one vector.
  bool is_vector = instruction_operand_shape(i, first)->rank == 1;
  const affine_expr *component = map_builder_constant(b, dim);
  return map_runtime(b, upper, is_vector ? first : first + dim, is_vector, &component);
}

static int *no_dims(arena *a, int count) {
  int *dims = arena_array(a, int, count);
  for (int i = 0; i < count; ++i) dims[i] = -1;
  return dims;
}

window_dims window_dims_of(arena *a, const index_dims *x, int operand_rank, int indices_rank, int result_rank) {
  window_dims d = {.operand_rank = operand_rank,
                   .window_at = no_dims(a, operand_rank),
                   .batch_at = no_dims(a, operand_rank),
                   .index_at = no_dims(a, indices_rank),
                   .index_vector_dim = x->vector_dim,
                   .indices_rank = indices_rank};
  int next = 0;
  for (int i = 0; i < operand_rank && next < x->window.size; ++i) {
    if (index_dims_has_window(x, i)) d.window_at[i] = (int)x->window.data[next++];
  }
  next = 0;
  for (int i = 0; i < result_rank && next < indices_rank; ++i) {
    if (int_list_find(x->window, i) >= 0) continue;
    if (next == x->vector_dim) ++next;
    if (next < indices_rank) d.index_at[next++] = i;
  }
  for (int i = 0; i < x->batching.size; ++i) {
    d.batch_at[x->batching.data[i]] = d.index_at[x->indices_batching.data[i]];
  }
  return d;
}

window_dims window_dims_of_gather(indexing_job *job, const shape *result) {
  const instruction *i = job->instruction;
  const index_dims w = index_dims_of_gather(i->attributes);
  return window_dims_of(job->arena, &w, instruction_operand_shape(i, 0)->rank, instruction_operand_shape(i, 1)->rank,
                        result->rank);
}

const affine_expr *map_builder_index_component(map_builder *b, const window_dims *d, int indices_operand, int k,
                                               int64_t upper) {
  const affine_expr *indices[SHAPE_MAX_RANK];
  for (int i = 0; i < d->indices_rank; ++i) {
    indices[i] = i == d->index_vector_dim ? map_builder_constant(b, k) : map_builder_dim(b, d->index_at[i]);
  }
  return map_runtime(b, upper, indices_operand, d->indices_rank, indices);
}

// ---- Linear orders

// Dims from major to minor.
static void physical_order(const shape *s, bool by_layout, int64_t *order) {
  int64_t minor_to_major[SHAPE_MAX_RANK];
  if (by_layout) shape_minor_to_major(s, minor_to_major);
  for (int i = 0; i < s->rank; ++i) order[i] = by_layout ? minor_to_major[s->rank - 1 - i] : i;
}

static const indexing_map *linear_map(arena *a, const shape *from, const shape *to, bool by_layout) {
  int64_t order[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK];
  const affine_expr *indices[SHAPE_MAX_RANK];
  indexing_map *m = indexing_map_create(a, from->rank, 0, 0, to->rank, 0);
  fill_dims(m, from);
  physical_order(from, by_layout, order);
  for (int i = 0; i < from->rank; ++i) {
    sizes[i] = from->dims[order[i]];
    indices[i] = affine_dim(a, (int)order[i]);
  }
  const affine_expr *linear = affine_linearize(a, from->rank, sizes, indices);
  physical_order(to, by_layout, order);
  for (int i = 0; i < to->rank; ++i) sizes[i] = to->dims[order[i]];
  affine_delinearize(a, to->rank, sizes, linear, indices);
  for (int i = 0; i < to->rank; ++i) m->results[order[i]] = indices[i];
  return indexing_map_simplify(a, m);
}

const indexing_map *hlo_indexing_bitcast(arena *a, const shape *from, const shape *to) {
  return linear_map(a, from, to, true);
}

const indexing_map *hlo_indexing_reshape(arena *a, const shape *from, const shape *to) {
  return linear_map(a, from, to, false);
}

// ---- Entry points

static bool has_unbounded_dim(const shape *s) {
  for (int i = 0; i < s->rank; ++i) {
    if (s->dims[i] < 0) return true;
  }
  return false;
}

// More operands than two explain which elements of the others are there; shape inference takes the shapes as given.
static heddle_status check_sparse(const instruction *i) {
  if ((i->opcode != HLO_DOT && i->opcode != HLO_CONVOLUTION) || i->operand_count == 2) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s of sparse operands has no indexing maps",
                   hlo_op_text(i->opcode));
}

static heddle_status check_shapes(const instruction *i) {
  bool unbounded = has_unbounded_dim(i->shape);
  for (int k = 0; k < i->operand_count; ++k) unbounded = unbounded || has_unbounded_dim(i->operands[k]->shape);
  if (!unbounded) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "indexing of %s with an unbounded dimension",
                   hlo_op_text(i->opcode));
}

static heddle_status run_rule(indexing_job *job, const indexing_rule_fn *rules, int slots) {
  const instruction *i = job->instruction;
  indexing_rule_fn rule = rules[hlo_ops[i->opcode].index_rule];
  if (!rule) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s has no indexing maps", hlo_op_text(i->opcode));
  }
  TRY(check_sparse(i));
  TRY(check_shapes(i));
  *job->out = (hlo_indexing){slots, arena_array(job->arena, operand_maps, slots)};
  return rule(job);
}

heddle_status hlo_indexing_output_to_input(arena *a, const instruction *i, int output_index, hlo_indexing *out) {
  indexing_job job = {a, i, output_index, hlo_indexing_output_shape(i, output_index), out};
  return run_rule(&job, output_to_input_rules, i->operand_count);
}

heddle_status hlo_indexing_input_to_output(arena *a, const instruction *i, int input_index, hlo_indexing *out) {
  indexing_job job = {a, i, input_index, instruction_operand_shape(i, input_index), out};
  return run_rule(&job, input_to_output_rules, hlo_indexing_output_count(i));
}
