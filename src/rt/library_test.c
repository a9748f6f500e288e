// Thunks that call routines: sort, top-k, random bits, custom calls of users and of the house.
#include "rt/testing.h"

#include "heddle/custom_call.h"

// A thunk of one operand and one result of s32[rows, columns], run on `given`.
typedef struct square {
  testing_program h;
  int in, out;
  program_array from, to;
} square;

static square square_start(int64_t rows, int64_t columns) {
  square s = {.h = testing_start()};
  s.in = testing_memory(&s.h, PROGRAM_PARAMETER, 0, rows * columns * 4);
  s.out = testing_memory(&s.h, PROGRAM_RESULT, 0, rows * columns * 4);
  s.from = testing_array(&s.h, DTYPE_S32, 2, (int64_t[]){rows, columns}, s.in);
  s.to = testing_array(&s.h, DTYPE_S32, 2, (int64_t[]){rows, columns}, s.out);
  return s;
}

static void add_keys(testing_program *h, program_thunk *t, int64_t key, int64_t descending, int64_t order) {
  testing_int(h, t, "keys", key);
  testing_int(h, t, "descending", descending);
  testing_int(h, t, "order", order);
}

static void test_sort_by_keys(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    square s = square_start(3, 4);
    program_thunk *t = testing_library(&s.h, THUNK_SORT, 1, &s.from, 1, &s.to);
    testing_int(&s.h, t, "dimension", 0);
    add_keys(&s.h, t, 0, 1, 0);
    const int given[12] = {5, -1, 7, 0, 6, -3, 7, 2, 4, -2, 8, 1},
              expected[12] = {6, -1, 8, 2, 5, -2, 7, 1, 4, -3, 7, 0};
    int found[12];
    testing_run(&s.h, testing_sequence(&s.h, 1, &t), threads, (void *[]){(void *)(uintptr_t)given}, (void *[]){found});
    assert_memory_equal(found, expected, sizeof found);
    testing_end(&s.h);
  }
}

// By the last decimal digit.
static void less_in_last_digit(void *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(unsigned char *)buffers[2] = *(const int *)buffers[0] % 10 < *(const int *)buffers[1] % 10;
}

static void test_sort_by_comparator(void **state) {
  (void)state;
  square s = square_start(2, 4);
  program_thunk *t = testing_library(&s.h, THUNK_SORT, 1, &s.from, 1, &s.to);
  testing_int(&s.h, t, "dimension", 1);
  t->sort.comparator = testing_kernel(&s.h, less_in_last_digit, 3);
  const int given[8] = {19, 28, 8, 30, 55, 45, 34, 99}, expected[8] = {30, 28, 8, 19, 34, 55, 45, 99};
  int found[8];
  testing_run(&s.h, testing_sequence(&s.h, 1, &t), 2, (void *[]){(void *)(uintptr_t)given}, (void *[]){found});
  assert_memory_equal(found, expected, sizeof found);
  executable *e;
  t->sort.comparator = testing_kernel(&s.h, less_in_last_digit, 5);
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 2, &e), HEDDLE_INVALID, "no such comparator");
  t->sort.comparator = testing_kernel(&s.h, NULL, 3);
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 2, &e), HEDDLE_INVALID,
                      "no code for the host");
  testing_end(&s.h);
}

// By the thunk and by the custom call of the same name.
static void test_top_k(void **state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    square s = square_start(2, 4);
    const int positions = testing_memory(&s.h, PROGRAM_RESULT, 1, 16);
    const program_array results[] = {testing_array(&s.h, DTYPE_S32, 2, (int64_t[]){2, 2}, s.out),
                                     testing_array(&s.h, DTYPE_S32, 2, (int64_t[]){2, 2}, positions)};
    program_thunk *t = testing_library(&s.h, way ? THUNK_CUSTOM_CALL : THUNK_TOP_K, 1, &s.from, 2, results);
    if (way) t->custom_call.target = "TopK";
    testing_int(&s.h, t, "k", 2);
    testing_int(&s.h, t, "largest", 1);
    const int given[8] = {1, 9, 3, 9, -1, -5, -2, -3};
    int values[8], at[4];
    testing_run(&s.h, testing_sequence(&s.h, 1, &t), 2, (void *[]){(void *)(uintptr_t)given}, (void *[]){values, at});
    assert_memory_equal(values, ((int[]){9, 9, -1, -2}), 16);
    assert_memory_equal(at, ((int[]){1, 3, 0, 2}), 16);
    testing_end(&s.h);
  }
}

