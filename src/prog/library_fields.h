// The fields of library calls by name, from one table: so the compiler fills them in, routines read them as the named
// attributes that they take, and they are printed, without a list of its own in any of the three.
#ifndef HEDDLE_PROG_LIBRARY_FIELDS_H_
#define HEDDLE_PROG_LIBRARY_FIELDS_H_

#include "base/arena.h"
#include "prog/program.h"

typedef enum program_field_kind {
  PROGRAM_FIELD_BOOL,
  PROGRAM_FIELD_INT,     // int64_t
  PROGRAM_FIELD_INTS,    // program_ints
  PROGRAM_FIELD_NUMBER,  // an enum, elsewhere a number
  PROGRAM_FIELD_NAME,    // an enum, elsewhere a text
  PROGRAM_FIELD_KERNEL,  // int: a kernel of the program, elsewhere nothing; -1: none
} program_field_kind;

typedef struct program_field {
  const char *name;
  program_field_kind kind;
  size_t offset;   // in the thunk
  int64_t absent;  // the value that stands for no value
  // Enums: their values' names.
  const char *const *names;
  int name_count;
} program_field;

// None for thunks that are no library calls, and for custom calls, whose attributes are their own.
const program_field *program_fields(program_thunk_kind kind, int *count);

// Gives every field of the thunk's kind the value that it has when nobody sets it.
void program_fields_clear(program_thunk *t);

// Sets one field, or adds to a custom call's attributes. Copies what it is given. HEDDLE_INVALID for a name that the
// kind has not and a value that is no number, list or text as the field wants; HEDDLE_UNIMPLEMENTED for a name that is
// none of an enum's.
heddle_status program_field_set(arena *a, program_thunk *t, const named_attribute *given);

// The fields that have a value, as routines of lib take them; a custom call's attributes.
const named_attribute *program_fields_as_attributes(arena *a, const program_thunk *t, int *count);

// Values as they are: of a list the list, else null; of all others the number.
const program_ints *program_field_list(const program_thunk *t, const program_field *f);
int64_t program_field_number(const program_thunk *t, const program_field *f);

// Whether the field says anything: false for the value that program_fields_clear gives it, unless that is an enum's
// that has a name.
bool program_field_is_set(const program_thunk *t, const program_field *f);

// Whether an enum has the number that the field has.
bool program_field_is_sound(const program_thunk *t, const program_field *f);

// What an enum's field says: "all-reduce".
const char *program_field_name(const program_thunk *t, const program_field *f);

// What collectives, transfers and custom calls are called by; null for other thunks.
const char *program_thunk_target(const program_thunk *t);

#endif
