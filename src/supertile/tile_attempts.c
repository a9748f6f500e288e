// Which loop has to be the outermost is known when all is tiled and not before. So, where the first attempts do not
// fit, the dims of the outermost loops are gone through.
#include "supertile/tile_attempts.h"

// In the order in which they are tried; those with more than all come last, for estimates that are too high.
static const tile_manner fixed[TILE_ATTEMPTS_FIXED] = {
    {.share = 1.0, .reach = REACH_NEAR},
    {.share = 1.0, .reach = REACH_NEAR},
    {.share = 1.0, .reach = REACH_NEAR},
    {.share = 1.0, .reach = REACH_HARD},
    {.share = 1.0, .reach = REACH_DEEP},
    {.share = 1.0, .reach = REACH_NEAR, .is_nested = true},
    {.share = 1.0, .reach = REACH_NEAR},
    {.share = 1.0, .reach = REACH_NEAR, .is_nested = true},
    {.share = 0.85, .reach = REACH_HARD},
    {.share = 0.85, .reach = REACH_DEEP},
    {.share = 0.85, .reach = REACH_NEAR},
    {.share = 1.0, .reach = REACH_HARD, .is_nested = true},
    {.share = 0.85, .reach = REACH_NEAR, .is_nested = true},
    {.share = 0.7, .reach = REACH_NEAR},
    {.share = 0.7, .reach = REACH_NEAR, .is_nested = true},
    {.share = 0.7, .reach = REACH_DEEP},
    {.share = 0.5, .reach = REACH_NEAR},
    {.share = 0.35, .reach = REACH_NEAR},
    {.share = 0.35, .reach = REACH_DEEP},
    {.share = 0.2, .reach = REACH_NEAR},
    {.share = 0.1, .reach = REACH_NEAR},
    {.share = 1.15, .reach = REACH_NEAR},
    {.share = 1.15, .reach = REACH_NEAR, .is_nested = true},
    {.share = 1.5, .reach = REACH_NEAR},
};

// Where a plan is laid out better than was estimated, what fits is found by aiming at more than there is.
static const double loosened[TILE_ATTEMPTS_LOOSENED] = {1.03, 1.06, 1.1, 1.15, 1.22, 1.3};
static const tile_reach reach_loosened[TILE_ATTEMPTS_AIMED] = {REACH_NEAR, REACH_NEAR, REACH_NEAR, REACH_HARD};

// Its number among those that aim at more; negative: it is none, or one with dims.
static int number_loosened(int number) {
  return number < TILE_ATTEMPTS_FIXED + TILE_ATTEMPTS_ABOVE ? number - TILE_ATTEMPTS_FIXED : -1;
}

// Its number among those with dims; negative: it is none.
static int number_with_dims(int number) { return number - TILE_ATTEMPTS_FIXED - TILE_ATTEMPTS_ABOVE; }

// First one dim alone, then two.
static void set_dims(int pair, int dims[TILE_FIRST_ROUNDS]) {
  const int both = pair - 1 - 2 * TILE_ATTEMPTS_DIMS;
  if (both >= 0) {
    dims[0] = 1 + both % TILE_ATTEMPTS_DIMS;
    dims[1] = 1 + both / TILE_ATTEMPTS_DIMS;
  } else if (pair > 0) {
    dims[(pair - 1) / TILE_ATTEMPTS_DIMS] = 1 + (pair - 1) % TILE_ATTEMPTS_DIMS;
  }
}

tile_manner tile_attempts_manner(int number) {
  const int n = number_with_dims(number), above = number_loosened(number);
  if (above >= 0)
    return (tile_manner){.share = 1.0,
                         .reach = reach_loosened[above % TILE_ATTEMPTS_AIMED],
                         .loosened = loosened[above / TILE_ATTEMPTS_AIMED]};
  if (n < 0) return fixed[number];
  tile_manner how = {
      .share = 1.0, .reach = REACH_DEEP, .slices_inside = true, .in_kernels = n / TILE_ATTEMPTS_EACH % 2};
  set_dims(n / (2 * TILE_ATTEMPTS_EACH), how.dims);
  return how;
}

bool tile_attempts_begins_anew(int number) {
  const int n = number_with_dims(number), above = number_loosened(number);
  return above >= 0 ? above % TILE_ATTEMPTS_AIMED == 0 : n >= 0 && n % TILE_ATTEMPTS_EACH == 0;
}

bool tile_attempts_is_again(int number) { return number_with_dims(number) >= 0 && !tile_attempts_begins_anew(number); }

bool tile_attempts_is_repeated(int number, const int *known) {
  const tile_manner how = tile_attempts_manner(number);
  if (tile_attempts_begins_anew(number)) return false;
  if (tile_attempts_is_again(number)) return known[number] == known[number - 1];
  for (int j = 0; j < number; j++) {
    const tile_manner other = tile_attempts_manner(j);
    if (other.share == how.share && other.loosened == how.loosened && other.reach == how.reach &&
        other.is_nested == how.is_nested && known[j] == known[number])
      return true;
  }
  return false;
}
