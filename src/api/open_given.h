// Code for given sizes beside that for all of them.
#ifndef HEDDLE_API_OPEN_GIVEN_H_
#define HEDDLE_API_OPEN_GIVEN_H_

#include "api/compile.h"
#include "import/import.h"

// Compiles the program that `general` was made of, by open_compile, for the sizes that `sizes` names ("7,16"), as one
// whose sizes are declared; runs at these take what is made (compiled.specials). At most OPEN_INSTANCES_MOST_SPECIALS.
// HEDDLE_INVALID for sizes that are not the program's, or that it has code for.
heddle_status open_given_add(arena *a, const char *file, str source, const char *sizes, const compile_options *options,
                             compiled *general);

// A program for one that open_compile refuses, without code of its own: it runs at the sizes that open_given_add adds
// alone, and is saved with these.
heddle_status open_given_begin(arena *a, const char *file, str source, const import_options *import,
                               const compile_options *options, compiled *out);

// Adds what was made for some sizes, which `made->sizes` names.
void open_given_put(arena *a, const compiled *made, compiled *general);

#endif
