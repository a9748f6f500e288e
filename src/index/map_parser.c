// Parser of indexing maps in XLA's syntax:
//
//   map         = "KNOWN" "EMPTY"
//               | "(" names ")" [ "[" names "]" ] [ "{" names "}" ] "->" "(" sums ")" [ "," "domain" ":" facts ]
//   fact        = name "in" interval | sum "in" interval | "is_simplified" ":" ("true" | "false")
//   sum         = product { ("+" | "-") product }
//   product     = factor { ("*" | "floordiv" | "mod") factor }
//   factor      = "-" factor | "(" sum ")" | number | name
//   interval    = "[" ["-"] number "," ["-"] number "]"
//
// The first interval of a bare variable is its bounds and each variable needs them; all other facts are constraints.
// White space, line ends included, separates tokens. The first error ends the parse.
#include <ctype.h>

#include "base/map.h"
#include "base/vec.h"
#include "index/indexing_map.h"

enum { MAX_DEPTH = 200 };

typedef enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_SYMBOL, TOKEN_ARROW, TOKEN_BAD } token_kind;

typedef struct token {
  token_kind kind;
  str text;
} token;

typedef VEC(indexing_variable) variable_list;

typedef struct parser {
  arena *arena, *scratch;
  str source;
  size_t position;  // behind the current token
  token now;
  int depth;
  variable_list variables[3];  // dims, ranges, runtime variables
  str_map known;               // name -> expression of the variable
  bool *bounded[3];            // by list and position
  VEC(const affine_expr *) results;
  VEC(indexing_constraint) constraints;
} parser;

static const char *const default_prefixes[3] = {"d", "s", "rt"};

// ---- Tokens

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static size_t token_length(str s, token_kind *kind) {
  size_t n = 1;
  if (isdigit((unsigned char)s.data[0])) {
    *kind = TOKEN_NUMBER;
    while (n < s.size && isdigit((unsigned char)s.data[n])) ++n;
  } else if (isalpha((unsigned char)s.data[0]) || s.data[0] == '_') {
    *kind = TOKEN_NAME;
    while (n < s.size && is_name_char(s.data[n])) ++n;
  } else if (s.size >= 2 && s.data[0] == '-' && s.data[1] == '>') {
    *kind = TOKEN_ARROW;
    n = 2;
  } else {
    *kind = s.data[0] && strchr("()[]{},:+-*", s.data[0]) ? TOKEN_SYMBOL : TOKEN_BAD;
  }
  return n;
}

static void advance(parser *p) {
  str s = p->source;
  while (p->position < s.size && isspace((unsigned char)s.data[p->position])) ++p->position;
  str rest = {s.data + p->position, s.size - p->position};
  p->now = (token){TOKEN_END, {rest.data, 0}};
  if (rest.size == 0) return;
  p->now.text.size = token_length(rest, &p->now.kind);
  p->position += p->now.text.size;
}

static bool at(const parser *p, const char *word) {
  return p->now.kind != TOKEN_END && p->now.kind != TOKEN_NUMBER && str_is(p->now.text, word);
}

static bool accept(parser *p, const char *word) {
  if (!at(p, word)) return false;
  advance(p);
  return true;
}

// ---- Errors

static char *describe(const parser *p) {
  if (p->now.kind == TOKEN_END) return arena_printf(p->scratch, "the end");
  unsigned char c = (unsigned char)p->now.text.data[0];
  if (p->now.kind == TOKEN_BAD && !isprint(c)) return arena_printf(p->scratch, "byte 0x%02x", c);
  int shown = p->now.text.size > 40 ? 40 : (int)p->now.text.size;
  return arena_printf(p->scratch, "`%.*s%s`", shown, p->now.text.data, p->now.text.size > 40 ? "..." : "");
}

