// Every stage of a compilation as text: to a stream (--v=5), into a folder (--xla_dump_to), or both.
#ifndef HEDDLE_TOOLS_COMPILE_LOG_H_
#define HEDDLE_TOOLS_COMPILE_LOG_H_

#include <stdio.h>

#include "api/compile.h"

typedef struct compile_log {
  FILE *out;             // null: nothing is printed
  const char *folder;    // null: no files
  text passes;           // IR after every pass of the kernel at hand
  const char *kernel;    // its name
  arena *names;          // holds it
  heddle_status failed;  // the first file that could not be written
  pass_watcher watcher;
  compile_dump next;  // what the compilation's dumps go to as well; or null
  void *next_argument;
} compile_log;

// Makes the folder. `log` must outlive the compilation; close it in any case.
heddle_status compile_log_open(compile_log *log, FILE *out, const char *folder);
// Directs the compilation's stages here, the passes by its control, and on to where they went before. Nothing is
// collected if nobody wants it.
void compile_log_attach(compile_log *log, compile_options *options);
// One more text, that the compiler itself does not dump.
void compile_log_add(compile_log *log, const char *name, const char *suffix, str contents);
heddle_status compile_log_close(compile_log *log);

#endif
