// The functions of this process that kernels may call: mathematics that the code generator leaves to libm, moves of
// memory, arithmetic that machines lack. One table: a kernel that calls anything else is refused by the name.
#ifndef HEDDLE_LINK_HOST_FUNCTIONS_H_
#define HEDDLE_LINK_HOST_FUNCTIONS_H_

#include "base/str.h"

// Its address, or null if the table has no such function.
const void *host_function_find(str name);

#endif
