// Types of MLIR text: the builtin ones, StableHLO's, and any other dialect's kept as text.
//
// Dims such as `2x?x3xf32` cannot be read by token (`0x4` would be a hexadecimal number), so they are read by
// character, and tokens go on behind the last `x`.
#include "mlir/parser.h"

typedef struct type_name {
  const char *name;
  dtype dtype;
} type_name;

// `i` and `si` are both signed: HLO does not know integers without sign.
static const type_name scalar_names[] = {
    {"i1", DTYPE_PRED},
    {"i2", DTYPE_S2},
    {"i4", DTYPE_S4},
    {"i8", DTYPE_S8},
    {"i16", DTYPE_S16},
    {"i32", DTYPE_S32},
    {"i64", DTYPE_S64},
    {"si2", DTYPE_S2},
    {"si4", DTYPE_S4},
    {"si8", DTYPE_S8},
    {"si16", DTYPE_S16},
    {"si32", DTYPE_S32},
    {"si64", DTYPE_S64},
    {"ui2", DTYPE_U2},
    {"ui4", DTYPE_U4},
    {"ui8", DTYPE_U8},
    {"ui16", DTYPE_U16},
    {"ui32", DTYPE_U32},
    {"ui64", DTYPE_U64},
    {"f32", DTYPE_F32},
    {"f64", DTYPE_F64},
    {"f16", DTYPE_F16},
    {"bf16", DTYPE_BF16},
    {"f4E2M1FN", DTYPE_F4E2M1FN},
    {"f6E2M3FN", DTYPE_F6E2M3FN},
    {"f6E3M2FN", DTYPE_F6E3M2FN},
    {"f8E5M2", DTYPE_F8E5M2},
    {"f8E4M3", DTYPE_F8E4M3},
    {"f8E4M3FN", DTYPE_F8E4M3FN},
    {"f8E4M3B11FNUZ", DTYPE_F8E4M3B11FNUZ},
    {"f8E5M2FNUZ", DTYPE_F8E5M2FNUZ},
    {"f8E4M3FNUZ", DTYPE_F8E4M3FNUZ},
    {"f8E3M4", DTYPE_F8E3M4},
    {"f8E8M0FNU", DTYPE_F8E8M0FNU},
};

static const char *const unsupported_floats[] = {"tf32", "f80", "f128"};

static dtype scalar_of(str name) {
  for (size_t i = 0; i < sizeof scalar_names / sizeof *scalar_names; i++)
    if (str_is(name, scalar_names[i].name)) return scalar_names[i].dtype;
  return DTYPE_INVALID;
}

// i3, ui24, si128 and the floats that HLO lacks.
static bool is_other_scalar(str name) {
  for (size_t i = 0; i < sizeof unsupported_floats / sizeof *unsupported_floats; i++)
    if (str_is(name, unsupported_floats[i])) return true;
  if (name.size && (name.data[0] == 's' || name.data[0] == 'u')) name = (str){name.data + 1, name.size - 1};
  if (name.size < 2 || name.data[0] != 'i') return false;
  for (size_t i = 1; i < name.size; i++)
    if (name.data[i] < '0' || name.data[i] > '9') return false;
  return true;
}

static ir_type *new_type(const mlir_parser *p, ir_type_kind kind) {
  ir_type *t = arena_new(p->arena, ir_type);
  t->kind = kind;
  return t;
}

static const ir_type *opaque_type(const mlir_parser *p, size_t start, size_t end) {
  ir_type *t = new_type(p, IR_TYPE_OPAQUE);
  t->text = str_copy(p->arena, (str){p->source.data + start, end - start});
  return t;
}

static bool keyword_type(mlir_parser *p, ir_type_kind kind, const ir_type **out) {
  mlir_advance(p);
  *out = new_type(p, kind);
  return true;
}

// --- tensors and buffers

typedef VEC(int64_t) dim_list;

static size_t skip_blanks(const mlir_parser *p, size_t i) {
  while (i < p->limit && strchr(" \t\r\n", p->source.data[i]) && p->source.data[i]) i++;
  return i;
}

