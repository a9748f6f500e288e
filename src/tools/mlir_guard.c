// A walk over the tokens of the text. Four of MLIR's parsers take for granted what they did not check: that of
// scf.forall casts the last operation of its region, that of linalg.generic each of the iterator types, that of dense
// arrays the bytes of each element; and those of operations with regions keep an operand that is not defined yet, which
// is destroyed when the region defines it.
#include "tools/mlir_guard.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

// A region or another thing in braces: whether it is an scf.forall's, the last operation so far, and how many operands
// of the operations around it stand in front of it.
typedef struct region {
  bool is_forall;
  str last;
  size_t last_at;
  int operands;
} region;

typedef struct token {
  str text;
  size_t at;
} token;

// What stands between parentheses, and what in front of them.
typedef struct group {
  int first;
  str before;
} group;

typedef struct guard {
  str source;
  size_t at;
  bool opens_forall;
  VEC(region) regions;
  VEC(token) values;  // that operations around and so far use or define, without `#1` behind them
  str_map firsts;     // of a name, where it stands first in them, from 1 on
  int list;           // where the last values between commas begin that a `=` would define; -1: something else came
  bool list_is_used;  // its first value stands behind a `=`
  VEC(group) groups;
  group closed;  // the group that ended just now; first is -1 if none did
  str last;
} guard;

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

// How many operands of the operations around the region stand in front of it.
static int operands_around(const guard *g) {
  return g->regions.size > 0 ? g->regions.data[g->regions.size - 1].operands : 0;
}

static void cut_values(arena *a, guard *g, int size) {
  while (g->values.size > size) {
    const str name = g->values.data[--g->values.size].text;
    if ((intptr_t)str_map_get(&g->firsts, name) > g->values.size) str_map_put(a, &g->firsts, name, NULL);
  }
}

// Values from `first` on turned out to be defined.
static heddle_status define(arena *a, guard *g, int first) {
  for (int k = first; k < g->values.size; k++) {
    const intptr_t at = (intptr_t)str_map_get(&g->firsts, g->values.data[k].text);
    if (at > 0 && at <= operands_around(g))
      return refuse(g, g->values.data[k].at, "found a definition of what the operation around it takes");
  }
  cut_values(a, g, first);
  return status_ok();
}

static void add_value(arena *a, guard *g, token t) {
  const char *number = memchr(t.text.data, '#', t.text.size);
  if (number) t.text.size = (size_t)(number - t.text.data);
  vec_push(a, &g->values, t);
  if (!str_map_get(&g->firsts, t.text)) str_map_put(a, &g->firsts, t.text, (void *)(intptr_t)g->values.size);
}

// `(…) =`, `(…) in`, `^bb0(…):`, and `(…) {` behind other things than a word.
static bool defines_group(const group *closed, str behind) {
  if (closed->first < 0) return false;
  const char before = closed->before.size > 0 ? closed->before.data[0] : '\0';
  if (str_is(behind, ":")) return before == '^';
  return str_is(behind, "=") || str_is(behind, "in") || (str_is(behind, "{") && strchr(")]>", before));
}

// `%a, %b:2 =` defines, and so do groups. Of `(%a = %x, %b = %y)` it is %a and %b.
static heddle_status check_values(arena *a, guard *g, token t) {
  const group closed = g->closed;
  g->closed.first = -1;
  if (defines_group(&closed, t.text)) TRY(define(a, g, closed.first));
  else if (str_is(t.text, "=") && g->list >= 0) TRY(define(a, g, g->list));
  const char c = t.text.data[0];
  if (c == '%') {
    if (g->list < 0 || !str_is(g->last, ",") || g->list_is_used) g->list = g->values.size;
    g->list_is_used = str_is(g->last, "=");
    add_value(a, g, t);
  } else if (c != ',' && c != ':' && !(c >= '0' && c <= '9')) {
    g->list = -1;
  }
  if (c == '(') {
    const group opened = {g->values.size, g->last};
    vec_push(a, &g->groups, opened);
  }
  if (c == ')' && g->groups.size > 0) g->closed = g->groups.data[--g->groups.size];
  return status_ok();
}

static heddle_status close_region(arena *a, guard *g) {
  if (g->regions.size == 0) return status_ok();
  const region r = g->regions.data[--g->regions.size];
  cut_values(a, g, r.operands);
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

static void begin_operation(arena *a, guard *g, token t, str name) {
  g->opens_forall |= str_is(t.text, "scf.forall");
  cut_values(a, g, operands_around(g));
  if (g->regions.size == 0) return;
  g->regions.data[g->regions.size - 1].last = name;
  g->regions.data[g->regions.size - 1].last_at = t.at;
}

static heddle_status check_token(arena *a, guard *g, token t) {
  TRY(check_values(a, g, t));
  const bool is_generic = str_is(g->last, "(");
  g->last = t.text;
  if (str_is(t.text, "{")) {
    // The generic form reads operands behind regions.
    if (is_generic) cut_values(a, g, operands_around(g));
    const region r = {.is_forall = g->opens_forall, .operands = g->values.size};
    vec_push(a, &g->regions, r);
    g->opens_forall = false;
  }
  if (str_is(t.text, "}")) return close_region(a, g);
  if (str_is(t.text, "iterator_types")) return check_iterator_types(g);
  if (str_is(t.text, "array")) return check_bits(g);
  const str name = operation_name(g, t);
  if (is_operation(name)) begin_operation(a, g, t, name);
  return status_ok();
}

heddle_status mlir_guard_check(str source) {
  arena *a = arena_create();
  guard g = {.source = source, .list = -1, .closed = {.first = -1}};
  heddle_status s = status_ok();
  for (token t = next(&g); t.text.size > 0 && status_is_ok(s); t = next(&g)) s = check_token(a, &g, t);
  arena_destroy(a);
  return s;
}
