// What the function of an object may be called: a name that C and C++ take, and that nothing else has which a program
// links or an object calls.
#ifndef HEDDLE_API_OBJECT_NAME_H_
#define HEDDLE_API_OBJECT_NAME_H_

#include "base/status.h"
#include "base/str.h"

// Linkers take longer names than compilers need to, and ours no endless ones (link/elf_object.c).
enum { OBJECT_NAME_LONGEST = 200 };

// A name made of the module's, in the arena: other characters than letters and digits become underscores, what is
// taken gets one at its end, and what is too long is cut.
const char *object_name_make(arena *a, str module);

// HEDDLE_INVALID where the name, which a user has given, is none or is taken.
heddle_status object_name_check(const char *name);

#endif