// One `?x`, `*x` or `12x` at the current token; `is_dim` tells whether there is one.
static bool take_dim(mlir_parser *p, int64_t *dim, bool *is_dim) {
  size_t i = p->tok_offset;
  char c = i < p->limit ? p->source.data[i] : '\0';
  *dim = IR_DYNAMIC;
  *is_dim = c == '?' || c == '*' || (c >= '0' && c <= '9');
  if (!*is_dim) return true;
  if (c == '?' || c == '*') {
    i++;
  } else {
    for (*dim = 0; i < p->limit && (c = p->source.data[i], c >= '0' && c <= '9'); i++) {
      if (*dim > (INT64_MAX - (c - '0')) / 10) return mlir_error(p, p->tok_offset, "found a dim beyond 64 bits");
      *dim = *dim * 10 + (c - '0');
    }
  }
  i = skip_blanks(p, i);
  if (i >= p->limit || p->source.data[i] != 'x') {
    mlir_move(p, i);
    return mlir_found(p, "'x' behind a dim");
  }
  mlir_move(p, i + 1);
  return true;
}

static bool is_element(const ir_type *t) {
  return t->kind == IR_TYPE_SCALAR || t->kind == IR_TYPE_INDEX || t->kind == IR_TYPE_QUANTIZED ||
         t->kind == IR_TYPE_OPAQUE;
}

static bool element_type(mlir_parser *p, const ir_type **out) {
  size_t offset = p->tok_offset;
  if (!mlir_type(p, out)) return false;
  return is_element(*out) || mlir_error(p, offset, "found a type that cannot be an element, wanted a scalar type");
}

static bool shaped_dims(mlir_parser *p, dim_list *dims, bool *is_unranked) {
  bool is_dim;
  *is_unranked = mlir_at(p, "*");
  do {
    int64_t dim;
    if (!take_dim(p, &dim, &is_dim)) return false;
    if (is_dim && dims->size > SHAPE_MAX_RANK)
      return mlir_error(p, p->tok_offset, "found more than %d dims", SHAPE_MAX_RANK);
    if (is_dim) vec_push(p->scratch, dims, dim);
  } while (is_dim && !*is_unranked);
  return true;
}

// tensor<2x?xf32, #encoding>, tensor<*xf32>, memref<2xf32, layout, space>
static bool shaped_type(mlir_parser *p, bool is_tensor, const ir_type **out) {
  dim_list dims = {0};
  const ir_type *element;
  const ir_attribute *encoding = NULL;
  bool is_unranked;
  mlir_advance(p);
  if (!mlir_expect(p, "<") || !shaped_dims(p, &dims, &is_unranked) || !element_type(p, &element)) return false;
  while (mlir_take(p, ","))
    if (!mlir_attribute(p, &encoding)) return false;
  if (!mlir_expect(p, ">")) return false;
  ir_type *t = (ir_type *)ir_tensor_type(p->arena, is_unranked ? 0 : dims.size, dims.data, element);
  t->kind = !is_tensor ? IR_TYPE_BUFFER : is_unranked ? IR_TYPE_UNRANKED : IR_TYPE_TENSOR;
  if (is_tensor) t->encoding = encoding;
  *out = t;
  return true;
}

// --- types of types

typedef VEC(const ir_type *) type_list;

// `a, b)` or `a, b>` behind the opening bracket; may be empty.
static bool types_until(mlir_parser *p, const char *close, type_list *list) {
  while (!mlir_take(p, close)) {
    const ir_type *t = NULL;
    if (list->size && !mlir_expect(p, ",")) return false;
    if (!mlir_type(p, &t)) return false;
    vec_push(p->arena, list, t);
  }
  return true;
}

static bool list_type(mlir_parser *p, ir_type_kind kind, const ir_type **out) {
  type_list list = {0};
  ir_type *t = new_type(p, kind);
  mlir_advance(p);
  if (!mlir_expect(p, "<") || !types_until(p, ">", &list)) return false;
  t->count = list.size;
  t->types = list.data;
  *out = t;
  return true;
}

