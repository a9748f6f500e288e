// NumPy's .npy format: magic, version, a header that is a Python dictionary, then the elements.
//
// The header comes from outside, so it is read by a small scanner that knows only what NumPy writes: three keys, a type
// string, True or False, and a tuple of sizes.
#include "hlo/npy.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/scan.h"

typedef struct npy_header {
  str descr;
  bool is_fortran;
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  bool has_descr, has_order, has_shape;
} npy_header;

static bool take_shape(scan *s, npy_header *h) {
  if (!scan_take(s, "(")) return false;
  while (!scan_take(s, ")")) {
    if (h->rank == SHAPE_MAX_RANK || !scan_number(s, &h->dims[h->rank])) return false;
    h->rank++;
    scan_take(s, "L");  // Python 2's long integers
    if (scan_take(s, ",")) continue;
    return scan_take(s, ")");
  }
  return true;
}

static bool take_entry(scan *s, npy_header *h) {
  str key;
  if (!scan_quoted(s, &key) || !scan_take(s, ":")) return false;
  if (str_is(key, "descr") && !h->has_descr) return h->has_descr = scan_quoted(s, &h->descr);
  if (str_is(key, "shape") && !h->has_shape) return h->has_shape = take_shape(s, h);
  if (!str_is(key, "fortran_order") || h->has_order) return false;
  h->has_order = true;
  h->is_fortran = scan_take(s, "True");
  return h->is_fortran || scan_take(s, "False");
}

static bool parse_dictionary(str source, npy_header *h) {
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

// Splits the file into header and elements.
static heddle_status parse_header(const char *path, str file, npy_header *h, str *elements) {
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
  if (!parse_dictionary((str){file.data + start, size}, h))
    return status_error(HEDDLE_INVALID, "'%s': malformed .npy header '%.*s'", path, (int)(size < 200 ? size : 200),
                        file.data + start);
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

static heddle_status check_header(const char *path, const npy_header *h, const shape *wanted, str elements) {
  bool same = h->rank == wanted->rank;
  for (int i = 0; same && i < h->rank; i++) same = h->dims[i] == wanted->dims[i];
  if (!same || !type_matches(h->descr, wanted->dtype)) {
    text found = {0}, want = {0};
    for (int i = 0; i < h->rank; i++) text_printf(&found, i ? ",%" PRId64 : "%" PRId64, h->dims[i]);
    shape_print(&want, wanted, false);
    heddle_status status =
        status_error(HEDDLE_INVALID, "'%s' holds an array [%s] of type '%.*s', wanted %s (stored as '%s')", path,
                     text_cstr(&found), STR_ARG(h->descr), text_cstr(&want), dtypes[wanted->dtype].npy);
    text_free(&found);
    text_free(&want);
    return status;
  }
  int64_t size = shape_byte_size(wanted);
  if ((uint64_t)size != elements.size)
    return status_error(HEDDLE_INVALID, "'%s': found %zu bytes of elements, wanted %" PRId64, path, elements.size,
                        size);
  return status_ok();
}

static void copy_fortran_order(literal *to, const char *from) {
  const shape *s = to->shape;
  int64_t index[SHAPE_MAX_RANK] = {0}, count = shape_element_count(s);
  size_t size = (size_t)dtypes[s->dtype].bytes;
  for (int64_t i = 0; i < count; i++) {
    int64_t linear = 0;
    for (int d = s->rank - 1; d >= 0; d--) linear = linear * s->dims[d] + index[d];
    memcpy((char *)to->data + (size_t)i * size, from + (size_t)linear * size, size);
    for (int d = s->rank - 1; d >= 0 && ++index[d] == s->dims[d]; d--) index[d] = 0;
  }
}

// Brings stored bytes into the form literals keep: predicates 0 or 1, sub-byte values without stray high bits.
static void normalise(literal *l) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  if (type->class != CLASS_PRED && type->bits >= 8) return;
  uint8_t *bytes = l->data;
  int64_t count = shape_element_count(l->shape);
  for (int64_t i = 0; i < count; i++) {
    if (type->is_narrow_float) bytes[i] &= (uint8_t)((1 << type->bits) - 1);
    else literal_set_int(l, i, literal_get_int(l, i));
  }
}

// `wanted` with the file's sizes for the dims it leaves open.
static const shape *close_dims(arena *a, const npy_header *h, const shape *wanted) {
  int64_t dims[SHAPE_MAX_RANK];
  if (h->rank != wanted->rank || shape_is_static(wanted)) return wanted;
  for (int i = 0; i < h->rank; i++) dims[i] = wanted->dims[i] < 0 ? h->dims[i] : wanted->dims[i];
  return shape_array(a, wanted->dtype, h->rank, dims);
}

heddle_status npy_parse(arena *a, const char *path, str file, const shape *wanted, literal **out) {
  str elements = STR("");
  npy_header h = {0};
  if (!shape_is_array(wanted))
    return status_error(HEDDLE_INVALID, "'%s': a .npy file holds an array, wanted a %s", path,
                        dtype_name(wanted->dtype));
  TRY(parse_header(path, file, &h, &elements));
  wanted = close_dims(a, &h, wanted);
  TRY(check_header(path, &h, wanted, elements));
  TRY(literal_create(a, wanted, out));
  if (h.is_fortran) copy_fortran_order(*out, elements.data);
  else memcpy((*out)->data, elements.data, elements.size);
  normalise(*out);
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

static void print_header(text *out, const literal *value) {
  const shape *s = value->shape;
  text header = {0};
  text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", dtypes[s->dtype].npy);
  for (int i = 0; i < s->rank; i++) text_printf(&header, i ? " %" PRId64 "," : "%" PRId64 ",", s->dims[i]);
  if (s->rank > 1) header.size--;  // only a one-element tuple keeps its comma
  text_puts(&header, "), }");
  while ((10 + header.size + 1) % 64 != 0) text_putc(&header, ' ');
  text_putc(&header, '\n');
  text_append(out, (str){"\x93NUMPY\x01\x00", 8});
  text_putc(out, (char)(header.size & 0xff));
  text_putc(out, (char)(header.size >> 8));
  text_append(out, text_view(&header));
  text_free(&header);
}

heddle_status npy_write(const char *path, const literal *value) {
  const shape *s = value->shape;
  if (!shape_is_array(s))
    return status_error(HEDDLE_INVALID, "'%s': a .npy file holds an array, found a %s", path, dtype_name(s->dtype));
  text file = {0};
  print_header(&file, value);
  size_t start = file.size;
  text_append(&file, (str){value->data, (size_t)shape_byte_size(s)});
  const dtype_info *type = &dtypes[s->dtype];
  if (type->bits < 8)
    for (size_t i = start; i < file.size; i++) file.data[i] &= (char)((1 << type->bits) - 1);
  heddle_status status = file_write(path, text_view(&file));
  text_free(&file);
  return status;
}
