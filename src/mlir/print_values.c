// Types, attributes and constants as MLIR text that reads back to the same bits.
//
// Floats are written with the fewest digits that read back equal, always with a point, as MLIR asks; infinities and
// NaNs as the hexadecimal of their bits. Large constants become one string of their bytes.
#include "mlir/print_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Elements from which on a constant is written as bytes.
enum { BLOB_ABOVE = 128 };

static const char *const scalar_names[DTYPE_COUNT] = {
    [DTYPE_PRED] = "i1",
    [DTYPE_S2] = "i2",
    [DTYPE_S4] = "i4",
    [DTYPE_S8] = "i8",
    [DTYPE_S16] = "i16",
    [DTYPE_S32] = "i32",
    [DTYPE_S64] = "i64",
    [DTYPE_U2] = "ui2",
    [DTYPE_U4] = "ui4",
    [DTYPE_U8] = "ui8",
    [DTYPE_U16] = "ui16",
    [DTYPE_U32] = "ui32",
    [DTYPE_U64] = "ui64",
    [DTYPE_F4E2M1FN] = "f4E2M1FN",
    [DTYPE_F6E2M3FN] = "f6E2M3FN",
    [DTYPE_F6E3M2FN] = "f6E3M2FN",
    [DTYPE_F8E5M2] = "f8E5M2",
    [DTYPE_F8E4M3] = "f8E4M3",
    [DTYPE_F8E4M3FN] = "f8E4M3FN",
    [DTYPE_F8E4M3B11FNUZ] = "f8E4M3B11FNUZ",
    [DTYPE_F8E5M2FNUZ] = "f8E5M2FNUZ",
    [DTYPE_F8E4M3FNUZ] = "f8E4M3FNUZ",
    [DTYPE_F8E3M4] = "f8E3M4",
    [DTYPE_F8E8M0FNU] = "f8E8M0FNU",
    [DTYPE_F16] = "f16",
    [DTYPE_BF16] = "bf16",
    [DTYPE_F32] = "f32",
    [DTYPE_F64] = "f64",
    [DTYPE_C64] = "complex<f32>",
    [DTYPE_C128] = "complex<f64>",
};

const char *mlir_scalar_name(dtype t) { return scalar_names[t] ? scalar_names[t] : "none"; }

static bool is_identifier(str s) {
  for (size_t i = 0; i < s.size; i++) {
    char c = s.data[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool is_other = (c >= '0' && c <= '9') || c == '$' || c == '.';
    if (!is_letter && (i == 0 || !is_other)) return false;
  }
  return s.size > 0;
}

void mlir_print_string(text *out, str s) {
  text_putc(out, '"');
  for (size_t i = 0; i < s.size; i++) {
    unsigned char c = (unsigned char)s.data[i];
    if (c == '\\') text_puts(out, "\\\\");
    else if (c < 0x20 || c >= 0x7f || c == '"') text_printf(out, "\\%02X", c);
    else text_putc(out, (char)c);
  }
  text_putc(out, '"');
}

static void print_symbol_part(text *out, str name) {
  text_putc(out, '@');
  if (is_identifier(name)) text_append(out, name);
  else mlir_print_string(out, name);
}

void mlir_print_symbol(text *out, str name) {
  size_t start = 0;
  for (size_t i = 0; i + 1 < name.size; i++) {
    if (name.data[i] != ':' || name.data[i + 1] != ':') continue;
    print_symbol_part(out, (str){name.data + start, i - start});
    text_puts(out, "::");
    start = i++ + 2;
  }
  print_symbol_part(out, (str){name.data + start, name.size - start});
}

// Numbers.

// The bits of a real element; integers sign-extended.
static uint64_t element_bits(const void *data, int bytes, int64_t i) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + i * bytes, (size_t)bytes);
  return bits;
}

