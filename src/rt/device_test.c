// Programs on several virtual devices: every collective, and what happens when a device does not come.
#include "rt/testing.h"

enum { MOST_DEVICES = 4, MOST = 16 };

// One collective of s32[count] operands, with its results, on `devices` devices. Operand element i of device d is
// 100 * d + i.
typedef struct meeting_case {
  const char *target;
  int devices;
  int rank;
  int64_t from[2], to[2];
  int64_t dimension;  // -1: none
  int group_size, group_numbers;
  int64_t groups[8];
  int pair_numbers;
  int64_t pairs[8];
  const char *reducer;
  bool in_place;
} meeting_case;

static int64_t product(int rank, const int64_t *dims) {
  int64_t count = 1;
  for (int d = 0; d < rank; d++) count *= dims[d];
  return count;
}

static program_thunk *add_collective(testing_program *h, const meeting_case *c, int in, int out) {
  const program_array from = testing_array(h, DTYPE_S32, c->rank, c->from, in),
                      to = testing_array(h, DTYPE_S32, c->rank, c->to, out);
  program_thunk *t = testing_library(h, THUNK_COLLECTIVE, 1, &from, 1, &to);
  testing_text(h, t, "target", c->target);
  if (c->dimension >= 0) testing_int(h, t, "dimension", c->dimension);
  if (c->group_size) testing_int(h, t, "group_size", c->group_size);
  if (c->group_size) testing_ints(h, t, "groups", c->group_numbers, c->groups);
  if (c->pair_numbers) testing_ints(h, t, "pairs", c->pair_numbers, c->pairs);
  if (c->reducer) testing_text(h, t, "reducer", c->reducer);
  return t;
}

static void run_on_devices(testing_program *h, program_sequence entry, int devices, int given[][MOST],
                           int found[][MOST]) {
  void *parameters[MOST_DEVICES][1], *results[MOST_DEVICES][1];
  void *const *all_parameters[MOST_DEVICES], *const *all_results[MOST_DEVICES];
  for (int d = 0; d < devices; d++) {
    parameters[d][0] = given[d];
    results[d][0] = found[d];
    all_parameters[d] = parameters[d];
    all_results[d] = results[d];
  }
  h->program.device_count = devices;
  executable *e;
  testing_check(testing_create(h, entry, 3, &e));
  testing_check(executable_run_devices(e, all_parameters, all_results));
  testing_check(executable_run_devices(e, all_parameters, all_results));
  executable_destroy(e);
}

static void check_meeting(const meeting_case *c, int expected[][MOST]) {
  testing_program h = testing_start();
  const int64_t from = product(c->rank, c->from), to = product(c->rank, c->to);
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4 * from),
            out = testing_memory(&h, PROGRAM_RESULT, 0, 4 * to);
  const int between = testing_memory(&h, PROGRAM_TEMPORARY, 0, 64);
  program_thunk *first = testing_thunk(&h, THUNK_COPY, 1, &in, 1, (int[]){testing_slice(&h, between, 0, 4 * from)});
  const int met = testing_slice(&h, between, 0, 4 * to);
  program_thunk *meet = add_collective(&h, c, c->in_place ? testing_slice(&h, between, 0, 4 * from) : in, met);
  program_thunk *last = testing_thunk(&h, THUNK_COPY, 1, &met, 1, &out);
  int given[MOST_DEVICES][MOST], found[MOST_DEVICES][MOST] = {{0}};
  for (int d = 0; d < c->devices; d++)
    for (int i = 0; i < MOST; i++) given[d][i] = 100 * d + i;
  run_on_devices(&h, testing_sequence(&h, 3, (program_thunk *[]){first, meet, last}), c->devices, given, found);
  for (int d = 0; d < c->devices; d++)
    for (int64_t i = 0; i < to; i++)
      if (found[d][i] != expected[d][i])
        fail_msg("%s: device %d, element %d is %d, not %d", c->target, d, (int)i, found[d][i], expected[d][i]);
  testing_end(&h);
}

static void test_reductions(void **state) {
  (void)state;
  check_meeting(
      &(meeting_case){
          .target = "all-reduce", .devices = 3, .rank = 1, .from = {2}, .to = {2}, .dimension = -1, .reducer = "add"},
      (int[][MOST]){{300, 303}, {300, 303}, {300, 303}});
  check_meeting(&(meeting_case){.target = "all-reduce",
                                .devices = 4,
                                .rank = 1,
                                .from = {2},
                                .to = {2},
                                .dimension = -1,
                                .reducer = "maximum",
                                .group_size = 2,
                                .group_numbers = 4,
                                .groups = {0, 2, 3, 1},
                                .in_place = true},
                (int[][MOST]){{200, 201}, {300, 301}, {200, 201}, {300, 301}});
  check_meeting(&(meeting_case){.target = "reduce-scatter",
                                .devices = 2,
                                .rank = 2,
                                .from = {2, 4},
                                .to = {2, 2},
                                .dimension = 1,
                                .reducer = "add"},
                (int[][MOST]){{100, 102, 108, 110}, {104, 106, 112, 114}});
  check_meeting(&(meeting_case){.target = "all-reduce",
                                .devices = 1,
                                .rank = 1,
                                .from = {2},
                                .to = {2},
                                .dimension = -1,
                                .reducer = "minimum"},
                (int[][MOST]){{0, 1}});
}

