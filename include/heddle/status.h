// The error value of every Heddle call that can fail.
//
// A heddle_status is one pointer: null means success, anything else is a heap-allocated error the receiver owns. The
// type is warn_unused_result, so under clang a dropped status does not compile (gcc knows the attribute on functions
// only).
#ifndef HEDDLE_STATUS_H_
#define HEDDLE_STATUS_H_

#include <stdbool.h>
#include <stdint.h>

#include "heddle/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the caller can do next.
typedef enum heddle_code {
  HEDDLE_OK = 0,
  HEDDLE_INVALID,        // the program, the arguments or a file is wrong: tell the user
  HEDDLE_UNIMPLEMENTED,  // valid, but Heddle cannot do it yet: try another target or the interpreter
  HEDDLE_OUT_OF_MEMORY,  // try again with less
  HEDDLE_DEVICE_FAILED,  // the machine, a library or a driver failed
  HEDDLE_INTERNAL,       // a bug in Heddle
  HEDDLE_MISMATCH,       // a comparison found other values than expected: of results, or by a check in the program
  HEDDLE_CANCELLED,      // another thread has asked for it (heddle_cancel): go on, call again or not
} heddle_code;

typedef struct heddle_error heddle_error;

#ifdef __clang__
#define HEDDLE_MUST_USE __attribute__((warn_unused_result))
#else
#define HEDDLE_MUST_USE
#endif

typedef struct heddle_status {
  heddle_error *error;  // null on success; owned
} HEDDLE_MUST_USE heddle_status;

// Code of `status`; HEDDLE_OK for success. Does not take ownership.
HEDDLE_API heddle_code heddle_status_code(heddle_status status);

// The whole message, one fact a line: `file:line:col: error: message`, the source line with its caret where known, then
// one `note: while ...` line per level. Valid until the status is freed; "" for success.
HEDDLE_API const char *heddle_status_message(heddle_status status);

// The error alone, without its place and notes, on one line; "" for success. Valid until the status is freed.
HEDDLE_API const char *heddle_status_summary(heddle_status status);

// Where in the user's program or file the error lies; valid until the status is freed. The file is the name that the
// program was given, null where no place is known. Line and column count from 1; line 0: the file is no text, and the
// column, if it is not 0, is the place of a byte in it plus one.
HEDDLE_API const char *heddle_status_file(heddle_status status);
HEDDLE_API int heddle_status_line(heddle_status status);
HEDDLE_API int heddle_status_column(heddle_status status);

// "invalid", "out of memory", …; "unknown" for numbers that are no codes of this library.
HEDDLE_API const char *heddle_code_name(heddle_code code);

// Frees the error, if any.
HEDDLE_API void heddle_status_free(heddle_status status);

#ifdef __cplusplus
}
#endif
#endif
