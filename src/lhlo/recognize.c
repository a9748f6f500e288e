// Tells LHLO from other MLIR text without parsing it: by operations and attributes of its dialects, which stand outside
// of comments, strings, symbols and locations. Those may hold any words.
#include <ctype.h>

#include "import/import.h"
#include "lhlo/lhlo.h"

typedef struct scanner {
  const char *at, *end;
} scanner;

static bool has_more(const scanner *s) { return s->at < s->end; }

static bool belongs_to_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.'; }

static bool is_at_comment(const scanner *s) { return s->end - s->at >= 2 && s->at[0] == '/' && s->at[1] == '/'; }

static void skip_comment(scanner *s) {
  while (has_more(s) && *s->at != '\n') s->at++;
}

// What stands between the quotes that begin here.
static str take_string(scanner *s) {
  const char *from = ++s->at;
  for (; has_more(s) && *s->at != '"'; s->at++)
    if (*s->at == '\\' && s->end - s->at > 1) s->at++;
  const str inside = {from, (size_t)(s->at - from)};
  if (has_more(s)) s->at++;
  return inside;
}

static str take_word(scanner *s) {
  const char *from = s->at;
  while (has_more(s) && belongs_to_word(*s->at)) s->at++;
  return (str){from, (size_t)(s->at - from)};
}

// From the parenthesis here to the one that closes it.
static void skip_parentheses(scanner *s) {
  int depth = 0;
  do {
    if (*s->at == '"') {
      take_string(s);
      continue;
    }
    depth += (*s->at == '(') - (*s->at == ')');
    s->at++;
  } while (has_more(s) && depth > 0);
}

// `@name`, `%name`, `#name`, `!name`, `^name`: names that are no operations.
static void skip_name(scanner *s) {
  s->at++;
  if (has_more(s) && *s->at == '"') take_string(s);
  else take_word(s);
}

// Whether what begins here says that the text is LHLO; goes behind it. Operations of profiles may be all that there is.
static bool says_lhlo(scanner *s) {
  if (*s->at == '"') {
    const str name = take_string(s);
    const bool is_ours = str_starts_with(name, "lmhlo.") || str_starts_with(name, "profile.");
    return is_ours && has_more(s) && *s->at == '(';
  }
  const str word = take_word(s);
  if (str_starts_with(word, "lmhlo.")) return true;
  if (str_is(word, "loc") && has_more(s) && *s->at == '(') skip_parentheses(s);
  return false;
}

bool lhlo_is(str source) {
  // Most texts do not have the words at all.
  if (!memmem(source.data, source.size, "lmhlo.", 6) && !memmem(source.data, source.size, "profile.", 8)) return false;
  if (import_sniff(source) != IMPORT_MLIR_TEXT) return false;
  scanner s = {source.data, source.data + source.size};
  while (has_more(&s)) {
    if (is_at_comment(&s)) skip_comment(&s);
    else if (strchr("@%#!^", *s.at) && *s.at) skip_name(&s);
    else if (*s.at != '"' && !belongs_to_word(*s.at)) s.at++;
    else if (says_lhlo(&s)) return true;
  }
  return false;
}
