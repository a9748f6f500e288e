// The stand-ins for the symbols of a program for open sizes, and the polynomials that go through what is made with
// them.
#ifndef HEDDLE_API_OPEN_SAMPLES_H_
#define HEDDLE_API_OPEN_SAMPLES_H_

#include "prog/program.h"

enum { OPEN_SAMPLES_LEVELS = 6, OPEN_SAMPLES_MOST = PROGRAM_MOST_TERMS + 1 };

typedef struct open_samples {
  int symbol_count;
  int degree;   // of the polynomials, in each symbol
  int level;    // 0: the largest stand-ins; below OPEN_SAMPLES_LEVELS
  bool is_odd;  // primes and twice primes instead: nothing divides them that tiles or vectors are made of
} open_samples;

// One sample for each choice of one of degree + 1 stand-ins for every symbol; and one more, with a further one for all,
// that polynomials are tested with. More than OPEN_SAMPLES_MOST, and there are no polynomials.
int open_samples_count(const open_samples *s);
// The number of a further sample, whose stand-ins no power of two divides, as what stands for sizes elsewhere must not
// be taken for a multiple of what it happens to be one of. It shows in what is decided before tiles are.
int open_samples_odd(const open_samples *s);
int64_t open_samples_stand_in(const open_samples *s, int sample, int symbol);

// The smallest stand-in, above which nobody knows what the program does, and what is below all that is made of them by
// small changes.
int64_t open_samples_largest_size(const open_samples *s);
int64_t open_samples_open_from(const open_samples *s);

// The polynomial of at most that degree in each symbol, with integer coefficients, that has these values at the
// samples. False if there is none.
bool open_samples_terms(const open_samples *s, const int64_t *values, int64_t *terms);
// The same where the last value is that of the odd sample.
bool open_samples_odd_terms(const open_samples *s, const int64_t *values, int64_t *terms);

#endif
