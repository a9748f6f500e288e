// Shows where in the user's text an error lies. Long lines (hex blobs, generated code) are cut around the place.
#include "base/caret.h"

str caret_line_at(str source, size_t offset) {
  size_t start = offset, end = offset;
  while (start > 0 && source.data[start - 1] != '\n') start--;
  while (end < source.size && source.data[end] != '\n' && source.data[end] != '\r') end++;
  return (str){source.data + start, end - start};
}

void caret_append(text *out, str line, int column) {
  enum { WIDTH = 100, BEFORE = 60 };
  size_t at = (size_t)(column - 1);
  if (at > line.size) at = line.size;
  size_t start = at > BEFORE && line.size > WIDTH ? at - BEFORE : 0;
  size_t end = line.size - start > WIDTH ? start + WIDTH : line.size;
  const char *before = start ? "..." : "", *after = end < line.size ? "..." : "";
  text_printf(out, "  %s%.*s%s\n  ", before, (int)(end - start), line.data + start, after);
  text_indent(out, (int)strlen(before));
  for (size_t i = start; i < at; i++) text_putc(out, line.data[i] == '\t' ? '\t' : ' ');
  text_puts(out, "^\n");
}

heddle_status caret_add(heddle_status status, str source) {
  source_location where = status_where(status);
  if (status_is_ok(status) || where.line < 1) return status;
  size_t offset = 0;
  for (int line = 1; line < where.line; line++) {
    const char *newline = memchr(source.data + offset, '\n', source.size - offset);
    if (!newline) return status;
    offset = (size_t)(newline - source.data) + 1;
  }
  // The caret belongs right below the message, before the notes.
  const char *message = heddle_status_message(status), *brief = status_brief(status);
  const char *rest = strstr(message, brief);
  text more = {0};
  caret_append(&more, caret_line_at(source, offset), where.column);
  if (rest && rest[strlen(brief)] == '\n') text_puts(&more, rest + strlen(brief) + 1);
  heddle_status with_caret = status_at(heddle_status_code(status), where, "%s", brief);
  with_caret = status_append(with_caret, text_cstr(&more));
  heddle_status_free(status);
  text_free(&more);
  return with_caret;
}
