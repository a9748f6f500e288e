// Gather simplifier: general gather -> transpose, canonical gather, transpose, reshape.
//
// The operand is transposed so that the indexed dims come first, in the order of the index vector; the windows are
// transposed back, lose the dims that are collapsed, and their list becomes the batch dims again. A single window is a
// dynamic slice, which keeps it inside the operand as gather does.
//
// Windows without elements, along dims that are collapsed, leave zeros.
//
// A gather whose operand would really have to be transposed stays as it is: picking single elements of a row where they
// lie is cheaper than moving the whole operand, and loops over the result's elements take every form of gather.
#include "opt/passes.h"

#include "opt/index_vectors.h"
#include "opt/rewrite.h"

static bool is_canonical(const instruction *gather) {
  const hlo_attributes *x = gather->attributes;
  const index_dims r = index_dims_of_gather(x);
  if (!index_vectors_are_canonical(gather->operands[1], &r) || x->collapsed_slice_dims.size > 0) return false;
  for (int k = 0; k < x->offset_dims.size; k++)
    if (x->offset_dims.data[k] != k + 1) return false;
  return true;
}

// The canonical gather: windows [count, sizes in the transposed operand's order].
static instruction *gather_windows(const builder *b, const instruction *gather, const index_vectors *v,
                                   const int64_t *order) {
  const hlo_attributes *x = gather->attributes;
  instruction *operand = builder_transpose(b, gather->operands[0], order);
  int rank = operand->shape->rank;
  int64_t dims[SHAPE_MAX_RANK + 1], *sizes = arena_array(b->arena, int64_t, rank);
  dims[0] = v->count;
  for (int k = 0; k < rank; k++) dims[k + 1] = sizes[k] = x->slice_sizes.data[order[k]];
  const shape *s = shape_array(b->arena, operand->shape->dtype, rank + 1, dims);
  instruction *windows = builder_add(b, HLO_GATHER, s, 2, (instruction *[]){operand, v->vectors});
  hlo_attributes *to = windows->attributes;
  to->offset_dims = index_vectors_count_up(b->arena, 1, rank);
  to->start_index_map = index_vectors_count_up(b->arena, 0, v->entries);
  to->slice_sizes = (int_list){sizes, rank};
  to->index_vector_dim = 1;
  to->indices_are_sorted = x->indices_are_sorted && x->operand_batching_dims.size == 0;
  static const hlo_attribute_id required[] = {HLO_ATTRIBUTE_OFFSET_DIMS, HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS,
                                              HLO_ATTRIBUTE_START_INDEX_MAP, HLO_ATTRIBUTE_INDEX_VECTOR_DIM,
                                              HLO_ATTRIBUTE_SLICE_SIZES};
  for (size_t k = 0; k < sizeof required / sizeof *required; k++) attributes_mark(to, required[k]);
  return windows;
}

// The only window, in the operand's order.
static instruction *slice_window(const builder *b, const instruction *gather, const index_vectors *v) {
  const int_list sizes = gather->attributes->slice_sizes;
  instruction *operands[SHAPE_MAX_RANK + 1] = {gather->operands[0]};
  index_vectors_starts(b, v, sizes.size, operands + 1);
  const shape *s = shape_array(b->arena, gather->operands[0]->shape->dtype, sizes.size, sizes.data);
  instruction *slice = builder_add(b, HLO_DYNAMIC_SLICE, s, sizes.size + 1, operands);
  slice->attributes->dynamic_slice_sizes = sizes;
  attributes_mark(slice->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return slice;
}

// Windows [count, sizes in the operand's order] -> [batch dims, kept window dims] -> the gather's own order.
static instruction *arrange(const builder *b, const instruction *gather, const index_vectors *v, instruction *windows) {
  const hlo_attributes *x = gather->attributes;
  int64_t dims[SHAPE_MAX_RANK] = {0}, permutation[SHAPE_MAX_RANK];
  int rank = 0;
  for (int k = 0; k < v->batch_rank; k++) dims[rank++] = v->batch_dims[k];
  for (int d = 0; d < x->slice_sizes.size; d++)
    if (!int_list_has(x->collapsed_slice_dims, d) && !int_list_has(x->operand_batching_dims, d))
      dims[rank++] = x->slice_sizes.data[d];
  instruction *flat = builder_reshape(b, windows, rank, dims);
  int batch = 0, offset = 0;
  for (int k = 0; k < rank; k++) permutation[k] = int_list_has(x->offset_dims, k) ? v->batch_rank + offset++ : batch++;
  return builder_transpose(b, flat, permutation);
}

static instruction *simplify(instruction *gather) {
  const builder b = builder_for(gather);
  if (int_list_has(gather->attributes->slice_sizes, 0))
    return builder_broadcast(&b, builder_scalar(&b, gather->shape->dtype, 0), gather->shape, 0, NULL);
  const index_dims r = index_dims_of_gather(gather->attributes);
  index_vectors v = index_vectors_make(&b, gather->operands[1], &r);
  if (v.count == 1) return arrange(&b, gather, &v, slice_window(&b, gather, &v));
  int rank = gather->operands[0]->shape->rank;
  int64_t order[SHAPE_MAX_RANK], inverse[SHAPE_MAX_RANK], back[SHAPE_MAX_RANK + 1] = {0};
  index_vectors_put_first(rank, v.entries, v.map, order);
  index_vectors_invert(rank, order, inverse);
  for (int d = 0; d < rank; d++) back[d + 1] = inverse[d] + 1;
  instruction *windows = builder_transpose(&b, gather_windows(&b, gather, &v, order), back);
  return arrange(&b, gather, &v, windows);
}

static int64_t index_count(const instruction *gather) {
  const int64_t entries = gather->attributes->start_index_map.size;
  return shape_element_count(gather->operands[1]->shape) / (entries > 0 ? entries : 1);
}

// Whether elements change places when the dims that are indexed come first.
static bool moves_operand(const instruction *gather) {
  const hlo_attributes *x = gather->attributes;
  const shape *s = gather->operands[0]->shape;
  int64_t first[SHAPE_MAX_RANK], order[SHAPE_MAX_RANK], last = -1;
  int count = 0;
  for (int k = 0; k < x->operand_batching_dims.size; k++) first[count++] = x->operand_batching_dims.data[k];
  for (int k = 0; k < x->start_index_map.size; k++) first[count++] = x->start_index_map.data[k];
  index_vectors_put_first(s->rank, count, first, order);
  for (int k = 0; k < s->rank; k++) {
    if (s->dims[order[k]] == 1) continue;
    if (order[k] < last) return true;
    last = order[k];
  }
  return false;
}

// One dim more than the operand has must fit.
static bool can_simplify(const instruction *i) {
  if (i->opcode != HLO_GATHER || !shape_is_static(i->shape) || i->operands[0]->shape->rank == SHAPE_MAX_RANK)
    return false;
  return index_count(i) == 1 || int_list_has(i->attributes->slice_sizes, 0) || (!is_canonical(i) && !moves_operand(i));
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, can_simplify, simplify);
}

const pass opt_gather_simplifier = {
    .name = "gather-simplifier",
    .summary = "gathers take a list of index vectors and give a list of windows",
    .order_reason =
        "behind the passes that make gathers, and before the algebra, which simplifies the moves around them",
    .use = PASS_NEEDED,
    .run = run,
};
