// An error keeps its message twice: alone (for reports that print the location themselves) and rendered with location
// and notes, appended line by line as the error travels up.
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/heap.h"
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

heddle_status status_no_memory(void) { return (heddle_status){&no_memory_error}; }

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

const char *heddle_status_summary(heddle_status status) { return status_brief(status); }

const char *heddle_status_file(heddle_status status) { return status_where(status).file; }

int heddle_status_line(heddle_status status) { return status_where(status).line; }

int heddle_status_column(heddle_status status) { return status_where(status).column; }

const char *heddle_code_name(heddle_code code) {
  switch (code) {
    case HEDDLE_OK: return "ok";
    case HEDDLE_INVALID: return "invalid";
    case HEDDLE_UNIMPLEMENTED: return "unimplemented";
    case HEDDLE_OUT_OF_MEMORY: return "out of memory";
    case HEDDLE_DEVICE_FAILED: return "device failed";
    case HEDDLE_INTERNAL: return "internal";
    case HEDDLE_MISMATCH: return "mismatch";
    case HEDDLE_CANCELLED: return "cancelled";
  }
  return "unknown";
}

source_location status_where(heddle_status status) { return status.error ? status.error->where : SOURCE_UNKNOWN; }

void heddle_status_free(heddle_status status) {
  heddle_error *e = status.error;
  if (!e || e == &no_memory_error) return;
  text_free(&e->brief);
  text_free(&e->rendered);
  heap_free(e->file);
  heap_free(e);
}

// The file's name is copied; without memory for it the error has no location.
static void take_place(heddle_error *e, source_location where) {
  e->where = where;
  if (where.file) {
    const size_t size = strlen(where.file) + 1;
    e->file = heap_try_allocate(size);
    if (e->file) memcpy(e->file, where.file, size);
  }
  e->where.file = e->file;
}

static void render_location(heddle_error *e) {
  if (!e->file) return;
  text_puts(&e->rendered, e->file);
  if (e->where.line) text_printf(&e->rendered, ":%d:%d", e->where.line, e->where.column);
  text_puts(&e->rendered, ": ");
}

// What follows the kind of message: the location in a file that is no text.
static void render_offset(heddle_error *e) {
  if (e->file && !e->where.line && e->where.column > 0) text_printf(&e->rendered, "at byte %d: ", e->where.column - 1);
}

// What the message is called: a comparison that fails says that it worked and what it found.
static const char *severity(heddle_code code) {
  switch (code) {
    case HEDDLE_INTERNAL: return "internal error";
    case HEDDLE_MISMATCH: return "mismatch";
    default: return "error";
  }
}

heddle_status status_make(heddle_code code, const char *heddle_file, int heddle_line, source_location where,
                          const char *format, ...) {
  heddle_error *e = heap_try_allocate(sizeof *e);
  if (!e) return status_no_memory();
  e->code = code;
  take_place(e, where);
  va_list args;
  va_start(args, format);
  text_vprintf(&e->brief, format, args);
  va_end(args);
  render_location(e);
  text_printf(&e->rendered, "%s: ", severity(code));
  render_offset(e);
  text_printf(&e->rendered, "%s\n", text_cstr(&e->brief));
  if (code == HEDDLE_INTERNAL || log_level() >= 1)
    text_printf(&e->rendered, "note: raised at %s:%d\n", heddle_file, heddle_line);
  return (heddle_status){e};
}

heddle_status status_locate(heddle_status status, source_location where) {
  heddle_error *e = status.error;
  if (!e || e == &no_memory_error || e->file || !where.file) return status;
  text message = e->rendered;
  e->rendered = (text){0};
  take_place(e, where);
  render_location(e);
  const str all = text_view(&message);
  const size_t kind = strlen(severity(e->code)) + 2 < all.size ? strlen(severity(e->code)) + 2 : all.size;
  text_append(&e->rendered, (str){all.data, kind});  // "error: "
  render_offset(e);
  text_append(&e->rendered, (str){all.data + kind, all.size - kind});
  text_free(&message);
  return status;
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