static void test_moves(void **state) {
  (void)state;
  check_meeting(&(meeting_case){.target = "all-gather",
                                .devices = 2,
                                .rank = 2,
                                .from = {2, 1},
                                .to = {2, 2},
                                .dimension = 1,
                                .in_place = true},
                (int[][MOST]){{0, 100, 1, 101}, {0, 100, 1, 101}});
  check_meeting(
      &(meeting_case){.target = "all-to-all", .devices = 2, .rank = 1, .from = {4}, .to = {4}, .dimension = 0},
      (int[][MOST]){{0, 1, 100, 101}, {2, 3, 102, 103}});
  check_meeting(&(meeting_case){.target = "collective-permute",
                                .devices = 3,
                                .rank = 1,
                                .from = {1},
                                .to = {1},
                                .dimension = -1,
                                .pair_numbers = 4,
                                .pairs = {0, 1, 1, 0}},
                (int[][MOST]){{100}, {0}, {0}});
  check_meeting(&(meeting_case){.target = "collective-broadcast",
                                .devices = 4,
                                .rank = 1,
                                .from = {1},
                                .to = {1},
                                .dimension = -1,
                                .group_size = 2,
                                .group_numbers = 2,
                                .groups = {2, 0}},
                (int[][MOST]){{200}, {0}, {200}, {0}});
}

// Of no arrays at all.
static void test_barrier(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4), out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  program_thunk *meet = testing_library(&h, THUNK_COLLECTIVE, 0, NULL, 0, NULL);
  program_thunk *move = testing_thunk(&h, THUNK_COPY, 1, &in, 1, &out);
  testing_text(&h, meet, "target", "barrier");
  int given[MOST_DEVICES][MOST] = {{1}, {2}, {3}}, found[MOST_DEVICES][MOST];
  run_on_devices(&h, testing_sequence(&h, 2, (program_thunk *[]){meet, move}), 3, given, found);
  for (int d = 0; d < 3; d++) assert_int_equal(found[d][0], d + 1);
  testing_end(&h);
}

static void test_numbers(void **state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    testing_program h = testing_start();
    testing_memory(&h, PROGRAM_PARAMETER, 0, 4);
    const int out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
    const program_array to = testing_array(&h, DTYPE_U32, 0, NULL, out);
    program_thunk *t = testing_library(&h, THUNK_COLLECTIVE, 0, NULL, 1, &to);
    testing_text(&h, t, "target", way ? "partition-id" : "replica-id");
    testing_int(&h, t, "partition_count", 2);
    int given[MOST_DEVICES][MOST] = {{0}}, found[MOST_DEVICES][MOST];
    run_on_devices(&h, testing_sequence(&h, 1, &t), 4, given, found);
    for (int d = 0; d < 4; d++) assert_int_equal(found[d][0], way ? d % 2 : d / 2);
    testing_end(&h);
  }
}

// Without a dim, operand m goes to member m.
static void test_all_to_all_of_operands(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 8), out = testing_memory(&h, PROGRAM_RESULT, 0, 8);
  program_array arrays[4];
  for (int k = 0; k < 4; k++)
    arrays[k] = testing_array(&h, DTYPE_S32, 0, NULL, testing_slice(&h, k < 2 ? in : out, k % 2 * 4, 4));
  program_thunk *t = testing_library(&h, THUNK_COLLECTIVE, 2, arrays, 2, arrays + 2);
  testing_text(&h, t, "target", "all-to-all");
  int given[MOST_DEVICES][MOST] = {{1, 2}, {3, 4}}, found[MOST_DEVICES][MOST];
  run_on_devices(&h, testing_sequence(&h, 1, &t), 2, given, found);
  assert_true(found[0][0] == 1 && found[0][1] == 3 && found[1][0] == 2 && found[1][1] == 4);
  testing_end(&h);
}

