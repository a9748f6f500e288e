// Kernels' code kept on disk, by what it was made of: a process that compiles the same kernel later, in whatever
// program, reads it there; so do drivers of devices what they make of kernels. On where HEDDLE_CACHE names a folder
// (made if it is not there); HEDDLE_CACHE_BYTES says how much may lie there (256 MiB).
//
// Processes may share a folder. An entry is written under another name and then renamed, so that nobody sees half of
// it, also where a process is killed; what is read has to have the key and the checksum that it was written with. What
// goes wrong with files is no error: the kernel is compiled. Thread-safe.
#ifndef HEDDLE_BASE_KERNEL_CACHE_H_
#define HEDDLE_BASE_KERNEL_CACHE_H_

#include "base/str.h"

typedef struct kernel_cache_key {
  uint64_t parts[2];
} kernel_cache_key;

bool kernel_cache_is_on(void);

// Of all that code is made of, as text; which build of Heddle makes it belongs to it, too.
kernel_cache_key kernel_cache_key_of(str made_of);

// The code that is kept under the key, in the arena; false if there is none, or none that is whole.
bool kernel_cache_find(arena *a, const kernel_cache_key *key, str *code);
// Keeps it, and lets go of what was used longest ago where the folder has become too large.
void kernel_cache_keep(const kernel_cache_key *key, str code);

#endif
