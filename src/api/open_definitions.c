// The difference of an equality's sides is a polynomial of the dims that it is about, which its values at some samples
// give. A dim that is in one term alone, and there with the factor 1 or -1, is what the others say.
#include "api/open_definitions.h"

#include <string.h>

#include "prog/program_sizes.h"

// Small ones, as programs multiply sizes with 32 bits: the product of three has to fit.
enum { FIRST = 240, STEP = 12, LEVEL = OPEN_SAMPLES_LEVELS - 1 };

int64_t open_definition_size(const open_definition *d, const int64_t *sizes) {
  const program_sizes s = {.symbol_count = d->count, .degree = d->degree};
  __int128 sum = 0;
  for (int t = 0; t < program_sizes_term_count(&s); t++) {
    int exponents[PROGRAM_MOST_SYMBOLS];
    __int128 product = d->terms[t];
    if (product == 0) continue;
    program_sizes_exponents(&s, t, exponents);
    for (int k = 0; k < d->count; k++) {
      const int64_t value = (sizes[k] - d->offsets[k]) / d->factors[k];
      for (int e = 0; e < exponents[k]; e++)
        if (__builtin_mul_overflow(product, (__int128)value, &product)) return INT64_MAX;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return INT64_MAX;
  }
  return sum > INT64_MAX ? INT64_MAX : sum < 0 ? 0 : (int64_t)sum;
}

// --- what an equality is about

static void fill_sizes(const open_conditions_reader *r, int64_t *values) {
  for (int k = 0; k < r->dim_count; k++) values[k] = values[k] * r->factors[k] + r->offsets[k];
}

// left - right of the equality where dims are `values` of them; false where it is none there.
static bool side_at(const open_conditions_reader *r, int number, const int64_t *values, int64_t *out) {
  int64_t *sizes = arena_array(r->arena, int64_t, r->dim_count);
  open_condition_list read = {0};
  memcpy(sizes, values, (size_t)r->dim_count * sizeof *sizes);
  fill_sizes(r, sizes);
  r->read(r->context, sizes, &read);
  return number < read.size && read.data[number].kind == IMPORT_EQUAL &&
         !__builtin_sub_overflow(read.data[number].left, read.data[number].right, out);
}

static void first_values(const open_conditions_reader *r, int64_t *values) {
  for (int k = 0; k < r->dim_count; k++) values[k] = FIRST + (int64_t)STEP * k;
}

// The dims that it changes with; -1 for more than there may be.
static int dims_of(const open_conditions_reader *r, int number, int *dims) {
  int64_t *values = arena_array(r->arena, int64_t, r->dim_count), first, moved;
  int count = 0;
  first_values(r, values);
  if (!side_at(r, number, values, &first)) return -1;
  for (int k = 0; k < r->dim_count; k++) {
    values[k] += (int64_t)STEP * r->dim_count;
    const bool is_read = side_at(r, number, values, &moved);
    values[k] -= (int64_t)STEP * r->dim_count;
    if (!is_read || (moved != first && count == OPEN_DEFINITIONS_MOST)) return -1;
    if (moved != first) dims[count++] = k;
  }
  return count;
}

// --- what it says

static bool fit(const open_conditions_reader *r, int number, const open_samples *s, const int *dims, int64_t *terms) {
  const int count = open_samples_count(s);
  int64_t *values = arena_array(r->arena, int64_t, r->dim_count), sides[OPEN_SAMPLES_MOST];
  if (count > OPEN_SAMPLES_MOST) return false;
  for (int n = 0; n < count; n++) {
    first_values(r, values);
    for (int k = 0; k < s->symbol_count; k++) values[dims[k]] = open_samples_stand_in(s, n, k);
    if (!side_at(r, number, values, &sides[n])) return false;
  }
  return open_samples_terms(s, sides, terms);
}

// Whether place k of the polynomial is in one term alone, in the first power, with its dim's factor; the sign of that.
static int sign_of_lone(const open_conditions_reader *r, const program_sizes *s, const int *dims, const int64_t *terms,
                        int k) {
  int sign = 0;
  for (int t = 0; t < program_sizes_term_count(s); t++) {
    int exponents[PROGRAM_MOST_SYMBOLS], sum = 0;
    if (terms[t] == 0) continue;
    program_sizes_exponents(s, t, exponents);
    if (exponents[k] == 0) continue;
    for (int n = 0; n < s->symbol_count; n++) sum += exponents[n];
    const int64_t factor = r->factors[dims[k]];
    if (sum != 1 || sign != 0 || (terms[t] != factor && terms[t] != -factor)) return 0;
    sign = terms[t] > 0 ? 1 : -1;
  }
  return sign;
}

// What the dim in place k is by the others, which must not be less than 0 for any of their sizes.
static bool define(const open_conditions_reader *r, const program_sizes *s, const int *dims, const int64_t *terms,
                   int k, open_definition *out) {
  const int sign = sign_of_lone(r, s, dims, terms, k);
  const program_sizes others = {.symbol_count = s->symbol_count - 1, .degree = s->degree};
  if (sign == 0) return false;
  *out = (open_definition){.count = others.symbol_count, .degree = s->degree};
  for (int n = 0, place = 0; n < s->symbol_count; n++) {
    if (n == k) continue;
    out->dims[place] = dims[n];
    out->factors[place] = r->factors[dims[n]];
    out->offsets[place++] = r->offsets[dims[n]];
  }
  int64_t *rest = out->terms;
  rest[0] = r->offsets[dims[k]];
  for (int t = 0, place = 0; t < program_sizes_term_count(s); t++) {
    int exponents[PROGRAM_MOST_SYMBOLS];
    program_sizes_exponents(s, t, exponents);
    if (exponents[k] != 0) continue;
    rest[place++] -= sign * terms[t];
  }
  for (int t = 1; t < program_sizes_term_count(&others); t++)
    if (rest[t] < 0) return false;
  return true;
}

bool open_definition_find(const open_conditions_reader *r, int number, int *dim, open_definition *out) {
  int dims[OPEN_DEFINITIONS_MOST];
  int64_t terms[PROGRAM_MOST_TERMS];
  const int count = dims_of(r, number, dims);
  if (count < 2) return false;
  for (int degree = 1; degree <= PROGRAM_MOST_DEGREE; degree++) {
    const open_samples s = {.symbol_count = count, .degree = degree, .level = LEVEL};
    const program_sizes sizes = {.symbol_count = count, .degree = degree};
    if (!fit(r, number, &s, dims, terms)) continue;
    for (int k = 0; k < count; k++) {
      *dim = dims[k];
      if (define(r, &sizes, dims, terms, k, out)) return true;
    }
    return false;
  }
  return false;
}