// Device 0 sends one row to each, device 1 two rows to device 0 and none to itself.
static void test_ragged(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4 * MOST), out = testing_memory(&h, PROGRAM_RESULT, 0, 16);
  static const struct {
    int64_t at, count;
  } parts[] = {{0, 3}, {3, 4}, {7, 2}, {9, 2}, {11, 2}, {13, 2}};
  program_array operands[6], to = testing_array(&h, DTYPE_S32, 1, (int64_t[]){4}, out);
  for (int k = 0; k < 6; k++)
    operands[k] =
        testing_array(&h, DTYPE_S32, 1, &parts[k].count, testing_slice(&h, in, 4 * parts[k].at, 4 * parts[k].count));
  program_thunk *t = testing_library(&h, THUNK_COLLECTIVE, 6, operands, 1, &to);
  testing_text(&h, t, "target", "ragged-all-to-all");
  int given[MOST_DEVICES][MOST] = {{1, 2, 3, -1, -1, -1, -1, 0, 2, 1, 1, 0, 0, 1, 2},
                                   {4, 5, 6, -2, -2, -2, -2, 1, 0, 2, 0, 2, 0, 1, 0}};
  int found[MOST_DEVICES][MOST];
  run_on_devices(&h, testing_sequence(&h, 1, &t), 2, given, found);
  assert_memory_equal(found[0], ((int[]){1, -1, 5, 6}), 16);
  assert_memory_equal(found[1], ((int[]){3, -2, -2, -2}), 16);
  testing_end(&h);
}

// --- messages

// One transfer of s32[2] on channel 5.
static program_thunk *add_transfer(testing_program *h, const char *target, int operands, const program_array *from,
                                   int results, const program_array *to, int pair_numbers, const int64_t *pairs) {
  program_thunk *t = testing_library(h, THUNK_TRANSFER, operands, from, results, to);
  testing_text(h, t, "target", target);
  testing_int(h, t, "channel", 5);
  testing_int(h, t, "is_paired", pair_numbers > 0);
  testing_ints(h, t, "pairs", pair_numbers, pairs);
  return t;
}

// Every device sends its parameter (if it `sends`) and gives what it receives. The arrays: the parameter, what recv and
// send have (values and contexts), the result.
static heddle_status pass_on(int devices, int pair_numbers, const int64_t *pairs, bool sends, int found[][MOST]) {
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 8), out = testing_memory(&h, PROGRAM_RESULT, 0, 8);
  const int between = testing_memory(&h, PROGRAM_TEMPORARY, 0, 256);
  program_array arrays[6];
  for (int k = 0; k < 6; k++) {
    static const int64_t two = 2;
    const bool is_context = k == 2 || k == 4;
    const int at = k == 0 ? in : k == 5 ? out : testing_slice(&h, between, 64 * (k - 1), is_context ? 4 : 8);
    arrays[k] = testing_array(&h, is_context ? DTYPE_U32 : DTYPE_S32, !is_context, &two, at);
  }
  program_thunk *thunks[] = {
      add_transfer(&h, "recv", 0, NULL, 2, &arrays[1], pair_numbers, pairs),
      add_transfer(&h, "send", 1, &arrays[0], 2, &arrays[3], pair_numbers, pairs),
      add_transfer(&h, "recv-done", 2, &arrays[1], 1, &arrays[5], pair_numbers, pairs),
  };
  if (!sends) thunks[1] = testing_thunk(&h, THUNK_COPY, 1, &in, 1, (int[]){testing_slice(&h, between, 128, 8)});
  h.program.device_count = devices;
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 3, thunks), 2, &e));
  int given[MOST_DEVICES][2];
  void *parameters[MOST_DEVICES], *results[MOST_DEVICES];
  void *const *all_parameters[MOST_DEVICES], *const *all_results[MOST_DEVICES];
  for (int d = 0; d < devices; d++) {
    given[d][0] = 10 * d + 1;
    given[d][1] = 10 * d + 2;
    parameters[d] = given[d];
    results[d] = found[d];
    all_parameters[d] = &parameters[d];
    all_results[d] = &results[d];
  }
  heddle_status s = executable_run_devices(e, all_parameters, all_results);
  if (devices == 1 && status_is_ok(s)) s = executable_run(e, parameters, results);
  executable_destroy(e);
  testing_end(&h);
  return s;
}

static void test_messages(void **state) {
  (void)state;
  int found[MOST_DEVICES][MOST];
  testing_check(pass_on(3, 6, (int64_t[]){0, 1, 1, 2, 2, 0}, true, found));
  for (int d = 0; d < 3; d++) assert_true(found[d][0] == 10 * ((d + 2) % 3) + 1 && found[d][1] == found[d][0] + 1);
  testing_check(pass_on(3, 2, (int64_t[]){2, 0}, true, found));
  for (int d = 0; d < 3; d++) assert_true(found[d][0] == (d ? 0 : 21) && found[d][1] == (d ? 0 : 22));
  testing_check(pass_on(1, 0, NULL, true, found));
  assert_true(found[0][0] == 1 && found[0][1] == 2);
  testing_check_error(pass_on(1, 0, NULL, false, found), HEDDLE_INVALID, "will not come");
  testing_check_error(pass_on(2, 2, (int64_t[]){0, 1}, false, found), HEDDLE_INVALID, "will not come");
}

