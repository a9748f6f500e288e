// A walk over the tokens of the text. Three of MLIR's parsers take for granted what they did not check: that of
// scf.forall casts the last operation of its region, that of linalg.generic each of the iterator types, that of dense
// arrays the bytes of each element.
#include "tools/mlir_guard.h"

#include "base/arena.h"
#include "base/vec.h"

// A region or another thing in braces: whether it is an scf.forall's, and the last operation so far.
typedef struct region {
  bool is_forall;
  str last;
  size_t last_at;
} region;

typedef struct guard {
  str source;
  size_t at;
  bool opens_forall;
  VEC(region) regions;
} guard;

typedef struct token {
  str text;
  size_t at;
} token;

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.$%@#!^", c));
}

static char peek(const guard *g) { return g->at < g->source.size ? g->source.data[g->at] : '\0'; }

static void skip_space(guard *g) {
  while (g->at < g->source.size) {
    if (g->source.data[g->at] == '/' && g->at + 1 < g->source.size && g->source.data[g->at + 1] == '/') {
      while (g->at < g->source.size && g->source.data[g->at] != '\n') g->at++;
    } else if (peek(g) && strchr(" \t\r\n", peek(g))) {
      g->at++;
    } else {
      return;
    }
  }
}

// A word, a string with its quotes, or one character; empty at the end.
static token next(guard *g) {
  skip_space(g);
  token t = {.at = g->at};
  if (peek(g) == '"') {
    g->at++;
    while (g->at < g->source.size && g->source.data[g->at] != '"' && g->source.data[g->at] != '\n')
      g->at += g->source.data[g->at] == '\\' ? 2 : 1;
    g->at = g->at < g->source.size ? g->at + 1 : g->source.size;
  } else if (is_word(peek(g))) {
    while (g->at < g->source.size && is_word(g->source.data[g->at])) g->at++;
  } else if (g->at < g->source.size) {
    g->at++;
  }
  t.text = (str){g->source.data + t.at, g->at - t.at};
  return t;
}

static heddle_status refuse(const guard *g, size_t at, const char *what) {
  source_location where = {.line = 1, .column = 1};
  for (size_t k = 0; k < at; k++) {
    where.column++;
    if (g->source.data[k] != '\n') continue;
    where.line++;
    where.column = 1;
  }
  return status_error(HEDDLE_INVALID, "cannot parse the module: %s at loc(\"-\":%d:%d)", what, (int)where.line,
                      (int)where.column);
}

// --- lists

// Behind `iterator_types`: `= [ … ]`.
static heddle_status check_iterator_types(guard *g) {
  if (!str_is(next(g).text, "=") || !str_is(next(g).text, "[")) return status_ok();
  for (token t = next(g); t.text.size > 0 && !str_is(t.text, "]"); t = next(g)) {
    const bool is_attribute = str_is(t.text, "#linalg.iterator_type");
    if (!is_attribute && t.text.data[0] != '"')
      return refuse(g, t.at, "found another thing, wanted \"parallel\", \"reduction\" or \"window\"");
    if (is_attribute)
      for (; t.text.size > 0 && !str_is(t.text, ">");) t = next(g);
    skip_space(g);
    if (peek(g) == ',') g->at++;
  }
  return status_ok();
}

// Behind `array`: `<i1: …>`.
static heddle_status check_bits(guard *g) {
  guard ahead = *g;
  if (!str_is(next(&ahead).text, "<") || !str_is(next(&ahead).text, "i1") || !str_is(next(&ahead).text, ":"))
    return status_ok();
  for (token t = next(&ahead); t.text.size > 0 && !str_is(t.text, ">"); t = next(&ahead))
    if (!str_is(t.text, "true") && !str_is(t.text, "false") && !str_is(t.text, ","))
      return refuse(g, t.at, "found a number in an array of i1, wanted true or false");
  return status_ok();
}

// --- regions

static bool is_terminator(str op) {
  static const char *const names[] = {"yield",     "return", "br",          "cond_br",
                                      "condition", "reduce", "unreachable", "switch"};
  const char *dot = NULL;
  bool any = false;
  for (size_t k = 0; k < op.size; k++)
    if (op.data[k] == '.') dot = op.data + k + 1;
  const str last = dot ? (str){dot, (size_t)(op.data + op.size - dot)} : op;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) any |= str_is(last, names[k]);
  return any;
}

static heddle_status close_region(guard *g) {
  if (g->regions.size == 0) return status_ok();
  const region r = g->regions.data[--g->regions.size];
  if (!r.is_forall || !is_terminator(r.last)) return status_ok();
  return refuse(g, r.last_at, "found another terminator of an scf.forall, wanted scf.forall.in_parallel");
}

// The name of an operation in its generic form stands in quotes before its operands.
static str operation_name(guard *g, token t) {
  if (t.text.data[0] != '"') return t.text;
  skip_space(g);
  const bool is_name = peek(g) == '(' && t.text.size > 2;
  return is_name ? (str){t.text.data + 1, t.text.size - 2} : (str){0};
}

static bool is_operation(str name) {
  bool has_dot = str_is(name, "return");
  for (size_t k = 1; k < name.size; k++) has_dot |= name.data[k] == '.';
  return has_dot && (name.data[0] >= 'a' && name.data[0] <= 'z');
}

static heddle_status check_token(arena *a, guard *g, token t) {
  if (str_is(t.text, "{")) {
    const region r = {.is_forall = g->opens_forall};
    vec_push(a, &g->regions, r);
    g->opens_forall = false;
  }
  if (str_is(t.text, "}")) return close_region(g);
  if (str_is(t.text, "iterator_types")) return check_iterator_types(g);
  if (str_is(t.text, "array")) return check_bits(g);
  const str name = operation_name(g, t);
  if (!is_operation(name)) return status_ok();
  g->opens_forall |= str_is(t.text, "scf.forall");
  if (g->regions.size > 0) {
    g->regions.data[g->regions.size - 1].last = name;
    g->regions.data[g->regions.size - 1].last_at = t.at;
  }
  return status_ok();
}

heddle_status mlir_guard_check(str source) {
  arena *a = arena_create();
  guard g = {.source = source};
  heddle_status s = status_ok();
  for (token t = next(&g); t.text.size > 0 && status_is_ok(s); t = next(&g)) s = check_token(a, &g, t);
  arena_destroy(a);
  return s;
}
