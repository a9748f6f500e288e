// Sorts several arrays together by a comparator.
#ifndef HEDDLE_EVAL_SORT_H_
#define HEDDLE_EVAL_SORT_H_

#include "eval/interpreter.h"

// `count` arrays of the same dims, sorted along one of them by the computation i->called[0], whose parameters are
// scalars: left and right of each array in turn. Equal elements keep their order. `results` are new references, null
// on entry; those already made when an error comes are the caller's to release.
heddle_status sort_arrays(interpreter *in, const instruction *i, int64_t along, int count, value *const *arrays,
                          value **results);

#endif
