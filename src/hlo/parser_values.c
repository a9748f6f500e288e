// Values of attributes, one function per kind of attributes.def.
//
// Values that are no tokens (`3x3`, `0_1x2_3`, `b01f_01io->b01f`) are read as text and taken apart by a small reader.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hlo/parser.h"

typedef VEC(int64_t) int_vec;

// A piece of text read from the front; `end` is its end.
typedef struct reader {
  const char *at, *end;
} reader;

static reader reader_of(str s) { return (reader){s.data, s.data + s.size}; }

static bool read_char(reader *r, char c) {
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static bool read_int(reader *r, int64_t *out) {
  const int sign = read_char(r, '-') ? -1 : 1;
  int64_t value = 0;
  const char *start = r->at;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, sign * (*r->at - '0'), &value))
      return false;
  *out = value;
  return r->at > start;
}

static bool bad_text(parser *p, token at, str value, const char *wanted) {
  return parser_error(p, at, "found '%.*s', wanted %s", value.size > 60 ? 60 : (int)value.size, value.data, wanted);
}

static bool parse_bool(parser *p, bool *out) {
  *out = parser_take_word(p, "true");
  return *out || parser_take_word(p, "false") || parser_found(p, "true or false");
}

static bool parse_double(parser *p, double *out) {
  token at = p->tok;
  char *end = NULL;
  if (at.kind == TOKEN_NUMBER || at.kind == TOKEN_WORD) *out = strtod(at.text.data, &end);
  if (!end || end != at.text.data + at.text.size) return parser_found(p, "a number");
  parser_advance(p);
  return true;
}

// {0,1,2}: the inner lists of groups too.
static bool parse_ints(parser *p, int_list *out) {
  int_vec values = {0};
  if (!parser_expect(p, '{', "'{' of a list of integers")) return false;
  while (p->tok.kind != '}') {
    int64_t value = 0;
    if (values.size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parser_int(p, &value)) return false;
    vec_push(p->arena, &values, value);
  }
  parser_advance(p);
  *out = (int_list){values.data, values.size};
  return true;
}

static bool name_in(str word, const char *const *names, int *out) {
  for (int i = 0; names[i]; i++) {
    if (!names[i][0] || !str_is(word, names[i])) continue;
    *out = i;
    return true;
  }
  return false;
}

static const char *list_names(const parser *p, const char *const *names) {
  text all = {0};
  for (int i = 0; names[i]; i++)
    if (names[i][0]) text_printf(&all, all.size ? ", %s" : "%s", names[i]);
  const char *copy = arena_strdup(p->scratch, text_cstr(&all), all.size);
  text_free(&all);
  return copy;
}

static bool parse_enum(parser *p, const char *const *names, int *out) {
  if (p->tok.kind != TOKEN_WORD || !name_in(p->tok.text, names, out))
    return parser_found(p, arena_printf(p->scratch, "one of %s", list_names(p, names)));
  parser_advance(p);
  return true;
}

// Random generators and the arithmetic of dot share the attribute's name, not its values.
static bool parse_algorithm(parser *p, hlo_opcode op, hlo_attributes *x) {
  const hlo_attribute_info *info = &hlo_attribute_infos[HLO_ATTRIBUTE_ALGORITHM];
  if (op == HLO_RNG_BIT_GENERATOR) return parse_enum(p, info->names, (int *)((char *)x + info->offset));
  if (p->tok.kind != TOKEN_WORD) return parser_found(p, "the name of an algorithm such as dot_bf16_bf16_f32");
  x->dot_algorithm = str_copy(p->arena, p->tok.text);
  parser_advance(p);
  return true;
}

static bool parse_string(parser *p, str *out) {
  if (p->tok.kind != TOKEN_STRING) return parser_found(p, "a string in double quotes");
  *out = lexer_unescape(p->arena, p->tok.text);
  parser_advance(p);
  return true;
}

