// Blocks of elements in the one compute type of their class.
//
//   pred, integers      int64_t        unsigned 64-bit values as their bits; narrower ones zero-extended
//   real floats         double         which holds every narrower value exactly
//   complex             double complex
//
// The interpreter computes in it, so an operation is written once per class. What makes it an s4 or a bf16 operation is
// the rounding that follows: integers keep their low bits, floats round to nearest even. Rounding + - * / and square
// root from double gives the same bits as computing in f32 or narrower, since double has more than twice as many bits.
#ifndef HEDDLE_EVAL_COMPUTE_TYPE_H_
#define HEDDLE_EVAL_COMPUTE_TYPE_H_

#include <complex.h>

#include "base/dtype.h"

enum { COMPUTE_LANES = 256 };  // elements of a block, at most

// Room for a block of any class.
typedef union compute_block {
  int64_t ints[COMPUTE_LANES];
  double floats[COMPUTE_LANES];
  double complex complexes[COMPUTE_LANES];
} compute_block;

// Bytes of one element in its compute type.
static inline int compute_size(dtype t) { return dtype_is_complex(t) ? (int)sizeof(double complex) : 8; }

// x + iy without arithmetic, which would spoil infinities and the sign of zero.
static inline double complex compute_complex(double x, double y) {
  union {
    double parts[2];
    double complex whole;
  } z = {{x, y}};
  return z.whole;
}

// The textbook's product, as compiled code and XLA compute it: C's own looks for infinities behind a NaN.
static inline double complex compute_product(double complex x, double complex y) {
  return compute_complex(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

// Elements first … first + count - 1 of `data`.
void compute_load(dtype t, const void *data, int64_t first, int64_t count, void *block);
// Elements base + offsets[0 … count - 1].
void compute_load_at(dtype t, const void *data, int64_t base, const int64_t *offsets, int64_t count, void *block);
// Rounds and stores; a pred becomes "not zero".
void compute_store(dtype t, void *data, int64_t first, int64_t count, const void *block);
// Rounds in place to what `t` can hold.
void compute_round(dtype t, void *block, int64_t count);
// Elements 1 … count - 1 become element 0.
void compute_splat(dtype t, void *block, int64_t count);

// v cut to the low `bits` bits and extended by its sign or by zeros.
static inline int64_t compute_wrap(int64_t v, int bits, bool is_signed) {
  int unused = 64 - bits;
  uint64_t high = (uint64_t)v << unused;
  return is_signed ? (int64_t)high >> unused : (int64_t)(high >> unused);
}

#endif
