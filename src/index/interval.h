// Closed integer intervals [lower, upper]; arithmetic saturates at the ends of int64.
//
// lower > upper means empty; all empty intervals are equal in meaning. An end at INT64_MIN or INT64_MAX means
// unbounded.
#ifndef HEDDLE_INDEX_INTERVAL_H_
#define HEDDLE_INDEX_INTERVAL_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct interval {
  int64_t lower;
  int64_t upper;
} interval;

#define INTERVAL_ALL ((interval){INT64_MIN, INT64_MAX})

static inline interval interval_point(int64_t v) { return (interval){v, v}; }
static inline bool interval_is_empty(interval a) { return a.lower > a.upper; }
static inline bool interval_is_point(interval a) { return a.lower == a.upper; }
static inline bool interval_contains(interval a, int64_t v) { return a.lower <= v && v <= a.upper; }
bool interval_equal(interval a, interval b);
bool interval_covers(interval outer, interval inner);  // every value of inner lies in outer
interval interval_intersect(interval a, interval b);
interval interval_union(interval a, interval b);  // smallest interval holding both
interval interval_add(interval a, interval b);
interval interval_sub(interval a, interval b);
interval interval_negate(interval a);
interval interval_mul(interval a, interval b);
interval interval_floordiv(interval a, int64_t divisor);  // divisor != 0; rounds towards minus infinity
interval interval_mod(interval a, int64_t modulus);       // modulus > 0; result in [0, modulus - 1]
interval interval_min(interval a, interval b);
interval interval_max(interval a, interval b);
uint64_t interval_size(interval a);  // number of values, saturating; 0 if empty

#endif
