// Hands values to a compiled program and takes its results.
#ifndef HEDDLE_API_RUN_H_
#define HEDDLE_API_RUN_H_

#include "api/compile.h"
#include "hlo/literal.h"
#include "rt/invocation.h"

// A call with literals: one set of buffers of one program, filled with arguments; may be executed any number of times.
// Not to be moved once it is bound.
typedef struct run {
  compiled *program;
  invocable callable;
  invocation invocation;
} run;

// Lays the arguments out as the kernels want them (layouts, packed sub-byte types) in recycled buffers. Arguments must
// match the parameters' types and dims; a program of several devices takes one set for all of them or a set for each,
// device after device. The arena holds the pointer tables.
heddle_status run_bind(arena *a, compiled *c, int argument_count, literal *const *arguments, run *out);
// The same for row-major arrays in memory, arguments[device][parameter], all of them there.
heddle_status run_bind_arrays(arena *a, compiled *c, const void *const *const *arguments, run *out);
heddle_status run_execute(run *r);
// The result as a literal in row-major order: a tuple if the entry's result is one. Of several devices a tuple of what
// each has. Results of dynamic size come as static arrays of the size that they have.
heddle_status run_fetch(arena *a, const run *r, literal **out);
// One result, row-major, into memory of program_shape_bytes; dims[d] gets the size of each dim. HEDDLE_INVALID for
// a size beyond its bound.
heddle_status run_fetch_into(const run *r, int device, int number, void *memory, int64_t *dims);
void run_release(run *r);  // gives the buffers back

// All four in order.
heddle_status run_once(arena *a, compiled *c, int argument_count, literal *const *arguments, literal **out);

#endif
