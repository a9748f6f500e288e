// Arithmetic on 64-bit integers that C lacks: minimum and maximum, sums and products that saturate, division that
// rounds towards minus infinity or up, multiples, and the greatest common divisor.
#ifndef HEDDLE_BASE_INT64_H_
#define HEDDLE_BASE_INT64_H_

#include <stdbool.h>
#include <stdint.h>

static inline int64_t int64_min(int64_t x, int64_t y) { return x < y ? x : y; }
static inline int64_t int64_max(int64_t x, int64_t y) { return x > y ? x : y; }
static inline int64_t int64_clamp(int64_t low, int64_t x, int64_t high) { return int64_max(int64_min(x, high), low); }

// A result that does not fit becomes INT64_MAX or INT64_MIN.
int64_t int64_saturating_add(int64_t a, int64_t b);
int64_t int64_saturating_mul(int64_t a, int64_t b);

int64_t int64_floor_div(int64_t a, int64_t b);  // b != 0; INT64_MIN / -1 gives INT64_MAX
int64_t int64_floor_mod(int64_t a, int64_t b);  // b > 0; the result lies in [0, b - 1]

// Whether `right` divides `left` without a remainder. By -1 everything is divided, the lowest number by no instruction.
static inline bool int64_goes_into(int64_t right, int64_t left) {
  return right == -1 || (right != 0 && left % right == 0);
}

// How many chunks of b cover a; a >= 0, b > 0.
static inline int64_t int64_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// The largest divisor of a that is at most `most`; 1 if there is no other.
static inline int64_t int64_largest_divisor(int64_t a, int64_t most) {
  int64_t d = int64_max(1, int64_min(a, most));
  while (a % d != 0) d--;
  return d;
}

// The least multiple of b that is no less than a; a >= 0, b > 0.
static inline int64_t int64_round_up(int64_t a, int64_t b) { return int64_ceil_div(a, b) * b; }

int64_t int64_gcd(int64_t a, int64_t b);  // of the magnitudes; gcd(0, 0) = 0; INT64_MIN counts as 2^62

#endif
