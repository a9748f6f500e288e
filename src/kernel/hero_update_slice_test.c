// Which dynamic-update-slices may be done in place.
#include "kernel/hero_update_slice.h"

#include "kernel/testing.h"

// p: the array, w: something of the window's shape, i and j: starts.
static void check(const char *body, bool wanted) {
  arena *a = arena_create();
  const char *source = arena_printf(
      a,
      "HloModule m\nENTRY e {\n  p = f32[30,50] parameter(0)\n  w = f32[7,41] parameter(1)\n  i = s32[] parameter(2)\n"
      "  j = s32[] parameter(3)\n%s}\n",
      body);
  kernel_leaves leaves = {0};
  testing_require(kernel_leaves_of(a, testing_parse(a, source)->entry->root, &leaves), source);
  if (hero_update_slice_in_place(a, &leaves.data[0], 0) != wanted) fail_msg("%s", body);
  arena_destroy(a);
}

#define OLD "  o = f32[7,41] dynamic-slice(p, i, j), dynamic_slice_sizes={7,41}\n"
#define UPDATE(u) "dynamic-update-slice(p, " u ", i, j)\n"

static void test_in_place(void **state) {
  (void)state;
  check("  ROOT r = f32[30,50] " UPDATE("w"), true);
  check(OLD "  u = f32[7,41] add(o, w)\n  ROOT r = f32[30,50] " UPDATE("u"), true);
  check("  d = f32[30,50] " UPDATE("w") "  ROOT r = f32[1500] bitcast(d)\n", true);
  check("  d = f32[30,50] " UPDATE("w") "  ROOT t = (f32[30,50], f32[7,41]) tuple(d, w)\n", true);
}

static void test_not_in_place(void **state) {
  (void)state;
  // another place
  check("  o = f32[7,41] dynamic-slice(p, j, i), dynamic_slice_sizes={7,41}\n  ROOT r = f32[30,50] " UPDATE("o"),
        false);
  check("  o = f32[7,41] slice(p), slice={[0:7],[0:41]}\n  ROOT r = f32[30,50] " UPDATE("o"), false);
  // moved within the window
  check(OLD "  u = f32[7,41] reverse(o), dimensions={0}\n  ROOT r = f32[30,50] " UPDATE("u"), false);
  // the old value is wanted besides
  check("  d = f32[30,50] " UPDATE("w") "  n = f32[30,50] negate(p)\n  ROOT t = (f32[30,50], f32[30,50]) tuple(d, n)\n",
        false);
  check(OLD "  d = f32[30,50] " UPDATE("w") "  ROOT t = (f32[30,50], f32[7,41]) tuple(d, o)\n", false);
  // no update of the parameter
  check("  n = f32[30,50] negate(p)\n  ROOT r = f32[30,50] dynamic-update-slice(n, w, i, j)\n", false);
  check("  ROOT r = f32[30,50] negate(p)\n", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_place), cmocka_unit_test(test_not_in_place)};
  return cmocka_run_group_tests(tests, 0, 0);
}
