// Which update stays.
//
//   scatter(operand, indices, updates), overwriting ->
//     winners = scatter-maximum(-1 everywhere, indices, 0 1 2 …)     at each place the last update's number
//     wins    = gather(winners, indices) = 0 1 2 …                   whether an update is the last at its place
//     scatter(operand, wins ? indices : -1, updates), no two of which meet
//
// Numbers are combined by atomic operations in any order and give the same maximum; what goes to -1 lies outside of the
// operand, where scatter does nothing. Without this an element's one thread goes through all updates, which takes the
// longer the more there are.
#include "fuse/scatter_winners.h"

#include "hlo/builder.h"

static const instruction *value_of(const computation *c, int n) {
  return c->root->opcode == HLO_TUPLE ? c->root->operands[n] : c->root;
}

static bool overwrites(const instruction *scatter) {
  const computation *c = scatter->called[0];
  const int count = scatter->operand_count / 2;
  for (int n = 0; n < count; n++)
    if (value_of(c, n) != c->parameters.data[count + n]) return false;
  return true;
}

// In the form that the scatter simplifier leaves, with windows of one element along the dims that indices move: then
// two windows are the same or do not meet.
static bool goes_to_places(const instruction *scatter) {
  const hlo_attributes *x = scatter->attributes;
  const int rank = scatter->operands[0]->shape->rank, entries = x->scatter_dims_to_operand_dims.size;
  const shape *updates = scatter->operands[scatter->operand_count - 1]->shape;
  if (entries == 0 || x->inserted_window_dims.size > 0 || x->input_batching_dims.size > 0 || x->index_vector_dim != 1)
    return false;
  if (scatter->operands[scatter->operand_count / 2]->shape->rank != 2 || x->update_window_dims.size != rank)
    return false;
  for (int d = 0; d < rank; d++)
    if (x->update_window_dims.data[d] != d + 1) return false;
  for (int j = 0; j < entries; j++)
    if (x->scatter_dims_to_operand_dims.data[j] != j || updates->dims[1 + j] != 1) return false;
  return true;
}

static const shape *places_of(const builder *b, const instruction *scatter) {
  return shape_array(b->arena, DTYPE_S32, scatter->attributes->scatter_dims_to_operand_dims.size,
                     scatter->operands[0]->shape->dims);
}

// Two more kernels and an array against one thread's walk.
static bool is_worth_it(const instruction *scatter, const shape *places, const target_description *target) {
  const int64_t count = scatter->operands[scatter->operand_count / 2]->shape->dims[0];
  const double bytes = 4 * (double)shape_element_count(places);
  if (count > INT32_MAX || bytes > INT32_MAX) return false;
  return (double)count * target->grid.walked_update_ns >
         3 * target->launch_ns + 2 * bytes / (target->memory_bytes_per_ns * target->cores);
}

static int_list count_up(arena *a, int64_t start, int count) {
  int64_t *data = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) data[k] = start + k;
  return (int_list){data, count};
}

static void mark_all(hlo_attributes *x, int count, const hlo_attribute_id *ids) {
  for (int k = 0; k < count; k++) attributes_mark(x, ids[k]);
}

// Signed, so that -1 is outside.
static instruction *signed_indices(const builder *b, instruction *indices) {
  const dtype t = indices->shape->dtype;
  if (dtypes[t].class == CLASS_SIGNED) return indices;
  return builder_convert(b, indices, dtypes[t].bits < 32 ? DTYPE_S32 : DTYPE_S64);
}

