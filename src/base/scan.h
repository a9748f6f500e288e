// A scan is a cursor over a short text with a small grammar: names of files, attributes and annotations, which have no
// lexer of their own. White space between parts is skipped.
#ifndef HEDDLE_BASE_SCAN_H_
#define HEDDLE_BASE_SCAN_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct scan {
  str left;
} scan;

// Each takes what it names if that comes next, and then returns true; else the cursor stays (behind white space).
bool scan_take(scan *s, const char *text);
bool scan_number(scan *s, int64_t *out);  // decimal digits without a sign; false, too, for more than an int64_t holds
bool scan_quoted(scan *s, str *out);      // between '…' or "…", without escapes; a view of the text
bool scan_at_end(scan *s);                // nothing but white space is left

#endif
