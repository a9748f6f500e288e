// Files are base's (base/npy_array.h); here they become literals.
#include "hlo/npy.h"

#include "base/file.h"
#include "base/npy_array.h"

_Static_assert((int)SHAPE_MAX_RANK <= (int)NPY_ARRAY_MAX_RANK, "files hold what modules take");

static npy_array array_of(const shape *s) {
  npy_array a = {.type = s->dtype, .rank = s->rank};
  for (int d = 0; d < s->rank; d++) a.dims[d] = s->dims[d];
  return a;
}

static heddle_status check_bounds(arena *a, const char *path, const npy_array *array, const shape *wanted) {
  for (int d = 0; d < wanted->rank; d++)
    if (wanted->dims[d] >= 0 && array->dims[d] > wanted->dims[d])
      return status_error(HEDDLE_INVALID, "'%s' has the size %lld along dimension %d, wanted %s", path,
                          (long long)array->dims[d], d, shape_text(a, wanted));
  return status_ok();
}

heddle_status npy_parse(arena *a, const char *path, str file, const shape *wanted, literal **out) {
  if (!shape_is_array(wanted))
    return status_error(HEDDLE_INVALID, "'%s': a .npy file holds an array, wanted a %s", path,
                        dtype_name(wanted->dtype));
  npy_array array = array_of(wanted);
  for (int d = 0; d < wanted->rank; d++)
    if (shape_is_dynamic_dim(wanted, d)) array.dims[d] = -1;
  str elements;
  bool is_fortran;
  TRY(npy_array_parse(path, file, &array, &elements, &is_fortran));
  TRY(check_bounds(a, path, &array, wanted));
  if (!shape_is_static(wanted)) wanted = shape_array(a, wanted->dtype, array.rank, array.dims);
  TRY(literal_create(a, wanted, out));
  npy_array_unpack(&array, elements, is_fortran, (*out)->data);
  return status_ok();
}

heddle_status npy_read(arena *a, const char *path, const shape *wanted, literal **out) {
  str file = STR("");
  arena *scratch = arena_create();
  heddle_status status = file_read(scratch, path, &file);
  if (status_is_ok(status)) status = npy_parse(a, path, file, wanted, out);
  arena_destroy(scratch);
  return status;
}

heddle_status npy_print(text *out, const char *path, const literal *value) {
  const shape *s = value->shape;
  if (!shape_is_array(s))
    return status_error(HEDDLE_INVALID, "'%s': a .npy file holds an array, found a %s", path, dtype_name(s->dtype));
  const npy_array array = array_of(s);
  npy_array_print(out, &array, value->data);
  return status_ok();
}

heddle_status npy_write(const char *path, const literal *value) {
  text file = {0};
  heddle_status s = npy_print(&file, path, value);
  if (status_is_ok(s)) s = file_write(path, text_view(&file));
  text_free(&file);
  return s;
}
