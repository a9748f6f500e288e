// A program's shapes are plain numbers, since the runtime does not see hlo; the compiler's are hlo's.
#include "api/program_shape.h"

_Static_assert((int)PROGRAM_MAX_RANK == (int)SHAPE_MAX_RANK, "programs take the arrays that modules take");

program_shape program_shape_of(arena *a, const shape *s) {
  int64_t *dims = arena_array(a, int64_t, s->rank), *order = arena_array(a, int64_t, s->rank);
  for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
  shape_minor_to_major(s, order);
  return (program_shape){.type = s->dtype, .rank = s->rank, .dims = dims, .minor_to_major = order};
}

const shape *program_shape_of_literal(arena *a, const program_shape *s) {
  return shape_array(a, s->type, s->rank, s->dims);
}
