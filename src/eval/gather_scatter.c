// gather and scatter: for every index vector, a window of the operand is read or combined with updates.
//
// gather moves a window that would stick out back inside; scatter leaves such a window out. A dim that gather collapses
// may have windows of size 0, which leave zeros.

#include "base/heap.h"
#include "eval/interpreter.h"
#include "eval/scalar_program.h"
#include "eval/strided.h"
#include "hlo/index_dims.h"

// The index vectors: all dims of the indices but the one along which a vector lies.
typedef struct index_space {
  const value *indices;
  int rank;
  int64_t dims[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  int64_t vector_stride;
} index_space;

static index_space index_space_of(const value *indices, int64_t index_vector_dim) {
  index_space s = {.indices = indices};
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(indices->shape, strides);
  for (int d = 0; d < indices->shape->rank; d++) {
    if (d == index_vector_dim) {
      s.vector_stride = strides[d];
      continue;
    }
    s.dims[s.rank] = indices->shape->dims[d];
    s.strides[s.rank++] = strides[d];
  }
  return s;
}

// Component k of the vector at `at`.
static int64_t index_component(const index_space *s, const int64_t *at, int k) {
  return value_get_index(s->indices, strided_offset(s->rank, at, s->strides) + k * s->vector_stride);
}

// Position in the index space of dim `d` of the indices.
static int64_t space_position(int64_t d, int64_t index_vector_dim) { return d > index_vector_dim ? d - 1 : d; }

// Where a window starts in the operand, by operand dim.
static void window_start(const index_space *s, const int64_t *at, const index_dims *x, int rank, int64_t *start) {
  for (int d = 0; d < rank; d++) start[d] = 0;
  for (int k = 0; k < x->map.size; k++) start[x->map.data[k]] = index_component(s, at, k);
  for (int k = 0; k < x->batching.size; k++)
    start[x->batching.data[k]] = at[space_position(x->indices_batching.data[k], x->vector_dim)];
}

// The dims of the result (or of the updates) outside `window_dims` follow the index space; `strides` are theirs.
static void spread_strides(const shape *s, int_list window_dims, int64_t *space_strides, int64_t *window_strides) {
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(s, strides);
  int spaces = 0, windows = 0;
  for (int d = 0; d < s->rank; d++) {
    if (int_list_has(window_dims, d)) window_strides[windows++] = strides[d];
    else space_strides[spaces++] = strides[d];
  }
}

heddle_status eval_gather(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const index_dims x = index_dims_of_gather(i->attributes);
  const int64_t *sizes = i->attributes->slice_sizes.data;
  const shape *from = operands[0]->shape;
  const index_space space = index_space_of(operands[1], x.vector_dim);
  int64_t from_strides[SHAPE_MAX_RANK], space_strides[SHAPE_MAX_RANK], offset_strides[SHAPE_MAX_RANK] = {0};
  shape_strides(from, from_strides);
  spread_strides(i->shape, x.window, space_strides, offset_strides);
  int64_t to_strides[SHAPE_MAX_RANK] = {0};  // by operand dim; those of one element do not appear in the result
  for (int d = 0, k = 0; d < from->rank; d++)
    if (index_dims_has_window(&x, d)) to_strides[d] = offset_strides[k++];
  TRY(value_create(&in->pool, i->shape, i->where, out));
  if (shape_element_count(i->shape) == 0) return status_ok();
  const int size = dtypes[from->dtype].bytes;
  if (int_list_has(i->attributes->slice_sizes, 0)) {
    memset((*out)->data, 0, (size_t)shape_byte_size(i->shape));
    return status_ok();
  }
  int64_t at[SHAPE_MAX_RANK] = {0}, start[SHAPE_MAX_RANK];
  do {
    window_start(&space, at, &x, from->rank, start);
    for (int d = 0; d < from->rank; d++) {
      const int64_t last = from->dims[d] - sizes[d];
      start[d] = start[d] > last ? last : start[d] < 0 ? 0 : start[d];
    }
    strided_copy(size, from->rank, sizes, (char *)(*out)->data + strided_offset(space.rank, at, space_strides) * size,
                 to_strides, (const char *)operands[0]->data + strided_offset(from->rank, start, from_strides) * size,
                 from_strides);
  } while (strided_next(space.rank, space.dims, at));
  return status_ok();
}

// A scatter in progress: `count` operands that share indices and shape.
typedef struct scattering {
  int count;
  value *const *updates;
  value **results;
  scalar_program *program;
  int window_rank;  // operand dims that updates have, with their strides
  int64_t window_dims[SHAPE_MAX_RANK], operand_strides[SHAPE_MAX_RANK], update_strides[SHAPE_MAX_RANK];
  compute_block *blocks;  // 2 * count: current values, updates
} scattering;

// Combines `lanes` elements whose places in operand and update are given; the places in the operand are distinct.
static heddle_status combine(interpreter *in, scattering *s, int64_t lanes, const int64_t *to, const int64_t *from) {
  const void *inputs[2 * SHAPE_MAX_RANK];
  void *outputs[SHAPE_MAX_RANK];
  for (int k = 0; k < s->count; k++) {
    inputs[k] = outputs[k] = &s->blocks[k];
    inputs[s->count + k] = &s->blocks[s->count + k];
    compute_load_at(s->results[k]->shape->dtype, s->results[k]->data, 0, to, lanes, &s->blocks[k]);
    compute_load_at(s->updates[k]->shape->dtype, s->updates[k]->data, 0, from, lanes, &s->blocks[s->count + k]);
  }
  TRY(scalar_program_run(in, s->program, lanes, inputs, outputs));
  for (int k = 0; k < s->count; k++) {
    const dtype t = s->results[k]->shape->dtype;
    noise_on_rounding(&in->noise, t, lanes, outputs[k]);
    for (int64_t lane = 0; lane < lanes; lane++)
      compute_store(t, s->results[k]->data, to[lane], 1, (const char *)outputs[k] + lane * compute_size(t));
  }
  return status_ok();
}

static heddle_status scatter_window(interpreter *in, scattering *s, int64_t to_base, int64_t from_base) {
  int64_t index[SHAPE_MAX_RANK] = {0}, to[COMPUTE_LANES], from[COMPUTE_LANES];
  bool more = true;
  while (more) {
    int64_t lanes = 0;
    while (more && lanes < COMPUTE_LANES) {
      to[lanes] = to_base + strided_offset(s->window_rank, index, s->operand_strides);
      from[lanes++] = from_base + strided_offset(s->window_rank, index, s->update_strides);
      more = strided_next(s->window_rank, s->window_dims, index);
    }
    TRY(combine(in, s, lanes, to, from));
  }
  return status_ok();
}

// The window's dims by operand dim: 1 where the updates lack the dim.
static void collect_window(scattering *s, const index_dims *x, const shape *operand, const shape *update,
                           int64_t *extent) {
  int64_t operand_strides[SHAPE_MAX_RANK], update_strides[SHAPE_MAX_RANK];
  shape_strides(operand, operand_strides);
  shape_strides(update, update_strides);
  for (int d = 0; d < operand->rank; d++) {
    extent[d] = 1;
    if (!index_dims_has_window(x, d)) continue;
    const int64_t update_dim = x->window.data[s->window_rank];
    extent[d] = s->window_dims[s->window_rank] = update->dims[update_dim];
    s->operand_strides[s->window_rank] = operand_strides[d];
    s->update_strides[s->window_rank++] = update_strides[update_dim];
  }
}

static bool is_inside(const shape *operand, const int64_t *start, const int64_t *extent) {
  for (int d = 0; d < operand->rank; d++)
    if (start[d] < 0 || start[d] > operand->dims[d] - extent[d]) return false;
  return true;
}

static heddle_status scatter_all(interpreter *in, const instruction *i, scattering *s, const value *indices) {
  const index_dims dims = index_dims_of_scatter(i->attributes), *x = &dims;
  const shape *operand = s->results[0]->shape, *update = s->updates[0]->shape;
  const index_space space = index_space_of(indices, x->vector_dim);
  int64_t extent[SHAPE_MAX_RANK], operand_strides[SHAPE_MAX_RANK], space_strides[SHAPE_MAX_RANK],
      unused[SHAPE_MAX_RANK];
  shape_strides(operand, operand_strides);
  spread_strides(update, x->window, space_strides, unused);
  collect_window(s, x, operand, update, extent);
  if (shape_element_count(update) == 0) return status_ok();
  int64_t at[SHAPE_MAX_RANK] = {0}, start[SHAPE_MAX_RANK];
  do {
    window_start(&space, at, x, operand->rank, start);
    if (!is_inside(operand, start, extent)) continue;
    TRY(scatter_window(in, s, strided_offset(operand->rank, start, operand_strides),
                       strided_offset(space.rank, at, space_strides)));
  } while (strided_next(space.rank, space.dims, at));
  return status_ok();
}

static heddle_status scatter_into(interpreter *in, const instruction *i, scattering *s, value *const *operands,
                                  value **out) {
  TRY(scalar_program_of(in, i, 0, SCALAR_EXACT, &s->program));
  if (scalar_program_result_count(s->program) != s->count)
    return interpreter_refuse(i, "a computation with other results");
  for (int k = 0; k < s->count; k++) {
    const shape *shape_k = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
    TRY(value_create(&in->pool, shape_k, i->where, &s->results[k]));
    memcpy(s->results[k]->data, operands[k]->data, (size_t)shape_byte_size(shape_k));
  }
  TRY(scatter_all(in, i, s, operands[s->count]));
  if (shape_is_tuple(i->shape)) return value_create_tuple(&in->pool, i->shape, s->results, i->where, out);
  *out = value_retain(s->results[0]);
  return status_ok();
}

heddle_status eval_scatter(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int count = (i->operand_count - 1) / 2;
  if (count > SHAPE_MAX_RANK) return interpreter_refuse(i, "more than 64 operands");
  value *results[SHAPE_MAX_RANK] = {0};
  scattering s = {.count = count, .updates = operands + count + 1, .results = results};
  s.blocks = heap_try_allocate(2 * (size_t)count * sizeof *s.blocks);
  if (!s.blocks) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d operands", count);
  heddle_status status = scatter_into(in, i, &s, operands, out);
  for (int k = 0; k < count; k++) value_release(results[k]);
  heap_free(s.blocks);
  return status;
}