static bool reads_back(dtype t, const char *digits, double value) {
  if (dtypes[t].is_narrow_float)
    return float_decode(dtypes[t].narrow, float_encode(dtypes[t].narrow, strtod(digits, NULL))) == value;
  return t == DTYPE_F32 ? (double)strtof(digits, NULL) == value : strtod(digits, NULL) == value;
}

// MLIR wants a point, before the exponent if there is one.
static void print_with_point(text *out, const char *digits) {
  const char *exponent = strchr(digits, 'e');
  size_t mantissa = exponent ? (size_t)(exponent - digits) : strlen(digits);
  text_append(out, (str){digits, mantissa});
  if (!memchr(digits, '.', mantissa)) text_puts(out, ".0");
  if (exponent) text_puts(out, exponent);
}

static void print_double(text *out, dtype t, double value) {
  char digits[48];
  for (int precision = 5; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (reads_back(t, digits, value)) break;
  }
  print_with_point(out, digits);
}

void mlir_print_number(text *out, double value) { print_double(out, DTYPE_F64, value); }

// One real number of `bytes` bytes at data[i].
static void print_real(text *out, dtype t, const void *data, int64_t i) {
  const dtype_info *info = &dtypes[t];
  uint64_t bits = element_bits(data, info->bytes, i);
  double value;
  float single;
  if (t == DTYPE_F64) {
    memcpy(&value, &bits, sizeof value);
  } else if (t == DTYPE_F32) {
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, sizeof single);
    value = (double)single;
  } else {
    value = float_decode(info->narrow, (uint32_t)bits);
  }
  if (isfinite(value)) print_double(out, t, value);
  else text_printf(out, "0x%0*" PRIX64, info->bytes * 2, bits);
}

static void print_integer(text *out, dtype t, int64_t value) {
  if (dtypes[t].class == CLASS_UNSIGNED) text_printf(out, "%" PRIu64, (uint64_t)value);
  else text_printf(out, "%" PRId64, value);
}

static void print_element(text *out, const literal *l, int64_t i) {
  dtype t = l->shape->dtype;
  if (dtype_is_complex(t)) {
    text_putc(out, '(');
    print_real(out, dtypes[t].part, l->data, 2 * i);
    text_puts(out, ", ");
    print_real(out, dtypes[t].part, l->data, 2 * i + 1);
    text_putc(out, ')');
  } else if (dtype_is_float(t)) {
    print_real(out, t, l->data, i);
  } else if (t == DTYPE_PRED) {
    text_puts(out, literal_get_int(l, i) ? "true" : "false");
  } else {
    print_integer(out, t, literal_get_int(l, i));
  }
}

// Constants.

static void print_nested(text *out, const literal *l) {
  int rank = l->shape->rank;
  int64_t count = shape_element_count(l->shape), index[SHAPE_MAX_RANK] = {0};
  for (int i = 0; i < rank; i++) text_putc(out, '[');
  for (int64_t i = 0; i < count; i++) {
    print_element(out, l, i);
    int carried = 0;
    for (int d = rank - 1; d >= 0 && ++index[d] == l->shape->dims[d]; d--) {
      index[d] = 0;
      carried++;
    }
    for (int c = 0; c < carried; c++) text_putc(out, ']');
    if (i + 1 < count) text_puts(out, ", ");
    for (int c = 0; c < carried && i + 1 < count; c++) text_putc(out, '[');
  }
}

static void print_blob(text *out, const literal *l, int64_t count) {
  static const char hex[] = "0123456789ABCDEF";
  size_t bytes = (size_t)count * (size_t)dtypes[l->shape->dtype].bytes;
  const unsigned char *data = l->data;
  text_puts(out, "\"0x");
  for (size_t i = 0; i < bytes; i++) {
    text_putc(out, hex[data[i] >> 4]);
    text_putc(out, hex[data[i] & 15]);
  }
  text_putc(out, '"');
}

