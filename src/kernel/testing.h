// For the tests of kernel, fuse and lhlo: modules from text. What goes wrong on the way fails the test.
#ifndef HEDDLE_KERNEL_TESTING_H_
#define HEDDLE_KERNEL_TESTING_H_

#include "eval/testing.h"
#include "hlo/text.h"

static inline module *testing_parse(arena *a, const char *source) {
  module *m = NULL;
  testing_require(hlo_parse(a, "test.hlo", str_from(source), &m), source);
  return m;
}

#endif
