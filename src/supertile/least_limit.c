// A binary search.
#include "supertile/least_limit.h"

heddle_status least_limit_find(least_limit *between, int64_t guess, least_limit_fn ask, void *argument) {
  bool goes_on = true;
  // Often the guess is what fits, and the one below it does not.
  const int64_t first[2] = {guess, guess - 1};
  for (int asked = 0; goes_on && between->fitting - between->failing > 1; asked++) {
    int64_t next = between->failing + (between->fitting - between->failing) / 2;
    if (asked < 2 && first[asked] > between->failing && first[asked] < between->fitting) next = first[asked];
    least_limit_answer answer = LEAST_LIMIT_UNKNOWN;
    TRY(ask(argument, next, &answer, &goes_on));
    if (answer == LEAST_LIMIT_UNKNOWN) break;
    if (answer == LEAST_LIMIT_FITS) between->fitting = next;
    else between->failing = next;
  }
  return status_ok();
}
