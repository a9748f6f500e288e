// Saturation goes through 128 bits, which hold every sum and every product of two 64-bit integers.
#include "base/int64.h"

static int64_t saturate(__int128 v) {
  if (v > INT64_MAX) return INT64_MAX;
  if (v < INT64_MIN) return INT64_MIN;
  return (int64_t)v;
}

int64_t int64_saturating_add(int64_t a, int64_t b) { return saturate((__int128)a + b); }
int64_t int64_saturating_mul(int64_t a, int64_t b) { return saturate((__int128)a * b); }

int64_t int64_floor_div(int64_t a, int64_t b) {
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t int64_floor_mod(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

int64_t int64_gcd(int64_t a, int64_t b) {
  if (a == INT64_MIN) a = (int64_t)1 << 62;
  if (b == INT64_MIN) b = (int64_t)1 << 62;
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
