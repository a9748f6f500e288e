// Tokens of HLO text.
//
// The grammar's words are looser than most languages': `a-b.2` is one name, `1e-5` one number, `%0.5` a name, and
// values such as `0_1x2_3` or `b01f_01io->b01f` are no tokens at all but are read as text where the parser expects
// them.
#include "hlo/lexer.h"

lexer lexer_create(str source) { return (lexer){.source = source, .line = 1}; }

static char char_at(const lexer *l, size_t i) { return i < l->source.size ? l->source.data[i] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

void lexer_move(lexer *l, size_t offset) {
  while (l->at < offset) {
    const char *newline = memchr(l->source.data + l->at, '\n', offset - l->at);
    if (!newline) break;
    l->at = (size_t)(newline - l->source.data) + 1;
    l->line++;
    l->line_start = l->at;
  }
  l->at = offset;
}

static bool starts_with(const lexer *l, size_t at, const char *prefix) {
  size_t n = strlen(prefix);
  return l->source.size - at >= n && memcmp(l->source.data + at, prefix, n) == 0;
}

// Offset just behind the comment that starts at `at`; 0 if it never ends. A line comment ends before its newline.
static size_t comment_end(const lexer *l, size_t at) {
  const char *data = l->source.data;
  if (data[at + 1] == '/') {
    while (at < l->source.size && data[at] != '\n' && data[at] != '\r') at++;
    return at;
  }
  const char *found = memmem(data + at + 2, l->source.size - at - 2, "*/", 2);
  return found ? (size_t)(found - data) + 2 : 0;
}

// White space and comments. False if a comment is not terminated; then l->at is its start.
static bool skip_blank(lexer *l) {
  for (;;) {
    size_t at = l->at;
    while (at < l->source.size && is_blank(l->source.data[at])) at++;
    lexer_move(l, at);
    if (!starts_with(l, at, "/*") && !starts_with(l, at, "//")) return true;
    size_t end = comment_end(l, at);
    if (!end) return false;
    lexer_move(l, end);
  }
}

// Three dots end a word, which they elide something behind, and are letters of a `%name`.
static size_t name_end(const lexer *l, size_t at, bool is_word) {
  for (;; at++) {
    char c = char_at(l, at);
    if (!is_letter(c) && !is_digit(c) && c != '.' && c != '-') return at;
    if (c == '-' && char_at(l, at + 1) == '>') return at;
    if (is_word && c == '.' && starts_with(l, at, "...")) return at;
  }
}

// A number runs over letters and digits; a sign belongs to it only behind its exponent mark.
static size_t number_end(const lexer *l, size_t at) {
  bool is_hex = char_at(l, at) == '0' && (char_at(l, at + 1) | 0x20) == 'x';
  for (;; at++) {
    char c = char_at(l, at);
    char mark = (char)(char_at(l, at - 1) | 0x20);
    bool is_exponent_sign = (c == '+' || c == '-') && mark == (is_hex ? 'p' : 'e');
    if (!is_letter(c) && !is_digit(c) && c != '.' && !is_exponent_sign) return at;
    if (c == '.' && starts_with(l, at, "...")) return at;
  }
}

static bool starts_number(const lexer *l, size_t at) {
  char c = char_at(l, at), next = char_at(l, at + 1);
  if (is_digit(c)) return true;
  if (c == '.') return is_digit(next);
  if (c != '-' && c != '+') return false;
  return is_digit(next) || next == '.' || starts_with(l, at + 1, "inf") || starts_with(l, at + 1, "nan");
}

// Offset of the closing quote of the string whose opening one is at `at`; 0 if there is none.
static size_t string_end(const lexer *l, size_t at) {
  for (size_t i = at + 1; i < l->source.size; i++) {
    char c = l->source.data[i];
    if (c == '\\') i++;
    if (c == '"') return i;
  }
  return 0;
}

static void lex_symbol(const lexer *l, token *t) {
  char c = char_at(l, t->start);
  t->end = t->start + 1;
  t->kind = (unsigned char)c;
  if (starts_with(l, t->start, "->")) t->kind = TOKEN_ARROW;
  if (starts_with(l, t->start, "<=")) t->kind = TOKEN_AT_MOST;
  if (t->kind == TOKEN_ARROW || t->kind == TOKEN_AT_MOST) {
    t->end = t->start + 2;
  } else if (starts_with(l, t->start, "...")) {
    t->kind = TOKEN_ELLIPSIS;
    t->end = t->start + 3;
  } else if (!strchr("=,:(){}[]*?", c) || c == '\0') {
    t->kind = TOKEN_BAD;
  }
}

static void lex_string(const lexer *l, token *t) {
  size_t end = string_end(l, t->start);
  if (end) {
    t->kind = TOKEN_STRING;
    t->end = end + 1;
  } else {
    t->kind = TOKEN_BAD;
    t->end = l->source.size;
    t->problem = "a string that never ends";
  }
}

static void lex_token(const lexer *l, token *t) {
  char c = char_at(l, t->start);
  if (is_letter(c)) {
    t->kind = TOKEN_WORD;
    t->end = name_end(l, t->start, true);
  } else if (starts_number(l, t->start)) {
    t->kind = TOKEN_NUMBER;
    t->end = number_end(l, t->start + (c == '-' || c == '+'));
  } else if (c == '"') {
    lex_string(l, t);
  } else if (c == '%' && name_end(l, t->start + 1, false) > t->start + 1) {
    t->kind = TOKEN_NAME;
    t->end = name_end(l, t->start + 1, false);
  } else {
    lex_symbol(l, t);
  }
  size_t before = t->kind == TOKEN_NAME || t->kind == TOKEN_STRING, after = t->kind == TOKEN_STRING;
  t->text = (str){l->source.data + t->start + before, t->end - t->start - before - after};
}

token lexer_next(lexer *l) {
  bool is_blank_closed = skip_blank(l);
  token t = {.kind = TOKEN_END, .start = l->at, .end = l->at, .line = l->line};
  t.column = (int)(l->at - l->line_start) + 1;
  if (!is_blank_closed) {
    t.kind = TOKEN_BAD;
    t.problem = "a comment that never ends";
    t.end = l->source.size;
  } else if (l->at < l->source.size) {
    lex_token(l, &t);
  }
  lexer_move(l, t.end);
  return t;
}

size_t lexer_value_end(const lexer *l, const char **problem) {
  size_t depth = 0;
  *problem = NULL;
  for (size_t i = l->at; i < l->source.size; i++) {
    char c = l->source.data[i];
    if (c == '"') {
      i = string_end(l, i);
      if (!i) {
        *problem = "a string that never ends";
        return l->source.size;
      }
    } else if (starts_with(l, i, "/*")) {
      size_t end = comment_end(l, i);
      if (!end) {
        *problem = "a comment that never ends";
        return l->source.size;
      }
      i = end - 1;
    } else if (c == '{' || c == '[' || c == '(') {
      depth++;
    } else if (c == '}' || c == ']' || c == ')') {
      if (!depth) return i;
      depth--;
    } else if (!depth && (c == ',' || is_blank(c))) {
      return i;
    }
  }
  if (depth) *problem = "a bracket that is never closed";
  return l->source.size;
}

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Resolves the escape whose backslash is at *i; *i moves to its last character.
static char escape_at(str text, size_t *i) {
  if (*i + 1 >= text.size) return '\\';
  char c = text.data[++*i];
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == 'r') return '\r';
  if (c == 'x') {
    int value = 0, digits = 0;
    for (; digits < 2 && *i + 1 < text.size && hex_digit(text.data[*i + 1]) >= 0; digits++)
      value = value * 16 + hex_digit(text.data[++*i]);
    return digits ? (char)value : c;
  }
  if (c >= '0' && c <= '7') {
    int value = c - '0';
    for (int digits = 1; digits < 3 && *i + 1 < text.size && text.data[*i + 1] >= '0' && text.data[*i + 1] <= '7';
         digits++)
      value = value * 8 + (text.data[++*i] - '0');
    return (char)value;
  }
  return c;
}

str lexer_unescape(arena *a, str text) {
  if (!memchr(text.data, '\\', text.size)) return str_copy(a, text);
  char *out = arena_alloc(a, text.size + 1);
  size_t size = 0;
  for (size_t i = 0; i < text.size; i++) out[size++] = text.data[i] == '\\' ? escape_at(text, &i) : text.data[i];
  return (str){out, size};
}
