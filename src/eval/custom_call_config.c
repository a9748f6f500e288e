// Attributes of a custom call. They come as MLIR prints a dictionary (`{uplo = 76 : ui8, name = "x"}`) or as JSON
// (`{"uplo": 76}`); one reader takes both, since they differ in the sign between name and value and in the types.
#include <errno.h>
#include <stdlib.h>

#include "eval/custom_call.h"

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

// The value's text, its type included.
static bool find(const instruction *i, const char *name, str *to) {
  const str s = trimmed(i->attributes->backend_config);
  if (!s.size || s.data[0] != '{') return false;
  size_t at = 1;
  while (at < s.size) {
    size_t sign = at;
    const size_t end = skip_entry(s, at, &sign);
    if (sign < end && str_is(unquoted(trimmed((str){s.data + at, sign - at})), name)) {
      *to = trimmed((str){s.data + sign + 1, end - sign - 1});
      return true;
    }
    if (end >= s.size || s.data[end] != ',') return false;
    at = end + 1;
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

bool custom_call_int(const instruction *i, const char *name, int64_t *to) {
  str s;
  double number;
  int64_t integer;
  if (!find(i, name, &s)) return false;
  s = without_type(s);
  if (str_is(s, "true") || str_is(s, "false")) *to = str_is(s, "true");
  else if (is_quoted(s) && s.size == 3) *to = (unsigned char)s.data[1];
  else if (integer_of(unquoted(s), &integer)) *to = integer;
  else if (number_of(unquoted(s), &number) && number > -0x1p62 && number < 0x1p62) *to = (int64_t)number;
  else return false;
  return true;
}

bool custom_call_double(const instruction *i, const char *name, double *to) {
  str s;
  return find(i, name, &s) && number_of(unquoted(without_type(s)), to);
}

bool custom_call_text(const instruction *i, const char *name, str *to) {
  str s;
  if (!find(i, name, &s)) return false;
  s = without_type(s);
  if (!is_quoted(s)) return false;
  *to = unquoted(s);
  return true;
}
