// Fourier transforms of several lines of one length at a time, a line in each lane of vectors. Internal to lib.
#ifndef HEDDLE_LIB_FFT_LANES_H_
#define HEDDLE_LIB_FFT_LANES_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum fft_lanes_kind { FFT_LANES_COMPLEX, FFT_LANES_FROM_REAL, FFT_LANES_TO_REAL } fft_lanes_kind;

typedef struct fft_lanes fft_lanes;

// For lines of `size` numbers, float or double; real ones are as long on the real side and have size / 2 + 1 on the
// other. Null if such a plan would not do well: the lines are too long for the nearest caches. Lives in the arena.
fft_lanes *fft_lanes_make(arena *a, bool is_single, fft_lanes_kind kind, bool is_inverse, int64_t size);

// How many lines are done at a time, and the bytes of scratch memory for it, aligned to 64.
int fft_lanes_count(const fft_lanes *plan);
int64_t fft_lanes_bytes(const fft_lanes *plan);

// Up to that many lines. They lie along, their beginnings so many real numbers apart; or, where `row` is not 0, across:
// side by side, their elements so many real numbers apart, which only complex transforms take.
typedef struct fft_lines {
  const void *from;
  void *to;  // may be `from`
  int64_t count, from_distance, to_distance, row;
  double scale;  // of the results; lines across are not scaled
} fft_lines;

// Imaginary parts that a real signal's transform does not have are not read.
void fft_lanes_run(const fft_lanes *plan, const fft_lines *lines, void *scratch);

#endif
