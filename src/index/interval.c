// Interval arithmetic. Every operation over-approximates: the result holds all values the operands can make, and ends
// that do not fit into int64 stay at its ends, where they mean "unbounded".
#include "index/interval.h"

#include "base/int64.h"

static const interval EMPTY = {1, 0};

static bool either_empty(interval a, interval b) { return interval_is_empty(a) || interval_is_empty(b); }

bool interval_equal(interval a, interval b) {
  if (interval_is_empty(a)) return interval_is_empty(b);
  return a.lower == b.lower && a.upper == b.upper;
}

bool interval_covers(interval outer, interval inner) {
  return interval_is_empty(inner) || (outer.lower <= inner.lower && inner.upper <= outer.upper);
}

interval interval_intersect(interval a, interval b) {
  return (interval){int64_max(a.lower, b.lower), int64_min(a.upper, b.upper)};
}

interval interval_union(interval a, interval b) {
  if (interval_is_empty(a)) return b;
  if (interval_is_empty(b)) return a;
  return (interval){int64_min(a.lower, b.lower), int64_max(a.upper, b.upper)};
}

// An unbounded end stays unbounded whatever is added to it.
static int64_t add_lower(int64_t a, int64_t b) {
  return a == INT64_MIN || b == INT64_MIN ? INT64_MIN : int64_saturating_add(a, b);
}

static int64_t add_upper(int64_t a, int64_t b) {
  return a == INT64_MAX || b == INT64_MAX ? INT64_MAX : int64_saturating_add(a, b);
}

interval interval_add(interval a, interval b) {
  if (either_empty(a, b)) return EMPTY;
  return (interval){add_lower(a.lower, b.lower), add_upper(a.upper, b.upper)};
}

static int64_t negate_end(int64_t end) {
  if (end == INT64_MAX) return INT64_MIN;
  return end == INT64_MIN ? INT64_MAX : -end;
}

interval interval_negate(interval a) {
  return interval_is_empty(a) ? EMPTY : (interval){negate_end(a.upper), negate_end(a.lower)};
}

interval interval_sub(interval a, interval b) { return interval_add(a, interval_negate(b)); }

// One corner of a product. Zero times unbounded is zero: the values are finite, only their bound is unknown.
static int64_t corner(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  bool unbounded = a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX;
  if (unbounded) return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  return int64_saturating_mul(a, b);
}

interval interval_mul(interval a, interval b) {
  if (either_empty(a, b)) return EMPTY;
  int64_t corners[4] = {corner(a.lower, b.lower), corner(a.lower, b.upper), corner(a.upper, b.lower),
                        corner(a.upper, b.upper)};
  interval r = interval_point(corners[0]);
  for (int i = 1; i < 4; ++i) r = interval_union(r, interval_point(corners[i]));
  return r;
}

interval interval_floordiv(interval a, int64_t divisor) {
  if (interval_is_empty(a)) return EMPTY;
  if (divisor < 0) {
    if (divisor == INT64_MIN) {  // its negation does not fit; only the sign of the dividend matters
      return (interval){a.upper > 0 ? -1 : 0, a.lower == INT64_MIN ? INT64_MAX : 0};
    }
    a = interval_negate(a);
    divisor = -divisor;
  }
  return (interval){a.lower == INT64_MIN ? INT64_MIN : int64_floor_div(a.lower, divisor),
                    a.upper == INT64_MAX ? INT64_MAX : int64_floor_div(a.upper, divisor)};
}

interval interval_mod(interval a, int64_t modulus) {
  if (interval_is_empty(a)) return EMPTY;
  bool bounded = a.lower != INT64_MIN && a.upper != INT64_MAX;
  if (bounded && int64_floor_div(a.lower, modulus) == int64_floor_div(a.upper, modulus)) {
    return (interval){int64_floor_mod(a.lower, modulus), int64_floor_mod(a.upper, modulus)};
  }
  return (interval){0, modulus - 1};
}

interval interval_min(interval a, interval b) {
  if (either_empty(a, b)) return EMPTY;
  return (interval){int64_min(a.lower, b.lower), int64_min(a.upper, b.upper)};
}

interval interval_max(interval a, interval b) {
  if (either_empty(a, b)) return EMPTY;
  return (interval){int64_max(a.lower, b.lower), int64_max(a.upper, b.upper)};
}

uint64_t interval_size(interval a) {
  if (interval_is_empty(a)) return 0;
  uint64_t span = (uint64_t)a.upper - (uint64_t)a.lower;
  return span == UINT64_MAX ? UINT64_MAX : span + 1;
}
