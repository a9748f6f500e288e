// Writes compiled programs to files that run without the compiler (prog/program_file.h, rt/saved_program.h).
#ifndef HEDDLE_API_SAVE_H_
#define HEDDLE_API_SAVE_H_

#include "api/compile.h"

// One file with the code of all `levels`, which are the same module, compiled for several instruction sets, and with
// each plan that they have. Constants are written from where they lie, equal ones once. HEDDLE_INVALID if the file
// cannot be written.
heddle_status save_programs(const char *path, int count, const compiled *levels);

// The same in memory, NUL-terminated, of one program.
heddle_status save_to_text(const compiled *c, text *out);

#endif
