// Structs as bytes and back, by tables: one row for each field, which writer and reader both go by, so that a field is
// added in one place.
//
// Numbers are varints (seven bits a byte, lowest first; signed ones zigzag), texts and lists begin with their count.
// Large stretches of bytes lie outside of the record, which holds their places. A reader believes nothing: no number
// leaves its range, no list is longer than what is left could hold, nothing nests deeper than it is told.
#ifndef HEDDLE_PROG_RECORD_H_
#define HEDDLE_PROG_RECORD_H_

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

typedef enum record_kind {
  RECORD_BOOL,
  RECORD_INT,       // int
  RECORD_ENUM,      // int, below `limit`
  RECORD_UINT32,    // uint32_t
  RECORD_INT64,     // int64_t, size_t
  RECORD_DOUBLE,    // its bits, eight bytes
  RECORD_TEXT,      // const char *, may be null
  RECORD_INTS,      // const int *
  RECORD_INT64S,    // const int64_t *
  RECORD_STRUCT,    // of `type`, in place
  RECORD_LIST,      // const T *
  RECORD_POINTERS,  // const T *const *
  RECORD_BYTES,     // const void *, of so many bytes as an int64_t before it says; outside of the record
} record_kind;

typedef struct record_type record_type;

typedef struct record_field {
  const char *name;
  record_kind kind;
  size_t offset;
  size_t count;       // of lists: the offset of their int count; of bytes: that of their size
  bool shares_count;  // with a list before it
  int repeats;        // of an array within the struct; 0: a single one
  int limit;          // of enums: how many values there are
  // Of enums: their values' names, by one of the two.
  const char *(*value_name)(int value);
  const char *const *value_names;
  const record_type *type;
  int section;  // of bytes: where they lie, a number that writer and reader give a meaning
} record_field;

struct record_type {
  const char *name;
  size_t size;
  int field_count;
  const record_field *fields;
  // What further fields there are says the int at `variant`, one of `variants`: `more` gives them by their number, and
  // false behind the last. Null: there are no further ones.
  size_t variant;
  int variants;
  bool (*more)(int variant, int number, record_field *out);
};

// Of what the field holds, or of one element if it is repeated: of lists and texts that of the pointer.
size_t record_element_size(const record_field *f);

// Puts bytes somewhere and returns where. Called in the order of the record; null data are not.
typedef uint64_t (*record_place_fn)(void *context, int section, const void *data, uint64_t size);

void record_write(text *out, const record_type *type, const void *object, record_place_fn place, void *context);

// The bytes at a place; false if not all of them lie within the section.
typedef bool (*record_find_fn)(void *context, int section, uint64_t place, uint64_t size, const void **out);

// Reads `bytes`, all of them, into `object`, of type->size bytes. Lists and texts live in the arena, bytes where `find`
// says. Structs nest at most `depth` deep. HEDDLE_INVALID names the field that is wrong.
heddle_status record_read(arena *a, str bytes, const record_type *type, int depth, record_find_fn find, void *context,
                          void *object);

// A number that differs if any field of the type, or of a type within it, has another name, kind or place in the order,
// and if an enum has other values.
uint64_t record_fingerprint(const record_type *type);

#endif
