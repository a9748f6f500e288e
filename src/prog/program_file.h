// Programs as files: a header, a table of sections, a record (prog/program_record.h) of all that is small, and the code
// and the constants as they are. doc/saved-programs.md describes every byte.
//
// Constants begin at whole pages where they are large, so that a mapped file is used where it lies. Equal constants,
// and equal images, lie there once. Every section has a checksum.
#ifndef HEDDLE_PROG_PROGRAM_FILE_H_
#define HEDDLE_PROG_PROGRAM_FILE_H_

#include "prog/program_record.h"

enum { PROGRAM_FILE_FORMAT = 1 };

// Where a file's constants begin, and what the memory that it is read from has to be aligned to.
enum { PROGRAM_FILE_PAGE = 4096 };

// Whether the bytes are meant to be a saved program.
bool program_file_is(str bytes);
// The same of a file that can be opened again; false for others, pipes too, which are read once.
bool program_file_is_at(const char *path);

// The file as stretches of bytes, in order: the small ones live in the arena, the others are those of `saved`, whose
// plans program_check must take. *bytes (may be null) gets the size of all.
const str *program_file_parts(arena *a, const program_saved *saved, int *count, size_t *bytes);

typedef struct program_file_options {
  bool trusts_checksums;  // they are not looked at: of code and constants that would read every page
} program_file_options;

// Reads a file of which all bytes are in memory, from a page on: what it says of code and constants points into
// `bytes`, which must outlive the result; all else lives in the arena. Every place, size and number of the record is
// within its range and its section; whether the program makes sense is program_check's to say. HEDDLE_INVALID for files
// that are none, cut short or damaged; HEDDLE_UNIMPLEMENTED for those of another format, with the version that wrote
// them.
heddle_status program_file_read(arena *a, str bytes, const program_file_options *options, program_saved *out);

#endif
