// Arithmetic, comparisons, conversions and the functions that SPIR-V has, scalar by scalar.
#ifndef HEDDLE_LOWER_SPIRV_ARITH_H_
#define HEDDLE_LOWER_SPIRV_ARITH_H_

#include "lower/spirv_values.h"

// Translates an operation on scalars, vectors and complex numbers alike. *known says whether it is one of those that
// this file knows; of others nothing is made.
heddle_status spirv_arith_translate(spirv_code *c, MlirOperation op, bool *known);

#endif
