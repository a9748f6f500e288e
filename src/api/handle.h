// What stands behind the public handle of a program; for the files of the public calls alone.
#ifndef HEDDLE_API_HANDLE_H_
#define HEDDLE_API_HANDLE_H_

#include "api/compile.h"
#include "api/open_instances.h"
#include "heddle/heddle.h"

struct heddle_program {
  arena *arena;
  compiled code;
  compile_options options;    // it was compiled with; without callers' functions
  bool is_direct;             // arguments and results lie as the caller's arrays do
  int *heirs;                 // of each parameter: the result that takes over its memory, or -1
  const program *shown;       // what callers see of its parameters and results: open sizes are -1
  open_instances *instances;  // of a program for open sizes: one for each of the sizes that it ran with last; else null
};

#endif
