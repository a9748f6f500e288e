// Values: `5`, `{ {1, 2}, {3, 4} }`, `(1, -2)`, `nan(0x7)`, `{...}`.
//
// An array is read with a counter per dimension instead of recursion. Before memory is asked for, its element count is
// held against the text that is left: every element takes a character.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hlo/parser.h"
#include "hlo/text.h"

// Elements of one real type in the data of a literal: the literal's own, or the parts of complex ones.
typedef struct element_writer {
  shape shape;  // of the real type; only its dtype is looked at
  literal view;
  const dtype_info *type;
} element_writer;

static void writer_start(element_writer *w, const literal *l) {
  dtype t = l->shape->dtype;
  w->type = &dtypes[dtype_is_complex(t) ? dtypes[t].part : t];
  w->shape = (shape){.dtype = dtype_is_complex(t) ? dtypes[t].part : t};
  w->view = (literal){.shape = &w->shape, .data = l->data};
}

static bool out_of_range(parser *p, token at, const element_writer *w) {
  int shown = at.text.size > 40 ? 40 : (int)at.text.size;
  return parser_error(p, at, "value %.*s is out of range for %s", shown, at.text.data, w->type->name);
}

static bool is_end_of(token t, const char *end) { return end == t.text.data + t.text.size; }

static bool parse_integer(parser *p, element_writer *w, int64_t i) {
  token at = p->tok;
  if (at.kind != TOKEN_NUMBER) return parser_found(p, "an integer");
  const char *digits = at.text.data;
  bool is_negative = digits[0] == '-';
  if (is_negative || digits[0] == '+') digits++;
  bool is_hex = digits[0] == '0' && (digits[1] | 0x20) == 'x';
  char *end;
  errno = 0;
  uint64_t magnitude = digits[0] < '0' || digits[0] > '9' ? 0 : strtoull(digits, &end, is_hex ? 16 : 10);
  if (digits[0] < '0' || digits[0] > '9' || !is_end_of(at, end)) return parser_found(p, "an integer");
  // XLA takes a negative number for u64's bits.
  bool is_signed = w->type->class == CLASS_SIGNED || (is_negative && w->type->bits == 64);
  uint64_t largest = UINT64_MAX >> (64 - w->type->bits + is_signed);
  if (is_negative) largest = is_signed ? largest + 1 : 0;
  if (errno == ERANGE || magnitude > largest) return out_of_range(p, at, w);
  literal_set_int(&w->view, i, (int64_t)(is_negative ? 0 - magnitude : magnitude));
  parser_advance(p);
  return true;
}

static bool parse_pred(parser *p, element_writer *w, int64_t i) {
  bool value = true;
  if (p->tok.kind == TOKEN_NUMBER && str_is(p->tok.text, "0")) value = false;
  else if (p->tok.kind == TOKEN_WORD && str_is(p->tok.text, "false")) value = false;
  else if (p->tok.kind == TOKEN_NUMBER && !str_is(p->tok.text, "1")) return out_of_range(p, p->tok, w);
  else if (p->tok.kind != TOKEN_NUMBER && !(p->tok.kind == TOKEN_WORD && str_is(p->tok.text, "true")))
    return parser_found(p, "true or false");
  literal_set_int(&w->view, i, value);
  parser_advance(p);
  return true;
}

static void set_nan_bits(element_writer *w, int64_t i, bool is_negative, uint64_t payload, int mantissa_bits) {
  uint64_t exponent = (UINT64_MAX >> (65 - w->type->bits)) & ~(((uint64_t)1 << mantissa_bits) - 1);
  uint64_t bits = exponent | payload | (uint64_t)is_negative << (w->type->bits - 1);
  switch (w->type->bytes) {  // the host is little-endian, as .npy files and literals are
    case 1: ((uint8_t *)w->view.data)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)w->view.data)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)w->view.data)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)w->view.data)[i] = bits; break;
  }
}

static int mantissa_bits_of(const dtype_info *type) {
  if (type->is_narrow_float) return float_formats[type->narrow].mantissa_bits;
  return type->bits == 32 ? 23 : 52;
}

