// For the tests of api: what a call has to answer.
#ifndef HEDDLE_API_TESTING_H_
#define HEDDLE_API_TESTING_H_

#include <string.h>

#include "base/testing.h"
#include "heddle/status.h"

// Fails the test unless the status has this code and its message these words; frees it.
static inline void testing_expect(heddle_status s, heddle_code code, const char *words) {
  if (heddle_status_code(s) != code || !strstr(heddle_status_message(s), words))
    fail_msg("found code %d: %s", heddle_status_code(s), heddle_status_message(s));
  heddle_status_free(s);
}

#endif
