// One reader takes both spellings (MLIR dictionary and JSON), which differ only in the sign between name and value and
// in the types.
#include "hlo/call_attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static str trimmed(str s) {
  while (s.size && is_space(s.data[0])) s = (str){s.data + 1, s.size - 1};
  while (s.size && is_space(s.data[s.size - 1])) s.size--;
  return s;
}

static bool is_quoted(str s) { return s.size >= 2 && s.data[0] == '"' && s.data[s.size - 1] == '"'; }

static str unquoted(str s) { return is_quoted(s) ? (str){s.data + 1, s.size - 2} : s; }

// The end of the string that begins at `at`: behind its closing quote.
static size_t skip_string(str s, size_t at) {
  for (at++; at < s.size && s.data[at] != '"'; at++)
    if (s.data[at] == '\\') at++;
  return at < s.size ? at + 1 : s.size;
}

// The end of one entry of a dictionary: a comma or the closing bracket on its own level. `sign` becomes the place of
// the first = or : on that level, or the end.
static size_t skip_entry(str s, size_t at, size_t *sign) {
  int depth = 0;
  bool signed_yet = false;
  while (at < s.size) {
    const char c = s.data[at];
    if (c == '"') {
      at = skip_string(s, at);
      continue;
    }
    if (c == '{' || c == '[' || c == '(' || c == '<') depth++;
    else if ((c == '}' || c == ']' || c == ')' || c == '>') && depth-- == 0) break;
    else if (c == ',' && depth == 0) break;
    if ((c == '=' || c == ':') && depth == 0 && !signed_yet) {
      *sign = at;
      signed_yet = true;
    }
    at++;
  }
  if (!signed_yet) *sign = at;
  return at;
}

typedef struct entry {
  str name, value;  // the value's text, its type included
} entry;

// The entry behind place *at of a dictionary, which moves on; false at the end, and at what is no entry.
static bool next_entry(str s, size_t *at, entry *to) {
  if (*at >= s.size) return false;
  size_t sign = *at;
  const size_t begin = *at, end = skip_entry(s, begin, &sign);
  *at = end < s.size && s.data[end] == ',' ? end + 1 : s.size;
  if (sign >= end) {
    *to = (entry){0};
    return *at < s.size;
  }
  to->name = unquoted(trimmed((str){s.data + begin, sign - begin}));
  to->value = trimmed((str){s.data + sign + 1, end - sign - 1});
  return true;
}

// The dictionary without its opening bracket; empty if the text is none.
static str dictionary_of(str config) {
  const str s = trimmed(config);
  return s.size && s.data[0] == '{' ? (str){s.data + 1, s.size - 1} : (str){0};
}

static bool find(str config, const char *name, str *to) {
  const str s = dictionary_of(config);
  size_t at = 0;
  entry e;
  while (next_entry(s, &at, &e)) {
    if (!str_is(e.name, name)) continue;
    *to = e.value;
    return true;
  }
  return false;
}

// Without the ` : type` behind it.
static str without_type(str s) {
  if (s.size && s.data[0] == '"') return (str){s.data, skip_string(s, 0)};
  for (size_t k = 0; k < s.size; k++)
    if (s.data[k] == ':') return trimmed((str){s.data, k});
  return s;
}

// A number from the whole of a short text.
static bool number_of(str s, double *to) {
  char buffer[64], *end;
  if (!s.size || s.size >= sizeof buffer) return false;
  memcpy(buffer, s.data, s.size);
  buffer[s.size] = 0;
  *to = strtod(buffer, &end);
  return *end == 0;
}

// Numbers that only unsigned 64-bit integers have come as their bits.
static bool integer_of(str s, int64_t *to) {
  char buffer[64], *end;
  if (!s.size || s.size >= sizeof buffer) return false;
  memcpy(buffer, s.data, s.size);
  buffer[s.size] = 0;
  errno = 0;
  *to = buffer[0] == '-' ? (int64_t)strtoll(buffer, &end, 10) : (int64_t)strtoull(buffer, &end, 10);
  return *end == 0 && errno == 0;
}

// A value without its type, as an integer; true and false count.
static bool whole_of(str s, int64_t *to) {
  double number;
  if (str_is(s, "true") || str_is(s, "false")) *to = str_is(s, "true");
  else if (integer_of(s, to)) return true;
  else if (number_of(s, &number) && number > -0x1p62 && number < 0x1p62) *to = (int64_t)number;
  else return false;
  return true;
}

