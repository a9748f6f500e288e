// The driver on texts: order, bisection, who sees what, times, scratch, and what it says when something fails.
#include "base/pass.h"

#include <string.h>

#include "base/call.h"
#include "base/testing.h"

static heddle_status add_a(pass_context *context, void *unit) {
  assert_int_equal(arena_used(context->scratch), 0);
  arena_alloc(context->scratch, 100);
  text_putc(unit, 'a');
  context->changed = true;
  return status_ok();
}

static heddle_status add_b(pass_context *context, void *unit) {
  assert_int_equal(arena_used(context->scratch), 0);
  text_puts(unit, context->given ? context->given : "b");
  context->changed = true;
  return status_ok();
}

static heddle_status look(pass_context *context, void *unit) {
  (void)context, (void)unit;
  return status_ok();
}

static heddle_status refuse(pass_context *context, void *unit) {
  (void)context, (void)unit;
  return status_error(HEDDLE_UNIMPLEMENTED, "cannot do this");
}

static heddle_status break_text(pass_context *context, void *unit) {
  context->changed = true;
  text_putc(unit, '!');
  return status_ok();
}

static const pass a = {.name = "a", .use = PASS_NEEDED, .run = add_a},
                  b = {.name = "b", .use = PASS_IMPROVES, .run = add_b},
                  none = {.name = "none", .use = PASS_IMPROVES, .run = look},
                  refusing = {.name = "refusing", .run = refuse}, breaking = {.name = "breaking", .run = break_text};
static const pass *const passes[] = {&a, &none, &b, &a, NULL};

static void print(const void *unit, text *out) { text_append(out, text_view(unit)); }

static heddle_status verify(void *unit) {
  return strchr(text_cstr(unit), '!') ? status_error(HEDDLE_INTERNAL, "found !") : status_ok();
}

static int settled;

static heddle_status settle(pass_context *context, void *unit) {
  (void)context, (void)unit;
  settled++;
  return status_ok();
}

static const pass_unit_kind texts = {
    .noun = "text pass", .title = {"", ""}, .print = print, .verify = verify, .settle = settle, .tells = true};
static const pass_unit_kind silent = {.noun = "text pass", .print = print, .verify = verify, .settle = settle};

static void expect_run(const pass_unit_kind *kind, pass_control *control, const char *wanted) {
  text unit = {0};
  assert_true(status_is_ok(pass_run(kind, &unit, passes, NULL, control)));
  assert_string_equal(text_cstr(&unit), wanted);
  text_free(&unit);
}

static void test_order_and_what_is_given(void **state) {
  (void)state;
  expect_run(&texts, NULL, "aba");
  text unit = {0};
  assert_true(status_is_ok(pass_run(&texts, &unit, passes, "given", NULL)));
  assert_string_equal(text_cstr(&unit), "agivena");
  text_free(&unit);
  assert_true(status_is_ok(pass_apply(&a, &unit)));
  assert_string_equal(text_cstr(&unit), "a");
  text_free(&unit);
  assert_ptr_equal(pass_find(passes, STR("b")), &b);
  assert_null(pass_find(passes, STR("c")));
}

static void test_bisection(void **state) {
  (void)state;
  pass_control nothing = {.bisect = 0}, three = {.bisect = 3}, until = {.bisect = -1, .until = "b"};
  expect_run(&texts, &nothing, "");
  expect_run(&texts, &three, "ab");
  expect_run(&texts, &until, "ab");
  // Needed passes run in any case, and only the others count, also from one run to the next.
  pass_control needed = {.bisect = 3, .keeps_needed = true};
  expect_run(&texts, &needed, "aba");
  expect_run(&texts, &needed, "aa");
}

static void note(void *argument, const pass *p, const pass_unit_kind *kind, const void *unit) {
  (void)kind;
  text_printf(argument, "%s:%.*s ", p ? p->name : "-", (int)((const text *)unit)->size, ((const text *)unit)->data);
}

static void expect_seen(const pass_unit_kind *kind, pass_watcher watcher, const char *wanted) {
  text seen = {0};
  watcher.see = note;
  watcher.argument = &seen;
  pass_control control = {.bisect = -1, .watchers = &watcher};
  expect_run(kind, &control, "aba");
  assert_string_equal(text_cstr(&seen), wanted);
  text_free(&seen);
}

