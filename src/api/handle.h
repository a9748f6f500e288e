// What stands behind the public handle of a program that was compiled; for the files of the public calls alone.
#ifndef HEDDLE_API_HANDLE_H_
#define HEDDLE_API_HANDLE_H_

#include "api/compile.h"
#include "heddle/heddle.h"
#include "rt/open_instances.h"

typedef struct compiled_program {
  heddle_program handle;  // the public one
  arena *arena;
  compiled code;
  compile_options options;    // it was compiled with; without callers' functions
  open_instances *instances;  // of a program for open sizes: one for each of the sizes that it ran with last; else null
} compiled_program;

// Null if the program was loaded.
const compiled_program *handle_compiled(const heddle_program *p);

#endif
