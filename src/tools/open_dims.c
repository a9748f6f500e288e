// Sizes come from flags first. Others are made up such that dims that are used together have equal sizes.
#include "tools/open_dims.h"

#include "hlo/text.h"
#include "tools/execute.h"

heddle_status open_dims_read(arena *a, const flag_list *texts, import_options *out) {
  const shape **shapes = arena_array(a, const shape *, texts->size);
  for (int i = 0; i < texts->size; i++)
    TRY(status_context(shape_parse(a, str_from(texts->data[i]), &shapes[i]),
                       "in --argument_shape=%s, wanted a shape: f32[4,8]", texts->data[i]));
  out->argument_shapes = texts->size ? shapes : NULL;
  out->argument_count = texts->size;
  return status_ok();
}

heddle_status open_dims_check(const flag_list *texts) {
  import_options unused = {0};
  arena *scratch = arena_create();
  heddle_status s = open_dims_read(scratch, texts, &unused);
  arena_destroy(scratch);
  return s;
}

heddle_status open_dims_argument(arena *a, unsigned seed, const shape *declared, literal **out) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int i = 0; i < declared->rank; i++) dims[i] = declared->dims[i] < 0 ? OPEN_DIMS_MADE_UP : declared->dims[i];
  TRY(execute_random_literal(a, shape_array(a, declared->dtype, declared->rank, dims), seed, out));
  if (declared->rank == 0 && dtype_is_integer(declared->dtype)) literal_set_int(*out, 0, OPEN_DIMS_MADE_UP);
  return status_ok();
}
