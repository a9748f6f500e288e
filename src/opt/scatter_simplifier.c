// Scatter simplifier: general scatter -> transposes and reshapes, canonical scatter, transposes.
//
// A single window becomes a dynamic-update-slice: the window that is there, combined with the update, or as it is if it
// would reach over the operand's end, where scatter does nothing and the update would move inside.
//
// The mirror image of the gather simplifier: updates become a list of windows with all of the operand's dims, operands
// are transposed so that the indexed dims come first, and the results back.
#include "opt/passes.h"

#include "hlo/open_size.h"
#include "opt/index_vectors.h"
#include "opt/map_inliner.h"
#include "opt/rewrite.h"

// Lists whose vectors name dims in another order stay as they are, too: what combines updates in memory takes any, and
// moving the operand costs more. Only updates that overwrite are sorted out by dims in order.
static bool is_canonical(const instruction *scatter) {
  const hlo_attributes *x = scatter->attributes;
  const computation *c = scatter->called[0];
  index_dims r = index_dims_of_scatter(x);
  if (c->root != c->parameters.data[1]) r.map.size = 0;
  if (!index_vectors_are_canonical(scatter->operands[scatter->operand_count / 2], &r)) return false;
  if (x->inserted_window_dims.size > 0) return false;
  for (int k = 0; k < x->update_window_dims.size; k++)
    if (x->update_window_dims.data[k] != k + 1) return false;
  return true;
}

// Updates in the scatter's own order -> [count, window dims in the operand's order, inserted ones of size 1] -> the
// transposed operand's order.
static instruction *list_windows(const builder *b, const instruction *scatter, instruction *updates, int operand_rank,
                                 const index_vectors *v, const int64_t *order) {
  const hlo_attributes *x = scatter->attributes;
  int64_t permutation[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK + 1], forth[SHAPE_MAX_RANK + 1] = {0};
  int rank = 0, next = v->batch_rank;
  for (int k = 0; k < updates->shape->rank; k++)
    if (!int_list_has(x->update_window_dims, k)) permutation[rank++] = k;
  for (int k = 0; k < x->update_window_dims.size; k++) permutation[rank++] = x->update_window_dims.data[k];
  instruction *sorted = builder_transpose(b, updates, permutation);
  dims[0] = v->count;
  for (int d = 0; d < operand_rank; d++) {
    bool is_inserted = int_list_has(x->inserted_window_dims, d) || int_list_has(x->input_batching_dims, d);
    dims[d + 1] = is_inserted ? 1 : sorted->shape->dims[next++];
    forth[d + 1] = order[d] + 1;
  }
  return builder_transpose(b, builder_reshape(b, sorted, operand_rank + 1, dims), forth);
}

static void set_attributes(const builder *b, const instruction *scatter, const index_vectors *v, int rank,
                           hlo_attributes *to) {
  const hlo_attributes *x = scatter->attributes;
  to->update_window_dims = index_vectors_count_up(b->arena, 1, rank);
  to->scatter_dims_to_operand_dims = index_vectors_count_up(b->arena, 0, v->entries);
  to->index_vector_dim = 1;
  to->unique_indices = x->unique_indices;
  to->indices_are_sorted = x->indices_are_sorted && x->input_batching_dims.size == 0;
  static const hlo_attribute_id required[] = {HLO_ATTRIBUTE_UPDATE_WINDOW_DIMS, HLO_ATTRIBUTE_INSERTED_WINDOW_DIMS,
                                              HLO_ATTRIBUTE_SCATTER_DIMS_TO_OPERAND_DIMS,
                                              HLO_ATTRIBUTE_INDEX_VECTOR_DIM};
  for (size_t k = 0; k < sizeof required / sizeof *required; k++) attributes_mark(to, required[k]);
}

static instruction *canonical_scatter(const builder *b, const instruction *scatter, const index_vectors *v,
                                      const int64_t *order) {
  int count = scatter->operand_count / 2, rank = scatter->operands[0]->shape->rank;
  instruction **operands = arena_array(b->arena, instruction *, scatter->operand_count);
  const shape **shapes = arena_array(b->arena, const shape *, count);
  for (int k = 0; k < count; k++) {
    operands[k] = builder_transpose(b, scatter->operands[k], order);
    operands[count + 1 + k] = list_windows(b, scatter, scatter->operands[count + 1 + k], rank, v, order);
    shapes[k] = shape_array(b->arena, operands[k]->shape->dtype, rank, operands[k]->shape->dims);
  }
  operands[count] = v->vectors;
  const shape *s = shape_is_tuple(scatter->shape) ? shape_tuple(b->arena, count, shapes) : shapes[0];
  instruction *result = builder_add(b, HLO_SCATTER, s, scatter->operand_count, operands);
  set_attributes(b, scatter, v, rank, result->attributes);
  instruction_set_called(result, scatter->called_count, scatter->called);
  return result;
}

static instruction *transpose_back(const builder *b, instruction *result, const int64_t *inverse) {
  if (!shape_is_tuple(result->shape)) return builder_transpose(b, result, inverse);
  int count = result->shape->tuple_size;
  instruction **elements = arena_array(b->arena, instruction *, count);
  for (int k = 0; k < count; k++) elements[k] = builder_transpose(b, builder_element(b, result, k), inverse);
  return builder_tuple(b, count, elements);
}

// --- a single window

