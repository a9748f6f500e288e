// Programs whose shapes are made of quotients of sizes, one for each remainder: what is made of h / 2 is one polynomial
// where h is 2*m, and one where it is 2*m + 1.
#ifndef HEDDLE_API_OPEN_CLASSES_H_
#define HEDDLE_API_OPEN_CLASSES_H_

#include "api/compile.h"
#include "import/import.h"

// open_compile, and where that refuses a program, one for each remainder. Runs take the one for their sizes
// (compiled.specials); beside these there is no code then. What open_compile refuses for where nothing is divided by a
// small number, where that makes too many programs, and where one of them cannot be compiled.
heddle_status open_classes_compile(arena *a, const char *file, str source, const import_options *import,
                                   const compile_options *options, compiled *out);

#endif
