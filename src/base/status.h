// How errors are made and passed on inside Heddle; the type itself is public (include/heddle/status.h).
//
//   TRY(shape_infer(instruction, &shape));                      return on failure
//   return status_at(HEDDLE_INVALID, loc, "found %s, wanted %s", ...);
//   return status_context(status, "while inlining computation %s", name);
#ifndef HEDDLE_BASE_STATUS_H_
#define HEDDLE_BASE_STATUS_H_

#include <stdarg.h>

#include "heddle/status.h"

// A location in the user's program. `file` must outlive the error's creation only (it is copied). line 0 = unknown, or
// a file that is no text.
typedef struct source_location {
  const char *file;
  int line;    // 1-based
  int column;  // 1-based, in bytes; also where line is 0, then counted from the start of the file; 0 = unknown
} source_location;

#define SOURCE_UNKNOWN ((source_location){0})

static inline heddle_status status_ok(void) { return (heddle_status){0}; }
static inline bool status_is_ok(heddle_status status) { return status.error == 0; }

// Makes an error. The macros record where in Heddle it was raised (shown only at log level 1 and up).
heddle_status status_make(heddle_code code, const char *heddle_file, int heddle_line, source_location where,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

// HEDDLE_OUT_OF_MEMORY without taking memory.
heddle_status status_no_memory(void);

#define status_error(code, ...) status_make(code, __FILE__, __LINE__, SOURCE_UNKNOWN, __VA_ARGS__)
#define status_at(code, where, ...) status_make(code, __FILE__, __LINE__, where, __VA_ARGS__)

// Adds one "note: ..." line. Takes and returns ownership; success passes through untouched.
heddle_status status_context(heddle_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Appends preformatted text (a source line with its caret, a further diagnostic) below the message.
heddle_status status_append(heddle_status status, const char *text);

// Gives an error that has no location yet the location `where`: for the callers of what does not know the program.
// Takes and returns ownership; success passes through untouched.
heddle_status status_locate(heddle_status status, source_location where);

// Where in the user's program the error lies; SOURCE_UNKNOWN if it has no location. The file name is owned by the
// error.
source_location status_where(heddle_status status);

// First line of the message without location and severity, for reports that print their own.
const char *status_brief(heddle_status status);

#define TRY(expression)                                 \
  do {                                                  \
    heddle_status try_status_ = (expression);           \
    if (!status_is_ok(try_status_)) return try_status_; \
  } while (0)

#endif
