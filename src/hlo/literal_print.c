// Values as HLO text, with the fewest digits that read back to the same bits.
#include "hlo/literal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Bits of one real number and what tells them apart; complex numbers are printed as two of these.
typedef struct real_bits {
  uint64_t bits;
  int width;
  int mantissa_bits;
  double value;
} real_bits;

static real_bits narrow_bits(float_kind kind, uint64_t bits) {
  const float_format *f = &float_formats[kind];
  int sign = f->specials == FLOAT_E8M0 ? 0 : 1;
  return (real_bits){bits, f->exponent_bits + f->mantissa_bits + sign, f->mantissa_bits,
                     float_decode(kind, (uint32_t)bits)};
}

static real_bits wide_bits(const void *data, int bytes, int64_t i) {
  if (bytes == 4) {
    const float *p = (const float *)data + i;
    uint32_t bits;
    memcpy(&bits, p, sizeof bits);
    return (real_bits){bits, 32, 23, (double)*p};
  }
  const double *p = (const double *)data + i;
  uint64_t bits;
  memcpy(&bits, p, sizeof bits);
  return (real_bits){bits, 64, 52, *p};
}

// Formats with a single NaN (per sign) print plain `nan`; IEEE ones name every mantissa but the default quiet one.
static void print_nan(text *out, real_bits x, bool has_payloads, bool has_sign) {
  uint64_t payload = x.bits & (((uint64_t)1 << x.mantissa_bits) - 1);
  bool negative = has_sign && (x.bits >> (x.width - 1) & 1);
  text_puts(out, negative ? "-nan" : "nan");
  if (has_payloads && payload != (uint64_t)1 << (x.mantissa_bits - 1)) text_printf(out, "(0x%" PRIx64 ")", payload);
}

static bool reads_back(const dtype_info *type, const char *digits, double value) {
  if (type->is_narrow_float) {
    double read = strtod(digits, NULL);
    return float_decode(type->narrow, float_encode(type->narrow, read)) == value;
  }
  return type->bits == 32 ? (double)strtof(digits, NULL) == value : strtod(digits, NULL) == value;
}

// Starting above one digit keeps round numbers round: 128 and not 1e+02, which a very narrow format would read the
// same.
static int first_precision(const dtype_info *type) {
  if (type->is_narrow_float) return type->narrow == FLOAT_F16 ? 5 : 4;
  return type->bits == 32 ? 6 : 15;
}

static void print_finite(text *out, const dtype_info *type, double value) {
  char digits[48];
  for (int precision = first_precision(type); precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (reads_back(type, digits, value)) break;
  }
  text_puts(out, digits);
}

static void print_real(text *out, const dtype_info *type, const void *data, int64_t i) {
  real_bits x;
  bool has_payloads = true, has_sign = true;
  if (type->is_narrow_float) {
    uint64_t bits = type->bytes == 1 ? ((const uint8_t *)data)[i] : ((const uint16_t *)data)[i];
    float_specials specials = float_formats[type->narrow].specials;
    has_payloads = specials == FLOAT_IEEE;
    has_sign = specials == FLOAT_IEEE || specials == FLOAT_FN;
    x = narrow_bits(type->narrow, bits);
  } else {
    x = wide_bits(data, type->bytes, i);
  }
  if (isnan(x.value)) print_nan(out, x, has_payloads, has_sign);
  else if (isinf(x.value)) text_puts(out, x.value < 0 ? "-inf" : "inf");
  else print_finite(out, type, x.value);
}

static void print_element(text *out, const literal *l, int64_t i, bool is_scalar) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  int64_t value = dtype_is_inexact(l->shape->dtype) ? 0 : literal_get_int(l, i);
  switch ((int)type->class) {
    case CLASS_PRED:
      if (is_scalar) text_puts(out, value ? "true" : "false");
      else text_putc(out, value ? '1' : '0');
      break;
    case CLASS_SIGNED: text_printf(out, "%" PRId64, value); break;
    case CLASS_UNSIGNED: text_printf(out, "%" PRIu64, (uint64_t)value); break;
    case CLASS_FLOAT: print_real(out, type, l->data, i); break;
    default:
      text_putc(out, '(');
      print_real(out, &dtypes[type->part], l->data, 2 * i);
      text_puts(out, ", ");
      print_real(out, &dtypes[type->part], l->data, 2 * i + 1);
      text_putc(out, ')');
  }
}

// Braces per dimension: rows stay on one line, `{ {1, 2}, {3, 4} }`. `*next` is the linear index of the next element.
static void print_dim(text *out, const literal *l, int dim, int64_t *next) {
  const shape *s = l->shape;
  if (dim == s->rank) {
    print_element(out, l, (*next)++, false);
    return;
  }
  bool has_inner = dim + 1 < s->rank;
  text_puts(out, has_inner ? "{ " : "{");
  for (int64_t i = 0; i < s->dims[dim]; i++) {
    if (i) text_puts(out, ", ");
    print_dim(out, l, dim + 1, next);
  }
  text_puts(out, has_inner ? " }" : "}");
}

// Nothing but braces would be printed, and there could be 2^62 of them: one empty pair stands for every empty array
// whose braces do not matter.
static bool prints_many_braces(const shape *s) {
  int64_t braces = 1;
  for (int i = 0; i < s->rank && s->dims[i] != 0; i++)
    if (__builtin_mul_overflow(braces, s->dims[i], &braces) || braces > 1024) return true;
  return false;
}

void literal_print(text *out, const literal *l) {
  if (shape_is_tuple(l->shape)) {
    text_putc(out, '(');
    for (int i = 0; i < l->shape->tuple_size; i++) {
      text_puts(out, i ? ", " : " ");
      literal_print(out, l->elements[i]);
    }
    text_puts(out, " )");
    return;
  }
  int64_t next = 0;
  if (l->is_elided) text_puts(out, "{...}");
  else if (!shape_is_array(l->shape)) text_puts(out, "token[]");
  else if (l->shape->rank == 0) print_element(out, l, 0, true);
  else if (shape_element_count(l->shape) == 0 && prints_many_braces(l->shape)) text_puts(out, "{ }");
  else print_dim(out, l, 0, &next);
}
