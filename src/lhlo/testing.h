// For the tests of lhlo: programs on memory from text. What goes wrong on the way fails the test.
#ifndef HEDDLE_LHLO_TESTING_H_
#define HEDDLE_LHLO_TESTING_H_

#include "kernel/testing.h"
#include "lhlo/build.h"

// For two threads of a CPU. No pass runs and nothing is fused: the text has the fusions.
static inline lhlo_program *testing_program(arena *a, const char *source) {
  lhlo_program *p = NULL;
  const target_description target = target_cpu(2);
  testing_require(lhlo_build(a, testing_parse(a, source), &target, &p), source);
  return p;
}

#endif
