// C functions that programs call by name: custom-call with custom_call_target="name".
//
//   static heddle_status scale(const heddle_custom_call *call) { ... }
//   heddle_register_custom_call("scale", scale, NULL);  // before the program is compiled
#ifndef HEDDLE_CUSTOM_CALL_H_
#define HEDDLE_CUSTOM_CALL_H_

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// A dense array in row-major order. Integers of less than a byte are packed, the element with the lower index in the
// lower bits; pred takes a byte, 0 or 1.
typedef struct heddle_custom_call_array {
  const char *element_type;  // as HLO spells it: "f32", "s64", "c64", …
  int rank;
  const int64_t *dims;
  void *data;  // may be null when there are no elements
} heddle_custom_call_array;

typedef enum heddle_attribute_kind {
  HEDDLE_ATTRIBUTE_INTS,    // a single integer or truth value is a list of one
  HEDDLE_ATTRIBUTE_NUMBER,  // a floating-point number
  HEDDLE_ATTRIBUTE_TEXT,
} heddle_attribute_kind;

typedef struct heddle_custom_call_attribute {
  const char *name;
  heddle_attribute_kind kind;
  int count;  // of ints
  const int64_t *ints;
  double number;
  const char *text;
} heddle_custom_call_attribute;

// Made by the library, which may have more fields than this header: struct_size says how many bytes are there.
typedef struct heddle_custom_call {
  size_t struct_size;
  const char *target;
  int operand_count;
  const heddle_custom_call_array *operands;  // read only
  int result_count;
  const heddle_custom_call_array *results;  // to be written, all of them; a tuple's leaves in order
  int attribute_count;
  const heddle_custom_call_attribute *attributes;  // of the call; text that is no dictionary stands as "backend_config"
  void *user;                                      // as given at registration
} heddle_custom_call;

// Ends the run with an error if it returns one (heddle_custom_call_error). May be called by several threads at a time,
// for different calls; must not run Heddle programs itself.
typedef heddle_status (*heddle_custom_call_fn)(const heddle_custom_call *call);

// Programs compiled from now on find `fn` under this name, in place of what had it before, one of Heddle's own routines
// included. `name` is copied; `user` must live as long as such programs. HEDDLE_INVALID for a null name or function,
// HEDDLE_OUT_OF_MEMORY.
HEDDLE_API heddle_status heddle_register_custom_call(const char *name, heddle_custom_call_fn fn, void *user);

// The attribute of this name, or null.
HEDDLE_API const heddle_custom_call_attribute *heddle_custom_call_find(const heddle_custom_call *call,
                                                                       const char *name);

// An error to return; the message is copied.
HEDDLE_API heddle_status heddle_custom_call_error(heddle_code code, const char *message);

#ifdef __cplusplus
}
#endif
#endif
