// Numbers of MLIR text as elements of a type: which values a type takes, and what a hexadecimal number means to it.
#include <inttypes.h>
#include <stdlib.h>

#include "mlir/parser.h"

bool mlir_take_number(mlir_parser *p, mlir_number_text *out) {
  *out = (mlir_number_text){.offset = p->tok_offset};
  out->is_negative = mlir_take(p, "-");
  bool is_bool = !out->is_negative && (mlir_at(p, "true") || mlir_at(p, "false"));
  if (!is_bool && p->kind != MLIR_INTEGER && p->kind != MLIR_FLOAT) return mlir_found(p, "a number");
  out->kind = p->kind;
  out->text = p->tok;
  mlir_advance(p);
  return true;
}

static bool refuse(mlir_parser *p, const mlir_number_text *n, dtype t, const char *wanted) {
  enum { SHOWN = 40 };
  int size = n->text.size > SHOWN ? SHOWN : (int)n->text.size;
  return mlir_error(p, n->offset, "found '%s%.*s' as %s, wanted %s", n->is_negative ? "-" : "", size, n->text.data,
                    dtype_name(t), wanted);
}

static bool is_hexadecimal(const mlir_number_text *n) { return n->text.size > 2 && n->text.data[1] == 'x'; }

static bool magnitude_of(mlir_parser *p, const mlir_number_text *n, dtype t, uint64_t *out) {
  bool is_hex = is_hexadecimal(n);
  unsigned base = is_hex ? 16 : 10;
  uint64_t value = 0;
  for (size_t i = is_hex ? 2 : 0; i < n->text.size; i++) {
    char c = n->text.data[i];
    unsigned digit = (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    if (value > (UINT64_MAX - digit) / base) return refuse(p, n, t, "at most 64 bits");
    value = value * base + digit;
  }
  *out = value;
  return true;
}

// Integers without sign take values from the least signed to the greatest unsigned one.
static bool integer_bits(mlir_parser *p, const mlir_number_text *n, dtype t, uint64_t *out) {
  int bits = dtypes[t].bits;
  uint64_t magnitude = 0, top = (uint64_t)1 << (bits - 1);
  if (n->kind != MLIR_INTEGER) return refuse(p, n, t, "an integer");
  if (!magnitude_of(p, n, t, &magnitude)) return false;
  uint64_t least = dtype_is_signed(t) ? top : 0, greatest = UINT64_MAX >> (64 - bits);
  if (magnitude > (n->is_negative ? least : greatest))
    return refuse(p, n, t, arena_printf(p->scratch, "an integer of %d bits", bits));
  uint64_t value = n->is_negative ? 0 - magnitude : magnitude;
  *out = dtype_is_signed(t) ? (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits)) : value;
  return true;
}

static bool pred_bits(mlir_parser *p, const mlir_number_text *n, uint64_t *out) {
  uint64_t magnitude = 0;
  *out = n->kind == MLIR_WORD && str_is(n->text, "true");
  if (n->kind == MLIR_WORD) return true;
  if (n->kind == MLIR_FLOAT) return refuse(p, n, DTYPE_PRED, "true or false");
  if (!magnitude_of(p, n, DTYPE_PRED, &magnitude)) return false;
  *out = magnitude;
  return magnitude <= 1 || refuse(p, n, DTYPE_PRED, "true or false");
}

static bool decimal(mlir_parser *p, const mlir_number_text *n, dtype t, double *out) {
  char digits[512];
  if (n->text.size >= sizeof digits) return refuse(p, n, t, "a number of less than 512 characters");
  memcpy(digits, n->text.data, n->text.size);
  digits[n->text.size] = '\0';
  *out = strtod(digits, NULL);
  if (n->is_negative) *out = -*out;
  return true;
}

static uint64_t encode(dtype t, double value) {
  const dtype_info *info = &dtypes[t];
  uint64_t bits = 0;
  if (info->is_narrow_float) return float_encode(info->narrow, value);
  if (info->bits == 32) {
    float f = (float)value;
    memcpy(&bits, &f, sizeof f);
  } else {
    memcpy(&bits, &value, sizeof value);
  }
  return bits;
}

// A hexadecimal number gives the bits of a float.
static bool float_bits(mlir_parser *p, const mlir_number_text *n, dtype t, uint64_t *out) {
  double value = 0;
  int bits = dtypes[t].bits;
  if (n->kind == MLIR_FLOAT) {
    if (!decimal(p, n, t, &value)) return false;
    *out = encode(t, value);
    return true;
  }
  if (n->kind != MLIR_INTEGER || !is_hexadecimal(n) || n->is_negative)
    return refuse(p, n, t, "a floating point number such as 1.0, or its bits in hexadecimal");
  if (!magnitude_of(p, n, t, out)) return false;
  return bits == 64 || *out >> bits == 0 || refuse(p, n, t, arena_printf(p->scratch, "at most %d bits", bits));
}

bool mlir_number_bits(mlir_parser *p, const mlir_number_text *n, dtype t, uint64_t *out) {
  if (t == DTYPE_PRED) return pred_bits(p, n, out);
  if (dtype_is_integer(t)) return integer_bits(p, n, t, out);
  if (dtype_is_float(t)) return float_bits(p, n, t, out);
  return refuse(p, n, t, "a value of that type");
}

// --- numbers as attributes

static double decode(dtype t, uint64_t bits) {
  const dtype_info *info = &dtypes[t];
  if (info->is_narrow_float) return float_decode(info->narrow, (uint32_t)bits);
  if (info->bits == 32) {
    float f;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    return (double)f;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool typed_number(mlir_parser *p, const mlir_number_text *n, const ir_type *type, const ir_attribute **out) {
  uint64_t bits = 0;
  // Integers of other widths (i3, i128) are rare: they are kept as far as 64 bits go.
  bool is_other = type->kind == IR_TYPE_OPAQUE && n->kind == MLIR_INTEGER && type->text.data[0] != '!';
  dtype t = is_other ? DTYPE_S64 : ir_type_dtype(type);
  if (type->element || t == DTYPE_INVALID || dtype_is_complex(t))
    return mlir_error(p, n->offset, "found a number of a type that has none");
  if (!mlir_number_bits(p, n, t, &bits)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, dtype_is_float(t) ? IR_ATTR_FLOAT
                                               : t == DTYPE_PRED ? IR_ATTR_BOOL
                                                                 : IR_ATTR_INTEGER);
  if (dtype_is_float(t)) x->number = decode(t, bits);
  else x->integer = (int64_t)bits;
  x->type = type;
  *out = x;
  return true;
}

bool mlir_number_attribute(mlir_parser *p, const ir_type *type, const ir_attribute **out) {
  mlir_number_text n;
  if (!mlir_take_number(p, &n)) return false;
  bool is_bool = n.kind == MLIR_WORD;
  if (!type && !is_bool && mlir_take(p, ":") && !mlir_type(p, &type)) return false;
  if (!type) type = ir_scalar_type(p->arena, is_bool ? DTYPE_PRED : n.kind == MLIR_FLOAT ? DTYPE_F64 : DTYPE_S64);
  return typed_number(p, &n, type, out);
}
