// What a profile tells through the public calls, and that a program without one runs as before.
#include "heddle/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/testing.h"
#include "heddle/heddle.h"

static const char source[] =
    "HloModule m\n"
    "cond { s = (s32[], f32[64,64]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(51)\n"
    "ROOT c = pred[] compare(i, n), direction=LT }\n"
    "body { s = (s32[], f32[64,64]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
    "x = f32[64,64] get-tuple-element(s), index=1 o = s32[] constant(1) j = s32[] add(i, o)\n"
    "d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0},\n"
    "metadata={op_name=\"jit(f)/dot\" source_file=\"f.py\" source_line=7}\n"
    "y = f32[64,64] tanh(d) ROOT t = (s32[], f32[64,64]) tuple(j, y) }\n"
    "ENTRY e { x = f32[64,64] parameter(0) z = s32[] constant(0) t = (s32[], f32[64,64]) tuple(z, x)\n"
    "w = (s32[], f32[64,64]) while(t), condition=cond, body=body\n"
    "ROOT r = f32[64,64] get-tuple-element(w), index=1 }\n";

static float x[64 * 64], y[64 * 64];

static void run(heddle_program *p) {
  testing_expect(heddle_program_run(p, (const void *[]){x}, (void *[]){y}), HEDDLE_OK, "");
}

// The machine is measured into a folder of the test's own.
static int set_up(void **state) {
  static char folder[] = "/tmp/heddle_profile_XXXXXX";
  heddle_program *p;
  heddle_status s = heddle_compile(source, strlen(source), "m.hlo", NULL, &p);
  *state = p;
  return heddle_status_code(s) == HEDDLE_OK && mkdtemp(folder) && setenv("XDG_CACHE_HOME", folder, 1) == 0 ? 0 : 1;
}

static int tear_down(void **state) {
  heddle_program_free(*state);
  return 0;
}

static void expect_text(const heddle_profile *profile, const char *form, int count, const char *const *words) {
  char *text;
  testing_expect(heddle_profile_text(profile, form, &text), HEDDLE_OK, "");
  for (int i = 0; i < count; i++)
    if (!strstr(text, words[i])) fail_msg("%s lacks %s:\n%s", form, words[i], text);
  heddle_text_free(text);
}

static void test_rows(void **state) {
  heddle_program *p = *state;
  heddle_profile *profile;
  heddle_profile_options options = HEDDLE_PROFILE_OPTIONS_INIT;
  options.trace = options.no_limits = true;
  testing_expect(heddle_profile_start(p, &options, &profile), HEDDLE_OK, "");
  for (int i = 0; i < 3; i++) run(p);
  int products = 0, loops = 0;
  for (int i = 0; i < heddle_profile_row_count(profile); i++) {
    heddle_profile_row row = HEDDLE_PROFILE_ROW_INIT;
    testing_expect(heddle_profile_row_at(profile, i, &row), HEDDLE_OK, "");
    assert_true(row.least_seconds <= row.most_seconds && row.seconds >= 0 && row.share_of_limit == 0);
    loops += row.holds_others && row.calls == 3 && row.depth == 0;
    if (strcmp(row.kind, "gemm") != 0) continue;
    products += (int)row.calls;  // those of the round before the loop, too
    assert_true(row.operations == 2.0 * 64 * 64 * 64);
    assert_true(row.bytes >= 2 * 64 * 64 * 4 && row.least_seconds > 0);
    assert_non_null(strstr(row.origin, "f.py:7"));
  }
  assert_true(products == 153 && loops >= 1);
  expect_text(profile, "table", 4, (const char *[]){"GFLOP/s", "gemm", "jit(f)/dot", "3 runs"});
  expect_text(profile, "json", 3, (const char *[]){"\"runs\": 3", "\"kind\": \"gemm\"", "\"line\": "});
  expect_text(profile, "trace", 4,
              (const char *[]){"\"traceEvents\"", "\"ph\": \"X\"", "\"thread 0\"", "\"device 0\""});
  char *text;
  testing_expect(heddle_profile_text(profile, "xml", &text), HEDDLE_INVALID, "\"xml\"");
  heddle_profile_row row = HEDDLE_PROFILE_ROW_INIT;
  testing_expect(heddle_profile_row_at(profile, heddle_profile_row_count(profile), &row), HEDDLE_INVALID, "row");
  heddle_profile *second;
  testing_expect(heddle_profile_start(p, NULL, &second), HEDDLE_INVALID, "has a profile");
  assert_null(second);
  heddle_profile_free(profile);
  run(p);
}

// Executions beyond those that are kept are counted.
static void test_few_executions(void **state) {
  heddle_program *p = *state;
  heddle_profile *profile;
  const heddle_profile_options options = {HEDDLE_SIZED(heddle_profile_options), .trace = true, .no_limits = true,
                                          .most_executions = 4};
  testing_expect(heddle_profile_start(p, &options, &profile), HEDDLE_OK, "");
  run(p);
  expect_text(profile, "table", 1, (const char *[]){"not kept for the trace"});
  heddle_profile_free(profile);
}

// The machine is measured once, and again when the file is of another one.
static void test_limits_are_kept(void **state) {
  heddle_program *p = *state;
  char path[512], command[1024];
  snprintf(path, sizeof path, "%s/heddle", getenv("XDG_CACHE_HOME"));
  static const char *const wanted[] = {"(measured now)", "(kept)", "(measured now)"};
  for (int i = 0; i < 3; i++) {
    heddle_profile *profile;
    const heddle_profile_options options = {HEDDLE_SIZED(heddle_profile_options), .hardware_counters = true};
    testing_expect(heddle_profile_start(p, &options, &profile), HEDDLE_OK, "");
    run(p);
    expect_text(profile, "table", 2, (const char *[]){"limit%", wanted[i]});
    heddle_profile_free(profile);
    if (i != 1) continue;
    snprintf(command, sizeof command, "sed -i 's/^cpu .*/cpu another/' %s/machine-*", path);
    assert_int_equal(system(command), 0);
  }
  snprintf(command, sizeof command, "rm -r %s", getenv("XDG_CACHE_HOME"));
  assert_int_equal(system(command), 0);
}

static void test_null(void **state) {
  (void)state;
  heddle_profile *profile;
  testing_expect(heddle_profile_start(NULL, NULL, &profile), HEDDLE_INVALID, "null");
  assert_int_equal(heddle_profile_row_count(NULL), 0);
  heddle_profile_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_few_executions),
                                     cmocka_unit_test(test_limits_are_kept), cmocka_unit_test(test_null)};
  return cmocka_run_group_tests_name("api/profile", tests, set_up, tear_down);
}