void mlir_print_elements(text *out, const ir_attribute *x, int64_t elide_above) {
  const literal *l = x->elements;
  int64_t count = shape_element_count(l->shape);
  bool is_splatted = literal_repeats(l);
  if (l->is_elided || (elide_above > 0 && count > elide_above && !is_splatted)) {
    text_puts(out, "dense_resource<__elided__>");
  } else {
    text_puts(out, "dense<");
    if (is_splatted) print_element(out, l, 0);
    else if (count > BLOB_ABOVE && dtypes[l->shape->dtype].bits >= 8 && l->shape->dtype != DTYPE_PRED)
      print_blob(out, l, count);
    else if (count > 0) print_nested(out, l);
    text_putc(out, '>');
  }
  text_puts(out, " : ");
  mlir_print_type(out, x->type);
}

// Types.

static void print_scale(text *out, const ir_quantization *q, int i) {
  print_double(out, DTYPE_F64, q->scales[i]);
  if (q->zero_points[i] != 0) text_printf(out, ":%" PRId64, q->zero_points[i]);
}

// Scales of blocks: nested braces over block_dims, row-major.
static void print_scale_blocks(text *out, const ir_quantization *q) {
  int64_t index[SHAPE_MAX_RANK] = {0};
  for (int d = 0; d < q->block_rank; d++) text_putc(out, '{');
  for (int i = 0; i < q->count; i++) {
    print_scale(out, q, i);
    int carried = 0;
    for (int d = q->block_rank - 1; d >= 0 && ++index[d] == q->block_dims[d]; d--) {
      index[d] = 0;
      carried++;
    }
    for (int c = 0; c < carried; c++) text_putc(out, '}');
    if (i + 1 < q->count) text_puts(out, ", ");
    for (int c = 0; c < carried && i + 1 < q->count; c++) text_putc(out, '{');
  }
}

static void print_quantization(text *out, const ir_quantization *q) {
  bool is_signed = dtype_is_signed(q->storage);
  int bits = dtypes[q->storage].bits;
  int64_t low = is_signed ? -((int64_t)1 << (bits - 1)) : 0, high = low + (((int64_t)1 << bits) - 1);
  text_printf(out, "!quant.uniform<%c%d", is_signed ? 'i' : 'u', bits);
  if (q->storage_min != low || q->storage_max != high)
    text_printf(out, "<%" PRId64 ":%" PRId64 ">", q->storage_min, q->storage_max);
  text_printf(out, ":%s", mlir_scalar_name(q->expressed));
  if (q->block_count) {
    for (int i = 0; i < q->block_count; i++)
      text_printf(out, "%s%" PRId64 ":%" PRId64, i ? ", " : ":{", q->block_axes[i], q->block_sizes[i]);
    text_puts(out, "}, ");
    print_scale_blocks(out, q);
  } else if (q->axis >= 0) {
    text_printf(out, ":%d, {", q->axis);
    for (int i = 0; i < q->count; i++) {
      if (i) text_puts(out, ", ");
      print_scale(out, q, i);
    }
    text_putc(out, '}');
  } else {
    text_puts(out, ", ");
    print_scale(out, q, 0);
  }
  text_putc(out, '>');
}

static void print_ranked(text *out, const char *name, const ir_type *t) {
  text_printf(out, "%s<", name);
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] == IR_DYNAMIC) text_puts(out, "?x");
    else text_printf(out, "%" PRId64 "x", t->dims[i]);
  }
  mlir_print_type(out, t->element);
  if (t->encoding) {
    text_puts(out, ", ");
    mlir_print_attribute(out, t->encoding);
  }
  text_putc(out, '>');
}

static void print_types(text *out, int count, const ir_type *const *types) {
  for (int i = 0; i < count; i++) {
    if (i) text_puts(out, ", ");
    mlir_print_type(out, types[i]);
  }
}

