// Literals: making them, and reading and writing single elements.
//
// An element is moved as up to 64 bits and interpreted by the class of its type, so that one pair of load and store
// serves all of them. Complex elements are two elements of their part type.
#include "hlo/literal.h"

#include <math.h>

static heddle_status out_of_memory(const shape *s) {
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a value of %lld bytes", (long long)shape_byte_size(s));
}

static heddle_status create(arena *a, const shape *s, literal **out) {
  literal *l = arena_try_alloc(a, sizeof *l);
  if (!l) return out_of_memory(s);
  l->shape = s;
  if (shape_is_tuple(s)) {
    l->elements = arena_try_alloc(a, (size_t)s->tuple_size * sizeof *l->elements);
    if (!l->elements) return out_of_memory(s);
    for (int i = 0; i < s->tuple_size; i++) TRY(create(a, s->elements[i], &l->elements[i]));
  } else if (shape_is_array(s)) {
    int64_t size = shape_byte_size(s);
    l->data = size < INT64_MAX ? arena_try_alloc(a, (size_t)size) : NULL;
    if (!l->data) return out_of_memory(s);
  }
  *out = l;
  return status_ok();
}

heddle_status literal_create(arena *a, const shape *s, literal **out) {
  TRY(shape_check(s, SOURCE_UNKNOWN));
  return create(a, s, out);
}

literal *literal_tuple(arena *a, int count, literal **elements) {
  const shape **shapes = arena_array(a, const shape *, count);
  for (int k = 0; k < count; k++) shapes[k] = elements[k]->shape;
  literal *tuple = arena_new(a, literal);
  *tuple = (literal){.shape = shape_tuple(a, count, shapes), .elements = elements};
  return tuple;
}

// As large as a value that is in memory already, so running out is left to the arena.
static literal *copy_value(arena *a, const literal *from, const shape *s) {
  literal *to = arena_new(a, literal);
  *to = (literal){.shape = s, .is_elided = from->is_elided};
  if (from->data) {
    size_t size = (size_t)shape_byte_size(s);
    to->data = arena_alloc(a, size);
    memcpy(to->data, from->data, size);
  }
  if (s->tuple_size) to->elements = arena_array(a, literal *, s->tuple_size);
  for (int i = 0; i < s->tuple_size; i++) to->elements[i] = copy_value(a, from->elements[i], s->elements[i]);
  return to;
}

literal *literal_copy(arena *a, const literal *from) { return copy_value(a, from, shape_copy(a, from->shape)); }

static uint64_t load_bits(const literal *l, int bytes, int64_t i) {
  switch (bytes) {
    case 1: return ((const uint8_t *)l->data)[i];
    case 2: return ((const uint16_t *)l->data)[i];
    case 4: return ((const uint32_t *)l->data)[i];
    default: return ((const uint64_t *)l->data)[i];
  }
}

static void store_bits(literal *l, int bytes, int64_t i, uint64_t bits) {
  switch (bytes) {
    case 1: ((uint8_t *)l->data)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)l->data)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)l->data)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)l->data)[i] = bits; break;
  }
}

// The low `bits` bits of an integer, sign-extended for signed types.
static uint64_t fit_integer(const dtype_info *type, uint64_t value) {
  int unused = 64 - type->bits;
  if (type->class == CLASS_SIGNED) return (uint64_t)((int64_t)(value << unused) >> unused);
  return value << unused >> unused;
}

static double decode_real(const dtype_info *type, uint64_t bits) {
  if (type->is_narrow_float) return float_decode(type->narrow, (uint32_t)bits);
  if (type->bits == 32) {
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return (double)f;
  }
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static uint64_t encode_real(const dtype_info *type, double value) {
  if (type->is_narrow_float) return float_encode(type->narrow, value);
  if (type->bits == 32) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
  }
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Beyond the type's range: the nearest value it has; NaN: 0 (what HLO's convert does).
static uint64_t saturate_integer(const dtype_info *type, double value) {
  if (isnan(value)) return 0;
  if (type->class == CLASS_UNSIGNED) {
    if (value <= 0) return 0;
    return value >= ldexp(1, type->bits) ? UINT64_MAX >> (64 - type->bits) : (uint64_t)value;
  }
  double limit = ldexp(1, type->bits - 1);
  int64_t largest = (int64_t)(UINT64_MAX >> (65 - type->bits));
  if (value >= limit) return (uint64_t)largest;
  return (uint64_t)(value < -limit ? -largest - 1 : (int64_t)value);
}

