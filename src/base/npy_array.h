// NumPy's .npy files as plain arrays: row-major, an element in dtypes[].bytes. Types NumPy lacks are stored as unsigned
// integers of their width (dtypes[].npy); the wanted type says what the bits mean.
#ifndef HEDDLE_BASE_NPY_ARRAY_H_
#define HEDDLE_BASE_NPY_ARRAY_H_

#include "base/dtype.h"
#include "base/status.h"

enum { NPY_ARRAY_MAX_RANK = 64 };

// An array in memory. Of one that is wanted, a dim below 0 takes any size.
typedef struct npy_array {
  dtype type;
  int rank;
  int64_t dims[NPY_ARRAY_MAX_RANK];
} npy_array;

int64_t npy_array_bytes(const npy_array *a);  // saturates

// Reads a file's bytes, which must hold exactly `wanted`'s type and dims (else an error that names both); open dims get
// the file's sizes. *elements is what lies in the file, to be given to npy_array_unpack. `path` names the file in
// errors.
heddle_status npy_array_parse(const char *path, str file, npy_array *wanted, str *elements, bool *is_fortran);

// Brings the elements of a file, or of any other row-major array, into `to`, npy_array_bytes long, in the form arrays
// have here: row-major, predicates 0 or 1, elements of less than a byte without stray high bits.
void npy_array_unpack(const npy_array *a, str elements, bool is_fortran, void *to);

// Appends a file: header and elements, in C order.
void npy_array_print(text *out, const npy_array *a, const void *data);

#endif
