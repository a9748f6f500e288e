// The least limit that a program can be made to fit.
#ifndef HEDDLE_SUPERTILE_LEAST_LIMIT_H_
#define HEDDLE_SUPERTILE_LEAST_LIMIT_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef enum least_limit_answer { LEAST_LIMIT_FITS, LEAST_LIMIT_FAILS, LEAST_LIMIT_UNKNOWN } least_limit_answer;

// Whether a program fits `limit` bytes; unknown: there was no time to find out. *goes_on, which comes true: whether
// there is time to ask again.
typedef heddle_status (*least_limit_fn)(void *argument, int64_t limit, least_limit_answer *answer, bool *goes_on);

typedef struct least_limit {
  int64_t failing, fitting;  // does not fit, fits
} least_limit;

// Halves what lies between the two until they are neighbours or the time is up; `guess` is asked first if it lies
// between. What fits need not grow with the limit: then some limit is found that fits while the one below does not.
heddle_status least_limit_find(least_limit *between, int64_t guess, least_limit_fn ask, void *argument);

#endif
