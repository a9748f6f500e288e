// The notations of dot_general and convolution: dimension numbers, windows, precision and algorithm.
#include "mlir/assembly_form.h"
#include "mlir/print_values.h"

typedef VEC(ir_named_attribute) field_list;

static void add_field(arena *a, field_list *fields, const char *name, const ir_attribute *value) {
  vec_push(a, fields, (ir_named_attribute){str_from(name), value});
}

// `[0] x [1]` as two fields; empty lists are left out, as #stablehlo.dot<...> does.
static bool read_pair(mlir_parser *p, field_list *fields, const char *lhs, const char *rhs) {
  const ir_attribute *l, *r;
  if (!mlir_expect(p, "=") || !assembly_read_dims(p, &l) || !mlir_expect(p, "x") || !assembly_read_dims(p, &r))
    return false;
  if (l->count) add_field(p->arena, fields, lhs, l);
  if (r->count) add_field(p->arena, fields, rhs, r);
  return true;
}

bool assembly_read_contraction(assembly_reading *r) {
  mlir_parser *p = r->p;
  field_list fields = {0};
  if (mlir_take(p, "batching_dims") &&
      (!read_pair(p, &fields, "lhs_batching_dimensions", "rhs_batching_dimensions") || !mlir_expect(p, ",")))
    return false;
  if (!mlir_expect(p, "contracting_dims") ||
      !read_pair(p, &fields, "lhs_contracting_dimensions", "rhs_contracting_dimensions"))
    return false;
  assembly_set(r, STR("dot_dimension_numbers"),
               ir_struct_attribute(p->arena, "stablehlo.dot", fields.size, fields.data));
  return true;
}

// A struct's field as a list of integers; empty if it is absent.
static bool field_dims(arena *a, const ir_attribute *of, const char *name, const int64_t **values, int *count) {
  return ir_attribute_integers(a, ir_find_field(of, name), values, count);
}

static void write_list(text *out, const int64_t *values, int count) {
  text_putc(out, '[');
  for (int i = 0; i < count; i++) text_printf(out, "%s%lld", i ? ", " : "", (long long)values[i]);
  text_putc(out, ']');
}

static bool write_pair(text *out, arena *a, const ir_attribute *of, const char *keyword, const char *lhs,
                       const char *rhs, bool is_optional) {
  const int64_t *l, *r;
  int l_count, r_count;
  if (!field_dims(a, of, lhs, &l, &l_count) || !field_dims(a, of, rhs, &r, &r_count)) return false;
  if (is_optional && l_count + r_count == 0) return true;
  text_printf(out, " %s = ", keyword);
  write_list(out, l, l_count);
  text_puts(out, " x ");
  write_list(out, r, r_count);
  if (is_optional) text_putc(out, ',');
  return true;
}

static bool is_struct(const ir_attribute *x, const char *name) {
  return x && x->kind == IR_ATTR_STRUCT && str_is(x->name, name);
}

bool assembly_write_contraction(assembly_writing *w) {
  const ir_attribute *x = ir_find(w->op, "dot_dimension_numbers");
  if (!is_struct(x, "stablehlo.dot")) return false;
  arena *a = arena_create();
  bool ok =
      write_pair(w->out, a, x, "batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions", true) &&
      write_pair(w->out, a, x, "contracting_dims", "lhs_contracting_dimensions", "rhs_contracting_dimensions", false);
  arena_destroy(a);
  return ok;
}

static bool read_precisions(assembly_reading *r) {
  mlir_parser *p = r->p;
  VEC(const ir_attribute *) items = {0};
  if (!mlir_expect(p, "=") || !mlir_expect(p, "[")) return false;
  while (!mlir_at(p, "]")) {
    const ir_attribute *item;
    if ((items.size && !mlir_expect(p, ",")) || !mlir_enumeration(p, STR("stablehlo.precision"), &item)) return false;
    vec_push(p->arena, &items, item);
  }
  assembly_set(r, STR("precision_config"), ir_array_attribute(p->arena, items.size, items.data));
  return mlir_expect(p, "]");
}

