// Merges neighbouring dims of a reduction that are reduced alike.
#include "kernel/reduction_space.h"

static void begin(reduction_space *s) { *s = (reduction_space){.kept = 1, .reduced = 1}; }

static void add_dim(reduction_space *s, int64_t size, bool is_reduced) {
  if (size == 1) return;
  *(is_reduced ? &s->reduced : &s->kept) *= size;
  if (s->group_count > 0 && s->is_reduced[s->group_count - 1] == is_reduced) {
    s->sizes[s->group_count - 1] *= size;
    return;
  }
  s->sizes[s->group_count] = size;
  s->is_reduced[s->group_count++] = is_reduced;
}

bool reduction_space_of(const instruction *reduce, reduction_space *out) {
  begin(out);
  const shape *s = reduce->operands[0]->shape;
  if (!shape_is_static(s) || shape_element_count(s) == 0) return false;
  for (int d = 0; d < s->rank; d++) add_dim(out, s->dims[d], int_list_has(reduce->attributes->dimensions, d));
  return out->reduced > 1;
}

bool reduction_space_equal(const reduction_space *l, const reduction_space *r) {
  if (l->group_count != r->group_count) return false;
  for (int i = 0; i < l->group_count; i++)
    if (l->sizes[i] != r->sizes[i] || l->is_reduced[i] != r->is_reduced[i]) return false;
  return true;
}

bool reduction_space_is_spread(const reduction_space *s, const instruction *broadcast) {
  reduction_space made;
  begin(&made);
  const shape *to = broadcast->shape;
  const int_list *dimensions = &broadcast->attributes->dimensions;
  for (int i = 1; i < dimensions->size; i++)
    if (dimensions->data[i - 1] >= dimensions->data[i]) return false;
  for (int d = 0; d < to->rank; d++) add_dim(&made, to->dims[d], !int_list_has(*dimensions, d));
  return reduction_space_equal(s, &made);
}

static const shape *shape_of(arena *a, const reduction_space *s, dtype t, bool with_reduced) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  for (int g = 0; g < s->group_count; g++)
    if (with_reduced || !s->is_reduced[g]) dims[rank++] = s->sizes[g];
  return shape_array(a, t, rank, dims);
}

const shape *reduction_space_shape(arena *a, const reduction_space *s, dtype t) { return shape_of(a, s, t, true); }

const shape *reduction_space_kept_shape(arena *a, const reduction_space *s, dtype t) {
  return shape_of(a, s, t, false);
}
