// Views arrays as rows of equal length.
#include "fuse/concatenate_operand.h"

static int dim_of(const instruction *concatenate) { return (int)concatenate->attributes->dimensions.data[0]; }

// Where an open size says which operand an element is of or where it lies, only a table can.
static bool has_open_dims(const instruction *i) {
  bool is_open = module_open_count(i->parent->module, i->shape) > 1;
  for (int k = 0; k < i->operand_count; k++)
    is_open = is_open || module_open_count(i->parent->module, i->operands[k]->shape) > 1;
  return is_open;
}

bool concatenate_operand_for_library(const instruction *i) {
  return i->opcode == HLO_CONCATENATE && (i->operand_count > CONCATENATE_MOST_IN_KERNEL || has_open_dims(i));
}

int64_t concatenate_operand_rows(const instruction *concatenate) {
  const shape *s = concatenate->shape;
  int64_t rows = 1;
  for (int d = 0; d < dim_of(concatenate); d++) rows *= s->dims[d];
  return shape_element_count(s) > 0 ? rows : 1;
}

// The dims from `first` on as one with the given stride between its elements (-1: any), which is returned; -1 if they
// are not.
static int64_t merged_stride(const array_view *v, int first, int end, int64_t stride) {
  int64_t next = stride;
  for (int d = end - 1; d >= first; d--) {
    if (v->sizes[d] == 1) continue;
    if (next < 0) stride = next = v->strides[d];
    if (v->strides[d] != next) return -1;
    next *= v->sizes[d];
  }
  return stride < 0 ? 0 : stride;
}

static bool read_view(const instruction *concatenate, const array_view *v, concatenate_operand *out) {
  const int dim = dim_of(concatenate);
  *out =
      (concatenate_operand){.array = v->array, .first = v->offset, .stride = merged_stride(v, 0, dim, -1), .size = 1};
  for (int d = dim; d < v->rank; d++) out->size *= v->sizes[d];
  return out->stride >= 0 && merged_stride(v, dim, v->rank, 1) == 1;
}

concatenate_operand concatenate_operand_whole(const instruction *concatenate, int operand) {
  array_view v;
  concatenate_operand p;
  array_view_whole(concatenate->operands[operand], &v);
  read_view(concatenate, &v, &p);  // an array of its own always lies in rows
  if (shape_element_count(v.array->shape) == 0) p.size = 0;
  return p;
}

bool concatenate_operand_shown(const instruction *concatenate, int operand, concatenate_operand *out) {
  array_view v;
  return array_view_of(concatenate->operands[operand], &v) && read_view(concatenate, &v, out);
}
