// How attributes are written in pretty forms: without their types, and some as a notation of their own.
#include <math.h>
#include <stdlib.h>

#include "mlir/assembly_form.h"
#include "mlir/print_values.h"

typedef VEC(int64_t) integer_list;

// Any attribute that is a list of integers, as array<i64: ...>.
static bool as_dims(mlir_parser *p, const ir_attribute *x, size_t offset, const ir_attribute **out) {
  const int64_t *values;
  int count;
  if (!ir_attribute_integers(p->arena, x, &values, &count))
    return mlir_error(p, offset, "found an attribute of another kind, wanted a list of integers");
  *out = ir_integers_attribute(p->arena, count, values);
  return true;
}

bool assembly_read_dims(mlir_parser *p, const ir_attribute **out) {
  size_t offset = p->tok_offset;
  if (!mlir_at(p, "[")) {
    const ir_attribute *x;
    return mlir_attribute(p, &x) && as_dims(p, x, offset, out);
  }
  return mlir_dims(p, out);
}

static bool read_bool(mlir_parser *p, const ir_attribute **out) {
  bool value = mlir_take(p, "true");
  if (!value && !mlir_take(p, "false")) return mlir_found(p, "true or false");
  *out = ir_bool_attribute(p->arena, value);
  return true;
}

static bool read_integer(mlir_parser *p, dtype t, const ir_attribute **out) {
  int64_t value;
  if (!mlir_integer(p, &value)) return false;
  *out = ir_integer_attribute(p->arena, value, t);
  return true;
}

static bool read_unsigned(mlir_parser *p, const ir_attribute **out) {
  uint64_t value;
  if (!mlir_magnitude(p, &value)) return false;
  *out = ir_integer_attribute(p->arena, (int64_t)value, DTYPE_U64);
  return true;
}

static bool read_float(mlir_parser *p, const ir_attribute **out) {
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_FLOAT);
  x->type = ir_scalar_type(p->arena, DTYPE_F64);
  *out = x;
  return mlir_number(p, &x->number);
}

static bool read_string(mlir_parser *p, const ir_attribute **out) {
  str s;
  if (!mlir_string(p, &s)) return false;
  *out = ir_string_attribute(p->arena, s);
  return true;
}

static bool read_symbol(mlir_parser *p, bool as_string, const ir_attribute **out) {
  str name;
  if (!mlir_symbol(p, &name)) return false;
  *out = as_string ? ir_string_attribute(p->arena, name) : ir_symbol_attribute(p->arena, name);
  return true;
}

static bool read_enum(mlir_parser *p, str mnemonic, const ir_attribute **out) {
  return mlir_enumeration(p, str_from(arena_printf(p->scratch, "stablehlo." STR_FMT, STR_ARG(mnemonic))), out);
}

static bool read_kind(mlir_parser *p, str kind, const ir_attribute **out) {
  if (str_is(kind, "dims")) return assembly_read_dims(p, out);
  if (str_is(kind, "i64")) return read_integer(p, DTYPE_S64, out);
  if (str_is(kind, "i32")) return read_integer(p, DTYPE_S32, out);
  if (str_is(kind, "ui64")) return read_unsigned(p, out);
  if (str_is(kind, "f64")) return read_float(p, out);
  if (str_is(kind, "bool")) return read_bool(p, out);
  if (str_is(kind, "string")) return read_string(p, out);
  if (str_is(kind, "symbol")) return read_symbol(p, false, out);
  if (str_is(kind, "symbol_name")) return read_symbol(p, true, out);
  if (str_is(kind, "any")) return mlir_attribute(p, out);
  return read_enum(p, kind, out);
}

bool assembly_read_attribute(assembly_reading *r, str name, str kind) {
  const ir_attribute *x;
  if (!read_kind(r->p, kind, &x)) return false;
  assembly_set(r, name, x);
  return true;
}

static bool is_integer(const ir_attribute *x, dtype t) {
  return x->kind == IR_ATTR_INTEGER && (!x->type || ir_type_dtype(x->type) == t) &&
         (!x->type || x->type->kind == IR_TYPE_SCALAR);
}

static bool is_enum(const ir_attribute *x, str mnemonic) {
  return x->kind == IR_ATTR_ENUM && str_starts_with(x->name, "stablehlo.") && x->name.size == mnemonic.size + 10 &&
         memcmp(x->name.data + 10, mnemonic.data, mnemonic.size) == 0;
}

