// Takes tokens for the other files of the parser and records where and why a text is wrong.
//
// Diagnostics are collected while parsing goes on behind an error; the first ten become one heddle_status, in the order
// of the text, each with its source line and a caret.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/caret.h"
#include "hlo/parser.h"

void parser_start(parser *p, arena *a, arena *scratch, const char *file, str source) {
  source = str_copy(scratch, source);  // terminated, as strtod wants it
  *p = (parser){.arena = a,
                .scratch = scratch,
                .lexer = lexer_create(source),
                .file = file,
                .defaults = attributes_create(scratch),
                .elided_left = INT64_MAX};
  parser_advance(p);
}

void parser_advance(parser *p) {
  p->last_end = p->tok.end;
  p->tok = lexer_next(&p->lexer);
}

token parser_peek(const parser *p) {
  lexer copy = p->lexer;
  return lexer_next(&copy);
}

bool parser_take(parser *p, int kind) {
  if (p->tok.kind != kind) return false;
  parser_advance(p);
  return true;
}

bool parser_expect(parser *p, int kind, const char *wanted) { return parser_take(p, kind) || parser_found(p, wanted); }

bool parser_take_word(parser *p, const char *word) {
  if (p->tok.kind != TOKEN_WORD || !str_is(p->tok.text, word)) return false;
  parser_advance(p);
  return true;
}

bool parser_is_adjacent(const parser *p) { return p->tok.start == p->last_end; }

bool parser_is_name(const parser *p) {
  return p->tok.kind == TOKEN_WORD || p->tok.kind == TOKEN_NAME || p->tok.kind == TOKEN_NUMBER;
}

source_location parser_where(const parser *p, token at) { return (source_location){p->file, at.line, at.column}; }

bool parser_value_text(parser *p, str *out) {
  lexer at = p->lexer;
  at.at = p->tok.start;
  const char *problem;
  size_t end = lexer_value_end(&at, &problem);
  if (problem) {
    parser_error(p, p->tok, "found %s, wanted a value", problem);
    p->is_hopeless = true;
    return false;
  }
  if (end == p->tok.start) return parser_found(p, "a value");
  *out = (str){p->lexer.source.data + p->tok.start, end - p->tok.start};
  lexer_move(&p->lexer, end);
  p->tok.end = end;
  parser_advance(p);
  return true;
}

bool parser_int(parser *p, int64_t *out) {
  if (p->tok.kind == TOKEN_NUMBER && p->tok.text.size < 32) {
    char digits[32] = {0};
    memcpy(digits, p->tok.text.data, p->tok.text.size);
    char *end;
    errno = 0;
    long long value = strtoll(digits, &end, 10);
    if (*end == '\0' && end != digits) {
      if (errno == ERANGE) return parser_error(p, p->tok, "found %s, wanted an integer of 64 bits", digits);
      *out = value;
      parser_advance(p);
      return true;
    }
  }
  return parser_found(p, "an integer");
}

bool parser_stopped(const parser *p) {
  return p->error_count >= PARSER_MAX_ERRORS || p->is_hopeless || !status_is_ok(p->failure);
}

// A string or comment that swallows the rest of the text.
static bool is_bottomless(const parser *p, token t) {
  return t.kind == TOKEN_BAD && t.end == p->lexer.source.size && t.end > t.start + 1;
}

// A second complaint about the same place says nothing new.
static bool is_repeated(const parser *p, token at) {
  for (int i = 0; i < p->diagnostics.size; i++)
    if (p->diagnostics.data[i].offset == at.start) return true;
  return false;
}

bool parser_error(parser *p, token at, const char *format, ...) {
  if (parser_stopped(p) || is_repeated(p, at)) return false;
  text message = {0};
  va_list args;
  va_start(args, format);
  text_vprintf(&message, format, args);
  va_end(args);
  diagnostic d = {at.start, parser_where(p, at), arena_strdup(p->scratch, text_cstr(&message), message.size)};
  text_free(&message);
  vec_push(p->scratch, &p->diagnostics, d);
  p->error_count++;
  p->is_hopeless = is_bottomless(p, at);
  return false;
}

