// What the tests of this room share: arrays of pseudo-random elements and naive arithmetic on them.
#ifndef HEDDLE_LIB_TESTING_H_
#define HEDDLE_LIB_TESTING_H_

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/testing.h"
#include "lib/work.h"

static inline uint64_t testing_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

// Small numbers: multiples of 1/8 in [-2, 2) for floats, of every size that fits for integers.
static inline void testing_fill(const lib_array *a, uint64_t seed) {
  const int64_t count = lib_element_count(a);
  for (int64_t k = 0; k < count; k++) {
    const uint64_t random = testing_next(&seed);
    const double re = (double)(random % 32) / 8 - 2, im = (double)(random / 32 % 32) / 8 - 2;
    const double pair[2] = {re, im};
    const uint64_t whole = random * 0x9E3779B97F4A7C15u;
    if (dtype_is_complex(a->type)) work_store(WORK_C128, pair, a, k, 1);
    else if (dtype_is_float(a->type)) work_store(WORK_F64, &re, a, k, 1);
    else if (a->type == DTYPE_PRED) ((uint8_t *)a->data)[k] = random % 7 == 0;
    else work_store(WORK_U64, &whole, a, k, 1);
  }
}

static inline lib_array testing_array(arena *memory, dtype type, int rank, const int64_t *dims) {
  int64_t *copy = arena_array(memory, int64_t, rank + 1);
  for (int d = 0; d < rank; d++) copy[d] = dims[d];
  lib_array a = {.type = type, .rank = rank, .dims = copy};
  a.data = arena_alloc(memory, (size_t)work_array_bytes(type, false, lib_element_count(&a)) + 8);
  return a;
}

// The real and the imaginary part of an element.
static inline void testing_at(const lib_array *a, int64_t index, double part[2]) {
  part[1] = 0;
  if (dtype_is_complex(a->type)) work_load(WORK_C128, a, index, 1, part);
  else work_load(WORK_F64, a, index, 1, part);
}

static inline uint64_t testing_whole_at(const lib_array *a, int64_t index) {
  uint64_t value;
  work_load(WORK_U64, a, index, 1, &value);
  return value;
}

static inline named_attribute testing_int(const char *name, const int64_t *value) {
  return (named_attribute){.name = name, .kind = NAMED_INTS, .count = 1, .ints = value};
}

#endif