static bool parse_slice_dim(parser *p, slice_dim *dim) {
  dim->stride = 1;
  return parser_expect(p, '[', "'['") && parser_int(p, &dim->start) && parser_expect(p, ':', "':'") &&
         parser_int(p, &dim->limit) && (!parser_take(p, ':') || parser_int(p, &dim->stride)) &&
         parser_expect(p, ']', "']'");
}

static bool parse_slice(parser *p, slice_config *out) {
  VEC(slice_dim) dims = {0};
  if (!parser_expect(p, '{', "'{' of slice={[start:limit:stride], ...}")) return false;
  while (p->tok.kind != '}') {
    slice_dim dim;
    if (dims.size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parse_slice_dim(p, &dim)) return false;
    vec_push(p->arena, &dims, dim);
  }
  parser_advance(p);
  *out = (slice_config){dims.size, dims.data};
  return true;
}

// Of a scalar there is nothing to pad: then nothing is written behind the equals sign.
static bool parse_padding(parser *p, padding_config *out) {
  VEC(padding_dim) dims = {0};
  token at = p->tok;
  str value;
  if (!parser_is_adjacent(p) || p->tok.kind == ',' || p->tok.kind == TOKEN_END) return true;
  if (!parser_value_text(p, &value)) return false;
  reader r = reader_of(value);
  do {
    padding_dim dim = {0};
    if (!read_int(&r, &dim.low) || !read_char(&r, '_') || !read_int(&r, &dim.high) ||
        (read_char(&r, '_') && !read_int(&r, &dim.interior)))
      return bad_text(p, at, value, "padding such as 0_1x2_3_1");
    vec_push(p->arena, &dims, dim);
  } while (read_char(&r, 'x'));
  if (r.at != r.end) return bad_text(p, at, value, "padding such as 0_1x2_3_1");
  *out = (padding_config){dims.size, dims.data};
  return true;
}

