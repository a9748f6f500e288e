// Shapes and layouts: `f32[2,<=3,?]{1,0:T(8,128)S(1)}`, `(f32[2], token[])`.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "hlo/parser.h"
#include "hlo/text.h"

// `b(` of a buffer. No operation has that name.
static bool starts_buffer(const parser *p) {
  return p->tok.kind == TOKEN_WORD && str_is(p->tok.text, "b") && parser_peek(p).kind == '(';
}

bool parser_starts_shape(const parser *p) {
  if (p->tok.kind == '(' || starts_buffer(p)) return true;
  return p->tok.kind == TOKEN_WORD && dtype_from_name(p->tok.text) != DTYPE_INVALID && parser_peek(p).kind == '[';
}

// One dimension: 3, <=3, ? or <=?.
static bool parse_dim(parser *p, int64_t *dim, bool *is_dynamic) {
  *is_dynamic = parser_take(p, TOKEN_AT_MOST);
  if (parser_take(p, '?')) {
    *is_dynamic = true;
    *dim = -1;
    return true;
  }
  token at = p->tok;
  if (at.kind != TOKEN_NUMBER) return parser_found(p, "a dimension or ']'");
  if (!parser_int(p, dim)) return false;
  return *dim >= 0 || parser_error(p, at, "found dimension %" PRId64 ", wanted 0 or more", *dim);
}

static bool parse_dims(parser *p, shape *s) {
  int64_t dims[SHAPE_MAX_RANK];
  if (!parser_expect(p, '[', "'['")) return false;
  while (p->tok.kind != ']') {
    if (s->rank && !parser_expect(p, ',', "',' or ']'")) return false;
    if (s->rank == SHAPE_MAX_RANK) return parser_error(p, p->tok, "found more than %d dimensions", SHAPE_MAX_RANK);
    bool is_dynamic;
    if (!parse_dim(p, &dims[s->rank], &is_dynamic)) return false;
    if (is_dynamic) s->dynamic_dims |= (uint64_t)1 << s->rank;
    s->rank++;
  }
  parser_advance(p);
  int64_t *copy = arena_array(p->arena, int64_t, s->rank);
  if (s->rank) memcpy(copy, dims, sizeof *dims * (size_t)s->rank);
  s->dims = copy;
  return true;
}

// A layout's parts behind the colon are letters with one pair of parentheses each and are read from the text.
typedef struct part_reader {
  str text;
  size_t at;
} part_reader;

// The next part: its letters and what stands between its parentheses. False at the end or when the text is no part.
static bool next_part(part_reader *r, str *letters, str *inside) {
  size_t start = r->at, open;
  while (r->at < r->text.size && r->text.data[r->at] != '(') r->at++;
  open = r->at;
  size_t depth = 0;
  for (; r->at < r->text.size; r->at++) {
    depth += r->text.data[r->at] == '(';
    depth -= r->text.data[r->at] == ')';
    if (!depth) break;
  }
  if (r->at >= r->text.size) return false;
  r->at++;
  *letters = (str){r->text.data + start, open - start};
  *inside = (str){r->text.data + open + 1, r->at - open - 2};
  return true;
}

// Reads an integer or `*` from the front of `s`. Not strtoll alone: the text is not terminated.
static bool take_int(str *s, int64_t *out) {
  char digits[24] = {0};
  size_t n = 0;
  if (s->size && s->data[0] == '*') {
    *out = INT64_MIN;
    *s = (str){s->data + 1, s->size - 1};
    return true;
  }
  while (n < s->size && n < sizeof digits - 1 && s->data[n] >= '0' && s->data[n] <= '9') {
    digits[n] = s->data[n];
    n++;
  }
  errno = 0;
  *out = strtoll(digits, NULL, 10);
  *s = (str){s->data + n, s->size - n};
  return n > 0 && errno == 0;
}

