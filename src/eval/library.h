// Calls routines of lib on values of the interpreter. Internal to eval.
#ifndef HEDDLE_EVAL_LIBRARY_H_
#define HEDDLE_EVAL_LIBRARY_H_

#include "eval/interpreter.h"
#include "lib/call.h"

// What of an array a routine sees. The value must outlive it.
lib_array library_array(const value *v);

// Runs the routine named `target` on operands that are arrays. The results are those that i's shape says: an array, a
// tuple of arrays, none, or a token. Errors get i's location.
heddle_status library_run(interpreter *in, const instruction *i, str target, value *const *operands, value **out);

#endif
