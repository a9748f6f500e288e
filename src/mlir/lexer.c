// Tokens of MLIR text: what the parser takes them with, and how it says where and why a text is wrong.
//
// There is no token list: the parser holds one token and may go back to any offset, which forms whose type stands
// behind the value need. `2x3xf32` is not for this file: the parser of types reads dims by character.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/caret.h"
#include "mlir/parser.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static int hex_value(char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

static char at(const mlir_parser *p, size_t i) { return i < p->limit ? p->source.data[i] : '\0'; }

static size_t skip_space(const mlir_parser *p, size_t i) {
  while (i < p->limit) {
    char c = p->source.data[i];
    if (c == '/' && at(p, i + 1) == '/') {
      const char *newline = memchr(p->source.data + i, '\n', p->limit - i);
      i = newline ? (size_t)(newline - p->source.data) : p->limit;
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      break;
    } else {
      i++;
    }
  }
  return i;
}

static size_t skip_digits(const mlir_parser *p, size_t i) {
  while (is_digit(at(p, i))) i++;
  return i;
}

// 12, 0x1F, 1.5, 1.5e+3. As in MLIR an exponent needs a point before it.
static size_t lex_number(mlir_parser *p, size_t i) {
  p->kind = MLIR_INTEGER;
  if (at(p, i) == '0' && at(p, i + 1) == 'x' && is_hex(at(p, i + 2))) {
    for (i += 2; is_hex(at(p, i));) i++;
    return i;
  }
  i = skip_digits(p, i);
  if (at(p, i) != '.') return i;
  p->kind = MLIR_FLOAT;
  i = skip_digits(p, i + 1);
  if (at(p, i) != 'e' && at(p, i) != 'E') return i;
  size_t exponent = i + 1;
  if (at(p, exponent) == '+' || at(p, exponent) == '-') exponent++;
  return is_digit(at(p, exponent)) ? skip_digits(p, exponent) : i;
}

// Behind the closing quote; 0 if there is none on the line.
static size_t string_end(const mlir_parser *p, size_t i) {
  for (i++; i < p->limit; i++) {
    char c = p->source.data[i];
    if (c == '"') return i + 1;
    if (c == '\n') return 0;
    if (c == '\\') i++;
  }
  return 0;
}

static size_t lex_string(mlir_parser *p, size_t i) {
  size_t end = string_end(p, i);
  p->kind = end ? MLIR_STRING : MLIR_ERROR;
  p->problem = "a string without its closing quote";
  return end ? end : i + 1;
}

// Digits, or a name with `-` and `.` in it, as stands behind % ^ # ! @. A `-` that starts an arrow ends the name.
static size_t suffix_end(const mlir_parser *p, size_t i) {
  if (is_digit(at(p, i))) return skip_digits(p, i);
  for (char c; c = at(p, i), is_letter(c) || is_digit(c) || c == '$' || c == '.' || c == '-'; i++)
    if (c == '-' && at(p, i + 1) == '>') break;
  return i;
}

static size_t lex_prefixed(mlir_parser *p, size_t i, mlir_token kind) {
  size_t end = suffix_end(p, i + 1);
  if (kind == MLIR_SYMBOL && at(p, i + 1) == '"') {
    end = lex_string(p, i + 1);
    if (p->kind == MLIR_ERROR) return end;
  }
  p->kind = end > i + 1 ? kind : MLIR_ERROR;
  p->problem = "a mark without a name";
  if (kind != MLIR_VALUE || at(p, end) != '#') return end;
  size_t number_end = skip_digits(p, end + 1);
  return number_end > end + 1 ? number_end : end;
}

static size_t lex_word(mlir_parser *p, size_t i) {
  p->kind = MLIR_WORD;
  for (char c; c = at(p, i), is_letter(c) || is_digit(c) || c == '$' || c == '.';) i++;
  return i;
}

static size_t lex_punctuation(mlir_parser *p, size_t i) {
  char c = at(p, i), next = at(p, i + 1);
  p->kind = MLIR_PUNCTUATION;
  if (c == '-' && next == '>') {
    p->kind = MLIR_ARROW;
    return i + 2;
  }
  if (c == ':' && next == ':') return i + 2;
  if (c == '\0' || !strchr("(){}[]<>,:=?*+-/|.", c)) {
    p->kind = MLIR_ERROR;
    p->problem = NULL;
  }
  return i + 1;
}

static size_t lex(mlir_parser *p, size_t i) {
  char c = p->source.data[i];
  if (is_letter(c)) return lex_word(p, i);
  if (is_digit(c)) return lex_number(p, i);
  switch (c) {
    case '%': return lex_prefixed(p, i, MLIR_VALUE);
    case '@': return lex_prefixed(p, i, MLIR_SYMBOL);
    case '^': return lex_prefixed(p, i, MLIR_BLOCK);
    case '#': return lex_prefixed(p, i, MLIR_HASH);
    case '!': return lex_prefixed(p, i, MLIR_BANG);
    case '"': return lex_string(p, i);
    default: return lex_punctuation(p, i);
  }
}