// The part of the source around `column` on one line, and a caret below it.
static const char *caret_lines(const parser *p, size_t offset) {
  enum { BEFORE = 60, AFTER = 60 };
  size_t start = offset > BEFORE ? offset - BEFORE : 0;
  size_t end = p->source.size - offset > AFTER ? offset + AFTER : p->source.size;
  char *line = arena_strdup(p->scratch, p->source.data + start, end - start);
  for (size_t i = 0; i < end - start; ++i) {
    if (!isprint((unsigned char)line[i])) line[i] = ' ';
  }
  return arena_printf(p->scratch, "  %s%s%s\n  %*s^\n", start ? "..." : "", line, end < p->source.size ? "..." : "",
                      (int)(offset - start) + (start ? 3 : 0), "");
}

static heddle_status error_at(const parser *p, str where, const char *message) {
  size_t offset = (size_t)(where.data - p->source.data);
  source_location at = {"indexing_map", 1, (int)offset + 1};
  return status_append(status_at(HEDDLE_INVALID, at, "%s", message), caret_lines(p, offset));
}

static heddle_status wanted(const parser *p, const char *what) {
  return error_at(p, p->now.text, arena_printf(p->scratch, "found %s, wanted %s", describe(p), what));
}

static heddle_status expect(parser *p, const char *word) {
  if (accept(p, word)) return status_ok();
  return wanted(p, arena_printf(p->scratch, "`%s`", word));
}

// ---- Expressions

static heddle_status parse_sum(parser *p, const affine_expr **out);

// A number with its sign, whose token was not read yet.
static heddle_status parse_number(parser *p, bool negative, int64_t *out) {
  if (p->now.kind != TOKEN_NUMBER) return wanted(p, "a number");
  uint64_t limit = (uint64_t)INT64_MAX + negative, value = 0;
  for (size_t i = 0; i < p->now.text.size; ++i) {
    uint64_t digit = (uint64_t)(p->now.text.data[i] - '0');
    if (value > (limit - digit) / 10) return error_at(p, p->now.text, "the number does not fit into 64 bits");
    value = value * 10 + digit;
  }
  *out = negative ? (int64_t)(0 - value) : (int64_t)value;
  advance(p);
  return status_ok();
}

static heddle_status parse_name(parser *p, const affine_expr **out) {
  *out = str_map_get(&p->known, p->now.text);
  if (!*out)
    return error_at(p, p->now.text,
                    arena_printf(p->scratch, "found %s, which is no variable of this map", describe(p)));
  advance(p);
  return status_ok();
}

static heddle_status parse_nested(parser *p, const affine_expr **out) {
  if (++p->depth > MAX_DEPTH) {
    return error_at(p, p->now.text, arena_printf(p->scratch, "more than %d levels of nesting", MAX_DEPTH));
  }
  TRY(parse_sum(p, out));
  TRY(expect(p, ")"));
  --p->depth;
  return status_ok();
}

static heddle_status parse_factor(parser *p, const affine_expr **out) {
  bool negative = false;
  int64_t value;
  while (accept(p, "-")) negative = !negative;
  if (p->now.kind == TOKEN_NUMBER) {
    TRY(parse_number(p, negative, &value));
    *out = affine_constant(p->arena, value);
    return status_ok();
  }
  if (accept(p, "(")) {
    TRY(parse_nested(p, out));
  } else if (p->now.kind == TOKEN_NAME) {
    TRY(parse_name(p, out));
  } else {
    return wanted(p, "an expression");
  }
  if (negative) *out = affine_mul_constant(p->arena, *out, -1);
  return status_ok();
}

static heddle_status apply_operator(parser *p, token operator_token, const affine_expr **l, const affine_expr *r,
                                    str r_text) {
  int64_t value;
  if (str_is(operator_token.text, "*")) {
    if (!affine_is_constant(*l, NULL) && !affine_is_constant(r, NULL)) {
      return error_at(p, operator_token.text, "one side of a product must be a constant");
    }
    *l = affine_mul(p->arena, *l, r);
    return status_ok();
  }
  if (!affine_is_constant(r, &value) || value <= 0) {
    return error_at(p, r_text, "the right-hand side of floordiv and mod must be a positive constant");
  }
  bool is_mod = str_is(operator_token.text, "mod");
  *l = is_mod ? affine_mod(p->arena, *l, value) : affine_floordiv(p->arena, *l, value);
  return status_ok();
}

