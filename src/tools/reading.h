// Checks that a StableHLO program survives being read and written, for programs that cannot be run as they are.
#ifndef HEDDLE_TOOLS_READING_H_
#define HEDDLE_TOOLS_READING_H_

#include "base/status.h"
#include "base/str.h"

// Reads all modules of the text or bytecode, prints each, and reads that back to an equal module.
heddle_status reading_check(arena *a, const char *file, str bytes);

#endif
