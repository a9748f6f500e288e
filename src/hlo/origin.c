// Reads an instruction's metadata as a record and writes it back: `{op_name="jit(f)/add" source_file="f.py"
// source_line=3}`.
#include "hlo/origin.h"

#include <stdlib.h>

#include "hlo/text.h"

// Behind `name=`; empty if it is not there. Names stand at the start, or behind a blank or the bracket.
static str behind(str s, const char *name) {
  const size_t n = strlen(name);
  for (size_t k = 1; k + n < s.size; k++) {
    if (s.data[k] == '"') {
      for (k++; k < s.size && s.data[k] != '"'; k++) k += s.data[k] == '\\';
      continue;
    }
    const char before = s.data[k - 1];
    if ((before == '{' || before == ' ') && memcmp(s.data + k, name, n) == 0 && s.data[k + n] == '=')
      return (str){s.data + k + n + 1, s.size - k - n - 1};
  }
  return (str){0};
}

// The text between quotes; `\"` and `\\` stand for themselves.
static str text_of(arena *a, str s) {
  if (!s.size || s.data[0] != '"') return (str){0};
  char *out = arena_array(a, char, s.size);
  size_t count = 0;
  for (size_t k = 1; k < s.size && s.data[k] != '"'; k++) {
    if (s.data[k] == '\\' && k + 1 < s.size) k++;
    out[count++] = s.data[k];
  }
  return (str){out, count};
}

static int number_of(str s) {
  int64_t n = 0;
  for (size_t k = 0; k < s.size && s.data[k] >= '0' && s.data[k] <= '9' && n < INT32_MAX / 10; k++)
    n = n * 10 + (s.data[k] - '0');
  return (int)n;
}

origin origin_of(arena *a, const instruction *i) {
  const str *metadata = attributes_raw(i->attributes, "metadata");
  if (!metadata && i->opcode == HLO_FUSION && i->called_count) i = i->called[0]->root;
  metadata = attributes_raw(i->attributes, "metadata");
  if (!metadata) return (origin){0};
  return (origin){.name = text_of(a, behind(*metadata, "op_name")),
                  .file = text_of(a, behind(*metadata, "source_file")),
                  .line = number_of(behind(*metadata, "source_line")),
                  .column = number_of(behind(*metadata, "source_column"))};
}

void origin_set(instruction *i, const origin *from) {
  arena *a = i->parent->module->arena;
  text out = {0};
  if (from->name.size) {
    text_puts(&out, "op_name=");
    text_quote(&out, from->name);
  }
  if (from->file.size) {
    text_printf(&out, "%ssource_file=", out.size ? " " : "");
    text_quote(&out, from->file);
    if (from->line > 0) text_printf(&out, " source_line=%d", from->line);
    if (from->column > 0) text_printf(&out, " source_column=%d", from->column);
  }
  const char *metadata = out.size ? arena_printf(a, "{%s}", text_cstr(&out)) : NULL;
  if (metadata) attributes_set_raw(a, i->attributes, STR("metadata"), str_from(metadata));
  text_free(&out);
}
