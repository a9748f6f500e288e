// Objects and arrays stand a member a line, indented, so that people can read them, too.
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Bytes of the UTF-8 character at s[at], 0 for what is none.
static size_t character(str s, size_t at) {
  const unsigned char *p = (const unsigned char *)s.data + at;
  const size_t left = s.size - at;
  const size_t size = p[0] < 0x80                   ? 1
                      : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                      : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                      : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                    : 0;
  if (size == 0 || size > left) return 0;
  for (size_t k = 1; k < size; k++)
    if ((p[k] & 0xc0) != 0x80) return 0;
  const bool is_overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
  const bool is_outside = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
  return is_overlong || is_outside ? 0 : size;
}

void json_string(text *out, str s) {
  text_putc(out, '"');
  for (size_t i = 0; i < s.size;) {
    const unsigned char c = (unsigned char)s.data[i];
    const size_t size = character(s, i);
    if (size == 0) text_puts(out, "\\ufffd");
    else if (c == '"' || c == '\\') text_printf(out, "\\%c", c);
    else if (c == '\n') text_puts(out, "\\n");
    else if (c < 0x20 || c == 0x7f) text_printf(out, "\\u%04x", c);
    else text_append(out, (str){s.data + i, size});
    i += size ? size : 1;
  }
  text_putc(out, '"');
}

void json_number(text *out, double value) {
  char shown[32];
  if (!isfinite(value)) {
    text_puts(out, "null");
    return;
  }
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(shown, sizeof shown, "%.*g", digits, value);
    if (strtod(shown, NULL) == value) break;
  }
  text_puts(out, shown);
}

static void begin_member(json_writer *w, const char *name) {
  if (w->has_members) text_putc(w->out, ',');
  if (w->depth > 0) {
    text_putc(w->out, '\n');
    text_indent(w->out, 2 * w->depth);
  }
  w->has_members = true;
  if (!name) return;
  json_string(w->out, str_from(name));
  text_puts(w->out, ": ");
}

void json_begin(json_writer *w, const char *name, char bracket) {
  begin_member(w, name);
  text_putc(w->out, bracket);
  w->depth++;
  w->has_members = false;
}

void json_end(json_writer *w, char bracket) {
  w->depth--;
  if (w->has_members) {
    text_putc(w->out, '\n');
    text_indent(w->out, 2 * w->depth);
  }
  text_putc(w->out, bracket);
  if (w->depth == 0) text_putc(w->out, '\n');
  w->has_members = true;
}

void json_put_string(json_writer *w, const char *name, str value) {
  begin_member(w, name);
  json_string(w->out, value);
}

void json_put_number(json_writer *w, const char *name, double value) {
  begin_member(w, name);
  json_number(w->out, value);
}

void json_put_int(json_writer *w, const char *name, int64_t value) {
  begin_member(w, name);
  text_printf(w->out, "%lld", (long long)value);
}

void json_put_bool(json_writer *w, const char *name, bool value) {
  begin_member(w, name);
  text_puts(w->out, value ? "true" : "false");
}
