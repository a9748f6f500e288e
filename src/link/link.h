// Links relocatable objects into the running process: code that can be executed and not written, constants that can be
// neither.
#ifndef HEDDLE_LINK_LINK_H_
#define HEDDLE_LINK_LINK_H_

#include "base/status.h"
#include "base/str.h"

typedef struct link_code link_code;

// One function of an object.
typedef struct link_entry {
  int object;
  const char *name;  // a global symbol
} link_entry;

// Copies the code and the constants of all objects into memory of the process and resolves what they refer to: places
// of their own, and functions of host_functions.h. addresses[k] becomes that of entries[k]. Objects do not see each
// other's symbols. `objects` may lie at any address and need not outlive the call. Each object is checked before
// anything of it is used. HEDDLE_INVALID for malformed objects, HEDDLE_UNIMPLEMENTED for what is sound but unknown (a
// machine, a relocation, a function, each by its name), HEDDLE_OUT_OF_MEMORY. Thread-safe.
heddle_status link_objects(int object_count, const str *objects, int entry_count, const link_entry *entries,
                           void **addresses, link_code **out);
void link_release(link_code *code);  // nothing of it may run any more; null is allowed

size_t link_code_bytes(const link_code *code);  // that it takes in memory

#endif