// `nan`, `-nan`, and the same with the mantissa's bits in parentheses: nan(0x200000).
static bool parse_nan(parser *p, element_writer *w, int64_t i) {
  token at = p->tok;
  bool is_negative = at.text.data[0] == '-';
  literal_set_double(&w->view, i, copysign((double)NAN, is_negative ? -1 : 1));
  if (!isnan(literal_get_double(&w->view, i))) return out_of_range(p, at, w);
  parser_advance(p);
  if (p->tok.kind != '(' || !parser_is_adjacent(p)) return true;
  parser_advance(p);
  token payload_at = p->tok;
  bool has_payloads = !w->type->is_narrow_float || float_formats[w->type->narrow].specials == FLOAT_IEEE;
  int mantissa_bits = mantissa_bits_of(w->type);
  char *end = NULL;
  uint64_t payload = payload_at.kind == TOKEN_NUMBER ? strtoull(payload_at.text.data, &end, 0) : 0;
  if (!end || !is_end_of(payload_at, end)) return parser_found(p, "a payload such as 0x400000");
  if (!has_payloads || payload == 0 || payload >> mantissa_bits)
    return parser_error(p, payload_at, "payload %.*s is out of range for %s", (int)payload_at.text.size,
                        payload_at.text.data, w->type->name);
  set_nan_bits(w, i, is_negative, payload, mantissa_bits);
  parser_advance(p);
  return parser_expect(p, ')', "')'");
}

static bool is_word_of(token t, const char *word) {
  str s = t.text;
  if (s.size && (s.data[0] == '-' || s.data[0] == '+')) s = (str){s.data + 1, s.size - 1};
  return (t.kind == TOKEN_WORD || t.kind == TOKEN_NUMBER) && str_is(s, word);
}

// Whether a finite value came out as anything else, or beyond what the rounding of a type without infinity covers.
static bool has_overflowed(const element_writer *w, int64_t i, double value) {
  double stored = literal_get_double(&w->view, i);
  if (!isfinite(stored)) return true;
  bool is_saturating = w->type->is_narrow_float && float_formats[w->type->narrow].specials == FLOAT_FINITE;
  return is_saturating && fabs(value) >= fabs(stored) * 7 / 6 && fabs(stored) >= 6;
}

