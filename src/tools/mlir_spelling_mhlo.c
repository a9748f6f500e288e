// Which forms there are is known to the reader of StableHLO (src/mlir), which takes MHLO's names; here it is given one
// operation at a time. What stands between quotes is generic already.
#include "tools/mlir_spelling_mhlo.h"

#include "mlir/statements.h"
#include "tile/mhlo_text.h"
#include "tools/mlir_spelling_lines.h"

typedef struct speller {
  const char *file;
  str source;
  size_t at;
  text *out;
  arena *arena;
  mlir_statements *statements;  // null before the first operation
  int count;                    // of operations so far
} speller;

static const char prefix[] = "mhlo.";

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.$-", c));
}

static char at(const speller *s, size_t k) { return k < s->source.size ? s->source.data[k] : '\0'; }

static void copy_until(speller *s, size_t end) {
  text_append(s->out, (str){s->source.data + s->at, end - s->at});
  s->at = end;
}

static void copy_comment(speller *s) {
  size_t end = s->at;
  while (end < s->source.size && at(s, end) != '\n') end++;
  copy_until(s, end);
}

static void copy_string(speller *s) {
  size_t end = s->at + 1;
  while (end < s->source.size && at(s, end) != '"' && at(s, end) != '\n') end += at(s, end) == '\\' ? 2 : 1;
  copy_until(s, end + 1 < s->source.size ? end + 1 : s->source.size);
}

// The first character behind the word and the blanks behind it.
static char follower(const speller *s, size_t end) {
  while (at(s, end) == ' ' || at(s, end) == '\t') end++;
  return at(s, end);
}

static heddle_status spell_operation(speller *s) {
  const size_t start = s->at, out_start = s->out->size;
  const char *inner = arena_printf(s->arena, "mhlo_%d_", s->count++);
  text generic = {0};
  if (!s->statements) s->statements = mlir_statements_open(s->arena, s->file, s->source);
  const heddle_status status = mlir_statements_generic(s->statements, s->at, inner, &generic, &s->at);
  if (status_is_ok(status)) {
    mhlo_text_rename(text_view(&generic), s->out);
    mlir_spelling_lines_keep((str){s->source.data + start, s->at - start}, s->out, out_start);
  }
  text_free(&generic);
  return status;
}

// An attribute of a function or a module may have such a name, too.
static heddle_status spell_word(speller *s) {
  size_t end = s->at;
  while (is_word(at(s, end))) end++;
  const bool begins = str_starts_with((str){s->source.data + s->at, end - s->at}, prefix);
  const char next = follower(s, end);
  if (begins && next && !strchr("=,}", next)) return spell_operation(s);
  copy_until(s, end);
  return status_ok();
}

static heddle_status read_all(speller *s) {
  while (s->at < s->source.size) {
    const char c = at(s, s->at);
    if (c == '/' && at(s, s->at + 1) == '/') {
      copy_comment(s);
    } else if (c == '"') {
      copy_string(s);
    } else if (strchr("%@#!^", c) && c) {
      s->at++;
      text_putc(s->out, c);
      size_t end = s->at;
      while (is_word(at(s, end))) end++;
      copy_until(s, end);
    } else if (is_word(c)) {
      TRY(spell_word(s));
    } else {
      copy_until(s, s->at + 1);
    }
  }
  return status_ok();
}

heddle_status mlir_spelling_mhlo_read(const char *file, str source, text *out) {
  speller s = {.file = file, .source = source, .out = out, .arena = arena_create()};
  const heddle_status status = read_all(&s);
  arena_destroy(s.arena);
  return status;
}