static void print_function_type(text *out, const ir_type *t) {
  text_putc(out, '(');
  print_types(out, t->count, t->types);
  text_puts(out, ") -> ");
  bool needs_parentheses = t->result_count != 1 || t->results[0]->kind == IR_TYPE_FUNCTION;
  if (needs_parentheses) text_putc(out, '(');
  print_types(out, t->result_count, t->results);
  if (needs_parentheses) text_putc(out, ')');
}

void mlir_print_type(text *out, const ir_type *t) {
  switch (t->kind) {
    case IR_TYPE_SCALAR: text_puts(out, mlir_scalar_name(t->dtype)); break;
    case IR_TYPE_INDEX: text_puts(out, "index"); break;
    case IR_TYPE_QUANTIZED: print_quantization(out, t->quantization); break;
    case IR_TYPE_TENSOR: print_ranked(out, "tensor", t); break;
    case IR_TYPE_BUFFER: print_ranked(out, "memref", t); break;
    case IR_TYPE_UNRANKED:
      text_puts(out, "tensor<*x");
      mlir_print_type(out, t->element);
      text_putc(out, '>');
      break;
    case IR_TYPE_TUPLE:
    case IR_TYPE_FUTURE:
      text_puts(out, t->kind == IR_TYPE_TUPLE ? "tuple<" : "!stablehlo.future<");
      print_types(out, t->count, t->types);
      text_putc(out, '>');
      break;
    case IR_TYPE_FUNCTION: print_function_type(out, t); break;
    case IR_TYPE_TOKEN: text_puts(out, "!stablehlo.token"); break;
    case IR_TYPE_NONE: text_puts(out, "none"); break;
    case IR_TYPE_OPAQUE: text_append(out, t->text); break;
  }
}

// Attributes.

static void print_number(text *out, double value, dtype t) {
  if (isfinite(value)) {
    print_double(out, DTYPE_F64, value);
    return;
  }
  uint64_t bits;
  if (t == DTYPE_F64) {
    memcpy(&bits, &value, sizeof bits);
  } else if (t == DTYPE_F32) {
    float single = (float)value;
    uint32_t low;
    memcpy(&low, &single, sizeof low);
    bits = low;
  } else {
    bits = float_encode(dtypes[t].narrow, value);
  }
  text_printf(out, "0x%0*" PRIX64, dtypes[t].bytes * 2, bits);
}

static dtype element_dtype(const ir_attribute *x, dtype otherwise) {
  return x->type && ir_type_dtype(x->type) != DTYPE_INVALID ? ir_type_dtype(x->type) : otherwise;
}

static void print_array(text *out, const ir_attribute *x) {
  bool is_float = x->kind == IR_ATTR_FLOATS;
  dtype t = element_dtype(x, is_float ? DTYPE_F64 : DTYPE_S64);
  text_printf(out, "array<%s", mlir_scalar_name(t));
  for (int i = 0; i < x->count; i++) {
    text_puts(out, i ? ", " : ": ");
    if (is_float) print_number(out, x->numbers[i], t);
    else if (t == DTYPE_PRED) text_puts(out, x->integers[i] ? "true" : "false");
    else print_integer(out, t, x->integers[i]);
  }
  text_putc(out, '>');
}

static void print_items(text *out, const ir_attribute *x) {
  text_putc(out, '[');
  for (int i = 0; i < x->count; i++) {
    if (i) text_puts(out, ", ");
    mlir_print_attribute(out, x->items[i]);
  }
  text_putc(out, ']');
}

void mlir_print_name(text *out, str name) {
  if (is_identifier(name)) text_append(out, name);
  else mlir_print_string(out, name);
}

static void print_named(text *out, const ir_named_attribute *x) {
  mlir_print_name(out, x->name);
  if (x->value->kind == IR_ATTR_UNIT) return;
  text_puts(out, " = ");
  mlir_print_attribute(out, x->value);
}

