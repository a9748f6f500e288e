// Compiles the plans of kernels to their images, on all threads.
#ifndef HEDDLE_API_COMPILE_KERNELS_H_
#define HEDDLE_API_COMPILE_KERNELS_H_

#include "api/compile.h"

// Emits, lowers and generates code for each kernel of `c` as `machine` wants it, into c->images, whose data live in the
// arena. Stops at nothing: of several errors the first kernel's is returned, and those of tiles are noted in
// c->failures.
heddle_status compile_kernels(arena *a, const compile_options *o, const target_description *machine, compiled *c);

#endif
