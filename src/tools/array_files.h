// The arrays of a folder of .npy files or of a NumPy archive (.npz), and which of them stands for which parameter; and
// the way back.
#ifndef HEDDLE_TOOLS_ARRAY_FILES_H_
#define HEDDLE_TOOLS_ARRAY_FILES_H_

#include "base/vec.h"
#include "hlo/literal.h"

// Results that lie beside inputs are told from them by their names, which begin with `out` or `expected`.
typedef enum array_files_kind { ARRAY_FILES_INPUTS, ARRAY_FILES_RESULTS } array_files_kind;

typedef struct array_files {
  const char *path;
  struct zip *archive;  // libzip's, open; null for a folder
  VEC(str) names;       // without `.npy`, sorted; matched: in the order of what they stand for
} array_files;

// Lists what is there: of a folder the files of `kind` whose names end in .npy, of an archive everything.
// HEDDLE_INVALID for what is neither, a damaged archive, and members of it that are no .npy files. On success the
// caller closes it.
heddle_status array_files_open(arena *a, const char *path, array_files_kind kind, array_files *out);

void array_files_close(array_files *files);

// Puts the files in order: by the `count` names of parameters if each has a file and each file is one's (an ending `.1`
// of a parameter's name may be missing), else by the numbers at the end of their names, which run from 0 without gaps;
// a lone file needs no number. `count` 0: by number. HEDDLE_INVALID names the file or parameter that has no partner.
heddle_status array_files_match(arena *a, array_files *files, int count, const str *names);

// Array `number` of those that match (npy_read).
heddle_status array_files_read(const array_files *files, arena *a, int number, const shape *wanted, literal **out);

// Writes arrays as output_0.npy, output_1.npy, … into a new archive where the path ends with .npz, else into a folder,
// which is made if it is not there. An archive is whole or not there.
heddle_status array_files_write(const char *path, int count, literal *const *arrays);

#endif
