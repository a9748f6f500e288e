// Which attempts are made to tile a program, in turn.
#ifndef HEDDLE_SUPERTILE_TILE_ATTEMPTS_H_
#define HEDDLE_SUPERTILE_TILE_ATTEMPTS_H_

#include "supertile/tile_rounds.h"

// Behind fixed attempts those with dims, each again with what the first such attempt has learned. Behind them those
// that aim at a larger limit, by each four of them, of which each learns from those before: what they find counts if it
// fits all the same. Last those whose first loops compute all that they need in each turn.
enum { TILE_ATTEMPTS_DIMS = 4, TILE_ATTEMPTS_EACH = 2, TILE_ATTEMPTS_LOOSENED = 6, TILE_ATTEMPTS_AIMED = 4 };
enum { TILE_ATTEMPTS_FIXED = 31, TILE_ATTEMPTS_ABOVE = TILE_ATTEMPTS_LOOSENED * TILE_ATTEMPTS_AIMED };
enum { TILE_ATTEMPTS_WITH_DIMS = 2 * TILE_ATTEMPTS_EACH * (1 + TILE_ATTEMPTS_DIMS) * (1 + TILE_ATTEMPTS_DIMS) };
enum { TILE_ATTEMPTS_ALL = 2 * 2 * TILE_ATTEMPTS_EACH * TILE_ATTEMPTS_DIMS };
enum { TILE_ATTEMPTS_FROM_ABOVE = TILE_ATTEMPTS_FIXED + TILE_ATTEMPTS_WITH_DIMS };
enum { TILE_ATTEMPTS_FROM_ALL = TILE_ATTEMPTS_FROM_ABOVE + TILE_ATTEMPTS_ABOVE };
enum { TILE_ATTEMPTS = TILE_ATTEMPTS_FROM_ALL + TILE_ATTEMPTS_ALL };

// What attempt `number` does, from 0 to TILE_ATTEMPTS - 1.
tile_manner tile_attempts_manner(int number);

// Whether what earlier attempts have learned is of other loops than those that this one makes.
bool tile_attempts_begins_anew(int number);

// Whether its first loops have a dim that is given: then it may find nothing where others do.
bool tile_attempts_is_told_dims(int number);

// Whether attempt `number` would do what an earlier one did. `known`: how often something was learned before each, up
// to this one.
bool tile_attempts_is_repeated(int number, const int *known);

// Whether the attempt is the one before once more, with what that has learned.
bool tile_attempts_is_again(int number);

#endif
