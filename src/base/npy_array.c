// NumPy's .npy format: magic, version, a header that is a Python dictionary, then the elements.
//
// The header comes from outside, so it is read by a small scanner that knows only what NumPy writes: three keys, a type
// string, True or False, and a tuple of sizes.
#include "base/npy_array.h"

#include <inttypes.h>

#include "base/scan.h"

typedef struct header {
  str descr;
  bool is_fortran;
  int rank;
  int64_t dims[NPY_ARRAY_MAX_RANK];
  bool has_descr, has_order, has_shape;
} header;

static bool take_shape(scan *s, header *h) {
  if (!scan_take(s, "(")) return false;
  while (!scan_take(s, ")")) {
    if (h->rank == NPY_ARRAY_MAX_RANK || !scan_number(s, &h->dims[h->rank])) return false;
    h->rank++;
    scan_take(s, "L");  // Python 2's long integers
    if (scan_take(s, ",")) continue;
    return scan_take(s, ")");
  }
  return true;
}

static bool take_entry(scan *s, header *h) {
  str key;
  if (!scan_quoted(s, &key) || !scan_take(s, ":")) return false;
  if (str_is(key, "descr") && !h->has_descr) return h->has_descr = scan_quoted(s, &h->descr);
  if (str_is(key, "shape") && !h->has_shape) return h->has_shape = take_shape(s, h);
  if (!str_is(key, "fortran_order") || h->has_order) return false;
  h->has_order = true;
  h->is_fortran = scan_take(s, "True");
  return h->is_fortran || scan_take(s, "False");
}

static bool parse_dictionary(str source, header *h) {
  scan s = {source};
  if (!scan_take(&s, "{")) return false;
  while (!scan_take(&s, "}")) {
    if (!take_entry(&s, h)) return false;
    if (scan_take(&s, ",")) continue;
    if (!scan_take(&s, "}")) return false;
    break;
  }
  return scan_at_end(&s) && h->has_descr && h->has_order && h->has_shape;
}

// NumPy fills headers up with blanks.
static heddle_status wrong_header(const char *path, str header) {
  while (header.size > 0 && strchr(" \n", header.data[header.size - 1])) header.size--;
  return status_error(HEDDLE_INVALID, "'%s': malformed .npy header '%.*s'", path,
                      (int)(header.size < 200 ? header.size : 200), header.data);
}

