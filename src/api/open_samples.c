// Stand-ins are multiples of a power of two, so that tiles fill them, by different primes, so that no number that
// depends on one of them is another's by chance.
#include "api/open_samples.h"

#include <string.h>

#include "prog/program_sizes.h"

enum { COLUMNS = 3 };  // stand-ins for a symbol

static const struct {
  int64_t unit;
  int64_t primes[COLUMNS * PROGRAM_MOST_SYMBOLS];  // descending
} levels[OPEN_SAMPLES_LEVELS] = {
    {1 << 16, {32749, 32719, 32717, 32713, 32707, 32693, 32687, 32653, 32647}},
    {1 << 12, {251, 241, 239, 233, 229, 227, 223, 211, 199}},
    {1 << 10, {61, 59, 53, 47, 43, 41, 37, 31, 29}},
    {1 << 8, {61, 59, 53, 47, 43, 41, 37, 31, 29}},
};

int open_samples_count(const open_samples *s) { return (1 << s->symbol_count) + 1; }

static int64_t stand_in(int level, int column, int symbol) {
  return levels[level].unit * levels[level].primes[column * PROGRAM_MOST_SYMBOLS + symbol];
}

int open_samples_odd(const open_samples *s) { return open_samples_count(s); }

int64_t open_samples_stand_in(const open_samples *s, int sample, int symbol) {
  enum { ODD = 7919 };  // a prime
  const bool is_last = sample == open_samples_count(s) - 1;
  if (sample == open_samples_odd(s)) return stand_in(s->level, COLUMNS - 1, symbol) + ODD;
  return stand_in(s->level, is_last ? COLUMNS - 1 : sample >> symbol & 1, symbol);
}

int64_t open_samples_largest_size(const open_samples *s) {
  return stand_in(s->level, COLUMNS - 1, PROGRAM_MOST_SYMBOLS - 1);
}

int64_t open_samples_open_from(const open_samples *s) { return open_samples_largest_size(s) / 2; }

// Differences between samples, one symbol after the other, leave each term's coefficient alone: of two values at x and
// y of a symbol, f = a + b x, the slope is b, and what it leaves of f is a.
static bool find_terms(const open_samples *s, const int64_t *values, int test, int64_t *terms) {
  const int sets = 1 << s->symbol_count;
  __int128 rest[PROGRAM_MOST_TERMS];
  for (int k = 0; k < sets; k++) rest[k] = values[k];
  for (int symbol = 0; symbol < s->symbol_count; symbol++) {
    const int64_t first = stand_in(s->level, 0, symbol), step = stand_in(s->level, 1, symbol) - first;
    for (int k = 0; k < sets; k++) {
      if (!(k >> symbol & 1)) continue;
      const int without = k ^ 1 << symbol;
      const __int128 difference = rest[k] - rest[without];
      if (difference % step != 0) return false;
      rest[k] = difference / step;
      rest[without] -= rest[k] * first;
    }
  }
  int64_t at[PROGRAM_MOST_SYMBOLS];
  int64_t found[PROGRAM_MOST_TERMS] = {0};
  for (int k = 0; k < sets; k++) {
    if (rest[k] > INT64_MAX || rest[k] < INT64_MIN) return false;
    found[k] = (int64_t)rest[k];
  }
  for (int symbol = 0; symbol < s->symbol_count; symbol++) at[symbol] = open_samples_stand_in(s, test, symbol);
  const program_sizes sizes = {.symbol_count = s->symbol_count};
  if (program_sizes_value(&sizes, found, at) != values[sets]) return false;
  memcpy(terms, found, sizeof found);
  return true;
}

bool open_samples_terms(const open_samples *s, const int64_t *values, int64_t *terms) {
  return find_terms(s, values, open_samples_count(s) - 1, terms);
}

bool open_samples_odd_terms(const open_samples *s, const int64_t *values, int64_t *terms) {
  return find_terms(s, values, open_samples_odd(s), terms);
}
