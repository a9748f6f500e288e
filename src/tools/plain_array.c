#include "tools/plain_array.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/npy_array.h"
#include "tools/split_mix.h"

static const char *bare_path(const char *path) { return path[0] == '@' ? path + 1 : path; }

static bool is_npy(const char *path) {
  const size_t size = strlen(path);
  return size > 4 && strcmp(path + size - 4, ".npy") == 0;
}

static npy_array array_of(const program_shape *s, const int64_t *dims) {
  npy_array a = {.type = s->type, .rank = s->rank};
  for (int d = 0; d < s->rank; d++) a.dims[d] = dims[d];
  return a;
}

// --- in

static heddle_status take_elements(const char *path, str file, const program_shape *s, void *to) {
  npy_array a = array_of(s, s->dims);
  str elements = file;
  bool is_fortran = false;
  if (is_npy(path)) TRY(npy_array_parse(path, file, &a, &elements, &is_fortran));
  if (elements.size != (size_t)npy_array_bytes(&a))
    return status_error(HEDDLE_INVALID, "'%s' holds %zu bytes, wanted %" PRId64, path, elements.size,
                        npy_array_bytes(&a));
  npy_array_unpack(&a, elements, is_fortran, to);
  return status_ok();
}

heddle_status plain_array_read(const char *path, const program_shape *shape, void *to) {
  path = bare_path(path);
  arena *scratch = arena_create();
  str file;
  heddle_status s = file_read(scratch, path, &file);
  if (status_is_ok(s)) s = take_elements(path, file, shape, to);
  arena_destroy(scratch);
  return s;
}

// --- made up

static void store_float(dtype t, double value, void *to) {
  if (t == DTYPE_F32) {
    *(float *)to = (float)value;
  } else if (t == DTYPE_F64) {
    *(double *)to = value;
  } else {
    const uint32_t bits = float_encode(dtypes[t].narrow, value);
    memcpy(to, &bits, (size_t)dtypes[t].bytes);
  }
}

static void fill_element(dtype t, uint64_t *state, char *to) {
  const dtype_info *type = &dtypes[t];
  const double unit = (double)(split_mix_next(state) >> 11) * 0x1p-53;
  if (dtype_is_complex(t)) {
    for (int k = 0; k < 2; k++) fill_element(type->part, state, to + k * type->bytes / 2);
  } else if (dtype_is_float(t)) {
    store_float(t, 2 * unit - 1, to);
  } else {
    const int largest = (1 << (type->bits < 5 ? type->bits - 1 : 4)) - 1;
    const int64_t value = t == DTYPE_PRED ? unit >= 0.5 : (int64_t)(unit * (largest < 9 ? largest + 1 : 10));
    memcpy(to, &value, (size_t)type->bytes);
  }
}

void plain_array_fill(const program_shape *shape, uint64_t seed, void *to) {
  const int64_t count = program_shape_elements(shape);
  for (int64_t k = 0; k < count; k++) fill_element(shape->type, &seed, (char *)to + k * dtypes[shape->type].bytes);
}

// --- out

heddle_status plain_array_write(const char *path, const program_shape *shape, const int64_t *dims, const void *data) {
  path = bare_path(path);
  const npy_array a = array_of(shape, dims);
  if (!is_npy(path)) return file_write(path, (str){data, (size_t)npy_array_bytes(&a)});
  text file = {0};
  npy_array_print(&file, &a, data);
  heddle_status s = file_write(path, text_view(&file));
  text_free(&file);
  return s;
}

static void print_element(FILE *out, dtype t, const char *from) {
  const dtype_info *type = &dtypes[t];
  uint64_t bits = 0;
  if (dtype_is_complex(t)) {
    fputc('(', out);
    print_element(out, type->part, from);
    fputs(", ", out);
    print_element(out, type->part, from + type->bytes / 2);
    fputc(')', out);
    return;
  }
  memcpy(&bits, from, (size_t)type->bytes);
  if (t == DTYPE_F32) fprintf(out, "%.9g", (double)*(const float *)(const void *)from);
  else if (t == DTYPE_F64) fprintf(out, "%.17g", *(const double *)(const void *)from);
  else if (dtype_is_float(t)) fprintf(out, "%.9g", float_decode(type->narrow, (uint32_t)bits));
  else if (t == DTYPE_PRED) fputs(bits ? "true" : "false", out);
  else if (!dtype_is_signed(t)) fprintf(out, "%" PRIu64, bits);
  else fprintf(out, "%" PRId64, (int64_t)(bits << (64 - 8 * type->bytes)) >> (64 - 8 * type->bytes));
}

void plain_array_print(FILE *out, int number, const program_shape *shape, const int64_t *dims, const void *data) {
  fprintf(out, "result %d: %s[", number, dtype_name(shape->type));
  int64_t count = 1;
  for (int d = 0; d < shape->rank; d++) {
    fprintf(out, "%s%" PRId64, d ? "," : "", dims[d]);
    count *= dims[d];
  }
  fputs("]\n", out);
  const int64_t row = shape->rank ? dims[shape->rank - 1] : 1;
  for (int64_t k = 0; k < count; k++) {
    fputs(k % row ? " " : "  ", out);
    print_element(out, shape->type, (const char *)data + k * dtypes[shape->type].bytes);
    if (k % row == row - 1) fputc('\n', out);
  }
}
