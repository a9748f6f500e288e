// Walks shapes, which nest at most SHAPE_MAX_NESTING deep.
#include "fuse/leaves.h"

void leaves_of_shape(arena *a, const shape *s, shape_list *out) {
  if (shape_is_array(s)) vec_push(a, out, s);
  for (int k = 0; k < s->tuple_size; k++) leaves_of_shape(a, s->elements[k], out);
}

int leaves_count(const shape *s) {
  int count = shape_is_array(s);
  for (int k = 0; k < s->tuple_size; k++) count += leaves_count(s->elements[k]);
  return count;
}