// `<lhs_precision_type = f32, ...>`: what #stablehlo.dot_algorithm has behind its name.
static bool read_algorithm(assembly_reading *r) {
  const ir_attribute *algorithm;
  if (!mlir_expect(r->p, "=") || !mlir_record(r->p, STR("stablehlo.dot_algorithm"), &algorithm)) return false;
  assembly_set(r, STR("algorithm"), algorithm);
  return true;
}

bool assembly_read_precision(assembly_reading *r) {
  if (!mlir_take(r->p, ",")) return true;
  if (mlir_take(r->p, "precision")) {
    if (!read_precisions(r)) return false;
    if (!mlir_take(r->p, ",")) return true;
  }
  return mlir_expect(r->p, "algorithm") && read_algorithm(r);
}

bool assembly_write_precision(assembly_writing *w) {
  const ir_attribute *precision = ir_find(w->op, "precision_config"), *algorithm = ir_find(w->op, "algorithm");
  if (precision) {
    if (precision->kind != IR_ATTR_ARRAY) return false;
    text_puts(w->out, ", precision = [");
    for (int i = 0; i < precision->count; i++) {
      const ir_attribute *item = precision->items[i];
      if (item->kind != IR_ATTR_ENUM || !str_is(item->name, "stablehlo.precision")) return false;
      text_printf(w->out, "%s" STR_FMT, i ? ", " : "", STR_ARG(item->text));
    }
    text_putc(w->out, ']');
  }
  if (!algorithm) return true;
  if (!is_struct(algorithm, "stablehlo.dot_algorithm")) return false;
  text_puts(w->out, ", algorithm = ");
  mlir_print_struct_body(w->out, algorithm);
  return true;
}

bool assembly_read_convolution(assembly_reading *r) {
  const ir_attribute *x;
  if (!mlir_conv_dims(r->p, &x)) return false;
  assembly_set(r, STR("dimension_numbers"), x);
  return true;
}

bool assembly_write_convolution(assembly_writing *w) {
  const ir_attribute *x = ir_find(w->op, "dimension_numbers");
  text_putc(w->out, ' ');
  return is_struct(x, "stablehlo.conv") && mlir_print_convolution(w->out, x);
}

// The words of a convolution's window and their attributes.
static const struct {
  const char *word, *attribute;
  dtype element;  // s64, or pred; padding is a matrix
} window_parts[] = {
    {"stride", "window_strides", DTYPE_S64},    {"pad", "padding", DTYPE_INVALID},
    {"lhs_dilate", "lhs_dilation", DTYPE_S64},  {"rhs_dilate", "rhs_dilation", DTYPE_S64},
    {"reverse", "window_reversal", DTYPE_PRED},
};
enum { WINDOW_PARTS = sizeof window_parts / sizeof window_parts[0] };

static bool read_booleans(mlir_parser *p, const ir_attribute **out) {
  VEC(int64_t) values = {0};
  if (!mlir_expect(p, "[")) return false;
  while (!mlir_at(p, "]")) {
    int64_t value = 1;
    if (values.size && !mlir_expect(p, ",")) return false;
    if (!mlir_take(p, "true")) {
      value = 0;
      if (!mlir_take(p, "false") && !mlir_integer(p, &value)) return false;
    }
    vec_push(p->arena, &values, value != 0);
  }
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_INTEGERS);
  x->type = ir_scalar_type(p->arena, DTYPE_PRED);
  x->count = values.size;
  x->integers = values.data;
  *out = x;
  return mlir_expect(p, "]");
}