// Splits the file into header and elements.
static heddle_status parse_header(const char *path, str file, header *h, str *elements) {
  const unsigned char *bytes = (const unsigned char *)file.data;
  if (file.size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return status_error(HEDDLE_INVALID, "'%s' is not a .npy file", path);
  int version = bytes[6];
  if (version < 1 || version > 3)
    return status_error(HEDDLE_INVALID, "'%s': found .npy version %d.%d, wanted 1.0 to 3.0", path, version, bytes[7]);
  size_t start = version == 1 ? 10 : 12;
  if (file.size < start) return status_error(HEDDLE_INVALID, "'%s' ends within its header", path);
  size_t size = bytes[8] | (size_t)bytes[9] << 8;
  if (version > 1) size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (size > file.size - start) return status_error(HEDDLE_INVALID, "'%s' ends within its header", path);
  if (!parse_dictionary((str){file.data + start, size}, h)) return wrong_header(path, (str){file.data + start, size});
  *elements = (str){file.data + start + size, file.size - start - size};
  return status_ok();
}

// The type NumPy's file names must be the one elements of `t` are stored as. Types that NumPy lacks come in other
// guises, too: ml_dtypes' arrays as raw bytes (`V1`, `V2`) or as a float of their width (`f1` for f8e5m2), integers of
// less than a byte as the signed bytes that others keep them in. One byte has no order, whatever the file says of it.
static bool type_matches(str descr, dtype t) {
  const dtype_info *type = &dtypes[t];
  if (descr.size < 3) return false;
  char order = descr.data[0];
  if (!strchr("<=|>", order) || (order == '>' && type->bytes > 1)) return false;
  if (order == '|' && type->bytes > 1 && descr.data[1] != 'V') return false;
  str rest = {descr.data + 1, descr.size - 1};
  if (str_is(rest, type->npy + 1)) return true;
  if (rest.size != 2 || rest.data[1] != '0' + type->bytes) return false;
  const bool lacks = (type->is_narrow_float && t != DTYPE_F16) || type->bits < 8;
  if (rest.data[0] == 'V') return lacks;
  return lacks && type->bytes == 1 && rest.data[0] == (type->is_narrow_float ? 'f' : 'i');
}

static void print_wanted(text *out, const npy_array *a) {
  text_printf(out, "%s[", dtype_name(a->type));
  for (int d = 0; d < a->rank; d++) text_printf(out, a->dims[d] < 0 ? "%s?" : "%s%" PRId64, d ? "," : "", a->dims[d]);
  text_putc(out, ']');
}

static heddle_status differs(const char *path, const header *h, const npy_array *wanted) {
  text found = {0}, want = {0};
  for (int i = 0; i < h->rank; i++) text_printf(&found, i ? ",%" PRId64 : "%" PRId64, h->dims[i]);
  print_wanted(&want, wanted);
  heddle_status status =
      status_error(HEDDLE_INVALID, "'%s' holds an array [%s] of type '%.*s', wanted %s (stored as '%s')", path,
                   text_cstr(&found), STR_ARG(h->descr), text_cstr(&want), dtypes[wanted->type].npy);
  text_free(&found);
  text_free(&want);
  return status;
}

int64_t npy_array_bytes(const npy_array *a) {
  int64_t bytes = dtypes[a->type].bytes;
  for (int d = 0; d < a->rank; d++)
    if (a->dims[d] == 0) return 0;
  for (int d = 0; d < a->rank; d++)
    if (__builtin_mul_overflow(bytes, a->dims[d], &bytes)) return INT64_MAX;
  return bytes;
}

heddle_status npy_array_parse(const char *path, str file, npy_array *wanted, str *elements, bool *is_fortran) {
  header h = {0};
  TRY(parse_header(path, file, &h, elements));
  bool same = h.rank == wanted->rank && type_matches(h.descr, wanted->type);
  for (int i = 0; same && i < h.rank; i++) same = wanted->dims[i] < 0 || h.dims[i] == wanted->dims[i];
  if (!same) return differs(path, &h, wanted);
  for (int i = 0; i < h.rank; i++) wanted->dims[i] = h.dims[i];
  *is_fortran = h.is_fortran;
  const int64_t size = npy_array_bytes(wanted);
  if ((uint64_t)size == elements->size) return status_ok();
  return status_error(HEDDLE_INVALID, "'%s': found %zu bytes of elements, wanted %" PRId64, path, elements->size, size);
}

static void copy_fortran_order(const npy_array *a, const char *from, char *to) {
  const size_t size = (size_t)dtypes[a->type].bytes;
  const int64_t count = npy_array_bytes(a) / (int64_t)size;
  int64_t index[NPY_ARRAY_MAX_RANK] = {0};
  for (int64_t i = 0; i < count; i++) {
    int64_t linear = 0;
    for (int d = a->rank - 1; d >= 0; d--) linear = linear * a->dims[d] + index[d];
    memcpy(to + (size_t)i * size, from + (size_t)linear * size, size);
    for (int d = a->rank - 1; d >= 0 && ++index[d] == a->dims[d]; d--) index[d] = 0;
  }
}

// One byte is one element.
static void normalise(dtype t, size_t count, unsigned char *bytes) {
  const dtype_info *type = &dtypes[t];
  if (type->class == CLASS_PRED) {
    for (size_t i = 0; i < count; i++) bytes[i] = bytes[i] != 0;
  } else if (type->bits < 8) {
    const int mask = (1 << type->bits) - 1, sign = dtype_is_signed(t) ? 1 << (type->bits - 1) : 0;
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)(((bytes[i] & mask) ^ sign) - sign);
  }
}

void npy_array_unpack(const npy_array *a, str elements, bool is_fortran, void *to) {
  if (!elements.size) return;
  if (is_fortran) copy_fortran_order(a, elements.data, to);
  else memcpy(to, elements.data, elements.size);
  normalise(a->type, elements.size, to);
}

static void print_header(text *out, const npy_array *a) {
  text header = {0};
  text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", dtypes[a->type].npy);
  for (int i = 0; i < a->rank; i++) text_printf(&header, i ? " %" PRId64 "," : "%" PRId64 ",", a->dims[i]);
  if (a->rank > 1) header.size--;  // only a one-element tuple keeps its comma
  text_puts(&header, "), }");
  while ((10 + header.size + 1) % 64 != 0) text_putc(&header, ' ');
  text_putc(&header, '\n');
  text_append(out, (str){"\x93NUMPY\x01\x00", 8});
  text_putc(out, (char)(header.size & 0xff));
  text_putc(out, (char)(header.size >> 8));
  text_append(out, text_view(&header));
  text_free(&header);
}

void npy_array_print(text *out, const npy_array *a, const void *data) {
  print_header(out, a);
  const size_t start = out->size;
  text_append(out, (str){data, (size_t)npy_array_bytes(a)});
  const dtype_info *type = &dtypes[a->type];
  if (type->bits < 8)
    for (size_t i = start; i < out->size; i++) out->data[i] &= (char)((1 << type->bits) - 1);
}