static str without_blanks(arena *a, str s) {
  char *copy = arena_alloc(a, s.size + 1);
  size_t size = 0;
  for (size_t i = 0; i < s.size; i++)
    if (s.data[i] != ' ') copy[size++] = s.data[i];
  return (str){copy, size};
}

static bool parse_tile(parser *p, str inside, layout_tile *tile) {
  VEC(int64_t) dims = {0};
  inside = without_blanks(p->scratch, inside);
  while (inside.size) {
    int64_t dim = 0;
    if (dims.size && inside.data[0] != ',') return false;
    if (dims.size) inside = (str){inside.data + 1, inside.size - 1};
    if (!take_int(&inside, &dim)) return false;
    vec_push(p->arena, &dims, dim);
  }
  *tile = (layout_tile){dims.size, dims.data};
  return true;
}

static bool parse_single(str inside, int64_t *out) { return take_int(&inside, out) && inside.size == 0 && *out >= 0; }

// `T(8,128)(2,1)` is one T with several tiles: a part without letters continues it.
static bool parse_layout_parts(parser *p, str parts, layout *l) {
  VEC(layout_tile) tiles = {0};
  text other = {0};
  part_reader reader = {parts, 0};
  str letters, inside, last = {0};
  bool is_ok = true;
  while (is_ok && reader.at < parts.size) {
    size_t start = reader.at;
    is_ok = next_part(&reader, &letters, &inside);
    if (!is_ok) break;
    if (!letters.size) letters = last;
    last = letters;
    if (str_is(letters, "T")) {
      layout_tile tile;
      is_ok = parse_tile(p, inside, &tile);
      vec_push(p->arena, &tiles, tile);
    } else if (str_is(letters, "S")) {
      is_ok = parse_single(inside, &l->memory_space);
    } else if (str_is(letters, "E")) {
      is_ok = parse_single(inside, &l->element_bits);
    } else if (str_is(letters, "L")) {
      is_ok = parse_single(inside, &l->tail_padding);
    } else {
      is_ok = letters.size > 0;
      text_append(&other, (str){parts.data + start, reader.at - start});
    }
  }
  l->tile_count = tiles.size;
  l->tiles = tiles.data;
  l->other = other.size ? str_copy(p->arena, text_view(&other)) : (str){0};
  text_free(&other);
  return is_ok;
}

// The text between the colon and the layout's closing brace, which is not taken.
static bool parse_layout_tail(parser *p, layout *l) {
  token at = p->tok;  // the first part
  str parts;
  if (p->tok.kind == '}') return true;
  return parser_value_text(p, &parts) &&
         (parse_layout_parts(p, parts, l) ||
          parser_error(p, at, "found '%.*s', wanted layout parts such as T(8,128), S(1) or E(4)",
                       (int)(parts.size > 40 ? 40 : parts.size), parts.data));
}

static bool check_permutation(parser *p, token at, const int64_t *order, int count, int rank) {
  uint64_t seen = 0;
  if (count != rank)
    return parser_error(p, at, "found a layout of %d dimensions, wanted %d as in the shape", count, rank);
  for (int i = 0; i < rank; i++) {
    if (order[i] < 0 || order[i] >= rank || (seen >> order[i] & 1))
      return parser_error(p, at, "found a layout that is not a permutation of the %d dimensions", rank);
    seen |= (uint64_t)1 << order[i];
  }
  return true;
}

static bool parse_layout(parser *p, shape *s) {
  token at = p->tok;
  layout *l = arena_new(p->arena, layout);
  int64_t *order = arena_array(p->arena, int64_t, s->rank + 1);
  int count = 0;
  l->tail_padding = 1;
  parser_advance(p);
  while (p->tok.kind == TOKEN_NUMBER) {
    int64_t dim = 0;
    if (!parser_int(p, &dim)) return false;
    if (count < s->rank) order[count] = dim;
    count++;
    if (!parser_take(p, ',')) break;
  }
  if (parser_take(p, ':') && !parse_layout_tail(p, l)) return false;
  if (!parser_expect(p, '}', "'}' after the layout")) return false;
  l->minor_to_major = order;
  if (count == 0 && s->rank > 0)  // {:S(1)}: the default order in another space
    for (; count < s->rank; count++) order[count] = s->rank - 1 - count;
  s->layout = l;
  return check_permutation(p, at, order, count, s->rank);
}