enum { SHOWN = 40 };  // of a token in a message

static const char *describe_byte(const parser *p, unsigned char byte) {
  bool is_printable = byte > ' ' && byte < 0x7f;
  return arena_printf(p->scratch, is_printable ? "the character '%c'" : "the byte 0x%02x", byte);
}

static const char *describe(const parser *p, token t) {
  int shown = t.text.size > SHOWN ? SHOWN : (int)t.text.size;
  const char *dots = t.text.size > SHOWN ? "..." : "";
  switch (t.kind) {
    case TOKEN_END: return "the end of the text";
    case TOKEN_BAD: return t.problem ? t.problem : describe_byte(p, (unsigned char)t.text.data[0]);
    case TOKEN_NAME: return arena_printf(p->scratch, "'%%%.*s%s'", shown, t.text.data, dots);
    case TOKEN_NUMBER: return arena_printf(p->scratch, "the number %.*s%s", shown, t.text.data, dots);
    case TOKEN_STRING: return "a string";
    default: return arena_printf(p->scratch, "'%.*s%s'", shown, t.text.data, dots);
  }
}

bool parser_found(parser *p, const char *wanted) {
  return parser_error(p, p->tok, "found %s, wanted %s", describe(p, p->tok), wanted);
}

bool parser_enter(parser *p) {
  if (p->depth < PARSER_MAX_DEPTH) {
    p->depth++;
    return true;
  }
  parser_error(p, p->tok, "found more than %d levels of nesting, wanted fewer", PARSER_MAX_DEPTH);
  p->is_hopeless = true;
  return false;
}

void parser_leave(parser *p) { p->depth--; }

// Edit distance, given up beyond 3: rows of the usual table.
static int distance(str l, str r) {
  enum { LONGEST = 48 };
  if (l.size > LONGEST || r.size > LONGEST) return LONGEST;
  int row[LONGEST + 1];
  for (size_t j = 0; j <= r.size; j++) row[j] = (int)j;
  for (size_t i = 1; i <= l.size; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= r.size; j++) {
      int cost = diagonal + (l.data[i - 1] != r.data[j - 1]);
      diagonal = row[j];
      if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
      if (row[j] + 1 < cost) cost = row[j] + 1;
      row[j] = cost;
    }
  }
  return row[r.size];
}

const char *parser_nearest(str word, int count, const char *(*name_at)(int)) {
  const char *best = NULL;
  int best_distance = word.size > 5 ? 4 : 3;  // a nearer one only
  for (int i = 0; i < count; i++) {
    int d = distance(word, str_from(name_at(i)));
    if (d >= best_distance) continue;
    best = name_at(i);
    best_distance = d;
  }
  return best;
}

static int by_offset(const void *l, const void *r) {
  size_t x = ((const diagnostic *)l)->offset, y = ((const diagnostic *)r)->offset;
  return (x > y) - (x < y);
}

heddle_status parser_status(parser *p) {
  if (!status_is_ok(p->failure)) return p->failure;
  if (!p->error_count) return status_ok();
  qsort(p->diagnostics.data, (size_t)p->diagnostics.size, sizeof *p->diagnostics.data, by_offset);
  heddle_status status = status_at(HEDDLE_INVALID, p->diagnostics.data[0].where, "%s", p->diagnostics.data[0].message);
  text more = {0};
  for (int i = 0; i < p->diagnostics.size; i++) {
    const diagnostic *d = &p->diagnostics.data[i];
    if (i) text_printf(&more, "%s:%d:%d: error: %s\n", d->where.file, d->where.line, d->where.column, d->message);
    caret_append(&more, caret_line_at(p->lexer.source, d->offset), d->where.column);
  }
  if (p->error_count == PARSER_MAX_ERRORS) text_printf(&more, "note: stopped after %d errors\n", PARSER_MAX_ERRORS);
  status = status_append(status, text_cstr(&more));
  text_free(&more);
  return status;
}