// One field of a window, e.g. stride=2x2 or pad=0_0x1_1. The first field says the rank.
static bool parse_window_field(parser *p, window *w) {
  static const char *const names[] = {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal", NULL};
  int field, rank = 0;
  token at;
  str value;
  if (p->tok.kind != TOKEN_WORD || !name_in(p->tok.text, names, &field))
    return parser_found(p, arena_printf(p->scratch, "one of %s", list_names(p, names)));
  parser_advance(p);
  if (!parser_expect(p, '=', "'='")) return false;
  at = p->tok;
  if (!parser_value_text(p, &value)) return false;
  reader r = reader_of(value);
  do {
    int64_t first, second = 0;
    if (!read_int(&r, &first) || (field == 2 && (!read_char(&r, '_') || !read_int(&r, &second))))
      return bad_text(p, at, value, field == 2 ? "padding such as 0_1x2_3" : "integers such as 3x3");
    if (w->rank ? rank == w->rank : rank == SHAPE_MAX_RANK)
      return bad_text(p, at, value, "as many dimensions as before");
    window_dim *dim = &w->dims[rank++];
    int64_t *positions[] = {&dim->size, &dim->stride, &dim->padding_low, &dim->base_dilation, &dim->window_dilation};
    if (field == 5) dim->reversal = first != 0;
    else *positions[field] = first;
    if (field == 2) dim->padding_high = second;
  } while (read_char(&r, 'x'));
  if (r.at != r.end) return bad_text(p, at, value, "integers such as 3x3");
  if (w->rank && rank != w->rank) return bad_text(p, at, value, "as many dimensions as before");
  w->rank = rank;
  return true;
}

static bool parse_window(parser *p, window *out) {
  window w = {.dims = arena_array(p->scratch, window_dim, SHAPE_MAX_RANK)};
  for (int i = 0; i < SHAPE_MAX_RANK; i++)
    w.dims[i] = (window_dim){.size = 1, .stride = 1, .window_dilation = 1, .base_dilation = 1};
  if (!parser_expect(p, '{', "'{' of window={size=... stride=... pad=...}")) return false;
  while (p->tok.kind != '}')
    if (!parse_window_field(p, &w)) return false;
  parser_advance(p);
  *out = (window){w.rank, arena_array(p->arena, window_dim, w.rank)};
  if (w.rank) memcpy(out->dims, w.dims, sizeof *w.dims * (size_t)w.rank);
  return true;
}

// Labels of one array: two letters, digits for spatial dimensions, `?` for those without a role. Fills where each
// stands; the spatial ones are counted.
typedef struct labels {
  int rank, spatial_rank;
  int64_t first, second, spatial[SHAPE_MAX_RANK];
} labels;

static bool read_labels(reader *r, char first, char second, labels *out) {
  *out = (labels){.first = -1, .second = -1};
  for (int i = 0; i < SHAPE_MAX_RANK; i++) out->spatial[i] = -1;
  for (; r->at < r->end && *r->at != '_' && *r->at != '-'; r->at++) {
    char c = *r->at;
    int64_t *position = c == first ? &out->first : c == second ? &out->second : NULL;
    if (c >= '0' && c <= '9') {
      position = &out->spatial[c - '0'];
      out->spatial_rank++;
    }
    if (out->rank == SHAPE_MAX_RANK || (!position && c != '?') || (position && *position >= 0)) return false;
    if (position) *position = out->rank;
    out->rank++;
  }
  for (int i = 0; i < out->spatial_rank; i++)
    if (out->spatial[i] < 0) return false;
  return out->first >= 0 && out->second >= 0;
}

static int64_t *copy_places(parser *p, const labels *l) {
  int64_t *copy = arena_array(p->arena, int64_t, l->spatial_rank);
  if (l->spatial_rank) memcpy(copy, l->spatial, sizeof *copy * (size_t)l->spatial_rank);
  return copy;
}

static bool parse_dim_labels(parser *p, convolution_dims *out) {
  token at = p->tok;
  str value;
  if (!parser_value_text(p, &value)) return false;
  reader r = reader_of(value);
  labels input, kernel, output;
  if (!read_labels(&r, 'b', 'f', &input) || !read_char(&r, '_') || !read_labels(&r, 'i', 'o', &kernel) ||
      !read_char(&r, '-') || !read_char(&r, '>') || !read_labels(&r, 'b', 'f', &output) || r.at != r.end)
    return bad_text(p, at, value, "labels such as b01f_01io->b01f");
  if (input.spatial_rank != kernel.spatial_rank || input.spatial_rank != output.spatial_rank)
    return bad_text(p, at, value, "the same spatial dimensions in all three labels");
  *out = (convolution_dims){.spatial_rank = input.spatial_rank,
                            .input_batch = input.first,
                            .input_feature = input.second,
                            .kernel_input_feature = kernel.first,
                            .kernel_output_feature = kernel.second,
                            .output_batch = output.first,
                            .output_feature = output.second,
                            .input_spatial = copy_places(p, &input),
                            .kernel_spatial = copy_places(p, &kernel),
                            .output_spatial = copy_places(p, &output),
                            .input_rank = input.rank,
                            .kernel_rank = kernel.rank,
                            .output_rank = output.rank};
  return true;
}

static bool parse_precisions(parser *p, hlo_attributes *x) {
  static const char *const names[] = {"default", "high", "highest", "packed_nibble", NULL};
  VEC(precision_kind) values = {0};
  if (!parser_expect(p, '{', "'{' of a list of precisions")) return false;
  while (p->tok.kind != '}') {
    int value = 0;
    if (values.size && !parser_expect(p, ',', "',' or '}'")) return false;
    while (names[value] && !(p->tok.kind == TOKEN_WORD && p->tok.text.size == strlen(names[value]) &&
                             strncasecmp(p->tok.text.data, names[value], p->tok.text.size) == 0))
      value++;
    if (!names[value]) return parser_found(p, "default, high, highest or packed_nibble");
    parser_advance(p);
    vec_push(p->arena, &values, (precision_kind)value);
  }
  parser_advance(p);
  x->operand_precision = values.data;
  x->precision_count = values.size;
  return true;
}

static bool parse_shapes(parser *p, hlo_attributes *x) {
  VEC(const shape *) shapes = {0};
  if (!parser_expect(p, '{', "'{' of a list of shapes")) return false;
  while (p->tok.kind != '}') {
    const shape *s = NULL;
    if (shapes.size && !parser_expect(p, ',', "',' or '}'")) return false;
    if (!parser_shape(p, &s)) return false;
    vec_push(p->arena, &shapes, s);
  }
  parser_advance(p);
  x->operand_layouts = shapes.data;
  x->operand_layout_count = shapes.size;
  return true;
}

static bool parse_backend_config(parser *p, hlo_attributes *x) {
  if (p->tok.kind == TOKEN_STRING) return parse_string(p, &x->backend_config);
  str value;
  if (p->tok.kind != '{') return parser_found(p, "a string or '{'");
  if (!parser_value_text(p, &value)) return false;
  x->backend_config = str_copy(p->arena, value);
  x->backend_config_is_json = true;
  return true;
}

// A value with its shape before it; in a tuple before each element.
static bool parse_shaped_literal(parser *p) {
  const shape *s;
  literal *value;
  if (p->tok.kind != '(') return parser_shape_before_value(p, &s) && parser_literal(p, s, &value);
  bool is_ok = parser_enter(p);
  parser_advance(p);
  for (int i = 0; is_ok && p->tok.kind != ')'; i++)
    is_ok = (i == 0 || parser_expect(p, ',', "',' or ')'")) && parse_shaped_literal(p);
  parser_leave(p);
  return is_ok && parser_expect(p, ')', "')'");
}

// A literal is checked, then kept as it was written.
static bool parse_literal_text(parser *p, hlo_attributes *x) {
  size_t start = p->tok.start;
  if (!parse_shaped_literal(p)) return false;
  str written = {p->lexer.source.data + start, p->last_end - start};
  attributes_add_raw(p->arena, x, STR("literal"), str_copy(p->arena, written));
  return true;
}

static bool parse_raw(parser *p, hlo_attribute_id id, hlo_attributes *x) {
  str value;
  if (!parser_value_text(p, &value)) return false;
  attributes_add_raw(p->arena, x, str_from(hlo_attribute_infos[id].text), str_copy(p->arena, value));
  return true;
}

bool parser_attribute_value(parser *p, hlo_opcode op, hlo_attribute_id id, hlo_attributes *x) {
  const hlo_attribute_info *info = &hlo_attribute_infos[id];
  void *field = (char *)x + info->offset;
  switch (info->kind) {
    case ATTRIBUTE_INT: return parser_int(p, field);
    case ATTRIBUTE_BOOL: return parse_bool(p, field);
    case ATTRIBUTE_DOUBLE: return parse_double(p, field);
    case ATTRIBUTE_INTS: return parse_ints(p, field);
    case ATTRIBUTE_ENUM: return parse_enum(p, info->names, field);
    case ATTRIBUTE_ALGORITHM: return parse_algorithm(p, op, x);
    case ATTRIBUTE_STRING: return parse_string(p, field);
    case ATTRIBUTE_SLICE: return parse_slice(p, field);
    case ATTRIBUTE_PADDING: return parse_padding(p, field);
    case ATTRIBUTE_WINDOW: return parse_window(p, field);
    case ATTRIBUTE_DIM_LABELS: return parse_dim_labels(p, field);
    case ATTRIBUTE_PRECISIONS: return parse_precisions(p, x);
    case ATTRIBUTE_GROUPS: return parser_groups(p, field);
    case ATTRIBUTE_SHAPES: return parse_shapes(p, x);
    case ATTRIBUTE_LITERAL: return parse_literal_text(p, x);
    case ATTRIBUTE_BACKEND_CONFIG: return parse_backend_config(p, x);
    case ATTRIBUTE_RAW: return parse_raw(p, id, x);
    case ATTRIBUTE_COMPUTATION:
    case ATTRIBUTE_COMPUTATIONS:
    case ATTRIBUTE_CONTROL: break;  // parser_attributes.c: they belong to the instruction
  }
  return parser_error(p, p->tok, "attribute %s has no value of its own", info->text);
}
