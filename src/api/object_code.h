// The program as one function: what its thunks do, in order, as text in MLIR's LLVM dialect. It calls the kernels, tile
// after tile, and copies and turns by itself; it takes no memory and keeps nothing. For library thunks it calls the
// runtime.
#ifndef HEDDLE_API_OBJECT_CODE_H_
#define HEDDLE_API_OBJECT_CODE_H_

#include "api/compile.h"

// What library thunks are for the runtime, in the order of their symbols.
typedef struct object_code_calls {
  int count;
  const str *descriptions;  // in the arena
} object_code_calls;

// `void NAME(parameters …, results …, workspace)`, all of them pointers: const ones to the parameters, the results in
// the order of the program, and temporary_bytes of workspace. With calls of the runtime it returns a heddle_status.
// Of a program for open sizes the function takes these behind the workspace, as i64, and `i64 NAME_workspace(sizes …)`
// says how much of that it needs, -1 for sizes that the program does not run at.
// Constant k of the program's allocations is the symbol that object_code_constant gives, description k the one of
// object_code_description. HEDDLE_UNIMPLEMENTED names the thunk that cannot be in an object, with its place; where the
// object is to be freestanding, the one that needs the runtime.
heddle_status object_code_print(arena *a, const compiled *c, const char *name, bool freestanding, text *out,
                                object_code_calls *calls);

// Of a program for open sizes, with INT64_MIN + k in the place of its open number k (program_sizes.numbers): what is
// printed. Others are as they are. And the terms of such a number; null for others.
const program *object_code_mark(arena *a, const program *p);
const int64_t *object_code_terms(const program *marked, int64_t number);

const char *object_code_constant(arena *a, const char *name, int allocation);
const char *object_code_workspace(arena *a, const char *name);  // the function that says how much
const char *object_code_description(arena *a, const char *name, int call);

#endif
