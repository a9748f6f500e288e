// Constants, and what puts vectors, complex numbers and structs together and takes them apart.
#ifndef HEDDLE_LOWER_SPIRV_VECTORS_H_
#define HEDDLE_LOWER_SPIRV_VECTORS_H_

#include "lower/spirv_values.h"

// *known says whether the operation is one of those; of others nothing is made.
heddle_status spirv_vectors_translate(spirv_code *c, MlirOperation op, bool *known);

#endif
