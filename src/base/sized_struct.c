// The first field says how far the others may be read.
#include "base/sized_struct.h"

#include <string.h>

enum { UNIT = sizeof(size_t), MOST_BYTES = 4096 };

// Structs end with whole words, so that a new field never lies in what was padding.
static heddle_status read_size(const char *type, const void *given, size_t *out) {
  memcpy(out, given, sizeof *out);
  if (*out >= UNIT && *out % UNIT == 0 && *out <= MOST_BYTES) return status_ok();
  return status_error(HEDDLE_INVALID, "found %s of struct_size %zu, wanted sizeof(%s): see HEDDLE_INIT", type, *out,
                      type);
}

heddle_status sized_struct_take(const char *type, const void *given, void *to, size_t known) {
  memset(to, 0, known);
  if (given) {
    size_t size;
    TRY(read_size(type, given, &size));
    const char *bytes = given;
    for (size_t k = known; k < size; k++)
      if (bytes[k])
        return status_error(HEDDLE_INVALID,
                            "found %s of struct_size %zu with a field set at byte %zu, wanted at most %zu bytes: the "
                            "caller's header is newer than this library",
                            type, size, k, known);
    memcpy(to, given, size < known ? size : known);
  }
  memcpy(to, &known, sizeof known);
  return status_ok();
}

heddle_status sized_struct_fill(const char *type, void *given, const void *from, size_t known) {
  size_t size;
  if (!given) return status_error(HEDDLE_INVALID, "found null for a %s", type);
  TRY(read_size(type, given, &size));
  const size_t shared = size < known ? size : known;
  memcpy((char *)given + UNIT, (const char *)from + UNIT, shared - UNIT);
  memset((char *)given + shared, 0, size - shared);
  return status_ok();
}
