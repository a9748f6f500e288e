// Which sides of borders parts of arrays are on.
#include "api/open_borders.h"

#include "base/testing.h"
#include "hlo/text.h"

static open_border_list find(arena *a, const char *source) {
  module *m = NULL;
  open_border_list found;
  heddle_status s = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  s = open_borders_find(a, m, &found);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  return found;
}

static bool has(const open_border_list *all, int64_t larger, int64_t smaller) {
  for (int k = 0; k < all->count; k++)
    if (all->borders[k].larger == larger && all->borders[k].smaller == smaller) return true;
  return false;
}

static void test_pad(void **state) {
  (void)state;
  arena *a = arena_create();
  const open_border_list all = find(a,
                                    "HloModule m\nENTRY e { x = f32[100] parameter(0)\n c = f32[] constant(0)\n"
                                    " p = f32[350] pad(x, c), padding=200_50\n"
                                    " ROOT s = f32[70] slice(p), slice={[10:80]} }");
  assert_true(has(&all, 200, 80) && has(&all, 300, 80));
  arena_destroy(a);
}

// Through a reverse and a transpose, and behind the first operand.
static void test_concatenate(void **state) {
  (void)state;
  arena *a = arena_create();
  const open_border_list all = find(a,
                                    "HloModule m\nENTRY e { x = f32[4,100] parameter(0)\n y = f32[4,30] parameter(1)\n"
                                    " c = f32[4,230] concatenate(x, y, x), dimensions={1}\n"
                                    " t = f32[230,4] transpose(c), dimensions={1,0}\n"
                                    " r = f32[230,4] reverse(t), dimensions={0}\n"
                                    " ROOT s = f32[110,4] slice(r), slice={[10:120], [0:4]} }");
  assert_true(has(&all, 110, 100));
  assert_false(has(&all, 220, 130) || has(&all, 130, 110));
  arena_destroy(a);
}

static void test_reshape(void **state) {
  (void)state;
  arena *a = arena_create();
  const open_border_list all = find(a,
                                    "HloModule m\nENTRY e { x = f32[7,100] parameter(0)\n r = f32[700] reshape(x)\n"
                                    " ROOT s = f32[30] slice(r), slice={[210:240]} }");
  assert_true(has(&all, 300, 240) && has(&all, 210, 200));
  arena_destroy(a);
}

// Callers' arrays are known in what they call.
static void test_call(void **state) {
  (void)state;
  arena *a = arena_create();
  const open_border_list all =
      find(a,
           "HloModule m\nf { x = f32[130] parameter(0)\n ROOT s = f32[60] slice(x), slice={[0:60]} }\n"
           "ENTRY e { x = f32[100] parameter(0)\n y = f32[30] parameter(1)\n"
           " c = f32[130] concatenate(x, y), dimensions={0}\n ROOT s = f32[60] call(c), to_apply=f }");
  assert_true(has(&all, 100, 60));
  arena_destroy(a);
}

// What is read on both sides is told by nobody.
static void test_both_sides(void **state) {
  (void)state;
  arena *a = arena_create();
  const open_border_list all = find(a,
                                    "HloModule m\nENTRY e { x = f32[100] parameter(0)\n c = f32[] constant(0)\n"
                                    " p = f32[103] pad(x, c), padding=3_0\n"
                                    " ROOT s = f32[100] slice(p), slice={[0:100]} }");
  assert_true(has(&all, 103, 100));
  for (int k = 0; k < all.count; k++) assert_true(all.borders[k].larger > 3 && all.borders[k].smaller > 3);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pad),  cmocka_unit_test(test_concatenate), cmocka_unit_test(test_reshape),
      cmocka_unit_test(test_call), cmocka_unit_test(test_both_sides),
  };
  return cmocka_run_group_tests_name("api/open_borders", tests, NULL, NULL);
}
