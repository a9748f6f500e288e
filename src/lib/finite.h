// Whether numbers are neither infinite nor NaN.
#ifndef HEDDLE_LIB_FINITE_H_
#define HEDDLE_LIB_FINITE_H_

#include <stdbool.h>
#include <stdint.h>

bool finite_f32(int64_t count, const float *values);

#endif