// An opening brace behind a shape may begin a computation's body or an array's value instead. Where it stands apart,
// only what numbers of dims follow is a layout, and none where a value is next; where it does not, what looks like an
// instruction is a body all the same.
static bool begins_layout(const parser *p) {
  const bool is_adjacent = parser_is_adjacent(p);
  if (p->is_value_next) return is_adjacent;
  lexer ahead = p->lexer;
  token first = lexer_next(&ahead), second = lexer_next(&ahead);
  if (is_adjacent) return !(first.kind == TOKEN_WORD || first.kind == TOKEN_NAME) || second.kind == '(';
  return first.kind == ':' || (first.kind == TOKEN_NUMBER && strchr(",:}", second.kind) != NULL);
}

static bool parse_array_shape(parser *p, const shape **out) {
  token at = p->tok;
  dtype t = at.kind == TOKEN_WORD ? dtype_from_name(at.text) : DTYPE_INVALID;
  if (t == DTYPE_INVALID || t == DTYPE_TUPLE) return parser_found(p, "a shape such as f32[2,3]");
  parser_advance(p);
  shape *s = arena_new(p->arena, shape);
  s->dtype = t;
  if (!parse_dims(p, s)) return false;
  if (!dtype_is_array(t) && s->rank) return parser_error(p, at, "found dimensions on %s, wanted none", dtype_name(t));
  if (p->tok.kind == '{' && begins_layout(p) && !parse_layout(p, s)) return false;
  *out = s;
  heddle_status status = shape_check(s, parser_where(p, at));
  if (status_is_ok(status)) return true;
  parser_error(p, at, "%s", status_brief(status));
  heddle_status_free(status);
  return false;
}

// b(f32[2]{0}): an array as it is, but for the mark.
static bool parse_buffer_shape(parser *p, const shape **out) {
  const shape *array = NULL;
  parser_advance(p);
  parser_advance(p);
  if (!parse_array_shape(p, &array)) return false;
  if (!shape_is_array(array)) return parser_found(p, "an array in the buffer's shape");
  shape *buffer = arena_new(p->arena, shape);
  *buffer = *array;
  buffer->is_buffer = true;
  *out = buffer;
  return parser_expect(p, ')', "')' of a buffer's shape");
}

static bool parse_tuple_shape(parser *p, const shape **out) {
  VEC(const shape *) elements = {0};
  parser_advance(p);
  while (p->tok.kind != ')') {
    const shape *element = NULL;
    if (elements.size && !parser_expect(p, ',', "',' or ')'")) return false;
    if (!parser_shape(p, &element)) return false;
    vec_push(p->scratch, &elements, element);
  }
  parser_advance(p);
  *out = shape_tuple(p->arena, elements.size, elements.data);
  return true;
}

bool parser_shape_before_value(parser *p, const shape **out) {
  p->is_value_next = true;
  const bool is_ok = parser_shape(p, out);
  p->is_value_next = false;
  return is_ok;
}

bool parser_shape(parser *p, const shape **out) {
  if (starts_buffer(p)) return parse_buffer_shape(p, out);
  if (p->tok.kind != '(') return parse_array_shape(p, out);
  if (!parser_enter(p)) return false;
  bool is_ok = parse_tuple_shape(p, out);
  parser_leave(p);
  return is_ok;
}

heddle_status shape_parse(arena *a, str source, const shape **out) {
  arena *scratch = arena_create();
  parser p;
  parser_start(&p, a, scratch, "<shape>", source);
  if (parser_shape(&p, out) && p.tok.kind != TOKEN_END) parser_found(&p, "the end of the shape");
  heddle_status status = parser_status(&p);
  arena_destroy(scratch);
  return status;
}
