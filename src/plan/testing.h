// For the tests of planning: modules from text, and programs on memory from those. What goes wrong on the way fails the
// test.
#ifndef HEDDLE_PLAN_TESTING_H_
#define HEDDLE_PLAN_TESTING_H_

#include "eval/testing.h"
#include "plan/lhlo.h"

static inline module *testing_parse(arena *a, const char *source) {
  module *m = NULL;
  testing_require(hlo_parse(a, "test.hlo", str_from(source), &m), source);
  return m;
}

// For two threads of a CPU. No pass runs and nothing is fused: the text has the fusions.
static inline lhlo_program *testing_program(arena *a, const char *source) {
  lhlo_program *p = NULL;
  const plan_target target = plan_target_cpu(2);
  testing_require(lhlo_build(a, testing_parse(a, source), &target, &p), source);
  return p;
}

#endif