static instruction *last_numbers(const builder *b, const shape *places, instruction *indices, instruction *numbers) {
  static const hlo_attribute_id given[] = {HLO_ATTRIBUTE_UPDATE_WINDOW_DIMS, HLO_ATTRIBUTE_INSERTED_WINDOW_DIMS,
                                           HLO_ATTRIBUTE_SCATTER_DIMS_TO_OPERAND_DIMS, HLO_ATTRIBUTE_INDEX_VECTOR_DIM};
  instruction *none = builder_broadcast(b, builder_scalar_int(b, DTYPE_S32, -1), places, 0, NULL);
  instruction *scatter = builder_add(b, HLO_SCATTER, places, 3, (instruction *[]){none, indices, numbers});
  hlo_attributes *x = scatter->attributes;
  x->update_window_dims = count_up(b->arena, 1, places->rank);
  x->scatter_dims_to_operand_dims = count_up(b->arena, 0, places->rank);
  x->index_vector_dim = 1;
  mark_all(x, sizeof given / sizeof *given, given);
  computation *maximum = builder_binary_computation(b, HLO_MAXIMUM, DTYPE_S32);
  instruction_set_called(scatter, 1, &maximum);
  return scatter;
}

static instruction *numbers_at(const builder *b, instruction *winners, instruction *indices, const shape *numbers) {
  static const hlo_attribute_id given[] = {HLO_ATTRIBUTE_OFFSET_DIMS, HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS,
                                           HLO_ATTRIBUTE_START_INDEX_MAP, HLO_ATTRIBUTE_INDEX_VECTOR_DIM,
                                           HLO_ATTRIBUTE_SLICE_SIZES};
  const int rank = winners->shape->rank;
  instruction *gather = builder_add(b, HLO_GATHER, numbers, 2, (instruction *[]){winners, indices});
  hlo_attributes *x = gather->attributes;
  int64_t *sizes = arena_array(b->arena, int64_t, rank);
  for (int k = 0; k < rank; k++) sizes[k] = 1;
  x->offset_dims = count_up(b->arena, 1, rank);
  x->start_index_map = count_up(b->arena, 0, rank);
  x->slice_sizes = (int_list){sizes, rank};
  x->index_vector_dim = 1;
  mark_all(x, sizeof given / sizeof *given, given);
  return gather;
}

static void leave_out_losers(instruction *scatter, const shape *places) {
  const builder b = builder_for(scatter);
  const int position = scatter->operand_count / 2, rank = places->rank;
  instruction *indices = signed_indices(&b, scatter->operands[position]);
  int64_t dims[SHAPE_MAX_RANK + 1] = {indices->shape->dims[0]};
  for (int k = 0; k < rank; k++) dims[1 + k] = 1;
  instruction *numbers = builder_iota(&b, DTYPE_S32, rank + 1, dims, 0);
  instruction *winners = last_numbers(&b, places, indices, numbers);
  instruction *last = numbers_at(&b, winners, indices, numbers->shape);
  instruction *wins = builder_reshape(&b, builder_compare(&b, last, numbers, COMPARE_EQ), 1, dims);
  const shape *preds = shape_array(b.arena, DTYPE_PRED, 2, indices->shape->dims);
  wins = builder_broadcast(&b, wins, preds, 1, (int64_t[]){0});
  instruction *outside = builder_like_int(&b, indices, -1);
  instruction_set_operand(scatter, position, builder_select(&b, wins, indices, outside));
  scatter->attributes = attributes_copy(b.arena, scatter->attributes);
  scatter->attributes->unique_indices = true;
  scatter->attributes->indices_are_sorted = false;
  attributes_mark(scatter->attributes, HLO_ATTRIBUTE_UNIQUE_INDICES);
}

bool scatter_winners_run(computation *c, const target_description *target) {
  bool any = false;
  for (int k = 0, count = c->instructions.size; target->has_grid && k < count; k++) {
    instruction *i = c->instructions.data[k];
    if (i->opcode != HLO_SCATTER || i->attributes->unique_indices || !overwrites(i) || !goes_to_places(i)) continue;
    const builder b = builder_for(i);
    const shape *places = places_of(&b, i);
    if (!is_worth_it(i, places, target)) continue;
    leave_out_losers(i, places);
    any = true;
  }
  return any;
}
