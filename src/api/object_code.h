// The program as one function: what its thunks do, in order, as text in MLIR's LLVM dialect. It calls the kernels, tile
// after tile, and copies and turns by itself; it takes no memory and keeps nothing.
#ifndef HEDDLE_API_OBJECT_CODE_H_
#define HEDDLE_API_OBJECT_CODE_H_

#include "prog/program.h"

// `void NAME(parameters …, results …, workspace)`, all of them pointers: const ones to the parameters, the results in
// the order of the program, and temporary_bytes of workspace. Constant k of the program's allocations is the symbol
// that object_code_constant gives. HEDDLE_UNIMPLEMENTED names the thunk that needs the runtime, with its place.
heddle_status object_code_print(arena *a, const program *p, const char *name, text *out);

const char *object_code_constant(arena *a, const char *name, int allocation);

#endif
