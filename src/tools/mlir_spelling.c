// Words are replaced outside of comments and strings. An operation's name is a string where operations are written
// generically: then the whole string is the name.
#include "tools/mlir_spelling.h"

// What stands in dialect xla since 2025, as it is spelled there and here.
static const struct {
  const char *xla, *ours;
} words[] = {
    {"xla.apply_indexing", "xla_gpu.apply_indexing"},
    {"xla.atomic_rmw", "xla_gpu.atomic_rmw"},
    {"xla.loop", "xla_gpu.loop"},
    {"xla.predicated_extract", "xla_gpu.predicated_extract"},
    {"xla.predicated_insert", "xla_gpu.predicated_insert"},
    {"xla.pure_call", "xla_gpu.pure_call"},
    {"xla.workgroup_id", "gpu.block_id"},
    {"xla.yield", "xla_gpu.yield"},
    {"#xla.indexing_map", "#xla_gpu.indexing_map"},
    {"indexing_map_attr", "map"},  // the loop's attribute where it is written generically
};

enum { WORD_COUNT = sizeof words / sizeof *words, GENERIC_ATTRIBUTE = WORD_COUNT - 1 };

typedef struct speller {
  str source;
  size_t at;
  text *out;
  bool to_xla;
  bool found;
} speller;

static bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#'; }

static bool is_word(char c) { return (is_word_start(c) && c != '#') || (c >= '0' && c <= '9') || c == '.' || c == '$'; }

static bool is_at(const speller *s, const char *what) {
  const size_t size = strlen(what);
  return s->at + size <= s->source.size && memcmp(s->source.data + s->at, what, size) == 0;
}

static void copy_until(speller *s, size_t end) {
  text_append(s->out, (str){s->source.data + s->at, end - s->at});
  s->at = end;
}

// What the word becomes; null if it stays.
static const char *replacement(speller *s, str word) {
  for (int i = 0; i < WORD_COUNT; i++) {
    // Backwards `map` is a word of many other things.
    if (s->to_xla ? i == GENERIC_ATTRIBUTE || !str_is(word, words[i].ours) : !str_is(word, words[i].xla)) continue;
    s->found = true;
    return s->to_xla ? words[i].xla : words[i].ours;
  }
  return NULL;
}

static void spell(speller *s, str word) {
  const char *other = replacement(s, word);
  if (other) text_puts(s->out, other);
  else text_append(s->out, word);
}

static void copy_comment(speller *s) {
  size_t end = s->at;
  while (end < s->source.size && s->source.data[end] != '\n') end++;
  copy_until(s, end);
}

// A string that holds an attribute of dialect xla is one that mlir_spelling_read put between quotes.
static void copy_string(speller *s) {
  size_t end = s->at + 1;
  while (end < s->source.size && s->source.data[end] != '"' && s->source.data[end] != '\n')
    end += s->source.data[end] == '\\' && end + 1 < s->source.size ? 2 : 1;
  if (end > s->source.size) end = s->source.size;
  const str content = {s->source.data + s->at + 1, end - s->at - 1};
  const bool is_closed = end < s->source.size && s->source.data[end] == '"';
  if (s->to_xla && is_closed && str_starts_with(content, "#xla.") && content.data[content.size - 1] == '>') {
    text_append(s->out, content);
  } else {
    text_putc(s->out, '"');
    spell(s, content);
    if (is_closed) text_putc(s->out, '"');
  }
  s->at = end + is_closed;
}

// The text between < and its > as a string, line by line. Arrows do not close it.
static void quote_until_close(speller *s) {
  const size_t start = s->at;
  int depth = 1;
  size_t end = start;
  for (; end < s->source.size; end++) {
    const char c = s->source.data[end];
    depth += c == '<';
    if (c == '>' && s->source.data[end - 1] != '-' && --depth == 0) break;
  }
  text_putc(s->out, '"');
  for (; s->at < end; s->at++) {
    const char c = s->source.data[s->at];
    if (c == '\n') text_puts(s->out, "\"\n\"");
    else text_putc(s->out, c);
  }
  text_putc(s->out, '"');
}

static void skip_blanks(speller *s) {
  size_t end = s->at;
  while (end < s->source.size && strchr(" \t\r\n", s->source.data[end])) end++;
  copy_until(s, end);
}

// Behind the name of the attribute: `<`, then a string or, in 2024, the map itself.
static void spell_map(speller *s) {
  skip_blanks(s);
  if (!is_at(s, "<")) return;
  copy_until(s, s->at + 1);
  skip_blanks(s);
  if (s->at < s->source.size && s->source.data[s->at] != '"') quote_until_close(s);
}

// Attributes of dialect xla other than maps mean nothing here: `#xla.backend_kind<cpu>` is kept as a string.
static void keep_attribute(speller *s, str word) {
  text_putc(s->out, '"');
  text_append(s->out, word);
  s->found = true;
  if (is_at(s, "<")) {
    const char *close = memchr(s->source.data + s->at, '>', s->source.size - s->at);
    if (close) copy_until(s, (size_t)(close - s->source.data) + 1);
  }
  text_putc(s->out, '"');
}

static void spell_word(speller *s) {
  const size_t start = s->at++;
  while (s->at < s->source.size && is_word(s->source.data[s->at])) s->at++;
  const str word = {s->source.data + start, s->at - start};
  const bool is_map = str_is(word, "#xla.indexing_map") || str_is(word, "#xla_gpu.indexing_map");
  if (!s->to_xla && !is_map && str_starts_with(word, "#xla.")) {
    keep_attribute(s, word);
    return;
  }
  spell(s, word);
  if (is_map && !s->to_xla) spell_map(s);
}

// What follows %, @, ! or ^ is a name of another kind.
static void copy_name(speller *s) {
  size_t end = s->at + 1;
  while (end < s->source.size && is_word(s->source.data[end])) end++;
  copy_until(s, end);
}

static void run(speller *s) {
  while (s->at < s->source.size) {
    const char c = s->source.data[s->at];
    if (is_at(s, "//")) copy_comment(s);
    else if (c == '"') copy_string(s);
    else if (is_word_start(c)) spell_word(s);
    else if (c == '%' || c == '@' || c == '!' || c == '^') copy_name(s);
    else copy_until(s, s->at + 1);
  }
}

void mlir_spelling_read(str source, text *out, bool *is_xla) {
  speller s = {.source = source, .out = out};
  run(&s);
  *is_xla = s.found;
}

void mlir_spelling_write(str printed, text *out) {
  speller s = {.source = printed, .out = out, .to_xla = true};
  run(&s);
}