static void test_watchers(void **state) {
  (void)state;
  expect_seen(&texts, (pass_watcher){.all = true}, "a:a none:a b:ab a:aba ");
  expect_seen(&texts, (pass_watcher){.changes = true}, "a:a b:ab a:aba ");
  expect_seen(&silent, (pass_watcher){.changes = true}, "a:a b:ab a:aba ");
  expect_seen(&texts, (pass_watcher){.after = "none,b", .first = true}, "-: none:a b:ab ");
  expect_seen(&texts, (pass_watcher){.after = "non"}, "");
  expect_seen(&texts, (pass_watcher){.kind = &silent, .all = true}, "");
}

static void test_several_watchers(void **state) {
  (void)state;
  text seen = {0};
  pass_watcher one = {.after = "b", .see = note, .argument = &seen}, other = one;
  pass_control control = PASS_CONTROL_DEFAULT;
  assert_false(pass_control_orders(&control, &texts));
  pass_control_add(&control, &one);
  pass_control_add(&control, &other);
  assert_true(pass_control_orders(&control, &texts));
  expect_run(&texts, &control, "aba");
  assert_string_equal(text_cstr(&seen), "b:ab b:ab ");
  text_free(&seen);
}

static void test_times_add_up(void **state) {
  (void)state;
  pass_control control = {.bisect = -1, .time = true};
  expect_run(&texts, &control, "aba");
  expect_run(&texts, &control, "aba");
  assert_int_equal(control.time_count, 3);
  assert_ptr_equal(control.times[0].pass, &a);
  assert_int_equal(control.times[0].runs, 4);
  assert_int_equal(control.times[0].changes, 4);
  assert_ptr_equal(control.times[1].pass, &none);
  assert_int_equal(control.times[1].runs, 2);
  assert_int_equal(control.times[1].changes, 0);
  assert_true(control.times[1].seconds >= 0);
}

// What did not change stays in order.
static void test_settles_what_changed(void **state) {
  (void)state;
  static const pass *const idle[] = {&none, &none, &none, NULL};
  text unit = {0};
  settled = 0;
  assert_true(status_is_ok(pass_run(&texts, &unit, idle, NULL, NULL)));
  assert_int_equal(settled, 1);
  assert_true(status_is_ok(pass_run(&silent, &unit, idle, NULL, NULL)));
  assert_int_equal(settled, 4);
  settled = 0;
  expect_run(&texts, NULL, "aba");
  assert_int_equal(settled, 3);
}

static void expect_failure(const pass *failing, heddle_code code, const char *wanted) {
  const pass *const list[] = {&a, failing, NULL};
  text unit = {0};
  heddle_status s = pass_run(&texts, &unit, list, NULL, NULL);
  assert_int_equal(heddle_status_code(s), code);
  if (!strstr(heddle_status_message(s), wanted)) fail_msg("wanted %s in %s", wanted, heddle_status_message(s));
  heddle_status_free(s);
  text_free(&unit);
}

static void test_failures_name_the_pass(void **state) {
  (void)state;
  expect_failure(&refusing, HEDDLE_UNIMPLEMENTED, "in text pass refusing");
  expect_failure(&breaking, HEDDLE_INTERNAL, "found !");
}

static void test_a_call_that_is_over_ends_it(void **state) {
  (void)state;
  const atomic_bool is_over = true;
  const call_context now = {&is_over}, *before = call_enter(&now);
  text unit = {0};
  heddle_status s = pass_run(&texts, &unit, passes, NULL, NULL);
  call_enter(before);
  assert_int_equal(heddle_status_code(s), HEDDLE_CANCELLED);
  assert_int_equal(unit.size, 0);
  heddle_status_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_and_what_is_given),
      cmocka_unit_test(test_bisection),
      cmocka_unit_test(test_watchers),
      cmocka_unit_test(test_several_watchers),
      cmocka_unit_test(test_times_add_up),
      cmocka_unit_test(test_settles_what_changed),
      cmocka_unit_test(test_failures_name_the_pass),
      cmocka_unit_test(test_a_call_that_is_over_ends_it),
  };
  return cmocka_run_group_tests_name("base/pass", tests, NULL, NULL);
}
