// Attributes of a custom call, written in backend_config as MLIR prints a dictionary (`{uplo = 76 : ui8, name = "x"}`)
// or as JSON (`{"uplo": 76}`).
#ifndef HEDDLE_HLO_CALL_ATTRIBUTES_H_
#define HEDDLE_HLO_CALL_ATTRIBUTES_H_

#include "base/arena.h"
#include "base/str.h"
#include "lib/call.h"

// One by name. Each leaves `to` as it is and returns false when there is no such attribute or it is of another kind.
bool call_attribute_int(str config, const char *name, int64_t *to);    // also true, false, "x" and 3.0 : f64's 3
bool call_attribute_number(str config, const char *name, double *to);  // "x" too, if x is one
bool call_attribute_text(str config, const char *name, str *to);       // what stands between the quotes

bool call_attribute_dictionary(str config, const char *name, str *to);  // with its brackets
bool call_attribute_ints(arena *a, str config, const char *name, int *count, const int64_t **to);
bool call_attribute_is_there(str config, const char *name);  // of whatever kind

// All of them, in the arena. Truth values are the numbers 0 and 1, lists of integers are NAMED_INTS, quoted texts stand
// without their quotes; what is none of this is text as it is written. Text that is no dictionary has no attributes.
int call_attributes(arena *a, str config, const named_attribute **list);

#endif