static void test_random(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 16), moved = testing_memory(&h, PROGRAM_RESULT, 0, 16);
  const int bits = testing_memory(&h, PROGRAM_RESULT, 1, 8);
  const int64_t two = 2;
  const program_array from = testing_array(&h, DTYPE_U64, 1, &two, in);
  const program_array results[] = {testing_array(&h, DTYPE_U64, 1, &two, moved),
                                   testing_array(&h, DTYPE_U32, 1, &two, bits)};
  program_thunk *t = testing_library(&h, THUNK_RANDOM, 1, &from, 2, results);
  testing_int(&h, t, "algorithm", 1);
  uint64_t given[2] = {0, 0}, next[2];
  uint32_t found[2];
  testing_run(&h, testing_sequence(&h, 1, &t), 1, (void *[]){given}, (void *[]){next, found});
  assert_true(next[0] == 0 && next[1] == 1);
  assert_int_equal(found[0], 0x6b200159);
  assert_int_equal(found[1], 0x99ba4efe);
  testing_end(&h);
}

// result = operand * factor + *user; fails on a factor of zero.
static heddle_status scale(const heddle_custom_call *call) {
  const heddle_custom_call_attribute *factor = heddle_custom_call_find(call, "factor");
  if (!factor || !factor->ints[0]) return heddle_custom_call_error(HEDDLE_INVALID, "no factor");
  if (strcmp(call->operands[0].element_type, "s32") != 0 || call->operands[0].rank != 2)
    return heddle_custom_call_error(HEDDLE_INVALID, "unexpected shape");
  const int *from = call->operands[0].data;
  int *to = call->results[0].data;
  for (int64_t i = 0; i < call->operands[0].dims[0] * call->operands[0].dims[1]; i++)
    to[i] = from[i] * (int)factor->ints[0] + *(int *)call->user;
  return (heddle_status){0};
}

static heddle_status run_scale(int64_t factor, int found[4]) {
  square s = square_start(2, 2);
  program_thunk *t = testing_library(&s.h, THUNK_CUSTOM_CALL, 1, &s.from, 1, &s.to);
  t->custom_call.target = "test.scale";
  testing_int(&s.h, t, "factor", factor);
  int given[4] = {1, 2, 3, 4};
  executable *e;
  testing_check(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e));
  heddle_status status = executable_run(e, (void *[]){given}, (void *[]){found});
  executable_destroy(e);
  testing_end(&s.h);
  return status;
}

static void test_users_function(void **state) {
  (void)state;
  int ten = 10, twenty = 20, found[4];
  testing_check(heddle_register_custom_call("test.scale", scale, &ten));
  testing_check(run_scale(3, found));
  assert_memory_equal(found, ((int[]){13, 16, 19, 22}), 16);
  testing_check(heddle_register_custom_call("test.scale", scale, &twenty));
  testing_check(run_scale(3, found));
  assert_memory_equal(found, ((int[]){23, 26, 29, 32}), 16);
  testing_check_error(run_scale(0, found), HEDDLE_INVALID, "no factor");
}

// Each run draws the same numbers, the second draw others than the first.
static void test_draws(void **state) {
  (void)state;
  testing_program h = testing_start();
  static const double bounds[2] = {2, 5};
  const int low = testing_constant(&h, &bounds[0], 8), high = testing_constant(&h, &bounds[1], 8);
  program_thunk *thunks[2];
  for (int k = 0; k < 2; k++) {
    const int64_t count = 500;
    const int out = testing_memory(&h, PROGRAM_RESULT, k, 8 * count);
    const program_array operands[] = {testing_array(&h, DTYPE_F64, 0, NULL, low),
                                      testing_array(&h, DTYPE_F64, 0, NULL, high)};
    const program_array to = testing_array(&h, DTYPE_F64, 1, &count, out);
    thunks[k] = testing_library(&h, THUNK_CUSTOM_CALL, 2, operands, 1, &to);
    thunks[k]->custom_call.target = "heddle.rng_uniform";
  }
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 2, thunks), 2, &e));
  double first[2][500], second[2][500];
  testing_check(executable_run(e, NULL, (void *[]){first[0], first[1]}));
  testing_check(executable_run(e, NULL, (void *[]){second[0], second[1]}));
  double sum = 0;
  int same = 0;
  for (int i = 0; i < 500; i++) {
    assert_true(first[0][i] >= 2 && first[0][i] < 5);
    assert_true(first[0][i] <= second[0][i] && first[0][i] >= second[0][i]);
    assert_true(first[1][i] <= second[1][i] && first[1][i] >= second[1][i]);
    same += first[0][i] <= first[1][i] && first[0][i] >= first[1][i];
    sum += first[0][i];
  }
  assert_int_equal(same, 0);
  assert_true(sum / 500 > 3.3 && sum / 500 < 3.7);
  executable_destroy(e);
  testing_end(&h);
}

