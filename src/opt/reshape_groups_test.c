// Which dims of two shapes of as many elements belong together.
#include "opt/reshape_groups.h"

#include "base/arena_testing.h"
#include "hlo/text.h"

static const shape *parse(arena *a, const char *source) {
  const shape *s;
  assert_true(status_is_ok(shape_parse(a, str_from(source), &s)));
  return s;
}

// Groups as `0-1:0-2` for dims 0 of the operand and 0, 1 of the result.
static void expect(arena *a, const char *from, const char *to, const char *wanted) {
  reshape_group groups[RESHAPE_MAX_GROUPS];
  text t = {0};
  const int count = reshape_groups_find(parse(a, from), parse(a, to), groups);
  for (int k = 0; k < count; k++)
    text_printf(&t, "%s%d-%d:%d-%d", k ? " " : "", groups[k].from, groups[k].from_end, groups[k].to, groups[k].to_end);
  assert_string_equal(text_cstr(&t), wanted);
  text_free(&t);
}

static void test_kept_dims(void **state) { expect(*state, "f32[2,3]", "f32[2,3]", "0-1:0-1 1-2:1-2"); }

static void test_split_and_joined(void **state) {
  expect(*state, "f32[12,5]", "f32[3,4,5]", "0-1:0-2 1-2:2-3");
  expect(*state, "f32[7,3,4]", "f32[7,12]", "0-1:0-1 1-3:1-2");
  expect(*state, "f32[4,6]", "f32[8,3]", "0-2:0-2");
}

static void test_ones_stand_alone(void **state) {
  expect(*state, "f32[2,1,3]", "f32[2,3]", "0-1:0-1 1-2:1-1 2-3:1-2");
  expect(*state, "f32[6]", "f32[1,6,1]", "0-0:0-1 0-1:1-2 1-1:2-3");
  expect(*state, "f32[1,6]", "f32[1,2,3]", "0-1:0-1 1-2:1-3");
  expect(*state, "f32[]", "f32[1]", "0-0:0-1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_kept_dims),
      TESTING_IN_ARENA(test_split_and_joined),
      TESTING_IN_ARENA(test_ones_stand_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