void mlir_move(mlir_parser *p, size_t offset) {
  size_t start = skip_space(p, offset), end = start;
  p->kind = MLIR_END;
  if (start < p->limit) end = lex(p, start);
  p->tok_offset = start;
  p->tok = (str){p->source.data + start, end - start};
  p->position = end;
}

void mlir_advance(mlir_parser *p) {
  p->last_end = p->position;
  mlir_move(p, p->position);
}

bool mlir_at(const mlir_parser *p, const char *text) {
  bool is_word = p->kind == MLIR_WORD || p->kind == MLIR_PUNCTUATION || p->kind == MLIR_ARROW;
  return is_word && str_is(p->tok, text);
}

bool mlir_take(mlir_parser *p, const char *text) {
  if (!mlir_at(p, text)) return false;
  mlir_advance(p);
  return true;
}

bool mlir_expect(mlir_parser *p, const char *text) {
  return mlir_take(p, text) || mlir_found(p, arena_printf(p->scratch, "'%s'", text));
}

bool mlir_take_word(mlir_parser *p, str *out) {
  if (p->kind != MLIR_WORD) return mlir_found(p, "a word");
  *out = p->tok;
  mlir_advance(p);
  return true;
}

// --- numbers

bool mlir_magnitude(mlir_parser *p, uint64_t *out) {
  uint64_t value = 0;
  if (p->kind != MLIR_INTEGER) return mlir_found(p, "an integer");
  bool is_hexadecimal = p->tok.size > 2 && p->tok.data[1] == 'x';
  unsigned base = is_hexadecimal ? 16 : 10;
  for (size_t i = is_hexadecimal ? 2 : 0; i < p->tok.size; i++) {
    unsigned digit = (unsigned)hex_value(p->tok.data[i]);
    if (value > (UINT64_MAX - digit) / base) return mlir_found(p, "an integer of at most 64 bits");
    value = value * base + digit;
  }
  *out = value;
  mlir_advance(p);
  return true;
}

bool mlir_integer(mlir_parser *p, int64_t *out) {
  uint64_t magnitude = 0;
  size_t offset = p->tok_offset;
  bool is_negative = mlir_take(p, "-");
  if (!mlir_magnitude(p, &magnitude)) return false;
  if (magnitude > (uint64_t)INT64_MAX + is_negative)
    return mlir_error(p, offset, "found %s%" PRIu64 ", wanted an integer of 64 bits", is_negative ? "-" : "",
                      magnitude);
  *out = (int64_t)(is_negative ? 0 - magnitude : magnitude);
  return true;
}

// strtod wants a terminated text. Digits behind the buffer's end could not change the value much, but they may change
// it: such numbers are refused.
static bool decimal(mlir_parser *p, double *out) {
  char digits[512];
  if (p->tok.size >= sizeof digits) return mlir_found(p, "a number of less than 512 characters");
  memcpy(digits, p->tok.data, p->tok.size);
  digits[p->tok.size] = '\0';
  *out = strtod(digits, NULL);
  mlir_advance(p);
  return true;
}

bool mlir_number(mlir_parser *p, double *out) {
  bool is_negative = mlir_take(p, "-");
  if (p->kind != MLIR_FLOAT && p->kind != MLIR_INTEGER) return mlir_found(p, "a number");
  if (!decimal(p, out)) return false;
  if (is_negative) *out = -*out;
  return true;
}

// --- strings and symbols

// One character from behind a backslash; `at` ends up at its last byte.
static char escaped(str s, size_t *at) {
  char c = s.data[*at];
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (is_hex(c) && *at + 1 < s.size && is_hex(s.data[*at + 1])) {
    *at += 1;
    return (char)(hex_value(c) * 16 + hex_value(s.data[*at]));
  }
  return c;
}

// What stands between the quotes, its escapes replaced; in the arena.
static str unescape(arena *a, str quoted) {
  str s = {quoted.data + 1, quoted.size - 2};
  char *data = arena_alloc(a, s.size + 1);
  size_t size = 0;
  for (size_t i = 0; i < s.size; i++) {
    char c = s.data[i];
    if (c == '\\' && i + 1 < s.size) {
      i++;
      c = escaped(s, &i);
    }
    data[size++] = c;
  }
  return (str){data, size};
}

bool mlir_string(mlir_parser *p, str *out) {
  if (p->kind != MLIR_STRING) return mlir_found(p, "a string");
  *out = unescape(p->arena, p->tok);
  mlir_advance(p);
  return true;
}