// `[[0, 1], [2, 3]]` as dense<...> : tensor<2x2xi64>
static bool read_padding(mlir_parser *p, const ir_attribute **out) {
  VEC(int64_t) values = {0};
  size_t offset = p->tok_offset;
  if (!mlir_expect(p, "[")) return false;
  while (!mlir_at(p, "]")) {
    const ir_attribute *pair;
    if ((values.size && !mlir_expect(p, ",")) || !assembly_read_dims(p, &pair)) return false;
    if (pair->count != 2) return mlir_error(p, offset, "found %d numbers, wanted pairs of low and high", pair->count);
    for (int i = 0; i < 2; i++) vec_push(p->arena, &values, pair->integers[i]);
  }
  int64_t dims[] = {values.size / 2, 2};
  literal *l;
  p->status = literal_create(p->arena, shape_array(p->arena, DTYPE_S64, 2, dims), &l);
  if (!status_is_ok(p->status)) return false;
  for (int i = 0; i < values.size; i++) literal_set_int(l, i, values.data[i]);
  const ir_type *element = ir_scalar_type(p->arena, DTYPE_S64);
  *out = ir_elements_attribute(p->arena, ir_tensor_type(p->arena, 2, dims, element), l);
  return mlir_expect(p, "]");
}

bool assembly_read_window(assembly_reading *r) {
  mlir_parser *p = r->p;
  bool is_first = true;
  if (!mlir_expect(p, "{")) return false;
  while (!mlir_at(p, "}")) {
    if (!is_first && !mlir_expect(p, ",")) return false;
    is_first = false;
    int part = 0;
    while (part < WINDOW_PARTS && !mlir_at(p, window_parts[part].word)) part++;
    if (part == WINDOW_PARTS) return mlir_found(p, "stride, pad, lhs_dilate, rhs_dilate or reverse");
    mlir_advance(p);
    const ir_attribute *x = NULL;
    dtype element = window_parts[part].element;
    if (!mlir_expect(p, "=")) return false;
    if (element == DTYPE_S64 ? !assembly_read_dims(p, &x)
                             : (element == DTYPE_PRED ? !read_booleans(p, &x) : !read_padding(p, &x)))
      return false;
    assembly_set(r, str_from(window_parts[part].attribute), x);
  }
  return mlir_expect(p, "}");
}

static bool write_booleans(text *out, const ir_attribute *x) {
  if (x->kind != IR_ATTR_INTEGERS || !x->type || ir_type_dtype(x->type) != DTYPE_PRED) return false;
  text_putc(out, '[');
  for (int i = 0; i < x->count; i++) text_printf(out, "%s%s", i ? ", " : "", x->integers[i] ? "true" : "false");
  text_putc(out, ']');
  return true;
}

static bool write_padding(text *out, const ir_attribute *x) {
  bool fits = x->kind == IR_ATTR_ELEMENTS && x->elements && x->elements->shape->dtype == DTYPE_S64 &&
              x->elements->shape->rank == 2 && x->elements->shape->dims[1] == 2;
  if (!fits) return false;
  text_putc(out, '[');
  for (int64_t i = 0; i < x->elements->shape->dims[0]; i++)
    text_printf(out, "%s[%lld, %lld]", i ? ", " : "", (long long)literal_get_int(x->elements, 2 * i),
                (long long)literal_get_int(x->elements, 2 * i + 1));
  text_putc(out, ']');
  return true;
}

bool assembly_write_window(assembly_writing *w) {
  bool is_first = true;
  text_puts(w->out, " {");
  for (int part = 0; part < WINDOW_PARTS; part++) {
    const ir_attribute *x = ir_find(w->op, window_parts[part].attribute);
    if (!x) continue;
    text_printf(w->out, "%s%s = ", is_first ? "" : ", ", window_parts[part].word);
    is_first = false;
    dtype element = window_parts[part].element;
    bool ok = element == DTYPE_S64    ? assembly_write_dims(w->out, x)
              : element == DTYPE_PRED ? write_booleans(w->out, x)
                                      : write_padding(w->out, x);
    if (!ok) return false;
  }
  text_putc(w->out, '}');
  return true;
}
