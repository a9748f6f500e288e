// An error keeps its message twice: alone (for reports that print the location themselves) and rendered with location
// and notes, appended line by line as the error travels up.
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"

struct heddle_error {
  heddle_code code;
  source_location where;
  char *file;     // owned copy behind where.file
  text brief;     // the message alone
  text rendered;  // all lines
};

// What is returned when not even an error can be allocated; never freed.
static heddle_error no_memory_error = {.code = HEDDLE_OUT_OF_MEMORY};

heddle_code heddle_status_code(heddle_status status) { return status.error ? status.error->code : HEDDLE_OK; }

const char *heddle_status_message(heddle_status status) {
  if (!status.error) return "";
  if (status.error == &no_memory_error) return "error: out of memory\n";
  return text_cstr(&status.error->rendered);
}

const char *status_brief(heddle_status status) {
  if (!status.error) return "";
  return status.error == &no_memory_error ? "out of memory" : text_cstr(&status.error->brief);
}

source_location status_where(heddle_status status) { return status.error ? status.error->where : SOURCE_UNKNOWN; }

void heddle_status_free(heddle_status status) {
  heddle_error *e = status.error;
  if (!e || e == &no_memory_error) return;
  text_free(&e->brief);
  text_free(&e->rendered);
  free(e->file);
  free(e);
}

static void render_location(heddle_error *e) {
  if (!e->file) return;
  text_puts(&e->rendered, e->file);
  if (e->where.line) text_printf(&e->rendered, ":%d:%d", e->where.line, e->where.column);
  text_puts(&e->rendered, ": ");
}

heddle_status status_make(heddle_code code, const char *heddle_file, int heddle_line, source_location where,
                          const char *format, ...) {
  heddle_error *e = calloc(1, sizeof *e);
  if (!e) return (heddle_status){&no_memory_error};
  e->code = code;
  e->where = where;
  if (where.file) e->file = strdup(where.file);
  e->where.file = e->file;
  va_list args;
  va_start(args, format);
  text_vprintf(&e->brief, format, args);
  va_end(args);
  render_location(e);
  text_printf(&e->rendered, "%serror: %s\n", code == HEDDLE_INTERNAL ? "internal " : "", text_cstr(&e->brief));
  if (code == HEDDLE_INTERNAL || log_level() >= 1)
    text_printf(&e->rendered, "note: raised at %s:%d\n", heddle_file, heddle_line);
  return (heddle_status){e};
}

heddle_status status_context(heddle_status status, const char *format, ...) {
  heddle_error *e = status.error;
  if (!e || e == &no_memory_error) return status;
  text_puts(&e->rendered, "note: ");
  va_list args;
  va_start(args, format);
  text_vprintf(&e->rendered, format, args);
  va_end(args);
  text_putc(&e->rendered, '\n');
  return status;
}

heddle_status status_append(heddle_status status, const char *more) {
  heddle_error *e = status.error;
  if (!e || e == &no_memory_error) return status;
  text_puts(&e->rendered, more);
  return status;
}
