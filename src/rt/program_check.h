// Checks that running a program reads and writes its own memory only.
#ifndef HEDDLE_RT_PROGRAM_CHECK_H_
#define HEDDLE_RT_PROGRAM_CHECK_H_

#include "base/status.h"
#include "prog/program.h"

// Every number is in range, every slice within its allocation, nothing writes to parameters and constants, arrays of
// library calls fit their slices. HEDDLE_INVALID says what does not.
heddle_status program_check(const program *p);

#endif
