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
// Writes several stretches of bytes as one file, in the same way.
heddle_status file_write_parts(const char *path, int count, const str *parts);

// The bytes of a file as memory that is read from it when it is looked at, and shared by all processes that do so; from
// a page on, and not to be written. Nobody may write to the file or cut it short meanwhile; putting another one in its
// place does no harm. What is no regular file is read, and so is standard input ("-").
heddle_status file_map(const char *path, str *out);
// Memory of its own with these bytes, as file_map gives it.
heddle_status file_map_copy(str bytes, str *out);
void file_unmap(str bytes);  // what the two gave

// Whether what lies there can be opened again and again: false for pipes, for standard input ("-") and for nothing.
bool file_is_regular(const char *path);
heddle_status file_make_folder(const char *path);  // with parents; an existing one is success

#endif
