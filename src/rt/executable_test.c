// Every kind of thunk that holds others or moves memory, in programs written by hand.
#include "rt/testing.h"

#include <pthread.h>

#include "rt/program_check.h"

enum { COUNT = 1000 };

static void increment(void *const *buffers, int64_t begin, int64_t end) {
  const int *from = buffers[0];
  int *to = buffers[1];
  for (int64_t i = begin; i < end; i++) to[i] = from[i] + 1;
}

static void twice(void *const *buffers, int64_t begin, int64_t end) {
  const int *from = buffers[0];
  int *to = buffers[1];
  for (int64_t i = begin; i < end; i++) to[i] = from[i] * 2;
}

static void is_below_hundred(void *const *buffers, int64_t begin, int64_t end) {
  const int *from = buffers[0];
  unsigned char *to = buffers[1];
  for (int64_t i = begin; i < end; i++) to[i] = from[i] < 100;
}

// results = 2 * (parameter + 1) through a temporary, at several numbers of threads and runs.
static void test_kernels_and_temporaries(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    testing_program h = testing_start();
    const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4 * COUNT),
              out = testing_memory(&h, PROGRAM_RESULT, 0, 4 * COUNT);
    const int all = testing_memory(&h, PROGRAM_TEMPORARY, 0, 64 + 4 * COUNT),
              between = testing_slice(&h, all, 64, 4 * COUNT);
    program_thunk *first = testing_step(&h, testing_kernel(&h, increment, 2), in, between);
    program_thunk *second = testing_step(&h, testing_kernel(&h, twice, 2), between, out);
    testing_kernel_of(&h, first)->tiles = testing_kernel_of(&h, second)->tiles = COUNT;
    testing_kernel_of(&h, first)->tile_bytes = 1000;
    executable *e;
    testing_check(testing_create(&h, testing_sequence(&h, 2, (program_thunk *[]){first, second}), threads, &e));
    int given[COUNT], found[COUNT];
    for (int run = 0; run < 3; run++) {
      for (int i = 0; i < COUNT; i++) given[i] = 3 * i + run;
      testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
      for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 2 * (3 * i + run + 1));
    }
    executable_destroy(e);
    testing_end(&h);
  }
}

static void count_buffers(void *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  int *sum = buffers[99];
  *sum = 0;
  for (int i = 0; i < 99; i++) *sum += *(int *)buffers[i];
}

static void test_many_buffers(void **state) {
  (void)state;
  testing_program h = testing_start();
  static const int one = 1;
  int buffers[100];
  for (int i = 0; i < 99; i++) buffers[i] = testing_constant(&h, &one, 4);
  buffers[99] = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  program_thunk *t = testing_thunk(&h, THUNK_KERNEL, 99, buffers, 1, &buffers[99]);
  t->launch = (program_launch){testing_kernel(&h, count_buffers, 100), 100, testing_numbers(&h, 100, buffers)};
  int found = 0;
  testing_run(&h, testing_sequence(&h, 1, &t), 1, NULL, (void *[]){&found});
  assert_int_equal(found, 99);
  testing_end(&h);
}

// i = parameter; while (i < 100) i = i * 2 + 1
static void test_while(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4), i = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  const int goes_on = testing_memory(&h, PROGRAM_TEMPORARY, 0, 64);
  program_thunk *start = testing_thunk(&h, THUNK_COPY, 1, &in, 1, &i);
  program_thunk *loop = testing_thunk(&h, THUNK_WHILE, 1, &i, 2, (int[]){i, goes_on});
  program_thunk *test = testing_step(&h, testing_kernel(&h, is_below_hundred, 2), i, goes_on);
  program_thunk *doubled = testing_step(&h, testing_kernel(&h, twice, 2), i, i);
  program_thunk *next = testing_step(&h, testing_kernel(&h, increment, 2), i, i);
  loop->control.slice = goes_on;
  testing_nest(&h, loop, 2,
               (program_sequence[]){testing_sequence(&h, 1, &test),
                                    testing_sequence(&h, 2, (program_thunk *[]){doubled, next})});
  int given = 1, found = 0;
  testing_run(&h, testing_sequence(&h, 2, (program_thunk *[]){start, loop}), 2, (void *[]){&given}, (void *[]){&found});
  assert_int_equal(found, 127);
  testing_end(&h);
}

