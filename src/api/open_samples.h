// The stand-ins for the symbols of a program for open sizes, and the polynomials that go through what is made with
// them.
#ifndef HEDDLE_API_OPEN_SAMPLES_H_
#define HEDDLE_API_OPEN_SAMPLES_H_

#include "base/arena.h"
#include "prog/program.h"

enum { OPEN_SAMPLES_MOST_HALVINGS = 2, OPEN_SAMPLES_LEVELS = 6, OPEN_SAMPLES_MOST = PROGRAM_MOST_TERMS + 1 };

// What stands in for a symbol that is derived from others in one sample, and what it is derived from there.
typedef struct open_derived_value {
  int64_t stand_in, left, right;
} open_derived_value;

typedef struct open_samples {
  int symbol_count;
  int derived_count;  // of the last symbols, which others decide
  int degree;         // of the polynomials, in each symbol
  int level;          // 0: the largest stand-ins; below OPEN_SAMPLES_LEVELS
  bool is_odd;        // primes and twice primes instead: nothing divides them that tiles or vectors are made of
  // How often stand-ins are halved, by symbol: those of a size that is asserted to be no larger than another are
  // smaller.
  int halvings[PROGRAM_MOST_SYMBOLS];
  int64_t derived_ratio;        // how many times smaller derived stand-ins may be than the others; 0: as large
  open_derived_value *derived;  // by sample and symbol, filled in by whoever reads a sample (open_samples_derive)
} open_samples;

// One sample for each choice of one of degree + 1 stand-ins for every symbol; and one more, with a further one for all,
// that polynomials are tested with. More than OPEN_SAMPLES_MOST, and there are no polynomials.
int open_samples_count(const open_samples *s);
// The number of a further sample, whose stand-ins no power of two divides, as what stands for sizes elsewhere must not
// be taken for a multiple of what it happens to be one of. It shows in what is decided before tiles are.
int open_samples_odd(const open_samples *s);
int64_t open_samples_stand_in(const open_samples *s, int sample, int symbol);

// Room for what is derived, of samples of its own.
void open_samples_add_table(arena *a, open_samples *s);

// A stand-in for a symbol that is `kind` of these in the sample: above or below what it would be, so that it is
// independent of them, and what is made of it stays positive on one side. 0 if there is none.
int64_t open_samples_derive(const open_samples *s, int sample, int symbol, program_derived_kind kind, bool is_above,
                            int64_t left, int64_t right);
open_derived_value *open_samples_derived(const open_samples *s, int sample, int symbol);

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