static str symbol_name(mlir_parser *p) {
  str name = {p->tok.data + 1, p->tok.size - 1};
  return name.data[0] == '"' ? unescape(p->arena, name) : str_copy(p->arena, name);
}

bool mlir_symbol(mlir_parser *p, str *out) {
  text joined = {0};
  if (p->kind != MLIR_SYMBOL) return mlir_found(p, "a symbol such as @main");
  *out = symbol_name(p);
  mlir_advance(p);
  if (!mlir_at(p, "::")) return true;
  text_append(&joined, *out);
  while (mlir_take(p, "::") && p->kind == MLIR_SYMBOL) {
    text_puts(&joined, "::");
    text_append(&joined, symbol_name(p));
    mlir_advance(p);
  }
  *out = str_copy(p->arena, text_view(&joined));
  text_free(&joined);
  return true;
}

static char counterpart(char c) {
  switch (c) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    case '<': return '>';
    default: return '\0';
  }
}

// The brackets that are open.
typedef struct bracket_stack {
  int depth;
  char closing[IR_MAX_DEPTH];
} bracket_stack;

// One character that is in no string. `->` closes nothing.
static bool follow_bracket(mlir_parser *p, bracket_stack *s, size_t i) {
  char c = at(p, i), closing = counterpart(c);
  if (closing) {
    if (s->depth == IR_MAX_DEPTH) return mlir_error(p, i, "found brackets nested deeper than %d levels", IR_MAX_DEPTH);
    s->closing[s->depth++] = closing;
    return true;
  }
  if (c == '\0' || !strchr(")]}>", c) || (c == '>' && at(p, i - 1) == '-')) return true;
  s->depth--;
  return c == s->closing[s->depth] || mlir_error(p, i, "found '%c', wanted '%c'", c, s->closing[s->depth]);
}

bool mlir_balanced(mlir_parser *p, str *out) {
  bracket_stack s = {0};
  size_t start = p->tok_offset, i = start;
  *out = (str){0};
  if (p->tok.size != 1 || !counterpart(p->tok.data[0])) return mlir_found(p, "an opening bracket");
  do {
    if (i >= p->limit) return mlir_error(p, start, "found a bracket that is not closed");
    if (at(p, i) == '"') {
      size_t end = string_end(p, i);
      if (!end) return mlir_error(p, i, "found a string without its closing quote");
      i = end;
    } else {
      if (!follow_bracket(p, &s, i)) return false;
      i++;
    }
  } while (s.depth > 0);
  const char *nul = memchr(p->source.data + start, '\0', i - start);
  if (nul) return mlir_error(p, (size_t)(nul - p->source.data), "found a NUL byte in brackets that are kept as text");
  *out = (str){p->source.data + start, i - start};
  mlir_move(p, i);
  p->last_end = i;
  return true;
}

// --- errors

source_location mlir_where(const mlir_parser *p, size_t offset) {
  int low = 0, high = p->line_starts.size;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (p->line_starts.data[middle] <= offset) low = middle;
    else high = middle;
  }
  size_t start = p->line_starts.size ? p->line_starts.data[low] : 0;
  return (source_location){p->file, low + 1, (int)(offset - start) + 1};
}

bool mlir_error(mlir_parser *p, size_t offset, const char *format, ...) {
  if (!status_is_ok(p->status)) return false;
  text message = {0}, caret = {0};
  source_location where = mlir_where(p, offset);
  va_list args;
  va_start(args, format);
  text_vprintf(&message, format, args);
  va_end(args);
  caret_append(&caret, caret_line_at(p->source, offset), where.column);
  p->status = status_append(status_at(HEDDLE_INVALID, where, "%s", text_cstr(&message)), text_cstr(&caret));
  text_free(&message);
  text_free(&caret);
  return false;
}

bool mlir_found(mlir_parser *p, const char *wanted) {
  enum { SHOWN = 40 };
  int size = p->tok.size > SHOWN ? SHOWN : (int)p->tok.size;
  if (p->kind == MLIR_END) return mlir_error(p, p->tok_offset, "found the end of the text, wanted %s", wanted);
  if (p->kind == MLIR_ERROR && p->problem) return mlir_error(p, p->tok_offset, "found %s", p->problem);
  return mlir_error(p, p->tok_offset, "found '%.*s%s', wanted %s", size, p->tok.data, p->tok.size > SHOWN ? "..." : "",
                    wanted);
}

bool mlir_enter(mlir_parser *p) {
  if (p->depth >= IR_MAX_DEPTH)
    return mlir_error(p, p->tok_offset, "found more than %d levels of nesting", IR_MAX_DEPTH);
  p->depth++;
  return true;
}

void mlir_leave(mlir_parser *p) { p->depth--; }