static heddle_status parse_product(parser *p, const affine_expr **out) {
  TRY(parse_factor(p, out));
  while (at(p, "*") || at(p, "floordiv") || at(p, "mod")) {
    token operator_token = p->now;
    advance(p);
    str r_text = p->now.text;
    const affine_expr *r;
    TRY(parse_factor(p, &r));
    TRY(apply_operator(p, operator_token, out, r, r_text));
  }
  return status_ok();
}

static heddle_status parse_sum(parser *p, const affine_expr **out) {
  TRY(parse_product(p, out));
  while (at(p, "+") || at(p, "-")) {
    bool subtract = at(p, "-");
    advance(p);
    const affine_expr *r;
    TRY(parse_product(p, &r));
    *out = subtract ? affine_sub(p->arena, *out, r) : affine_add(p->arena, *out, r);
  }
  return status_ok();
}

// ---- Variables

static bool is_reserved(str name) {
  static const char *const words[] = {"mod", "floordiv", "in", "domain", "is_simplified"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    if (str_is(name, words[i])) return true;
  }
  return false;
}

static heddle_status parse_variable(parser *p, int list) {
  str name = p->now.text;
  if (p->now.kind != TOKEN_NAME || is_reserved(name)) return wanted(p, "a variable's name");
  if (str_map_has(&p->known, name)) {
    return error_at(p, name, arena_printf(p->scratch, "the variable " STR_FMT " is there twice", STR_ARG(name)));
  }
  int position = p->variables[list].size;
  bool is_default = str_is(name, arena_printf(p->scratch, "%s%d", default_prefixes[list], position));
  indexing_variable v = {.bounds = INTERVAL_ALL, .name = is_default ? (str){"", 0} : str_copy(p->arena, name)};
  const affine_expr *e = list == 0   ? affine_dim(p->arena, position)
                         : list == 1 ? affine_symbol(p->arena, position)
                                     : affine_symbol(p->arena, p->variables[1].size + position);
  vec_push(p->scratch, &p->variables[list], v);
  str_map_put(p->scratch, &p->known, name, (void *)(uintptr_t)e);
  advance(p);
  return status_ok();
}

static heddle_status parse_variables(parser *p, int list, const char *close) {
  while (!at(p, close)) {
    if (p->variables[list].size > 0) TRY(expect(p, ","));
    TRY(parse_variable(p, list));
  }
  advance(p);
  p->bounded[list] = arena_array(p->scratch, bool, p->variables[list].size);
  return status_ok();
}

// ---- Domain

static heddle_status parse_interval(parser *p, interval *out) {
  TRY(expect(p, "["));
  bool negative = accept(p, "-");
  TRY(parse_number(p, negative, &out->lower));
  TRY(expect(p, ","));
  negative = accept(p, "-");
  TRY(parse_number(p, negative, &out->upper));
  return expect(p, "]");
}

// If e is a variable without bounds, these are its bounds.
static bool bind_variable(parser *p, const affine_expr *e, interval bounds) {
  if (e->kind != AFFINE_DIM && e->kind != AFFINE_SYMBOL) return false;
  int list = e->kind == AFFINE_DIM ? 0 : 1;
  int position = (int)e->value;
  if (list == 1 && position >= p->variables[1].size) {
    list = 2;
    position -= p->variables[1].size;
  }
  if (p->bounded[list][position]) return false;
  p->bounded[list][position] = true;
  p->variables[list].data[position].bounds = bounds;
  return true;
}

