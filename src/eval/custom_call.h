// Custom calls: what the interpreter knows by target name. Internal to eval.
#ifndef HEDDLE_EVAL_CUSTOM_CALL_H_
#define HEDDLE_EVAL_CUSTOM_CALL_H_

#include "eval/interpreter.h"
#include "hlo/call_attributes.h"

// Whether the call works on the actual sizes of dynamic operands, passing them on or looking at them; all others get
// their operands at the bounds.
bool custom_call_looks_at_sizes(const instruction *i);

// HEDDLE_INVALID unless the call has as many operands, and each is an array.
heddle_status custom_call_wants_arrays(const instruction *i, int count);
// Results in a tuple if the call's shape is one, else the only one. Takes over the references, also in case of error.
heddle_status custom_call_results(interpreter *in, const instruction *i, int count, value **results, value **out);

// custom_call_check.c
heddle_status custom_call_check_probed(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status custom_call_probe(interpreter *in, const instruction *i, value *const *operands, value **out);

// custom_call_parallel.c
heddle_status custom_call_run_parallel(interpreter *in, const instruction *i, value *const *operands, value **out);

// custom_call_tile.c: the whole of an array from or to the parts that the partitions have of it.
heddle_status custom_call_move_tile(interpreter *in, const instruction *i, value *const *operands, value **out);

// custom_call_dynamic.c: an array at its bounds and its sizes, from and to one of these sizes.
heddle_status custom_call_pad_to_static(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status custom_call_slice_to_dynamic(interpreter *in, const instruction *i, value *const *operands, value **out);

// custom_call_own.c: operations that the passes have made calls of.
heddle_status custom_call_own(interpreter *in, const instruction *i, value *const *operands, value **out);

// top_k.c, custom_call_approximate.c
heddle_status custom_call_top_k(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status custom_call_mhlo_top_k(interpreter *in, const instruction *i, value *const *operands, value **out);
heddle_status custom_call_approximate_top_k(interpreter *in, const instruction *i, value *const *operands, value **out);

// library.c: what lib has a routine for.
heddle_status custom_call_library(interpreter *in, const instruction *i, value *const *operands, value **out);

#endif