static void test_unknown_target(void **state) {
  (void)state;
  square s = square_start(2, 2);
  program_thunk *t = testing_library(&s.h, THUNK_CUSTOM_CALL, 1, &s.from, 1, &s.to);
  t->custom_call.target = "nobody.knows";
  executable *e;
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_UNIMPLEMENTED, "nobody.knows");
  testing_end(&s.h);
}

// An operand larger than its slice, and a thunk that failed after another one had been prepared.
static void test_arrays_outside_their_slices(void **state) {
  (void)state;
  square s = square_start(2, 2);
  program_array large = testing_array(&s.h, DTYPE_S32, 2, (int64_t[]){3, 2}, s.in);
  program_thunk *t = testing_library(&s.h, THUNK_SORT, 1, &large, 1, &s.to);
  executable *e;
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_INVALID,
                      "does not fit its slice");
  large = testing_array(&s.h, DTYPE_S32, 3, (int64_t[]){INT64_MAX, INT64_MAX, 2}, s.in);
  t = testing_library(&s.h, THUNK_SORT, 1, &large, 1, &s.to);
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_INVALID,
                      "does not fit its slice");
  testing_end(&s.h);
}

// Columns of the pieces: operand, offset, stride, size.
static program_thunk *concatenate(square *s, int64_t rows, int count, const int64_t (*columns)[8]) {
  static const char *const names[] = {"operand", "offset", "stride", "size"};
  program_thunk *t = testing_library(&s->h, THUNK_CONCATENATE, 1, &s->from, 1, &s->to);
  testing_int(&s->h, t, "rows", rows);
  for (int k = 0; k < 4; k++) testing_ints(&s->h, t, names[k], count, columns[k]);
  return t;
}

static void test_concatenate(void **state) {
  (void)state;
  square s = square_start(2, 5);
  const int64_t columns[4][8] = {{0, 0, 0, 0}, {3, 0, 7, 1}, {5, 0, -7, 6}, {2, 1, 0, 2}};
  const int given[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, expected[10] = {3, 4, 0, 1, 2, 8, 9, 0, 7, 8};
  int found[10];
  executable *e;
  program_thunk *t = concatenate(&s, 2, 4, columns);
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_INVALID,
                      "outside of its operand");
  t = concatenate(&s, 2, 4, (const int64_t[4][8]){{0, 0, 0, 0}, {3, 0, 7, 1}, {5, 0, 0, 6}, {2, 1, 0, 2}});
  testing_run(&s.h, testing_sequence(&s.h, 1, &t), 2, (void *[]){(void *)(uintptr_t)given}, (void *[]){found});
  assert_memory_equal(found, expected, sizeof found);
  t = concatenate(&s, 2, 2, (const int64_t[4][8]){{0, 0}, {0, 0}, {5, 5}, {2, 2}});
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_INVALID,
                      "do not fill the result");
  t = concatenate(&s, 2, 2, (const int64_t[4][8]){{0, 1}, {0, 0}, {5, 5}, {2, 3}});
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_INVALID, "no such operand");
  t = concatenate(&s, INT64_MAX, 1, (const int64_t[4][8]){{0}, {0}, {5}, {5}});
  testing_check_error(testing_create(&s.h, testing_sequence(&s.h, 1, &t), 1, &e), HEDDLE_INVALID,
                      "outside of its operand");
  testing_end(&s.h);
}