// Where a window of that size begins at the latest. Of an open dim that is known when the program runs.
static instruction *last_start(const builder *b, const instruction *operand, int d, int64_t size) {
  const int64_t last = operand->shape->dims[d] - size;
  return open_size_has(operand, d) ? builder_convert(b, open_size_add(b, last), DTYPE_S64)
                                   : builder_scalar_int(b, DTYPE_S64, last);
}

// Whether the window lies inside the operand.
static instruction *is_inside(const builder *b, const instruction *operand, const shape *update, instruction **starts) {
  instruction *inside = NULL;
  for (int d = 0; d < operand->shape->rank; d++) {
    if (starts[d]->opcode == HLO_CONSTANT) continue;  // the zero of a dim without index
    instruction *start = builder_convert(b, starts[d], DTYPE_S64);
    instruction *zero = builder_scalar_int(b, DTYPE_S64, 0);
    instruction *last = last_start(b, operand, d, update->dims[d]);
    instruction *above = builder_compare(b, start, zero, COMPARE_GE);
    instruction *below = builder_compare(b, start, last, COMPARE_LE);
    instruction *both = builder_binary(b, HLO_AND, above, below);
    inside = inside ? builder_binary(b, HLO_AND, inside, both) : both;
  }
  return inside;
}

static instruction *combine(const builder *b, arena *scratch, const instruction *scatter, instruction *current,
                            instruction *update) {
  const computation *c = scatter->called[0];
  if (c->root == c->parameters.data[1]) return update;
  instruction *map = builder_add(b, HLO_MAP, current->shape, 2, (instruction *[]){current, update});
  int64_t all[SHAPE_MAX_RANK];
  for (int d = 0; d < current->shape->rank; d++) all[d] = d;
  builder_set_dimensions(b, map, current->shape->rank, all);
  instruction_set_called(map, 1, scatter->called);
  return map_inliner_inlined(scratch, map);
}

static instruction *update_window(const builder *b, arena *scratch, const instruction *scatter,
                                  const index_vectors *v) {
  const int rank = scatter->operands[0]->shape->rank;
  int64_t same[SHAPE_MAX_RANK], *sizes = arena_array(b->arena, int64_t, rank);
  for (int d = 0; d < rank; d++) same[d] = d;
  instruction *listed = list_windows(b, scatter, scatter->operands[2], rank, v, same);
  memcpy(sizes, listed->shape->dims + 1, (size_t)rank * sizeof *sizes);
  instruction *update = builder_reshape(b, listed, rank, sizes);
  instruction *operands[SHAPE_MAX_RANK + 2] = {scatter->operands[0]}, *starts[SHAPE_MAX_RANK + 1];
  index_vectors_starts(b, v, rank, starts + 1);
  starts[0] = scatter->operands[0];
  instruction *current = builder_add(b, HLO_DYNAMIC_SLICE, update->shape, rank + 1, starts);
  current->attributes->dynamic_slice_sizes = (int_list){sizes, rank};
  attributes_mark(current->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  instruction *changed = combine(b, scratch, scatter, current, update);
  instruction *inside = is_inside(b, scatter->operands[0], update->shape, starts + 1);
  if (inside && rank > 0) inside = builder_broadcast(b, inside, changed->shape, 0, NULL);
  operands[1] = inside ? builder_select(b, inside, changed, current) : changed;
  memcpy(operands + 2, starts + 1, (size_t)rank * sizeof *starts);
  const shape *s = shape_array(b->arena, update->shape->dtype, rank, scatter->operands[0]->shape->dims);
  return builder_add(b, HLO_DYNAMIC_UPDATE_SLICE, s, rank + 2, operands);
}

static bool is_single(const instruction *scatter, const index_vectors *v) {
  return v->count == 1 && scatter->operand_count == 3 &&
         scatter->called[0]->root->shape->dtype == scatter->operands[0]->shape->dtype &&
         scatter->operands[0]->shape->dtype == scatter->operands[2]->shape->dtype;
}

static instruction *simplify(instruction *scatter, void *scratch) {
  const builder b = builder_for(scatter);
  const index_dims r = index_dims_of_scatter(scatter->attributes);
  index_vectors v = index_vectors_make(&b, scatter->operands[scatter->operand_count / 2], &r);
  if (is_single(scatter, &v)) return update_window(&b, scratch, scatter, &v);
  int rank = scatter->operands[0]->shape->rank;
  int64_t order[SHAPE_MAX_RANK], inverse[SHAPE_MAX_RANK];
  index_vectors_put_first(rank, v.entries, v.map, order);
  index_vectors_invert(rank, order, inverse);
  return transpose_back(&b, canonical_scatter(&b, scatter, &v, order), inverse);
}

static bool can_simplify(const instruction *i) {
  return i->opcode == HLO_SCATTER && i->operands[0]->shape->rank < SHAPE_MAX_RANK &&
         shape_is_static(i->operands[0]->shape) &&
         (!is_canonical(i) || (i->operand_count == 3 && i->operands[1]->shape->dims[0] == 1));
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each_given(context, unit, can_simplify, simplify, context->scratch);
}

const pass opt_scatter_simplifier = {
    .name = "scatter-simplifier",
    .summary = "scatters take lists of index vectors and of windows",
    .order_reason =
        "behind the passes that make scatters, and before the algebra, which simplifies the moves around them",
    .use = PASS_NEEDED,
    .run = run,
};
