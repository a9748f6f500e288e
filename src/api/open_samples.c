// Stand-ins are multiples of a power of two, so that tiles fill them, by different primes, so that no number that
// depends on one of them is another's by chance.
#include "api/open_samples.h"

#include <string.h>

#include "prog/program_sizes.h"

enum { COLUMNS = PROGRAM_MOST_DEGREE + 2 };  // stand-ins for a symbol

#define LARGE_PRIMES                                                     \
  {32749, 32719, 32717, 32713, 32707, 32693, 32687, 32653, 32647, 32633, \
   32621, 32611, 32609, 32603, 32587, 32579, 32573, 32569, 32563, 32561}
#define SMALL_PRIMES \
  {251, 241, 239, 233, 229, 227, 223, 211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157, 151, 149}

static const struct {
  int64_t unit;
  int64_t primes[COLUMNS * PROGRAM_MOST_SYMBOLS];  // descending
} levels[OPEN_SAMPLES_LEVELS] = {
    {1 << 16, LARGE_PRIMES}, {1 << 12, SMALL_PRIMES}, {1 << 8, SMALL_PRIMES},
    {1 << 6, SMALL_PRIMES},  {1 << 4, SMALL_PRIMES},  {1 << 2, SMALL_PRIMES},
};

int open_samples_count(const open_samples *s) {
  return program_sizes_term_count(&(program_sizes){.symbol_count = s->symbol_count, .degree = s->degree}) + 1;
}

static bool is_prime(int64_t n) {
  for (int64_t k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return true;
}

// Every second column is even: what is one more or the sum of two of them is no multiple of two by chance, either.
// Small ones may have the same prime above them: they are found from the smallest on.
static int64_t odd_stand_in(const open_samples *s, int column, int symbol) {
  enum { FAR_APART = 1 << 8, COUNT = COLUMNS * PROGRAM_MOST_SYMBOLS };
  const int64_t unit = levels[s->level].unit;
  const int wanted = column * PROGRAM_MOST_SYMBOLS + symbol, factor = 1 + (column & 1);
  int64_t found = 0;
  for (int k = unit >= FAR_APART ? wanted : COUNT - 1; k >= wanted; k--) {
    if ((k / PROGRAM_MOST_SYMBOLS & 1) != (column & 1)) continue;
    int64_t n = unit * levels[s->level].primes[k] / factor;
    if (n <= found) n = found + 1;
    while (!is_prime(n)) n++;
    found = n;
  }
  return found * factor;
}

static int64_t stand_in(const open_samples *s, int column, int symbol) {
  if (s->is_odd) return odd_stand_in(s, column, symbol);
  return levels[s->level].unit * levels[s->level].primes[column * PROGRAM_MOST_SYMBOLS + symbol];
}

int open_samples_odd(const open_samples *s) { return open_samples_count(s); }

int64_t open_samples_stand_in(const open_samples *s, int sample, int symbol) {
  enum { PRIME = 7919 };
  const bool is_last = sample == open_samples_count(s) - 1;
  if (sample == open_samples_odd(s)) return stand_in(s, COLUMNS - 1, symbol) + PRIME % levels[s->level].unit;
  if (is_last) return stand_in(s, COLUMNS - 1, symbol);
  for (int k = 0; k < symbol; k++) sample /= s->degree + 1;
  return stand_in(s, sample % (s->degree + 1), symbol);
}

int64_t open_samples_largest_size(const open_samples *s) { return stand_in(s, COLUMNS - 1, PROGRAM_MOST_SYMBOLS - 1); }

int64_t open_samples_open_from(const open_samples *s) { return open_samples_largest_size(s) / 2; }

// The coefficients of the polynomial through values at `count` places, in the values' place, `step` apart: Newton's
// divided differences, then multiplied out. False if they are no integers.
static bool interpolate(int count, const int64_t *places, __int128 *values, int step) {
  for (int order = 1; order < count; order++) {
    for (int k = count - 1; k >= order; k--) {
      const __int128 difference = values[k * step] - values[(k - 1) * step];
      const int64_t by = places[k] - places[k - order];
      if (difference % by != 0) return false;
      values[k * step] = difference / by;
    }
  }
  for (int order = count - 2; order >= 0; order--)
    for (int k = order; k < count - 1; k++) values[k * step] -= values[(k + 1) * step] * places[order];
  return true;
}

// One symbol after the other, along each line of samples that differ in it alone.
static bool find_terms(const open_samples *s, const int64_t *values, int test, int64_t *terms) {
  const program_sizes sizes = {.symbol_count = s->symbol_count, .degree = s->degree};
  const int count = program_sizes_term_count(&sizes), each = s->degree + 1;
  __int128 rest[PROGRAM_MOST_TERMS];
  int64_t at[PROGRAM_MOST_SYMBOLS], places[PROGRAM_MOST_DEGREE + 1], found[PROGRAM_MOST_TERMS] = {0};
  if (count > PROGRAM_MOST_TERMS) return false;
  for (int k = 0; k < count; k++) rest[k] = values[k];
  for (int symbol = 0, step = 1; symbol < s->symbol_count; symbol++, step *= each) {
    for (int k = 0; k < each; k++) places[k] = stand_in(s, k, symbol);
    for (int k = 0; k < count; k++)
      if (k / step % each == 0 && !interpolate(each, places, &rest[k], step)) return false;
  }
  for (int k = 0; k < count; k++) {
    if (rest[k] > INT64_MAX || rest[k] < INT64_MIN) return false;
    found[k] = (int64_t)rest[k];
  }
  for (int symbol = 0; symbol < s->symbol_count; symbol++) at[symbol] = open_samples_stand_in(s, test, symbol);
  if (program_sizes_value(&sizes, found, at) != values[count]) return false;
  memcpy(terms, found, sizeof found);
  return true;
}

bool open_samples_terms(const open_samples *s, const int64_t *values, int64_t *terms) {
  return find_terms(s, values, open_samples_count(s) - 1, terms);
}

bool open_samples_odd_terms(const open_samples *s, const int64_t *values, int64_t *terms) {
  return find_terms(s, values, open_samples_odd(s), terms);
}