// A conditional whose branch 0 adds one and whose branch 1 doubles the value.
static int conditional(bool is_pred, int index, int value) {
  testing_program h = testing_start();
  const int choice = testing_memory(&h, PROGRAM_PARAMETER, 0, is_pred ? 1 : 4);
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 1, 4), out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  program_thunk *t = testing_thunk(&h, THUNK_CONDITIONAL, 2, (int[]){choice, in}, 1, &out);
  program_thunk *add = testing_step(&h, testing_kernel(&h, increment, 2), in, out);
  program_thunk *multiply = testing_step(&h, testing_kernel(&h, twice, 2), in, out);
  t->control = (program_control){choice, is_pred};
  testing_nest(&h, t, 2, (program_sequence[]){testing_sequence(&h, 1, &add), testing_sequence(&h, 1, &multiply)});
  int found = 0;
  testing_run(&h, testing_sequence(&h, 1, &t), 2, (void *[]){&index, &value}, (void *[]){&found});
  testing_end(&h);
  return found;
}

static void test_conditional(void **state) {
  (void)state;
  assert_int_equal(conditional(true, 1, 10), 11);
  assert_int_equal(conditional(true, 0, 10), 20);
  assert_int_equal(conditional(false, 0, 10), 11);
  assert_int_equal(conditional(false, 1, 10), 20);
  assert_int_equal(conditional(false, -5, 10), 20);
  assert_int_equal(conditional(false, 7, 10), 20);
}

// for 5 { call { i = i + 1 } sequence { i = i * 2 } } from 0
static void test_for_call_sequence(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int i = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  program_thunk *clear = testing_thunk(&h, THUNK_MEMSET, 0, NULL, 1, &i);
  program_thunk *add = testing_step(&h, testing_kernel(&h, increment, 2), i, i);
  program_thunk *multiply = testing_step(&h, testing_kernel(&h, twice, 2), i, i);
  program_thunk *call = testing_thunk(&h, THUNK_CALL, 1, &i, 1, &i),
                *group = testing_thunk(&h, THUNK_SEQUENCE, 1, &i, 1, &i);
  program_thunk *loop = testing_thunk(&h, THUNK_FOR, 1, &i, 1, &i);
  program_sequence one = testing_sequence(&h, 1, &add), two = testing_sequence(&h, 1, &multiply);
  testing_nest(&h, call, 1, &one);
  testing_nest(&h, group, 1, &two);
  program_sequence body = testing_sequence(&h, 2, (program_thunk *[]){call, group});
  testing_nest(&h, loop, 1, &body);
  loop->trip_count = 5;
  int found = 7;
  testing_run(&h, testing_sequence(&h, 2, (program_thunk *[]){clear, loop}), 2, NULL, (void *[]){&found});
  assert_int_equal(found, 62);
  testing_end(&h);
}

// Sizes around those at which copies are cut and given to several threads.
static void test_copy_and_memset(void **state) {
  (void)state;
  static const int64_t sizes[] = {0, 1, 3, 64, 65535, 65536, 65537, 300001, 1000000};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int64_t bytes = sizes[k];
    testing_program h = testing_start();
    const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, bytes), out = testing_memory(&h, PROGRAM_RESULT, 0, bytes);
    const int zeros = testing_memory(&h, PROGRAM_RESULT, 1, bytes),
              words = testing_memory(&h, PROGRAM_RESULT, 2, bytes);
    program_thunk *copy = testing_thunk(&h, THUNK_COPY, 1, &in, 1, &out);
    program_thunk *clear = testing_thunk(&h, THUNK_MEMSET, 0, NULL, 1, &zeros);
    program_thunk *fill = testing_thunk(&h, THUNK_MEMSET, 0, NULL, 1, &words);
    fill->pattern = 0x04030201;
    unsigned char *given = malloc((size_t)bytes + 1), *results[3];
    for (int r = 0; r < 3; r++) results[r] = malloc((size_t)bytes + 1);
    for (int r = 0; r < 3; r++) results[r][bytes] = 0xee;
    for (int64_t i = 0; i < bytes; i++) given[i] = (unsigned char)(i * 7 + 1);
    testing_run(&h, testing_sequence(&h, 3, (program_thunk *[]){copy, clear, fill}), 2, (void *[]){given},
                (void **)results);
    for (int64_t i = 0; i < bytes; i++) {
      assert_int_equal(results[0][i], given[i]);
      assert_int_equal(results[1][i], 0);
      assert_int_equal(results[2][i], i % 4 + 1);
    }
    for (int r = 0; r < 3; r++) assert_int_equal(results[r][bytes], 0xee);
    for (int r = 0; r < 3; r++) free(results[r]);
    free(given);
    testing_end(&h);
  }
}

// result = donated parameter + 1, in place.
static void test_donation(void **state) {
  (void)state;
  testing_program h = testing_start();
  testing_memory(&h, PROGRAM_PARAMETER, 0, 4);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  h.results.data[0].donated_parameter = 0;
  program_thunk *add = testing_step(&h, testing_kernel(&h, increment, 2), out, out);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &add), 1, &e));
  int given = 5, found = 0;
  testing_check(executable_run(e, (void *[]){&given}, (void *[]){&found}));
  assert_int_equal(found, 6);
  assert_int_equal(given, 5);
  testing_check(executable_run(e, (void *[]){&given}, (void *[]){&given}));
  assert_int_equal(given, 6);
  executable_destroy(e);
  testing_end(&h);
}

