// Arrays of saved programs' callers, read, made up, printed and written: for tools without a compiler.
#ifndef HEDDLE_TOOLS_PLAIN_ARRAY_H_
#define HEDDLE_TOOLS_PLAIN_ARRAY_H_

#include <stdio.h>

#include "base/status.h"
#include "prog/program.h"

// The elements of `path`, row-major, into `to`, of program_shape_bytes: of a .npy file, which must hold this type and
// these dims, or of any other file, which must hold so many bytes. A leading @ is no part of the path.
heddle_status plain_array_read(const char *path, const program_shape *shape, void *to);

// Made-up elements, the same for a seed: floats from -1 to 1, integers from 0 to 9, no more than the type holds.
void plain_array_fill(const program_shape *shape, uint64_t seed, void *to);

// To a .npy file, or to any other file as they are; `dims` are the sizes that the array has.
heddle_status plain_array_write(const char *path, const program_shape *shape, const int64_t *dims, const void *data);

// "result 0: f32[2,3]", then the elements, a line for each row.
void plain_array_print(FILE *out, int number, const program_shape *shape, const int64_t *dims, const void *data);

#endif