static heddle_status parse_fact(parser *p) {
  if (accept(p, "is_simplified")) {
    TRY(expect(p, ":"));
    return accept(p, "true") || accept(p, "false") ? status_ok() : wanted(p, "true or false");
  }
  const affine_expr *e;
  interval bounds;
  TRY(parse_sum(p, &e));
  TRY(expect(p, "in"));
  TRY(parse_interval(p, &bounds));
  if (!bind_variable(p, e, bounds)) vec_push(p->scratch, &p->constraints, (indexing_constraint){e, bounds});
  return status_ok();
}

static heddle_status check_bounded(parser *p) {
  for (int list = 0; list < 3; ++list) {
    for (int i = 0; i < p->variables[list].size; ++i) {
      if (p->bounded[list][i]) continue;
      str name = p->variables[list].data[i].name;
      const char *shown = name.size > 0 ? arena_printf(p->scratch, STR_FMT, STR_ARG(name))
                                        : arena_printf(p->scratch, "%s%d", default_prefixes[list], i);
      return wanted(
          p, arena_printf(p->scratch, "bounds of the variable %s (`, domain: %s in [lower, upper]`)", shown, shown));
    }
  }
  return status_ok();
}

static heddle_status parse_domain(parser *p) {
  TRY(expect(p, "domain"));
  TRY(expect(p, ":"));
  do {
    TRY(parse_fact(p));
  } while (accept(p, ","));
  return status_ok();
}

// ---- The map

static void take_variables(indexing_variable *to, const variable_list *from, bool *is_empty) {
  for (int i = 0; i < from->size; ++i) {
    to[i] = from->data[i];
    *is_empty = *is_empty || interval_is_empty(to[i].bounds);
  }
}

static const indexing_map *build(parser *p) {
  indexing_map *m = indexing_map_create(p->arena, p->variables[0].size, p->variables[1].size, p->variables[2].size,
                                        p->results.size, p->constraints.size);
  take_variables(m->dims, &p->variables[0], &m->is_empty);
  take_variables(m->ranges, &p->variables[1], &m->is_empty);
  take_variables(m->rts, &p->variables[2], &m->is_empty);
  for (int i = 0; i < m->result_count; ++i) m->results[i] = p->results.data[i];
  for (int i = 0; i < m->constraint_count; ++i) m->constraints[i] = p->constraints.data[i];
  return m;
}

static heddle_status parse_results(parser *p) {
  TRY(expect(p, "->"));
  TRY(expect(p, "("));
  while (!at(p, ")")) {
    const affine_expr *e;
    if (p->results.size > 0) TRY(expect(p, ","));
    TRY(parse_sum(p, &e));
    vec_push(p->scratch, &p->results, e);
  }
  advance(p);
  return status_ok();
}

static heddle_status parse_map(parser *p, const indexing_map **out) {
  advance(p);
  if (accept(p, "KNOWN")) {
    TRY(expect(p, "EMPTY"));
    indexing_map *empty = indexing_map_create(p->arena, 0, 0, 0, 0, 0);
    empty->is_empty = true;
    *out = empty;
  } else {
    TRY(expect(p, "("));
    TRY(parse_variables(p, 0, ")"));
    if (accept(p, "[")) TRY(parse_variables(p, 1, "]"));
    if (accept(p, "{")) TRY(parse_variables(p, 2, "}"));
    TRY(parse_results(p));
    if (accept(p, ",")) TRY(parse_domain(p));
    TRY(check_bounded(p));
    *out = build(p);
  }
  return p->now.kind == TOKEN_END ? status_ok() : wanted(p, "the end of the map");
}

heddle_status indexing_map_parse(arena *a, str source, const indexing_map **out) {
  if (!source.data) source = STR("");
  parser p = {.arena = a, .scratch = arena_create(), .source = source};
  heddle_status status = parse_map(&p, out);
  arena_destroy(p.scratch);
  return status;
}