// Enough for several threads, and elements of four bits that begin in the middle of bytes.
static void test_concatenate_many_bytes(void **state) {
  (void)state;
  enum { ROWS = 501, LEFT = 1001, RIGHT = 334, ROW = LEFT + RIGHT };
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, (ROWS * ROW + 1) / 2);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, (ROWS * ROW + 1) / 2);
  const program_array from = testing_array(&h, DTYPE_S4, 2, (int64_t[]){ROWS, ROW}, in);
  const program_array to = testing_array(&h, DTYPE_S4, 2, (int64_t[]){ROWS, ROW}, out);
  static unsigned char given[(ROWS * ROW + 1) / 2], found[sizeof given];
  for (size_t k = 0; k < sizeof given; k++) given[k] = (unsigned char)(k * 167 + k / 256);
  for (int threads = 1; threads <= 3; threads++) {
    program_thunk *t = testing_library(&h, THUNK_CONCATENATE, 1, &from, 1, &to);
    testing_int(&h, t, "rows", ROWS);
    testing_ints(&h, t, "operand", 2, (int64_t[]){0, 0});
    testing_ints(&h, t, "offset", 2, (int64_t[]){RIGHT, 0});
    testing_ints(&h, t, "stride", 2, (int64_t[]){ROW, ROW});
    testing_ints(&h, t, "size", 2, (int64_t[]){LEFT, RIGHT});
    testing_run(&h, testing_sequence(&h, 1, &t), threads, (void *[]){given}, (void *[]){found});
    for (int64_t r = 0; r < ROWS; r++)
      for (int64_t k = 0; k < ROW; k++) {
        const int64_t at = r * ROW + k, wanted = r * ROW + (k + RIGHT) % ROW;
        assert_int_equal(found[at / 2] >> at % 2 * 4 & 15, given[wanted / 2] >> wanted % 2 * 4 & 15);
      }
  }
  testing_end(&h);
}

typedef struct feed {
  int next;
  int sum;
} feed;

static heddle_status give_next(void *user, int device, int count, const program_array *arrays, void *const *data) {
  feed *f = user;
  assert_int_equal(device, 0);
  assert_int_equal(count, 1);
  assert_int_equal(arrays[0].type, DTYPE_S32);
  for (int i = 0; i < 4; i++) ((int *)data[0])[i] = f->next++;
  return status_ok();
}

static heddle_status take_sum(void *user, int device, int count, const program_array *arrays, void *const *data) {
  (void)device, (void)count, (void)arrays;
  for (int i = 0; i < 4; i++) ((feed *)user)->sum += ((const int *)data[0])[i];
  return status_ok();
}

static void test_transfers(void **state) {
  (void)state;
  square s = square_start(2, 2);
  const int second = testing_memory(&s.h, PROGRAM_RESULT, 1, 16);
  const program_array more = testing_array(&s.h, DTYPE_S32, 2, (int64_t[]){2, 2}, second);
  program_thunk *thunks[] = {testing_library(&s.h, THUNK_TRANSFER, 0, NULL, 1, &s.to),
                             testing_library(&s.h, THUNK_TRANSFER, 1, &s.to, 0, NULL),
                             testing_library(&s.h, THUNK_TRANSFER, 0, NULL, 1, &more)};
  for (int k = 0; k < 3; k += 2) testing_text(&s.h, thunks[k], "target", "infeed");
  testing_text(&s.h, thunks[1], "target", "outfeed");
  executable *e;
  testing_check(testing_create(&s.h, testing_sequence(&s.h, 3, thunks), 3, &e));
  int unused[4] = {0}, first[4], last[4];
  testing_check_error(executable_run(e, (void *[]){unused}, (void *[]){first, last}), HEDDLE_INVALID, "given none");
  feed f = {.next = 1};
  executable_set_feeds(e, (executable_feeds){give_next, take_sum, &f});
  testing_check(executable_run(e, (void *[]){unused}, (void *[]){first, last}));
  assert_memory_equal(first, ((int[]){1, 2, 3, 4}), 16);
  assert_memory_equal(last, ((int[]){5, 6, 7, 8}), 16);
  assert_int_equal(f.sum, 10);
  executable_destroy(e);
  testing_end(&s.h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sort_by_keys),
      cmocka_unit_test(test_sort_by_comparator),
      cmocka_unit_test(test_top_k),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_users_function),
      cmocka_unit_test(test_draws),
      cmocka_unit_test(test_unknown_target),
      cmocka_unit_test(test_arrays_outside_their_slices),
      cmocka_unit_test(test_transfers),
      cmocka_unit_test(test_concatenate),
      cmocka_unit_test(test_concatenate_many_bytes),
  };
  return cmocka_run_group_tests_name("rt/library", tests, NULL, NULL);
}
