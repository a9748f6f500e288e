// The few types that library routines compute in, and how elements of every dtype get there and back.
//
// Integers that a float holds exactly may be loaded into floats and stored from floats. Storing rounds to nearest even
// once and wraps integers around; pred is 0 and 1, and stores as "is not zero".
#ifndef HEDDLE_LIB_WORK_H_
#define HEDDLE_LIB_WORK_H_

#include <complex.h>

#include "lib/call.h"

typedef enum work_type {
  WORK_F32,
  WORK_F64,
  WORK_C64,   // two floats
  WORK_C128,  // two doubles
  WORK_U32,   // integers modulo 2^32: signed ones are sign-extended
  WORK_U64,
  WORK_S16,  // integers of so many bits, to be multiplied: loaded, never stored
  WORK_TYPE_COUNT
} work_type;

// x + iy without arithmetic, which would spoil infinities and the sign of zero.
static inline double complex work_complex(double x, double y) {
  union {
    double parts[2];
    double complex whole;
  } z = {{x, y}};
  return z.whole;
}

// Bytes of one element: 2, 4, 8 or 16.
int work_size(work_type w);

// Bytes of `count` elements of a type as they lie in memory; is_packed as in lib_array.
int64_t work_array_bytes(dtype t, bool is_packed, int64_t count);

// Elements first … first + count - 1 of `from`, widened, to `to`. The real work types take real arrays, the complex
// ones both.
void work_load(work_type w, const lib_array *from, int64_t first, int64_t count, void *to);

// The way back; the real work types store to real arrays, the complex ones to complex arrays. Elements of a packed
// array that share a byte must not be stored by two threads at a time.
void work_store(work_type w, const void *from, const lib_array *to, int64_t first, int64_t count);

#endif