// As a field it is only `(pre_size)size`, without its name.
static bool print_sub_axis(text *out, const ir_attribute *x) {
  int64_t before, size;
  if (!str_is(x->name, "stablehlo.sub_axis_info") || !ir_attribute_integer(ir_find_field(x, "pre_size"), &before) ||
      !ir_attribute_integer(ir_find_field(x, "size"), &size))
    return false;
  text_printf(out, "(%" PRId64 ")%" PRId64, before, size);
  return true;
}

static bool is_of_type(const ir_attribute *x, dtype t) {
  return !x->type || (x->type->kind == IR_TYPE_SCALAR && x->type->dtype == t);
}

// Inside a struct numbers of the usual types are written without them, and lists of integers without `array`.
static void print_field(text *out, const ir_attribute *x) {
  if (x->kind == IR_ATTR_INTEGER && is_of_type(x, DTYPE_S64)) {
    text_printf(out, "%" PRId64, x->integer);
  } else if (x->kind == IR_ATTR_FLOAT && is_of_type(x, DTYPE_F64)) {
    print_number(out, x->number, DTYPE_F64);
  } else if (x->kind == IR_ATTR_ARRAY || x->kind == IR_ATTR_INTEGERS) {
    text_putc(out, '[');
    for (int i = 0; i < x->count; i++) {
      if (i) text_puts(out, ", ");
      if (x->kind == IR_ATTR_ARRAY && x->items[i]->kind == IR_ATTR_INTEGER)
        text_printf(out, "%" PRId64, x->items[i]->integer);
      else if (x->kind == IR_ATTR_ARRAY) print_field(out, x->items[i]);
      else if (x->integers[i] == IR_DYNAMIC) text_putc(out, '?');
      else text_printf(out, "%" PRId64, x->integers[i]);
    }
    text_putc(out, ']');
  } else if (x->kind != IR_ATTR_STRUCT || !print_sub_axis(out, x)) {
    mlir_print_attribute(out, x);
  }
}

// #stablehlo.bounds<?, 8> has no field name and no brackets.
static void print_bounds(text *out, const ir_attribute *x) {
  text fields = {0};
  print_field(&fields, x->fields[0].value);
  str view = text_view(&fields);
  text_putc(out, '<');
  if (view.size >= 2) text_append(out, (str){view.data + 1, view.size - 2});
  text_putc(out, '>');
  text_free(&fields);
}

