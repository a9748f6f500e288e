// Makes one relocatable object of several, as `ld -r` does, and of bytes that become constants in it.
#ifndef HEDDLE_LINK_ELF_MERGE_H_
#define HEDDLE_LINK_ELF_MERGE_H_

#include "base/status.h"
#include "base/str.h"

typedef struct elf_constant {
  const char *symbol;
  const void *data;
  size_t size;
} elf_constant;

// Constants are aligned to 64 bytes.
typedef struct elf_merge_request {
  int object_count;
  const str *objects;
  int constant_count;
  const elf_constant *constants;
  const char *shown[2];  // the symbols that the result shows, null: none; all others are its own
} elf_merge_request;

// Appends the object to `out`. What an object or a constant defines, others refer to by its name, whether it is shown
// or not; what nobody defines stays undefined, and *undefined gets those names, separated by ", " (in the arena; "" for
// none). HEDDLE_INVALID for malformed objects, for two symbols of one name and for objects of different machines.
heddle_status elf_merge(arena *a, const elf_merge_request *request, text *out, const char **undefined);

#endif
