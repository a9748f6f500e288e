// For this module's tests: maps from text, and comparing them as text.
#ifndef HEDDLE_INDEX_MAP_EXPECT_H_
#define HEDDLE_INDEX_MAP_EXPECT_H_

#include "base/testing.h"
#include "index/indexing_map.h"

static arena *a;  // reset by the tests that make much

static inline int map_expect_set_up(void **state) {
  (void)state;
  a = arena_create();
  return 0;
}

static inline int map_expect_tear_down(void **state) {
  (void)state;
  arena_destroy(a);
  return 0;
}

static inline const indexing_map *map_expect_parse(const char *source) {
  const indexing_map *m = NULL;
  heddle_status status = indexing_map_parse(a, str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return m;
}

static inline void map_expect_text(const indexing_map *m, const char *wanted) {
  text out = {0};
  indexing_map_print(&out, m);
  assert_string_equal(text_cstr(&out), wanted);
  text_free(&out);
}

// The variables of all the tests below: x, y, z from 0 to 99, b from 0 to 1, s from -50 to 49.
#define EXPECT_VARIABLES "(x, y, z, b)[s] -> ("
#define EXPECT_DOMAIN "), domain: x in [0, 99], y in [0, 99], z in [0, 99], b in [0, 1], s in [-50, 49]"

static inline const char *map_expect_over_variables(const char *expr) {
  return arena_printf(a, "%s%s%s", EXPECT_VARIABLES, expr, EXPECT_DOMAIN);
}

// `expr` over those variables simplifies to `wanted`, and that to itself.
static inline void map_expect_simplified(const char *expr, const char *wanted) {
  map_expect_text(indexing_map_simplify(a, map_expect_parse(map_expect_over_variables(expr))),
                  map_expect_over_variables(wanted));
  map_expect_text(indexing_map_simplify(a, map_expect_parse(map_expect_over_variables(wanted))),
                  map_expect_over_variables(wanted));
}

#endif
