// Checks what a caller says of its arguments before anything is computed from it.
#include "api/argument_shapes.h"

static heddle_status read_shape(arena *a, int number, const heddle_array *given, const shape **out) {
  const dtype type = dtype_from_name(str_from(given->element_type));
  if (!dtype_is_array(type))
    return status_error(HEDDLE_INVALID, "found the element type '%s' for parameter %d, wanted one of HLO's such as f32",
                        given->element_type, number);
  if (given->rank < 0 || given->rank > SHAPE_MAX_RANK)
    return status_error(HEDDLE_INVALID, "found rank %d for parameter %d, wanted 0 to %d", given->rank, number,
                        (int)SHAPE_MAX_RANK);
  if (given->rank > 0 && !given->dims)
    return status_error(HEDDLE_INVALID, "found null for the dims of parameter %d", number);
  *out = shape_array(a, type, given->rank, given->dims);
  return status_context(shape_check(*out, (source_location){0}), "in the shape given for parameter %d", number);
}

heddle_status argument_shapes_read(arena *a, int count, const heddle_array *given, const shape *const **out) {
  *out = NULL;
  if (count < 0) return status_error(HEDDLE_INVALID, "found %d parameters given, wanted 0 or more", count);
  if (count == 0) return status_ok();
  if (!given) return status_error(HEDDLE_INVALID, "found null for the shapes of %d parameters", count);
  const shape **shapes = arena_array(a, const shape *, count);
  for (int i = 0; i < count; i++)
    if (given[i].element_type) TRY(read_shape(a, i, &given[i], &shapes[i]));
  *out = shapes;
  return status_ok();
}

heddle_status argument_shapes_check(arena *a, int count, const shape *const *given, int wanted_count,
                                    const shape *const *wanted) {
  if (!given) return status_ok();
  if (count != wanted_count)
    return status_error(HEDDLE_INVALID, "found the shapes of %d parameters, the program has %d", count, wanted_count);
  for (int i = 0; i < count; i++)
    if (given[i] && !shape_compatible(given[i], wanted[i]))
      return status_error(HEDDLE_INVALID, "found %s for parameter %d, which is %s", shape_text(a, given[i]), i,
                          shape_text(a, wanted[i]));
  return status_ok();
}