bool assembly_write_dims(text *out, const ir_attribute *x) {
  if (x->kind != IR_ATTR_INTEGERS || !x->type || ir_type_dtype(x->type) != DTYPE_S64) return false;
  text_putc(out, '[');
  for (int i = 0; i < x->count; i++) text_printf(out, "%s%lld", i ? ", " : "", (long long)x->integers[i]);
  text_putc(out, ']');
  return true;
}

bool assembly_write_attribute(assembly_writing *w, const ir_attribute *x, str kind) {
  if (str_is(kind, "dims")) return assembly_write_dims(w->out, x);
  bool is_number = str_is(kind, "i64") || str_is(kind, "i32");
  if (is_number) {
    text_printf(w->out, "%lld", (long long)x->integer);
    return is_integer(x, str_is(kind, "i64") ? DTYPE_S64 : DTYPE_S32);
  }
  if (str_is(kind, "ui64")) {
    text_printf(w->out, "%llu", (unsigned long long)x->integer);
    return is_integer(x, DTYPE_U64);
  }
  if (str_is(kind, "f64")) {
    mlir_print_number(w->out, x->number);
    return x->kind == IR_ATTR_FLOAT && isfinite(x->number) && (!x->type || ir_type_dtype(x->type) == DTYPE_F64);
  }
  if (str_is(kind, "bool")) {
    text_puts(w->out, x->integer ? "true" : "false");
    return x->kind == IR_ATTR_BOOL;
  }
  bool is_name = str_is(kind, "symbol") || str_is(kind, "symbol_name");
  if (is_name) {
    if (x->kind != (str_is(kind, "symbol") ? IR_ATTR_SYMBOL : IR_ATTR_STRING)) return false;
    mlir_print_symbol(w->out, x->text);
    return true;
  }
  if (str_is(kind, "string") || str_is(kind, "any")) {
    w->p->attribute(w->p->context, x);
    return str_is(kind, "any") || x->kind == IR_ATTR_STRING;
  }
  if (!is_enum(x, kind)) return false;
  text_append(w->out, x->text);
  return true;
}

// `() <{value = dense<...> : t}> : () -> u`: a constant whose result is of another type, such as a quantized one.
static bool read_generic_constant(assembly_reading *r) {
  mlir_parser *p = r->p;
  const ir_type *t;
  if (!mlir_expect(p, ")") || (mlir_at(p, "<") && !mlir_properties(p, &r->draft->attributes)) ||
      !mlir_optional_attributes(p, &r->draft->attributes) || !mlir_expect(p, ":") || !mlir_function_type(p, &t))
    return false;
  if (t->result_count != 1) return mlir_error(p, r->draft->offset, "found %d results, wanted one", t->result_count);
  vec_push(p->arena, &r->draft->results, t->results[0]);
  return true;
}

// `dense<...> : t` of a constant, whose type is the result's.
static bool read_value(assembly_reading *r) {
  const ir_attribute *x;
  if (mlir_take(r->p, "(")) return read_generic_constant(r);
  size_t offset = r->p->tok_offset;
  if (!mlir_attribute(r->p, &x)) return false;
  if (!x->type || x->kind == IR_ATTR_TYPE) return mlir_error(r->p, offset, "found no constant, wanted dense<...>");
  assembly_set(r, STR("value"), x);
  vec_push(r->p->arena, &r->draft->results, x->type);
  return true;
}

static bool write_value(assembly_writing *w) {
  const ir_attribute *x = ir_find(w->op, "value");
  bool fits = x && (x->kind == IR_ATTR_ELEMENTS || x->kind == IR_ATTR_OPAQUE) && x->type && w->op->result_count == 1 &&
              assembly_same_type(x->type, w->op->results[0]->type);
  if (!fits) return false;
  text_putc(w->out, ' ');
  w->p->attribute(w->p->context, x);
  return true;
}