typedef struct caller {
  executable *executable;
  int start;
  int wrong;
} caller;

static void *call_often(void *argument) {
  caller *c = argument;
  for (int run = 0; run < 200; run++) {
    int given[COUNT], found[COUNT];
    for (int i = 0; i < COUNT; i++) given[i] = c->start + run + i;
    heddle_status s = executable_run(c->executable, (void *[]){given}, (void *[]){found});
    c->wrong += !status_is_ok(s);
    for (int i = 0; i < COUNT; i++) c->wrong += found[i] != 2 * (given[i] + 1);
  }
  return NULL;
}

// More callers than frames are kept for.
static void test_concurrent_calls(void **state) {
  (void)state;
  enum { CALLERS = FRAME_SLOTS + 4 };
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4 * COUNT),
            out = testing_memory(&h, PROGRAM_RESULT, 0, 4 * COUNT);
  const int between = testing_memory(&h, PROGRAM_TEMPORARY, 0, 4 * COUNT);
  program_thunk *first = testing_step(&h, testing_kernel(&h, increment, 2), in, between);
  program_thunk *second = testing_step(&h, testing_kernel(&h, twice, 2), between, out);
  testing_kernel_of(&h, first)->tiles = testing_kernel_of(&h, second)->tiles = COUNT;
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 2, (program_thunk *[]){first, second}), 1, &e));
  pthread_t threads[CALLERS];
  caller callers[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (caller){e, 1000 * i, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(callers[i].wrong, 0);
  }
  executable_destroy(e);
  testing_end(&h);
}

static void test_missing_memory(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4), out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  program_thunk *t = testing_thunk(&h, THUNK_COPY, 1, &in, 1, &out);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &t), 1, &e));
  int given = 5;
  testing_check_error(executable_run(e, (void *[]){&given}, (void *[]){NULL}), HEDDLE_INVALID, "result 0");
  executable_destroy(e);
  testing_end(&h);
}

typedef void (*spoil_fn)(testing_program *h, program_thunk *t);

static void spoil_slice(testing_program *h, program_thunk *t) {
  (void)t;
  h->slices.data[1].offset = 1;
}
static void spoil_read(testing_program *h, program_thunk *t) { t->reads = testing_numbers(h, 1, (int[]){2}); }
static void spoil_write(testing_program *h, program_thunk *t) { t->writes = testing_numbers(h, 1, (int[]){0}); }
static void spoil_number(testing_program *h, program_thunk *t) {
  (void)t;
  h->allocations.data[0].number = 1;
}
static void spoil_size(testing_program *h, program_thunk *t) {
  (void)t;
  h->slices.data[0].bytes = 3;
}
static void spoil_arenas(testing_program *h, program_thunk *t) {
  (void)t;
  for (int k = 0; k < 2; k++) (void)testing_memory(h, PROGRAM_TEMPORARY, 0, 64);
}
static void spoil_kernel(testing_program *h, program_thunk *t) {
  (void)h;
  t->kind = THUNK_KERNEL;
}
static void spoil_sequences(testing_program *h, program_thunk *t) {
  (void)h;
  t->kind = THUNK_WHILE;
}
// A loop on a slice of which it says nothing.
static void spoil_control(testing_program *h, program_thunk *t) {
  t->control = (program_control){testing_slice(h, 1, 0, 1), true};
  t->kind = THUNK_WHILE;
  testing_nest(h, t, 2, (program_sequence[]){{0}, {0}});
}
// A truth chooses among two.
static void spoil_branches(testing_program *h, program_thunk *t) {
  t->control = (program_control){0, true};
  t->kind = THUNK_CONDITIONAL;
  testing_nest(h, t, 1, (program_sequence[]){{0}});
}
static void spoil_target(testing_program *h, program_thunk *t) {
  (void)h;
  t->kind = THUNK_CUSTOM_CALL;
}
static void spoil_enum(testing_program *h, program_thunk *t) {
  (void)h;
  t->kind = THUNK_COLLECTIVE;
  t->collective.target = PROGRAM_COLLECTIVE_KIND_COUNT;
}
static void spoil_layout(testing_program *h, program_thunk *t) {
  (void)t;
  static const int64_t four = 4, beyond = 1;
  h->parameters.data[0].shape = (program_shape){DTYPE_S8, 1, &four, &beyond};
}
static void spoil_donation(testing_program *h, program_thunk *t) {
  (void)t;
  h->results.data[0].donated_parameter = 1;
}
static void spoil_device(testing_program *h, program_thunk *t) {
  (void)t;
  h->program.device = TARGET_KIND_COUNT;
}
// What this build can run on CPUs alone.
static void spoil_kind_of_device(testing_program *h, program_thunk *t) {
  h->program.device = TARGET_NULL;
  t->kind = THUNK_SORT;
}
static void spoil_depth(testing_program *h, program_thunk *t) {
  program_sequence body = testing_sequence(h, 1, &t);
  t->kind = THUNK_CALL;  // of itself
  testing_nest(h, t, 1, &body);
}

