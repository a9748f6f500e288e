// What a plan of fft_lanes.h holds. Internal to fft_lanes*.
#ifndef HEDDLE_LIB_FFT_LANES_PLAN_H_
#define HEDDLE_LIB_FFT_LANES_PLAN_H_

#include "lib/fft_lanes.h"

enum {
  FFT_LANES_BYTES = 32,      // of a vector
  FFT_LANES_MAX_RADIX = 61,  // the largest prime factor that has a step of its own
  FFT_LANES_MAX_STEPS = 16
};

// One step of Stockham's algorithm: of n = radix * inner * outer numbers, number i + inner * (u + radix * k) takes part
// in transform (i, k) of `radix` numbers as its u-th; result u, times exp(-2 pi sqrt(-1) u i outer / n), goes to
// i + inner * (k + outer * u).
typedef struct fft_lanes_step {
  int radix;
  int64_t inner, outer;
  // Of `outer`, which is a multiple of `period`, only those k are done that are below `kept` modulo that: behind a
  // first step on real numbers the others are conjugates.
  int64_t period, kept;
  const void *twiddles;  // pairs, radix - 1 for each i
  const void *roots;     // odd radices: for each result up to the middle cosines, then sines, of each pair of numbers
} fft_lanes_step;

typedef struct fft_lanes_transform {
  int64_t size;
  bool is_real;  // the first step's radix is odd, its imaginary parts are taken for zeros, and half of it is kept
  int count;
  fft_lanes_step steps[FFT_LANES_MAX_STEPS];
} fft_lanes_transform;

struct fft_lanes {
  bool is_single, is_inverse;
  fft_lanes_kind kind;
  int64_t size;                   // of a line
  int64_t points;                 // of the complex transform that is made: half of the size for real lines of even size
  int64_t capacity;               // complex numbers of each of two buffers
  fft_lanes_transform transform;  // of `points` numbers, or of Bluestein's convolution
  const void *chirp;              // Bluestein's algorithm: exp(-pi sqrt(-1) k^2 / points); null where it is not used
  const void *kernel;             // the transform of its conjugate, wrapped around, over the transform's size
  const void *halves;             // exp(-2 pi sqrt(-1) k / size), k up to points, where lines are done as half as long
};

#endif
