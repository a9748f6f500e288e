// Stand-ins are multiples of a power of two, so that tiles fill them, by different primes, so that no number that
// depends on one of them is another's by chance.
#include "api/open_samples.h"

#include <string.h>

#include "prog/program_sizes.h"

// Stand-ins for a symbol, and of all: more symbols than FEW have no powers, and fewer stand-ins each.
enum { FEW = 4, COLUMNS = PROGRAM_MOST_DEGREE + 2, PRIMES = COLUMNS * FEW, COLUMNS_OF_MANY = 3 };
_Static_assert((int)COLUMNS_OF_MANY *(int)PROGRAM_MOST_SYMBOLS <= (int)PRIMES, "each has stand-ins of its own");

#define LARGE_PRIMES                                                     \
  {32749, 32719, 32717, 32713, 32707, 32693, 32687, 32653, 32647, 32633, \
   32621, 32611, 32609, 32603, 32587, 32579, 32573, 32569, 32563, 32561}
#define SMALL_PRIMES \
  {251, 241, 239, 233, 229, 227, 223, 211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157, 151, 149}

static const struct {
  int64_t unit;
  int64_t primes[PRIMES];  // descending
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

static int symbols_in_a_row(const open_samples *s) { return s->symbol_count > FEW ? PROGRAM_MOST_SYMBOLS : FEW; }

static int last_column(const open_samples *s) { return (s->symbol_count > FEW ? COLUMNS_OF_MANY : COLUMNS) - 1; }

static int64_t unit_of(const open_samples *s, int symbol) { return levels[s->level].unit >> s->halvings[symbol]; }

// Every second column is even: what is one more or the sum of two of them is no multiple of two by chance, either.
// Small ones may have the same prime above them: they are found from the smallest on.
static int64_t odd_stand_in(const open_samples *s, int column, int symbol) {
  enum { FAR_APART = 1 << 8 };
  const int64_t unit = unit_of(s, symbol);
  const int row = symbols_in_a_row(s), wanted = column * row + symbol, factor = 1 + (column & 1);
  int64_t found = 0;
  for (int k = unit >= FAR_APART ? wanted : PRIMES - 1; k >= wanted; k--) {
    if ((k / row & 1) != (column & 1)) continue;
    int64_t n = unit * levels[s->level].primes[k] / factor;
    if (n <= found) n = found + 1;
    while (!is_prime(n)) n++;
    found = n;
  }
  return found * factor;
}

static int64_t stand_in(const open_samples *s, int column, int symbol) {
  if (s->is_odd) return odd_stand_in(s, column, symbol);
  return unit_of(s, symbol) * levels[s->level].primes[column * symbols_in_a_row(s) + symbol];
}

int open_samples_odd(const open_samples *s) { return open_samples_count(s); }

// Which of a symbol's stand-ins the sample has.
static int column_of(const open_samples *s, int sample, int symbol) {
  if (sample >= open_samples_count(s) - 1) return last_column(s);
  for (int k = 0; k < symbol; k++) sample /= s->degree + 1;
  return sample % (s->degree + 1);
}

int64_t open_samples_stand_in(const open_samples *s, int sample, int symbol) {
  enum { PRIME = 7919 };
  if (symbol >= s->symbol_count - s->derived_count) return open_samples_derived(s, sample, symbol)->stand_in;
  const int64_t more = sample == open_samples_odd(s) ? PRIME % levels[s->level].unit : 0;
  return stand_in(s, column_of(s, sample, symbol), symbol) + more;
}

int64_t open_samples_largest_size(const open_samples *s) {
  int most = 0;
  for (int k = 0; k < PROGRAM_MOST_SYMBOLS; k++) most = s->halvings[k] > most ? s->halvings[k] : most;
  const int last = symbols_in_a_row(s) - 1;
  return stand_in(s, last_column(s), last) >> (most - s->halvings[last]);
}

int64_t open_samples_open_from(const open_samples *s) {
  return open_samples_largest_size(s) / 2 / (s->derived_ratio > 0 ? s->derived_ratio : 1);
}

// --- derived symbols

void open_samples_add_table(arena *a, open_samples *s) {
  s->derived = arena_array(a, open_derived_value, (OPEN_SAMPLES_MOST + 1) * PROGRAM_MOST_SYMBOLS);
}

open_derived_value *open_samples_derived(const open_samples *s, int sample, int symbol) {
  return &s->derived[sample * PROGRAM_MOST_SYMBOLS + symbol];
}

// What the symbol would be, or, of remainders and of what has one small side, something else that it is not above.
static int64_t about(program_derived_kind kind, int64_t left, int64_t right) {
  enum { FAR = 64 };
  const int64_t smaller = left < right ? left : right, larger = left < right ? right : left;
  switch (kind) {
    case PROGRAM_QUOTIENT: return right > 0 ? left / right : 0;
    case PROGRAM_REMAINDER:
    case PROGRAM_MODULO: return (left < right / FAR ? right : left) / 2;
    case PROGRAM_SMALLER: return smaller > 0 && smaller < larger / FAR ? larger / 2 : smaller;
    default: return larger;
  }
}

int64_t open_samples_derive(const open_samples *s, int sample, int symbol, program_derived_kind kind, bool is_above,
                            int64_t left, int64_t right) {
  enum { FINER = 16, LEAST_UNIT = 4, MOST_STAND_IN = INT32_MAX, LEAST_GAP = 64, PARTS = 512 };
  const int column = column_of(s, sample, symbol);
  const bool is_odd = s->is_odd || sample == open_samples_odd(s);
  const int64_t from = about(kind, left, right), finer = levels[s->level].unit / FINER;
  const int64_t unit = is_odd ? 1 + (column & 1) : finer > LEAST_UNIT ? finer : LEAST_UNIT;
  if (from <= 0 || from > MOST_STAND_IN) return 0;
  int64_t n = from / 4 * (is_above ? 5 : 3) / unit;
  // Primes far apart, so that no two are the same, but where there are few.
  const int row = column > s->degree ? s->degree + 1 : column;
  int number = 1 + row * s->derived_count + symbol - (s->symbol_count - s->derived_count);
  if (n / PARTS >= LEAST_GAP) {
    n += number * (n / PARTS);
    number = 1;
  }
  for (; number > 0; number--) do
      n++;
    while (!is_prime(n));
  return n * unit <= MOST_STAND_IN && (is_above || n * unit < from) ? n * unit : 0;
}

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

// One symbol after the other, along each line of samples that differ in it alone. The last one is first: the stand-ins
// of derived ones depend on those of symbols before them, and so does what they are in a line.
static bool find_terms(const open_samples *s, const int64_t *values, int test, int64_t *terms) {
  const program_sizes sizes = {.symbol_count = s->symbol_count, .degree = s->degree};
  const int count = program_sizes_term_count(&sizes), each = s->degree + 1;
  __int128 rest[PROGRAM_MOST_TERMS];
  int64_t at[PROGRAM_MOST_SYMBOLS], found[PROGRAM_MOST_TERMS] = {0};
  if (count > PROGRAM_MOST_TERMS) return false;
  for (int k = 0; k < count; k++) rest[k] = values[k];
  for (int symbol = s->symbol_count - 1, step = count / each; symbol >= 0; symbol--, step /= each) {
    for (int k = 0; k < count; k++) {
      if (k / step % each != 0) continue;
      int64_t places[PROGRAM_MOST_DEGREE + 1];
      for (int n = 0; n < each; n++) places[n] = open_samples_stand_in(s, k % step + n * step, symbol);
      if (!interpolate(each, places, &rest[k], step)) return false;
    }
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
