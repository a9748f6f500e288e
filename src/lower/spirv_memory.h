// Memory: addresses of buffers, arrays of the workgroup, constants; loads, stores and atomic operations on them.
#ifndef HEDDLE_LOWER_SPIRV_MEMORY_H_
#define HEDDLE_LOWER_SPIRV_MEMORY_H_

#include "lower/spirv_values.h"

// Translates what the LLVM dialect has for memory. *known says whether the operation is one of those; of others nothing
// is made.
heddle_status spirv_memory_translate(spirv_code *c, MlirOperation op, bool *known);

// An array of the workgroup with so many elements, a type of the source, under a name of its own.
const spirv_array *spirv_memory_workgroup(spirv_code *c, const char *name, MlirType element, int64_t count);
// A pointer to an element of it; `number` is an integer.
MlirValue spirv_memory_element(spirv_code *c, const spirv_array *array, MlirValue number);

// Entry `number` of a table of addresses, which lies at an address itself.
MlirValue spirv_memory_address_in(spirv_code *c, MlirValue table, int number);

#endif