// Names of the two dims of a convolution's operand that are no window dims, and of the fields that say where they are.
typedef struct conv_side_names {
  const char *letters, *first, *second, *spatial;
} conv_side_names;
static const conv_side_names convolution_names[3] = {
    {"bf", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
    {"io", "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
    {"bf", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"},
};

static bool print_conv_side(text *out, arena *a, const ir_attribute *of, const conv_side_names *names) {
  const int64_t *spatial;
  int64_t other[2];
  int count, at[SHAPE_MAX_RANK];
  if (!ir_attribute_integers(a, ir_find_field(of, names->spatial), &spatial, &count) || count + 2 > SHAPE_MAX_RANK ||
      !ir_attribute_integer(ir_find_field(of, names->first), &other[0]) ||
      !ir_attribute_integer(ir_find_field(of, names->second), &other[1]))
    return false;
  for (int i = 0; i < count + 2; i++) at[i] = -1;
  for (int i = 0; i < count + 2; i++) {
    int64_t dim = i < count ? spatial[i] : other[i - count];
    if (dim < 0 || dim >= count + 2 || at[dim] >= 0) return false;
    at[dim] = i;
  }
  for (int i = 0; i < count + 2; i++) {
    text_puts(out, i ? ", " : "[");
    if (at[i] < count) text_printf(out, "%d", at[i]);
    else text_putc(out, names->letters[at[i] - count]);
  }
  text_putc(out, ']');
  return true;
}

bool mlir_print_convolution(text *out, const ir_attribute *x) {
  static const char *const between[] = {"", "x", "->"};
  arena *a = arena_create();
  bool ok = true;
  size_t size = out->size;
  for (int i = 0; i < 3 && ok; i++) {
    text_puts(out, between[i]);
    ok = print_conv_side(out, a, x, &convolution_names[i]);
  }
  if (!ok) {
    out->size = size;
    if (out->data) out->data[size] = 0;
  }
  arena_destroy(a);
  return ok;
}

void mlir_print_struct_body(text *out, const ir_attribute *x) {
  if (print_sub_axis(out, x)) return;
  if (str_is(x->name, "stablehlo.bounds") && x->count == 1) {
    print_bounds(out, x);
    return;
  }
  text_putc(out, '<');
  bool is_raw = str_is(x->name, "stablehlo.conv");
  if (is_raw && mlir_print_convolution(out, x)) {
    text_putc(out, '>');
    return;
  }
  if (is_raw) text_puts(out, "raw ");
  for (int i = 0; i < x->count; i++) {
    if (i) text_puts(out, ", ");
    text_append(out, x->fields[i].name);
    text_puts(out, " = ");
    print_field(out, x->fields[i].value);
  }
  text_putc(out, '>');
}

// `#stablehlo<precision HIGHEST>`; one kind has a notation of its own.
static void print_enum(text *out, const ir_attribute *x) {
  const char *point = memchr(x->name.data, '.', x->name.size);
  if (!point || str_is(x->name, "stablehlo.result_accuracy_mode")) {
    text_printf(out, "#" STR_FMT "<" STR_FMT ">", STR_ARG(x->name), STR_ARG(x->text));
    return;
  }
  int dialect = (int)(point - x->name.data);
  text_printf(out, "#%.*s<%.*s " STR_FMT ">", dialect, x->name.data, (int)x->name.size - dialect - 1, point + 1,
              STR_ARG(x->text));
}

static void print_typed_number(text *out, const ir_attribute *x) {
  if (x->kind == IR_ATTR_FLOAT) print_number(out, x->number, element_dtype(x, DTYPE_F64));
  else print_integer(out, element_dtype(x, DTYPE_S64), x->integer);
  text_puts(out, " : ");
  if (x->type) mlir_print_type(out, x->type);
  else text_puts(out, x->kind == IR_ATTR_FLOAT ? "f64" : "i64");
}

static void print_dictionary(text *out, const ir_attribute *x) {
  text_putc(out, '{');
  for (int i = 0; i < x->count; i++) {
    if (i) text_puts(out, ", ");
    print_named(out, &x->fields[i]);
  }
  text_putc(out, '}');
}

void mlir_print_attribute(text *out, const ir_attribute *x) {
  switch (x->kind) {
    case IR_ATTR_UNIT: text_puts(out, "unit"); break;
    case IR_ATTR_BOOL: text_puts(out, x->integer ? "true" : "false"); break;
    case IR_ATTR_INTEGER:
    case IR_ATTR_FLOAT: print_typed_number(out, x); break;
    case IR_ATTR_STRING: mlir_print_string(out, x->text); break;
    case IR_ATTR_SYMBOL: mlir_print_symbol(out, x->text); break;
    case IR_ATTR_TYPE: mlir_print_type(out, x->type); break;
    case IR_ATTR_ARRAY: print_items(out, x); break;
    case IR_ATTR_DICTIONARY: print_dictionary(out, x); break;
    case IR_ATTR_ELEMENTS: mlir_print_elements(out, x, 0); break;
    case IR_ATTR_INTEGERS:
    case IR_ATTR_FLOATS: print_array(out, x); break;
    case IR_ATTR_ENUM: print_enum(out, x); break;
    case IR_ATTR_STRUCT:
      text_printf(out, "#" STR_FMT, STR_ARG(x->name));
      mlir_print_struct_body(out, x);
      break;
    case IR_ATTR_OPAQUE: text_append(out, x->text); break;
  }
}