bool call_attribute_int(str config, const char *name, int64_t *to) {
  str s;
  int64_t whole;
  if (!find(config, name, &s)) return false;
  s = without_type(s);
  if (is_quoted(s) && s.size == 3) whole = (unsigned char)s.data[1];
  else if (!whole_of(unquoted(s), &whole)) return false;
  *to = whole;
  return true;
}

bool call_attribute_text(str config, const char *name, str *to) {
  str s;
  if (!find(config, name, &s)) return false;
  s = without_type(s);
  if (!is_quoted(s)) return false;
  *to = unquoted(s);
  return true;
}

bool call_attribute_number(str config, const char *name, double *to) {
  str s;
  int64_t whole;
  double number;
  if (!find(config, name, &s)) return false;
  s = unquoted(without_type(s));
  if (number_of(s, &number)) *to = number;
  else if (whole_of(s, &whole)) *to = (double)whole;
  else return false;
  return true;
}

bool call_attribute_dictionary(str config, const char *name, str *to) {
  str s;
  if (!find(config, name, &s) || !s.size || s.data[0] != '{') return false;
  *to = s;
  return true;
}

bool call_attribute_is_there(str config, const char *name) {
  str s;
  return find(config, name, &s);
}

// --- all of them

static bool begins_with(str s, const char *start) {
  const size_t n = strlen(start);
  return s.size >= n && memcmp(s.data, start, n) == 0;
}

// `[1, 2]`, `array<i64: 1, 2>`, `dense<[1, 2]> : tensor<2xi64>`, `dense<> : …`: what stands between the brackets.
static bool list_text(str s, str *to) {
  if (begins_with(s, "array<") || begins_with(s, "dense<")) {
    const bool is_array = s.data[0] == 'a';
    size_t end = 6;
    while (end < s.size && s.data[end] != '>') end++;
    if (end >= s.size) return false;
    s = trimmed((str){s.data + 6, end - 6});
    for (size_t k = 0; is_array && k < s.size; k++)
      if (s.data[k] == ':') {
        *to = trimmed((str){s.data + k + 1, s.size - k - 1});
        return true;
      }
    if (is_array || !s.size) {
      *to = (str){0};
      return true;
    }
  }
  if (s.size < 2 || s.data[0] != '[') return false;
  size_t end = 1;
  while (end < s.size && s.data[end] != ']') end++;
  if (end >= s.size) return false;
  *to = trimmed((str){s.data + 1, end - 1});
  return true;
}

static bool read_list(arena *a, str s, named_attribute *to) {
  VEC(int64_t) numbers = {0};
  str rest;
  if (!list_text(s, &rest)) return false;
  while (rest.size) {
    size_t end = 0;
    while (end < rest.size && rest.data[end] != ',') end++;
    int64_t number;
    if (!whole_of(unquoted(without_type(trimmed((str){rest.data, end}))), &number)) return false;
    vec_push(a, &numbers, number);
    rest = end < rest.size ? trimmed((str){rest.data + end + 1, rest.size - end - 1}) : (str){0};
  }
  to->kind = NAMED_INTS;
  to->count = numbers.size;
  to->ints = numbers.data;
  return true;
}

bool call_attribute_ints(arena *a, str config, const char *name, int *count, const int64_t **to) {
  str s;
  named_attribute made = {0};
  if (!find(config, name, &s) || !read_list(a, s, &made)) return false;
  *count = made.count;
  *to = made.ints;
  return true;
}

static named_attribute attribute_of(arena *a, const entry *e) {
  named_attribute made = {.name = arena_strdup(a, e->name.data, e->name.size), .kind = NAMED_TEXT};
  if (read_list(a, e->value, &made)) return made;
  const str s = without_type(e->value);
  int64_t whole;
  double number;
  if (is_quoted(s)) {
    made.text = arena_strdup(a, s.data + 1, s.size - 2);
  } else if (str_is(s, "true") || str_is(s, "false") || integer_of(s, &whole)) {
    if (!whole_of(s, &whole)) whole = 0;
    int64_t *one = arena_new(a, int64_t);
    *one = whole;
    made.kind = NAMED_INTS;
    made.count = 1;
    made.ints = one;
  } else if (number_of(s, &number)) {
    made.kind = NAMED_DOUBLE;
    made.number = number;
  } else {
    made.text = arena_strdup(a, e->value.data, e->value.size);
  }
  return made;
}

int call_attributes(arena *a, str config, const named_attribute **list) {
  VEC(named_attribute) all = {0};
  const str s = dictionary_of(config);
  size_t at = 0;
  entry e;
  while (next_entry(s, &at, &e)) {
    if (!e.name.size) continue;
    const named_attribute made = attribute_of(a, &e);
    vec_push(a, &all, made);
  }
  *list = all.data;
  return all.size;
}
