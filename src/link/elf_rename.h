// Gives a function of a relocatable object another name.
#ifndef HEDDLE_LINK_ELF_RENAME_H_
#define HEDDLE_LINK_ELF_RENAME_H_

#include "base/status.h"
#include "base/str.h"

// A copy of the object, in the arena, in which the global symbol `from` is called `to`. HEDDLE_INVALID for what
// elf_object_read refuses, and for an object without such a symbol.
heddle_status elf_rename(arena *a, str object, const char *from, const char *to, str *out);

#endif