static void test_programs_that_contradict_themselves(void **state) {
  (void)state;
  static const struct {
    spoil_fn spoil;
    heddle_code code;
    const char *words;
  } cases[] = {
      {spoil_slice, HEDDLE_INVALID, "slice 1"},
      {spoil_read, HEDDLE_INVALID, "reads a slice"},
      {spoil_write, HEDDLE_INVALID, "nothing may be"},
      {spoil_number, HEDDLE_INVALID, "allocation 0"},
      {spoil_size, HEDDLE_INVALID, "same size"},
      {spoil_kernel, HEDDLE_INVALID, "no such kernel"},
      {spoil_sequences, HEDDLE_INVALID, "sequences"},
      {spoil_control, HEDDLE_INVALID, "does not say that it reads what controls it"},
      {spoil_branches, HEDDLE_INVALID, "a wrong number of sequences"},
      {spoil_depth, HEDDLE_UNIMPLEMENTED, "deep"},
      {spoil_target, HEDDLE_INVALID, "no target"},
      {spoil_arenas, HEDDLE_INVALID, "two arenas"},
      {spoil_enum, HEDDLE_INVALID, "stands for"},
      {spoil_layout, HEDDLE_INVALID, "parameter 0"},
      {spoil_donation, HEDDLE_INVALID, "result 0"},
      {spoil_device, HEDDLE_INVALID, "devices"},
      {spoil_kind_of_device, HEDDLE_UNIMPLEMENTED, "t is a sort on null"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    testing_program h = testing_start();
    const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 4), out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
    program_thunk *t = testing_thunk(&h, THUNK_COPY, 1, &in, 1, &out);
    cases[k].spoil(&h, t);
    executable *e;
    testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 1, &e), cases[k].code, cases[k].words);
    assert_null(e);
    testing_end(&h);
  }
}

// A run would write a result that nobody gave memory for.
static void test_unseen_results(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  testing_memory(&h, PROGRAM_RESULT, 1, 4);
  program_thunk *set = testing_thunk(&h, THUNK_MEMSET, 0, NULL, 1, &out);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &set), 1, &e));
  executable_destroy(e);
  h.program.given_result_count = 1;
  testing_check_error(program_check(&h.program), HEDDLE_INVALID, "numbers of results contradict each other");
  testing_end(&h);
}

typedef struct profile {
  int events;
  int64_t bytes;
  bool in_order;
} profile;

static void keep_event(void *user, const profile_event *event) {
  profile *p = user;
  p->events++;
  p->bytes += event->bytes;
  p->in_order = p->in_order && event->end >= event->begin && strcmp(event->thunk->name, "t") == 0;
}

static void test_profiler(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 40), out = testing_memory(&h, PROGRAM_RESULT, 0, 40);
  program_thunk *copy = testing_thunk(&h, THUNK_COPY, 1, &in, 1, &out);
  program_thunk *call = testing_thunk(&h, THUNK_CALL, 1, &in, 1, &out);
  program_sequence body = testing_sequence(&h, 1, &copy);
  testing_nest(&h, call, 1, &body);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &call), 1, &e));
  profile seen = {.in_order = true};
  executable_set_profiler(e, keep_event, &seen);
  char given[40] = {1}, found[40];
  testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  assert_int_equal(seen.events, 2);
  assert_int_equal(seen.bytes, 160);
  assert_true(seen.in_order);
  executable_destroy(e);
  testing_end(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels_and_temporaries),
      cmocka_unit_test(test_many_buffers),
      cmocka_unit_test(test_while),
      cmocka_unit_test(test_conditional),
      cmocka_unit_test(test_for_call_sequence),
      cmocka_unit_test(test_copy_and_memset),
      cmocka_unit_test(test_donation),
      cmocka_unit_test(test_concurrent_calls),
      cmocka_unit_test(test_missing_memory),
      cmocka_unit_test(test_programs_that_contradict_themselves),
      cmocka_unit_test(test_unseen_results),
      cmocka_unit_test(test_profiler),
  };
  return cmocka_run_group_tests_name("rt/executable", tests, NULL, NULL);
}
