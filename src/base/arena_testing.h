// For tests that work in an arena: cmocka with what it asks for, and an arena for each test in *state.
#ifndef HEDDLE_BASE_ARENA_TESTING_H_
#define HEDDLE_BASE_ARENA_TESTING_H_

#include <string.h>

#include "base/arena.h"
#include "base/testing.h"

static inline int arena_testing_set_up(void **state) {
  *state = arena_create();
  return 0;
}

static inline int arena_testing_tear_down(void **state) {
  arena_destroy(*state);
  return 0;
}

// A row of a group's tests.
#define TESTING_IN_ARENA(test) cmocka_unit_test_setup_teardown(test, arena_testing_set_up, arena_testing_tear_down)

#endif
