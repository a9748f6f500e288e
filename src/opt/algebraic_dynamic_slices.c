// Algebraic rules of slices at computed starts: starts that are known make plain slices and pads, and where a whole dim
// is taken the start does not matter.
#include "opt/algebraic_rules.h"
#include "opt/rewrite.h"
#include "opt/uniform.h"

// Start indices are scalar operands from `first` on; an older form has one array of them.
static bool has_scalar_starts(const instruction *i, int first) {
  return i->operand_count - first == i->operands[0]->shape->rank &&
         (i->operand_count == first || i->operands[first]->shape->rank == 0);
}

// Start of a window of `size` in a dim, moved to lie inside; -1 if it is not known. Along a dim of open size it is
// not, but for 0: there may be less than the start and the window.
static int64_t known_start(const instruction *index, int64_t dim, int64_t size) {
  const int64_t open_from = index->parent->module->open_from;
  if (size == dim) return 0;
  const literal *value = uniform_value(index);
  if (!value) return -1;
  const int64_t at = literal_get_int(value, 0);
  if (at != 0 && open_from > 0 && dim >= open_from) return -1;
  if (dtypes[index->shape->dtype].class == CLASS_UNSIGNED && at < 0) return dim - size;  // above 2^63
  return at < 0 ? 0 : at > dim - size ? dim - size : at;
}

// Places of dims that are taken whole become zero. Null if all are already.
static instruction *forget_places(const builder *b, instruction *i, int first, const shape *taken) {
  bool changes = false;
  for (int d = 0; d < taken->rank; d++)
    changes =
        changes || (taken->dims[d] == i->operands[0]->shape->dims[d] && !uniform_is_int(i->operands[first + d], 0));
  if (!changes) return NULL;
  instruction **operands = arena_array(b->arena, instruction *, i->operand_count);
  memcpy(operands, i->operands, (size_t)i->operand_count * sizeof *operands);
  for (int d = 0; d < taken->rank; d++)
    if (taken->dims[d] == i->operands[0]->shape->dims[d])
      operands[first + d] = builder_scalar_int(b, operands[first + d]->shape->dtype, 0);
  return rewrite_with(b, i, i->shape, operands);
}

instruction *algebraic_dynamic_slice(const builder *b, instruction *i) {
  const shape *from = i->operands[0]->shape;
  slice_dim dims[SHAPE_MAX_RANK];
  if (shape_same_dims(from, i->shape)) return i->operands[0];
  if (!has_scalar_starts(i, 1)) return NULL;
  for (int d = 0; d < from->rank; d++) {
    const int64_t start = known_start(i->operands[1 + d], from->dims[d], i->shape->dims[d]);
    if (start < 0) return forget_places(b, i, 1, i->shape);
    dims[d] = (slice_dim){start, start + i->shape->dims[d], 1};
  }
  return builder_slice(b, i->operands[0], dims);
}

static bool is_same_place(const instruction *l, const instruction *r) {
  const literal *x = uniform_value(l), *y = uniform_value(r);
  return l == r || (x && y && literal_get_int(x, 0) == literal_get_int(y, 0));
}

// Whether the update is what the operand holds there.
static bool updates_with_itself(const instruction *i) {
  const instruction *update = i->operands[1];
  if (update->opcode != HLO_DYNAMIC_SLICE || update->operands[0] != i->operands[0]) return false;
  if (update->operand_count != i->operand_count - 1) return false;
  for (int k = 1; k < update->operand_count; k++)
    if (!is_same_place(update->operands[k], i->operands[k + 1])) return false;
  return true;
}

// An update of a constant at a known start: the rest is padding.
static instruction *update_as_pad(const builder *b, instruction *i) {
  const instruction *operand = i->operands[0];
  const shape *to = operand->shape, *update = i->operands[1]->shape;
  padding_dim dims[SHAPE_MAX_RANK];
  if (operand->opcode != HLO_BROADCAST || operand->operands[0]->shape->rank != 0) return NULL;
  for (int d = 0; d < to->rank; d++) {
    const int64_t start = known_start(i->operands[2 + d], to->dims[d], update->dims[d]);
    if (start < 0) return NULL;
    dims[d] = (padding_dim){start, to->dims[d] - update->dims[d] - start, 0};
  }
  return builder_pad(b, i->operands[1], operand->operands[0], dims);
}

instruction *algebraic_dynamic_update_slice(const builder *b, instruction *i) {
  const shape *update = i->operands[1]->shape;
  if (shape_same_dims(update, i->shape)) return i->operands[1];
  if (shape_element_count(update) == 0 || updates_with_itself(i)) return i->operands[0];
  if (!has_scalar_starts(i, 2)) return NULL;
  instruction *pad = update_as_pad(b, i);
  return pad ? pad : forget_places(b, i, 2, update);
}

// One entry of the only index vector, as a scalar.
static instruction *index_entry(const builder *b, instruction *indices, int64_t entries, int64_t entry) {
  instruction *line = builder_reshape(b, indices, 1, &entries);
  return builder_reshape(b, builder_slice(b, line, &(slice_dim){entry, entry + 1, 1}), 0, NULL);
}

// A gather of one window is a dynamic slice.
instruction *algebraic_gather(const builder *b, instruction *i) {
  const hlo_attributes *x = i->attributes;
  instruction *operand = i->operands[0], *indices = i->operands[1];
  const int rank = operand->shape->rank;
  const int64_t entries = x->start_index_map.size;
  if (shape_element_count(i->shape) == 0 || entries == 0 || shape_element_count(indices->shape) != entries) return NULL;
  instruction *operands[SHAPE_MAX_RANK + 1] = {operand};
  for (int d = 0; d < rank; d++) operands[d + 1] = NULL;
  for (int64_t k = 0; k < entries; k++) operands[x->start_index_map.data[k] + 1] = index_entry(b, indices, entries, k);
  for (int d = 0; d < rank; d++)
    if (!operands[d + 1]) operands[d + 1] = builder_scalar_int(b, indices->shape->dtype, 0);
  const shape *s = shape_array(b->arena, operand->shape->dtype, rank, x->slice_sizes.data);
  instruction *slice = builder_add(b, HLO_DYNAMIC_SLICE, s, rank + 1, operands);
  slice->attributes->dynamic_slice_sizes = x->slice_sizes;
  attributes_mark(slice->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return builder_reshape(b, slice, i->shape->rank, i->shape->dims);
}