// A double that rounds to any format of at most 32 bits as `value` itself would: where an integer does not fit into 53
// bits, its lowest bits are or-ed into one sticky bit, far below what such a format keeps.
static double double_for_rounding(int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (magnitude >> 53) magnitude = (magnitude & ~(uint64_t)0x7ff) | ((magnitude & 0x7ff) ? 0x800 : 0);
  return value < 0 ? -(double)magnitude : (double)magnitude;
}

int64_t literal_get_int(const literal *l, int64_t i) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  if (type->class == CLASS_PRED) return load_bits(l, 1, i) != 0;
  if (type->class & CLASS_INTEGER) return (int64_t)fit_integer(type, load_bits(l, type->bytes, i));
  return (int64_t)saturate_integer(&dtypes[DTYPE_S64], literal_get_double(l, i));
}

double literal_get_double(const literal *l, int64_t i) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  if (type->class == CLASS_UNSIGNED) return (double)(uint64_t)literal_get_int(l, i);
  if (type->class & (CLASS_SIGNED | CLASS_PRED)) return (double)literal_get_int(l, i);
  if (type->class == CLASS_FLOAT) return decode_real(type, load_bits(l, type->bytes, i));
  return decode_real(&dtypes[type->part], load_bits(l, type->bytes / 2, 2 * i));
}

double complex literal_get_complex(const literal *l, int64_t i) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  if (type->class != CLASS_COMPLEX) return literal_complex_of(literal_get_double(l, i), 0);
  return literal_complex_of(literal_get_double(l, i),
                            decode_real(&dtypes[type->part], load_bits(l, type->bytes / 2, 2 * i + 1)));
}

void literal_set_int(literal *l, int64_t i, int64_t v) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  if (type->class == CLASS_PRED) store_bits(l, 1, i, v != 0);
  else if (type->class & CLASS_INTEGER) store_bits(l, type->bytes, i, fit_integer(type, (uint64_t)v));
  else if (type->bits == 64 && type->class == CLASS_FLOAT) literal_set_double(l, i, (double)v);
  else literal_set_complex(l, i, type->part == DTYPE_F64 ? (double)v : double_for_rounding(v));
}

void literal_set_double(literal *l, int64_t i, double v) { literal_set_complex(l, i, literal_complex_of(v, 0)); }

void literal_set_complex(literal *l, int64_t i, double complex v) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  if (type->class == CLASS_PRED) {
    store_bits(l, 1, i, creal(v) != 0);
  } else if (type->class & CLASS_INTEGER) {
    store_bits(l, type->bytes, i, saturate_integer(type, creal(v)));
  } else if (type->class == CLASS_FLOAT) {
    store_bits(l, type->bytes, i, encode_real(type, creal(v)));
  } else {
    store_bits(l, type->bytes / 2, 2 * i, encode_real(&dtypes[type->part], creal(v)));
    store_bits(l, type->bytes / 2, 2 * i + 1, encode_real(&dtypes[type->part], cimag(v)));
  }
}

bool literal_repeats(const literal *l) {
  if (!shape_is_array(l->shape)) return false;
  size_t bytes = (size_t)dtypes[l->shape->dtype].bytes, size = (size_t)shape_element_count(l->shape) * bytes;
  const char *data = l->data;
  return size > 0 && memcmp(data, data + bytes, size - bytes) == 0;
}

void literal_repeat(literal *l, const literal *element) {
  const size_t bytes = (size_t)dtypes[l->shape->dtype].bytes, total = (size_t)shape_byte_size(l->shape);
  for (size_t done = 0, size = bytes; done < total; done += size) {
    if (done) size = done < total - done ? done : total - done;
    memmove((char *)l->data + done, done ? l->data : element->data, size);
  }
}

bool literal_identical(const literal *l, const literal *r) {
  if (l->shape->dtype != r->shape->dtype || l->shape->tuple_size != r->shape->tuple_size) return false;
  if (l->is_elided != r->is_elided) return false;
  if (shape_is_tuple(l->shape)) {
    for (int i = 0; i < l->shape->tuple_size; i++)
      if (!literal_identical(l->elements[i], r->elements[i])) return false;
    return true;
  }
  if (!shape_same_dims(l->shape, r->shape)) return false;
  return !l->data || memcmp(l->data, r->data, (size_t)shape_byte_size(l->shape)) == 0;
}
