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
    {.share = 1.0, .reach = REACH_HARD, .in_kernels = true},
    {.share = 0.95, .reach = REACH_HARD, .in_kernels = true},
    {.share = 0.9, .reach = REACH_HARD, .in_kernels = true},
    {.share = 0.85, .reach = REACH_HARD, .in_kernels = true},
    {.share = 0.85, .reach = REACH_HARD, .in_kernels = true, .slices_inside = true},
    {.share = 0.7, .reach = REACH_HARD, .in_kernels = true},
    {.share = 0.7, .reach = REACH_HARD, .in_kernels = true, .slices_inside = true},
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

// Its number among those from `from` on, of which there are `count`; -1: it is none of them.
static int number_among(int number, int from, int count) {
  return number >= from && number < from + count ? number - from : -1;
}

static int number_with_dims(int number) { return number_among(number, TILE_ATTEMPTS_FIXED, TILE_ATTEMPTS_WITH_DIMS); }

static int number_above(int number) { return number_among(number, TILE_ATTEMPTS_FROM_ABOVE, TILE_ATTEMPTS_ABOVE); }

static int number_of_all(int number) { return number_among(number, TILE_ATTEMPTS_FROM_ALL, TILE_ATTEMPTS_ALL); }

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

// Each of the first dims as that of the loops of the first round, as that of the second's, and each two of them; with
// libraries and with kernels.
static tile_manner manner_with_dims(int n) {
  tile_manner how = {
      .share = 1.0, .reach = REACH_DEEP, .slices_inside = true, .in_kernels = n / TILE_ATTEMPTS_EACH % 2};
  set_dims(n / (2 * TILE_ATTEMPTS_EACH), how.dims);
  return how;
}

static tile_manner manner_above(int n) {
  return (tile_manner){
      .share = 1.0, .reach = reach_loosened[n % TILE_ATTEMPTS_AIMED], .loosened = loosened[n / TILE_ATTEMPTS_AIMED]};
}

// One dim after the other, with libraries and with kernels, hard and deep; once more aiming at a little more.
static tile_manner manner_of_all(int n) {
  const int pair = n / TILE_ATTEMPTS_EACH;
  return (tile_manner){.share = 1.0,
                       .reach = pair % 2 ? REACH_DEEP : REACH_HARD,
                       .loosened = n % TILE_ATTEMPTS_EACH ? loosened[1] : 0,
                       .slices_inside = true,
                       .takes_all = true,
                       .in_kernels = pair / 2 % 2,
                       .dims = {1 + pair / 4}};
}

static tile_manner manner_behind_fixed(int number) {
  if (number_with_dims(number) >= 0) return manner_with_dims(number_with_dims(number));
  if (number_above(number) >= 0) return manner_above(number_above(number));
  return manner_of_all(number_of_all(number));
}

tile_manner tile_attempts_manner(int number) {
  if (number < TILE_ATTEMPTS_FIXED) return fixed[number];
  tile_manner how = manner_behind_fixed(number);
  how.is_apart = true;
  return how;
}

// Its number among those that learn from each other.
static int number_in_group(int number) {
  if (number_above(number) >= 0) return number_above(number) % TILE_ATTEMPTS_AIMED;
  return number < TILE_ATTEMPTS_FIXED ? number : (number - TILE_ATTEMPTS_FIXED) % TILE_ATTEMPTS_EACH;
}

bool tile_attempts_begins_anew(int number) { return number >= TILE_ATTEMPTS_FIXED && number_in_group(number) == 0; }

bool tile_attempts_is_told_dims(int number) { return number_with_dims(number) >= 0 || number_of_all(number) >= 0; }

bool tile_attempts_is_again(int number) {
  return number >= TILE_ATTEMPTS_FIXED && number_above(number) < 0 && number_in_group(number) > 0;
}

bool tile_attempts_is_repeated(int number, const int *known) {
  const tile_manner how = tile_attempts_manner(number);
  if (tile_attempts_begins_anew(number)) return false;
  if (tile_attempts_is_again(number)) return known[number] == known[number - 1] && how.loosened == 0;
  for (int j = 0; j < number; j++) {
    const tile_manner other = tile_attempts_manner(j);
    if (other.share == how.share && other.loosened == how.loosened && other.reach == how.reach &&
        other.is_nested == how.is_nested && other.in_kernels == how.in_kernels &&
        other.slices_inside == how.slices_inside && known[j] == known[number])
      return true;
  }
  return false;
}