static bool parse_real(parser *p, element_writer *w, int64_t i) {
  token at = p->tok;
  if (is_word_of(at, "nan")) return parse_nan(p, w, i);
  double value;
  if (is_word_of(at, "inf") || is_word_of(at, "infinity")) {
    value = at.text.data[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    literal_set_double(&w->view, i, value);
    if (literal_get_double(&w->view, i) != value) return out_of_range(p, at, w);
  } else {
    char *end = NULL;
    if (at.kind != TOKEN_NUMBER) return parser_found(p, "a number");
    // f32 is rounded once, not by way of a double.
    value = w->type->bits == 32 ? (double)strtof(at.text.data, &end) : strtod(at.text.data, &end);
    if (!is_end_of(at, end)) return parser_found(p, "a number");
    literal_set_double(&w->view, i, value);
    if (has_overflowed(w, i, value)) return out_of_range(p, at, w);
  }
  parser_advance(p);
  return true;
}

static bool parse_complex(parser *p, element_writer *w, int64_t i) {
  if (!parser_take(p, '(')) return parse_real(p, w, 2 * i);
  return parse_real(p, w, 2 * i) && parser_expect(p, ',', "',' between the parts of a complex number") &&
         parse_real(p, w, 2 * i + 1) && parser_expect(p, ')', "')'");
}

static bool parse_element(parser *p, element_writer *w, dtype t, int64_t i) {
  if (t == DTYPE_PRED) return parse_pred(p, w, i);
  if (dtype_is_integer(t)) return parse_integer(p, w, i);
  return dtype_is_complex(t) ? parse_complex(p, w, i) : parse_real(p, w, i);
}

// State of reading a nested array: at depth d, `count[d - 1]` entries of dimension d - 1 have been read.
typedef struct array_reader {
  const shape *shape;
  int depth;
  int64_t count[SHAPE_MAX_RANK];
  int64_t next;  // linear index of the next element
} array_reader;

// Elements below one entry at the current depth.
static int64_t block_size(const array_reader *r) {
  int64_t size = 1;
  for (int d = r->depth; d < r->shape->rank; d++) size *= r->shape->dims[d];
  return size;
}

// Values where the text has none, so that such a module runs: small whole numbers that differ from place to place and
// stay in the range of every type, good as indices too. They depend on nothing but the place, so that a module that is
// printed and read again has them again; eight of them are repeated, as there may be millions to fill.
static void fill_elided(literal *l, int64_t first, int64_t count) {
  const dtype t = l->shape->dtype;
  const bool is_narrow = t == DTYPE_PRED || (dtype_is_integer(t) && dtypes[t].bits <= 4);
  const int64_t period = count < 8 ? count : 8;
  for (int64_t k = 0; k < period; k++) {
    const int64_t number = (k * 5 + 3) % (is_narrow ? 2 : 8);
    if (dtype_is_complex(t))
      literal_set_complex(l, first + k, literal_complex_of((double)number / 8, (double)(7 - number) / 8));
    else if (dtype_is_float(t)) literal_set_double(l, first + k, (double)(number + 1) / 8);
    else literal_set_int(l, first + k, number);
  }
  const size_t size = (size_t)dtypes[t].bytes;
  char *data = (char *)l->data + (size_t)first * size;
  for (int64_t done = period; done < count; done *= 2)
    memcpy(data + (size_t)done * size, data, (size_t)(count - done < done ? count - done : done) * size);
}

// One item: an element, an opening brace (then *opened), or `{...}` in place of either.
static bool parse_item(parser *p, literal *l, element_writer *w, array_reader *r, bool *opened) {
  const shape *s = r->shape;
  *opened = false;
  if (r->depth && r->count[r->depth - 1] == s->dims[r->depth - 1])
    return parser_error(p, p->tok, "found more than %" PRId64 " entries in dimension %d", s->dims[r->depth - 1],
                        r->depth - 1);
  if (p->tok.kind == '{' && parser_peek(p).kind == TOKEN_ELLIPSIS) {
    p->elided_count += !l->is_elided;
    l->is_elided = true;
    parser_advance(p);
    parser_advance(p);
    fill_elided(l, r->next, block_size(r));
    r->next += block_size(r);
    return parser_expect(p, '}', "'}'");
  }
  if (r->depth == s->rank) return parse_element(p, w, s->dtype, r->next++);
  *opened = true;
  r->count[r->depth++] = 0;
  return parser_expect(p, '{', "'{'");
}

// After an item: a comma, or closing braces up to the outermost. Between braces the comma may be missing, as XLA has
// it. True with r->depth 0 at the end.
static bool parse_after_item(parser *p, array_reader *r) {
  while (r->depth) {
    r->count[r->depth - 1]++;
    if (parser_take(p, ',') || p->tok.kind == '{') return true;
    int64_t found = r->count[r->depth - 1], wanted = r->shape->dims[r->depth - 1];
    if (p->tok.kind == '}' && found != wanted)
      return parser_error(p, p->tok, "found %" PRId64 " entries in dimension %d, wanted %" PRId64, found, r->depth - 1,
                          wanted);
    if (!parser_expect(p, '}', "',' or '}'")) return false;
    r->depth--;
  }
  return true;
}

// A pair of braces just opened may hold nothing: then its dimension is 0, or the whole array is empty.
static bool take_empty(parser *p, array_reader *r, bool *is_empty) {
  *is_empty = p->tok.kind == '}';
  if (!*is_empty) return true;
  int64_t wanted = r->shape->dims[r->depth - 1];
  if (wanted != 0 && shape_element_count(r->shape) != 0)
    return parser_error(p, p->tok, "found 0 entries in dimension %d, wanted %" PRId64, r->depth - 1, wanted);
  parser_advance(p);
  r->depth--;
  return true;
}

// A single value where an array is wanted is the first element, and the others are zero: so XLA reads it.
static bool begins_lone_value(const parser *p, const shape *s) {
  const bool is_complex = dtype_is_complex(s->dtype) && p->tok.kind == '(';
  return s->rank > 0 && shape_element_count(s) > 0 &&
         (is_complex || p->tok.kind == TOKEN_NUMBER || p->tok.kind == TOKEN_WORD);
}

static bool parse_array(parser *p, literal *l) {
  element_writer w;
  array_reader r = {.shape = l->shape};
  writer_start(&w, l);
  if (begins_lone_value(p, l->shape)) return parse_element(p, &w, l->shape->dtype, 0);
  do {
    bool is_open, is_empty = false;
    if (!parse_item(p, l, &w, &r, &is_open)) return false;
    if (is_open && !take_empty(p, &r, &is_empty)) return false;
    if (is_open && !is_empty) continue;
    if (!parse_after_item(p, &r)) return false;
  } while (r.depth);
  return true;
}

static bool create(parser *p, const shape *s, literal **out) {
  heddle_status status = literal_create(p->arena, s, out);
  if (status_is_ok(status)) return true;
  if (heddle_status_code(status) == HEDDLE_OUT_OF_MEMORY) {
    if (status_is_ok(p->failure)) p->failure = status;
    else heddle_status_free(status);
    return false;
  }
  parser_error(p, p->tok, "%s", status_brief(status));
  heddle_status_free(status);
  return false;
}

// Refuses arrays that the text that is left cannot spell, before their memory is asked for.
static bool check_size(parser *p, const shape *s) {
  for (int i = 0; i < s->rank; i++)
    if (s->dims[i] < 0) return parser_error(p, p->tok, "found a value of an unbounded shape, wanted a bounded one");
  int64_t left = (int64_t)(p->lexer.source.size - p->tok.start), count = shape_element_count(s);
  bool is_elided = begins_lone_value(p, s) || (p->tok.kind == '{' && parser_peek(p).kind == TOKEN_ELLIPSIS);
  if (!is_elided && count > left)
    return parser_error(p, p->tok, "found %" PRId64 " bytes of text, too few for the %" PRId64 " elements wanted", left,
                        count);
  if (!is_elided) return true;
  if (shape_byte_size(s) > p->elided_left)
    return parser_error(p, p->tok, "found elided constants of more bytes than the %" PRId64 " still accepted",
                        p->elided_left);
  p->elided_left -= shape_byte_size(s);
  return true;
}

static bool parse_tuple(parser *p, const shape *s, literal **out) {
  literal *l = arena_new(p->arena, literal);
  *l = (literal){.shape = s, .elements = arena_array(p->arena, literal *, s->tuple_size)};
  if (!parser_expect(p, '(', "'(' of a tuple")) return false;
  for (int i = 0; i < s->tuple_size; i++) {
    const shape *given;  // older texts repeat the shape before every element
    if (i && !parser_expect(p, ',', "',' and another element of the tuple")) return false;
    if (p->tok.kind == TOKEN_WORD && shape_is_array(s->elements[i]) && parser_starts_shape(p) &&
        !parser_shape_before_value(p, &given))
      return false;
    if (!parser_literal(p, s->elements[i], &l->elements[i])) return false;
  }
  *out = l;
  return parser_expect(p, ')', "')' at the end of the tuple");
}

bool parser_literal(parser *p, const shape *s, literal **out) {
  if (shape_is_tuple(s)) {
    if (!parser_enter(p)) return false;
    bool is_ok = parse_tuple(p, s, out);
    parser_leave(p);
    return is_ok;
  }
  if (shape_is_array(s)) return check_size(p, s) && create(p, s, out) && parse_array(p, *out);
  if (p->tok.kind == TOKEN_WORD && parser_starts_shape(p) && !parser_shape(p, &(const shape *){NULL})) return false;
  return create(p, s, out);
}

heddle_status literal_parse(arena *a, str source, const shape *s, literal **out) {
  arena *scratch = arena_create();
  parser p;
  parser_start(&p, a, scratch, "<literal>", source);
  if (parser_literal(&p, s, out) && p.tok.kind != TOKEN_END) parser_found(&p, "the end of the value");
  heddle_status status = parser_status(&p);
  arena_destroy(scratch);
  return status;
}