static bool function_results(mlir_parser *p, type_list *list) {
  const ir_type *t = NULL;
  if (mlir_take(p, "(")) return types_until(p, ")", list);
  if (!mlir_type(p, &t)) return false;
  vec_push(p->arena, list, t);
  return true;
}

bool mlir_function_type(mlir_parser *p, const ir_type **out) {
  type_list inputs = {0}, results = {0};
  ir_type *t = new_type(p, IR_TYPE_FUNCTION);
  if (!mlir_enter(p)) return false;
  bool is_ok =
      mlir_expect(p, "(") && types_until(p, ")", &inputs) && mlir_expect(p, "->") && function_results(p, &results);
  mlir_leave(p);
  t->count = inputs.size;
  t->types = inputs.data;
  t->result_count = results.size;
  t->results = results.data;
  *out = t;
  return is_ok;
}

static bool complex_type(mlir_parser *p, const ir_type **out) {
  mlir_advance(p);
  if (!mlir_expect(p, "<")) return false;
  size_t offset = p->tok_offset;
  const ir_type *part = NULL;
  if (!mlir_type(p, &part)) return false;
  dtype t = part && part->kind == IR_TYPE_SCALAR ? part->dtype : DTYPE_INVALID;
  if (t != DTYPE_F32 && t != DTYPE_F64)
    return mlir_error(p, offset, "found another part of a complex type, wanted f32 or f64");
  *out = ir_scalar_type(p->arena, t == DTYPE_F32 ? DTYPE_C64 : DTYPE_C128);
  return mlir_expect(p, ">");
}

static bool opaque_keyword_type(mlir_parser *p, const ir_type **out) {
  size_t start = p->tok_offset;
  str body;
  mlir_advance(p);
  if (mlir_at(p, "<") && !mlir_balanced(p, &body)) return false;
  *out = opaque_type(p, start, p->last_end);
  return true;
}

static bool word_type(mlir_parser *p, const ir_type **out) {
  dtype scalar = scalar_of(p->tok);
  if (scalar != DTYPE_INVALID) {
    mlir_advance(p);
    *out = ir_scalar_type(p->arena, scalar);
    return true;
  }
  if (mlir_at(p, "tensor")) return shaped_type(p, true, out);
  if (mlir_at(p, "memref")) return shaped_type(p, false, out);
  if (mlir_at(p, "tuple")) return list_type(p, IR_TYPE_TUPLE, out);
  if (mlir_at(p, "complex")) return complex_type(p, out);
  if (mlir_at(p, "index")) return keyword_type(p, IR_TYPE_INDEX, out);
  if (mlir_at(p, "none")) return keyword_type(p, IR_TYPE_NONE, out);
  if (mlir_at(p, "vector") || is_other_scalar(p->tok)) return opaque_keyword_type(p, out);
  return mlir_found(p, "a type");
}

static bool is_alias(str tok) { return memchr(tok.data, '.', tok.size) == NULL; }

static bool dialect_type(mlir_parser *p, const ir_type **out) {
  if (str_is(p->tok, "!stablehlo.token") || str_is(p->tok, "!mhlo.token")) return keyword_type(p, IR_TYPE_TOKEN, out);
  if (str_is(p->tok, "!stablehlo.future")) return list_type(p, IR_TYPE_FUTURE, out);
  if (str_is(p->tok, "!quant.uniform")) {
    mlir_advance(p);
    return mlir_quantized_type(p, out);
  }
  bool has_body = p->position < p->limit && p->source.data[p->position] == '<';
  if (is_alias(p->tok) && !has_body) return mlir_type_alias(p, out);
  return opaque_keyword_type(p, out);
}

bool mlir_type(mlir_parser *p, const ir_type **out) {
  bool is_ok;
  if (!mlir_enter(p)) return false;
  p->parts++;
  if (p->kind == MLIR_BANG) is_ok = dialect_type(p, out);
  else if (mlir_at(p, "(")) is_ok = mlir_function_type(p, out);
  else if (p->kind == MLIR_WORD) is_ok = word_type(p, out);
  else is_ok = mlir_found(p, "a type");
  mlir_leave(p);
  return is_ok;
}
