// Runs a program that was compiled once at many sizes of what it declares as `?`.
#ifndef HEDDLE_TOOLS_OPEN_RUN_H_
#define HEDDLE_TOOLS_OPEN_RUN_H_

#include "api/compile.h"
#include "import/import.h"
#include "tools/facts.h"
#include "tools/flags.h"
#include "tools/measured_run.h"

typedef struct open_run_request {
  const char *path;
  str source;
  const import_options *import;
  const compile_options *options;
  const flag_list *sizes;       // "7", or "7,16" for two symbols: a run each
  unsigned seed;                // of the arguments
  const measured_run *measure;  // how runs are watched and timed; null: they are not
  bool compares;                // results with the interpreter's
  double rtol, atol;
  bool print;    // results, on standard output
  facts *facts;  // which get an object for each run instead of a line; may be null
} open_run_request;

// Prints for each run what was measured, and a line where its results are compared with the interpreter's:
// HEDDLE_MISMATCH for the first that differ.
heddle_status open_run(arena *a, const open_run_request *r);

#endif
