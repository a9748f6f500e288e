// NumPy's .npy files as literals. Types NumPy lacks are stored as unsigned integers of their width (dtypes[].npy); the
// wanted shape says what the bits mean.
#ifndef HEDDLE_HLO_NPY_H_
#define HEDDLE_HLO_NPY_H_

#include "hlo/literal.h"

// Reads `path`; the file must hold exactly `wanted`'s dims and element type (else an error that names both). Dynamic
// dims of `wanted` take any size, up to the bound if there is one (`<=8`): the literal has the file's.
heddle_status npy_read(arena *a, const char *path, const shape *wanted, literal **out);
// The same of a file's bytes; `path` names them in errors.
heddle_status npy_parse(arena *a, const char *path, str file, const shape *wanted, literal **out);
heddle_status npy_write(const char *path, const literal *value);  // C order
// The same into a text; `path` names it in errors.
heddle_status npy_print(text *out, const char *path, const literal *value);

#endif
