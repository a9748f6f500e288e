// A lib_call is what a library routine is given: dense row-major arrays in memory and named attributes.
//
// The interpreter and the runtime both call the routines of this room, so nothing here knows of HLO, literals or
// thunks.
#ifndef HEDDLE_LIB_CALL_H_
#define HEDDLE_LIB_CALL_H_

#include <stddef.h>

#include "base/dtype.h"
#include "base/named_attribute.h"
#include "base/status.h"

// Row-major and dense. Types narrower than a byte take a byte per element when the interpreter calls and are packed
// (the element with the lower index in the lower bits) when the runtime does: `is_packed` says which.
typedef struct lib_array {
  dtype type;
  int rank;
  const int64_t *dims;
  void *data;  // may be null when there are no elements
  bool is_packed;
} lib_array;

typedef struct lib_call {
  const char *target;  // the name that was called; null where a routine is not found by name
  int operand_count;
  const lib_array *operands;  // read only, unless a routine says that it works in place
  int result_count;
  const lib_array *results;  // their data is written; never overlaps the operands unless the routine says so
  int attribute_count;
  const named_attribute *attributes;
  int threads;    // at most so many of the OpenMP pool; 1: the calling thread alone
  void *scratch;  // as many bytes as the routine's scratch function asked for, aligned to 64; any address if none
} lib_call;

// Thread-safe for calls on different memory. Errors name what of the call the routine does not take.
typedef heddle_status (*lib_fn)(const lib_call *call);

// A routine by name: the custom-call targets and library operations that need no state.
typedef struct lib_routine {
  const char *name;  // with * at the end: all names that begin so
  lib_fn call;
  // Bytes of scratch memory for a call of these shapes (data pointers are not looked at); null: none.
  int64_t (*scratch)(const lib_call *call);
  unsigned needs;  // libraries, for external_need_all: whoever prepares a call asks before it runs
} lib_routine;

// Null if there is none of that name.
const lib_routine *lib_find(const char *name);

// Attributes by name; `otherwise` (or null) where there is none of that name and kind.
// A number or truth value however it is written: an integer, a whole floating-point number, a text of one letter (its
// code) or of digits. False if there is none.
bool lib_number(const lib_call *call, const char *name, int64_t *to);
int64_t lib_int(const lib_call *call, const char *name, int64_t otherwise);
double lib_double(const lib_call *call, const char *name, double otherwise);
const char *lib_text(const lib_call *call, const char *name);
const named_attribute *lib_ints(const lib_call *call, const char *name);

static inline int64_t lib_element_count(const lib_array *a) {
  int64_t count = 1;
  for (int d = 0; d < a->rank; d++) count *= a->dims[d];
  return count;
}

#endif
