// These functions read and write whole files.
#ifndef HEDDLE_BASE_FILE_H_
#define HEDDLE_BASE_FILE_H_

#include "base/status.h"
#include "base/str.h"

// Reads all of `path` ("-" is standard input) into the arena, NUL-terminated beyond `out->size`.
heddle_status file_read(arena *a, const char *path, str *out);
// Writes through a temporary file in the same folder and renames, so that a reader never sees half of it. "-" is
// standard output.
heddle_status file_write(const char *path, str contents);
heddle_status file_make_folder(const char *path);  // with parents; an existing one is success

#endif