// `[0:2, 1:5:2]`: start, limit and stride of each dim.
static bool read_ranges(assembly_reading *r) {
  static const char *const names[] = {"start_indices", "limit_indices", "strides"};
  mlir_parser *p = r->p;
  integer_list lists[3] = {0};
  if (!mlir_expect(p, "[")) return false;
  while (!mlir_at(p, "]")) {
    int64_t start, limit, stride = 1;
    if (lists[0].size && !mlir_expect(p, ",")) return false;
    if (!mlir_integer(p, &start) || !mlir_expect(p, ":") || !mlir_integer(p, &limit)) return false;
    if (mlir_take(p, ":") && !mlir_integer(p, &stride)) return false;
    vec_push(p->arena, &lists[0], start);
    vec_push(p->arena, &lists[1], limit);
    vec_push(p->arena, &lists[2], stride);
  }
  for (int i = 0; i < 3; i++)
    assembly_set(r, str_from(names[i]), ir_integers_attribute(p->arena, lists[i].size, lists[i].data));
  return mlir_expect(p, "]");
}

static bool is_dims(const ir_attribute *x, int count) {
  return x && x->kind == IR_ATTR_INTEGERS && x->count == count && x->type && ir_type_dtype(x->type) == DTYPE_S64;
}

static bool write_ranges(assembly_writing *w) {
  const ir_attribute *start = ir_find(w->op, "start_indices"), *limit = ir_find(w->op, "limit_indices"),
                     *stride = ir_find(w->op, "strides");
  if (!start || !is_dims(start, start->count) || !is_dims(limit, start->count) || !is_dims(stride, start->count))
    return false;
  text_puts(w->out, " [");
  for (int i = 0; i < start->count; i++) {
    text_printf(w->out, "%s%lld:%lld", i ? ", " : "", (long long)start->integers[i], (long long)limit->integers[i]);
    if (stride->integers[i] != 1) text_printf(w->out, ":%lld", (long long)stride->integers[i]);
  }
  text_putc(w->out, ']');
  return true;
}

// `e5m10`: bits of exponent and mantissa.
static bool read_format(assembly_reading *r) {
  str word;
  size_t offset = r->p->tok_offset;
  if (!mlir_take_word(r->p, &word)) return false;
  char copy[24], *end = copy;
  bool fits = word.size < sizeof copy && word.data[0] == 'e';
  if (fits) memcpy(copy, word.data, word.size);
  copy[fits ? word.size : 0] = 0;
  long exponent = fits ? strtol(copy + 1, &end, 10) : 0;
  fits = fits && end > copy + 1 && *end == 'm' && end[1] != 0;
  long mantissa = fits ? strtol(end + 1, &end, 10) : 0;
  if (!fits || *end || exponent < 0 || mantissa < 0 || exponent > INT32_MAX || mantissa > INT32_MAX)
    return mlir_error(r->p, offset, "found " STR_FMT ", wanted a format such as e5m10", STR_ARG(word));
  assembly_set(r, STR("exponent_bits"), ir_integer_attribute(r->p->arena, exponent, DTYPE_S32));
  assembly_set(r, STR("mantissa_bits"), ir_integer_attribute(r->p->arena, mantissa, DTYPE_S32));
  return true;
}

static bool write_format(assembly_writing *w) {
  const ir_attribute *exponent = ir_find(w->op, "exponent_bits"), *mantissa = ir_find(w->op, "mantissa_bits");
  if (!exponent || !mantissa || !is_integer(exponent, DTYPE_S32) || !is_integer(mantissa, DTYPE_S32)) return false;
  text_printf(w->out, " e%lldm%lld", (long long)exponent->integer, (long long)mantissa->integer);
  return exponent->integer >= 0 && mantissa->integer >= 0;
}

const assembly_directive assembly_directives[] = {
    {"value", "value", read_value, write_value},
    {"ranges", "start_indices limit_indices strides", read_ranges, write_ranges},
    {"format", "exponent_bits mantissa_bits", read_format, write_format},
    {"convolution", "dimension_numbers", assembly_read_convolution, assembly_write_convolution},
    {"window", "window_strides padding lhs_dilation rhs_dilation window_reversal", assembly_read_window,
     assembly_write_window},
    {"contraction", "dot_dimension_numbers", assembly_read_contraction, assembly_write_contraction},
    {"precision", "precision_config algorithm", assembly_read_precision, assembly_write_precision},
    {"bodies", "", assembly_read_bodies, assembly_write_bodies},
    {"reduce", "dimensions", assembly_read_reduce, assembly_write_reduce},
    {"while", "", assembly_read_while, assembly_write_while},
    {"scan", "dimension operandSegmentSizes resultSegmentSizes", assembly_read_scan, assembly_write_scan},
    {0},
};