// --- devices that do not come

// A conditional on each device's parameter: branch 0 meets, branch 1 does what `other` says.
static heddle_status run_uneven(program_thunk *(*other)(testing_program *h, int in, int out), int first, int second) {
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4), out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  const meeting_case c = {.target = "all-reduce", .rank = 1, .from = {1}, .to = {1}, .dimension = -1, .reducer = "add"};
  program_thunk *choice = testing_thunk(&h, THUNK_CONDITIONAL, 1, &in, 1, &out);
  program_thunk *branches[] = {add_collective(&h, &c, in, out), other(&h, in, out)};
  testing_nest(&h, choice, 2,
               (program_sequence[]){testing_sequence(&h, 1, &branches[0]), testing_sequence(&h, 1, &branches[1])});
  choice->control.slice = in;
  h.program.device_count = 2;
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &choice), 1, &e));
  int found[2];
  void *parameters[] = {&first, &second}, *results[] = {&found[0], &found[1]};
  heddle_status s = executable_run_devices(e, (void *const *[]){&parameters[0], &parameters[1]},
                                           (void *const *[]){&results[0], &results[1]});
  executable_destroy(e);
  testing_end(&h);
  return s;
}

static program_thunk *only_copy(testing_program *h, int in, int out) {
  return testing_thunk(h, THUNK_COPY, 1, &in, 1, &out);
}

static program_thunk *meet_elsewhere(testing_program *h, int in, int out) {
  const meeting_case c = {.target = "all-reduce", .rank = 1, .from = {1}, .to = {1}, .dimension = -1, .reducer = "add"};
  return add_collective(h, &c, in, out);
}

static program_thunk *fail_at_infeed(testing_program *h, int in, int out) {
  (void)in;
  const program_array to = testing_array(h, DTYPE_S32, 0, NULL, out);
  program_thunk *t = testing_library(h, THUNK_TRANSFER, 0, NULL, 1, &to);
  testing_text(h, t, "target", "infeed");
  return t;
}

static void test_devices_that_do_not_come(void **state) {
  (void)state;
  testing_check(run_uneven(only_copy, 0, 0));
  testing_check(run_uneven(only_copy, 1, 1));
  testing_check_error(run_uneven(only_copy, 0, 1), HEDDLE_INVALID, "will not come");
  testing_check_error(run_uneven(only_copy, 1, 0), HEDDLE_INVALID, "will not come");
  testing_check_error(run_uneven(meet_elsewhere, 0, 1), HEDDLE_INVALID, "will not come");
  testing_check_error(run_uneven(fail_at_infeed, 0, 1), HEDDLE_INVALID, "given none");
  testing_check_error(run_uneven(fail_at_infeed, 1, 0), HEDDLE_INVALID, "given none");
}

static void expect_refused(const meeting_case *c, heddle_code code, const char *words) {
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 64), out = testing_memory(&h, PROGRAM_RESULT, 0, 64);
  program_thunk *t = add_collective(&h, c, in, out);
  h.program.device_count = c->devices;
  executable *e;
  testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 1, &e), code, words);
  testing_end(&h);
}

static void test_refusals(void **state) {
  (void)state;
  const meeting_case good = {.target = "all-gather", .devices = 2, .rank = 1, .from = {2}, .to = {4}, .dimension = 0};
  meeting_case c = good;
  c.to[0] = 3;
  expect_refused(&c, HEDDLE_INVALID, "do not fit");
  c = good;
  c.dimension = 1;
  expect_refused(&c, HEDDLE_INVALID, "do not fit");
  c = good;
  c.group_size = 2;
  c.group_numbers = 2;
  c.groups[1] = 2;
  expect_refused(&c, HEDDLE_INVALID, "does not exist");
  c.groups[1] = 0;
  expect_refused(&c, HEDDLE_INVALID, "two groups");
  c = good;
  c = (meeting_case){.target = "all-reduce", .devices = 2, .rank = 1, .from = {2}, .to = {2}};
  expect_refused(&c, HEDDLE_UNIMPLEMENTED, "all-reduce: no reducer");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reductions),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_barrier),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_all_to_all_of_operands),
      cmocka_unit_test(test_ragged),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_devices_that_do_not_come),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("rt/device", tests, NULL, NULL);
}
