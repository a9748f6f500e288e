// One call of a program with arrays as callers have them: row-major, an element in whole bytes. They are copied into
// memory as the kernels want it, and results back out of it.
#ifndef HEDDLE_RT_INVOCATION_H_
#define HEDDLE_RT_INVOCATION_H_

#include "rt/buffer.h"
#include "rt/executable.h"

// A program that can be called.
typedef struct invocable {
  const program *program;
  executable *executable;
  buffer_cache *buffers;
} invocable;

// One set of buffers, filled with arguments; may be executed any number of times.
typedef struct invocation {
  const invocable *of;
  void ***parameters;  // [device][leaf]; taken from the cache
  void ***results;
  bool shares_parameters;  // all devices read those of device 0
} invocation;

// Takes buffers and copies the row-major arrays arguments[device][parameter], all of them there, into them;
// `shares_parameters`: arguments[0] are those of all devices. `where` is the program's place, for errors. The arena
// holds the tables of pointers. After an error nothing has to be released.
heddle_status invocation_bind(arena *a, const invocable *of, const void *const *const *arguments,
                              bool shares_parameters, invocation *out);
heddle_status invocation_execute(const invocation *i);

// One result, row-major, into memory of program_shape_bytes; dims[d] gets the size of each dim. HEDDLE_INVALID for
// a size beyond its bound.
heddle_status invocation_fetch(const invocation *i, int device, int number, void *memory, int64_t *dims);
// The sizes that a result has, whatever its bounds are.
heddle_status invocation_sizes(const invocation *i, int device, int number, int64_t *dims);
void invocation_release(invocation *i);  // gives the buffers back

#endif
