// How many programs for given sizes are made, and how many are kept.
#include "rt/open_instances.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/testing.h"
#include "prog/program_sizes.h"

enum { KEPT = 16 };

static const program_symbol symbols[] = {{"n", 0, 1000}};
static const int64_t order[] = {0}, dims[] = {7};
static const program_value parameters[] = {{"x", {DTYPE_F32, 1, dims, order}, -1}};
static const program_open_number numbers[] = {{0, {0, 1}}};
static const program open = {
    .name = "by_hand",
    .device_count = 1,
    .partition_count = 1,
    .parameter_count = 1,
    .parameters = parameters,
    .sizes = {.symbol_count = 1, .degree = 1, .symbols = symbols, .number_count = 1, .numbers = numbers}};

typedef struct counts {
  int made, dropped;
  int64_t last_dropped;
} counts;

static counts *seen;

static heddle_status make(void *user, const int64_t *at, open_instance *out) {
  counts *c = user;
  if (at[0] == 999) return status_error(HEDDLE_UNIMPLEMENTED, "not this size");
  c->made++;
  out->callable.program = program_sizes_fill(out->arena, &open, at);
  return status_ok();
}

static void drop(open_instance *x) {
  seen->dropped++;
  seen->last_dropped = x->symbols[0];
}

static open_instance *take(open_instances *all, int64_t size) {
  open_instance *x;
  const int64_t *const input_dims[] = {&size};
  const heddle_status s = open_instances_take(all, input_dims, &x);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  assert_int_equal(x->callable.program->parameters[0].shape.dims[0], size);
  return x;
}

static void run(open_instances *all, int64_t size) { open_instances_give(all, take(all, size)); }

static void test_bound(void **state) {
  (void)state;
  counts c = {0};
  seen = &c;
  open_instances *all =
      open_instances_create(&(open_instances_source){.program = &open, .make = make, .drop = drop, .user = &c});
  assert_non_null(all);
  for (int round = 0; round < 3; round++)
    for (int64_t size = 0; size < KEPT; size++) run(all, size);
  assert_int_equal(c.made, KEPT);
  assert_int_equal(c.dropped, 0);
  run(all, 0);
  run(all, 100);  // in the place of the one that was used longest ago
  assert_int_equal(c.made, KEPT + 1);
  assert_int_equal(c.dropped, 1);
  assert_int_equal(c.last_dropped, 1);
  run(all, 0);
  assert_int_equal(c.made, KEPT + 1);
  run(all, 1);
  assert_int_equal(c.made, KEPT + 2);
  open_instances_destroy(all);
  assert_int_equal(c.dropped, c.made);
}

// What is in use stays; one more than fits is dropped when it is given back.
static void test_all_in_use(void **state) {
  (void)state;
  counts c = {0};
  seen = &c;
  open_instances *all =
      open_instances_create(&(open_instances_source){.program = &open, .make = make, .drop = drop, .user = &c});
  open_instance *used[KEPT + 1];
  for (int64_t size = 0; size <= KEPT; size++) used[size] = take(all, size);
  assert_int_equal(c.dropped, 0);
  open_instances_give(all, used[KEPT]);
  assert_int_equal(c.dropped, 1);
  assert_int_equal(c.last_dropped, KEPT);
  for (int size = 0; size < KEPT; size++) open_instances_give(all, used[size]);
  assert_int_equal(c.dropped, 1);
  open_instances_destroy(all);
  assert_int_equal(c.made, KEPT + 1);
  assert_int_equal(c.dropped, KEPT + 1);
}

// A program of the same parameter, of type `type` and rank `rank`, for multiples of `multiple`, or for it alone.
static program special_of(const char *name, dtype type, int rank, int64_t multiple, bool is_open) {
  static int64_t all_dims[16];
  static program_open_number all_numbers[8];
  static program_value all_parameters[8];
  static int next = 0;
  int64_t *own = &all_dims[2 * next];
  own[0] = own[1] = multiple;
  all_numbers[next] = (program_open_number){0, {0, multiple}};
  all_parameters[next] = (program_value){"x", {type, rank, own, rank ? (int64_t[2]){0, 1} : NULL}, -1};
  all_parameters[next].shape.minor_to_major = order;
  program made = open;
  made.name = name;
  made.parameters = &all_parameters[next];
  made.sizes = is_open ? open.sizes : (program_sizes){0};
  if (is_open) made.sizes.numbers = &all_numbers[next];
  next++;
  return made;
}

// What is for some sizes alone is taken where it is for those of the run and like the program for all of them.
static void test_specials(void **state) {
  (void)state;
  const program seven = special_of("seven", DTYPE_F32, 1, 7, false), more = special_of("more", DTYPE_F32, 1, 64, true),
                some = special_of("some", DTYPE_F32, 1, 16, true), other = special_of("other", DTYPE_F64, 1, 5, true),
                none = special_of("none", DTYPE_F32, 0, 5, false);
  const open_special specials[] = {{&none, NULL}, {&other, NULL}, {&seven, NULL}, {&more, NULL}, {&some, NULL}};
  static const struct {
    int64_t size;
    const char *name;
  } cases[] = {{7, "seven"},   {64, "more"},    {192, "more"},  {16, "some"}, {80, "some"},
               {8, "by_hand"}, {14, "by_hand"}, {5, "by_hand"}, {0, "more"},  {1000, "by_hand"}};
  buffer_cache *buffers = buffer_cache_create();
  open_instances *all = open_instances_create(&(open_instances_source){
      .program = &open, .options = {.threads = 1}, .buffers = buffers, .special_count = 5, .specials = specials});
  assert_non_null(all);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    open_instance *x = take(all, cases[k].size);
    assert_string_equal(x->callable.program->name, cases[k].name);
    open_instances_give(all, x);
  }
  open_instances_destroy(all);
  buffer_cache_destroy(buffers);
}

// A program that has nothing else runs at the sizes of these alone, whose results may be of any size.
static void test_given_alone(void **state) {
  (void)state;
  program alone = open, wide = special_of("wide", DTYPE_F64, 1, 5, false);
  alone.sizes.is_for_given = true;
  const program seven = special_of("seven", DTYPE_F32, 1, 7, false);
  const open_special specials[] = {{&wide, NULL}, {&seven, NULL}};
  buffer_cache *buffers = buffer_cache_create();
  open_instances *all = open_instances_create(&(open_instances_source){
      .program = &alone, .options = {.threads = 1}, .buffers = buffers, .special_count = 2, .specials = specials});
  open_instance *x = take(all, 7);
  assert_string_equal(x->callable.program->name, "seven");
  open_instances_give(all, x);
  for (int64_t size = 5; size < 7; size++) {
    const int64_t *const given[] = {&size};
    heddle_status s = open_instances_take(all, given, &x);
    assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_status_message(s), "the sizes alone that it was saved for"));
    heddle_status_free(s);
  }
  open_instances_destroy(all);
  buffer_cache_destroy(buffers);
}

// A size that cannot be made leaves the others as they are.
static void test_refused(void **state) {
  (void)state;
  counts c = {0};
  seen = &c;
  open_instances *all =
      open_instances_create(&(open_instances_source){.program = &open, .make = make, .drop = drop, .user = &c});
  const int64_t wrong = 999, beyond = 1001, *const no_dims[] = {&wrong}, *const too_many[] = {&beyond};
  open_instance *x;
  run(all, 5);
  heddle_status s = open_instances_take(all, no_dims, &x);
  assert_int_equal(heddle_status_code(s), HEDDLE_UNIMPLEMENTED);
  heddle_status_free(s);
  s = open_instances_take(all, too_many, &x);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
  run(all, 5);
  assert_int_equal(c.made, 1);
  open_instances_destroy(all);
}

enum { THREADS = 8 };

static atomic_int slowly_made;

// The first size fails once it has kept the others waiting.
static heddle_status make_slowly(void *user, const int64_t *at, open_instance *out) {
  (void)user;
  const struct timespec a_while = {0, 50 * 1000 * 1000};
  const int number = atomic_fetch_add(&slowly_made, 1);
  nanosleep(&a_while, NULL);
  if (at[0] == 998 && number == 0) return status_error(HEDDLE_UNIMPLEMENTED, "not now");
  out->callable.program = program_sizes_fill(out->arena, &open, at);
  return status_ok();
}

static void drop_slowly_made(open_instance *x) { (void)x; }

typedef struct taker {
  open_instances *all;
  int64_t size;
  open_instance *instance;
} taker;

static void *take_one(void *argument) {
  taker *t = argument;
  const int64_t *const input_dims[] = {&t->size};
  const heddle_status s = open_instances_take(t->all, input_dims, &t->instance);
  if (heddle_status_code(s) != HEDDLE_OK) t->instance = NULL;
  heddle_status_free(s);
  return NULL;
}

// Returns how many threads were refused.
static int take_at_once(open_instances *all, int64_t size) {
  pthread_t threads[THREADS];
  taker takers[THREADS];
  int refused = 0;
  const open_instance *one = NULL;
  for (int k = 0; k < THREADS; k++) {
    takers[k] = (taker){all, size, NULL};
    assert_int_equal(pthread_create(&threads[k], NULL, take_one, &takers[k]), 0);
  }
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < THREADS; k++) {
    const open_instance *x = takers[k].instance;
    refused += !x;
    if (x && one) assert_ptr_equal(x, one);
    if (x) one = x;
  }
  for (int k = 0; k < THREADS; k++)
    if (takers[k].instance) open_instances_give(all, takers[k].instance);
  return refused;
}

// Of threads that want one new size at the same time, one makes it, and all get that; where it fails, the next one
// tries.
static void test_at_once(void **state) {
  (void)state;
  open_instances *all =
      open_instances_create(&(open_instances_source){.program = &open, .make = make_slowly, .drop = drop_slowly_made});
  atomic_store(&slowly_made, 0);
  assert_int_equal(take_at_once(all, 7), 0);
  assert_int_equal(atomic_load(&slowly_made), 1);
  atomic_store(&slowly_made, 0);
  assert_int_equal(take_at_once(all, 998), 1);
  assert_int_equal(atomic_load(&slowly_made), 2);
  open_instances_destroy(all);
}

// Of open sizes, with nothing to do.
static const program idle = {
    .name = "idle",
    .device_count = 1,
    .parameter_count = 1,
    .parameters = parameters,
    .sizes = {.symbol_count = 1, .degree = 1, .symbols = symbols, .number_count = 1, .numbers = numbers}};

static heddle_status run_watched(open_instances *all, open_watch *w) {
  const int64_t size = 7, *const input_dims[] = {&size};
  const float x[7] = {0};
  const void *const inputs[] = {x};
  void *const outputs[1] = {NULL};
  const heddle_program of = {.is_direct = true, .watch = w};
  return open_instances_run(all, &of, input_dims, (const void *const *const[]){inputs}, (void *const *const[]){outputs},
                            NULL);
}

// A child of fork watches for itself what another thread of its parent was about to watch.
static void test_fork(void **state) {
  (void)state;
  buffer_cache *buffers = buffer_cache_create();
  open_instances *all = open_instances_create(&(open_instances_source){.program = &idle, .buffers = buffers});
  assert_non_null(all);
  open_watch w;
  open_watch_begin(&w, &(profile_options){.no_limits = true});
  pthread_mutex_lock(&w.starting);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const heddle_status s = run_watched(all, &w);
    _exit(heddle_status_code(s) == HEDDLE_OK && w.watching ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  pthread_mutex_unlock(&w.starting);
  assert_int_equal(heddle_status_code(run_watched(all, &w)), HEDDLE_OK);
  assert_non_null(w.watching);
  open_watch_end(&w);
  open_instances_destroy(all);
  buffer_cache_destroy(buffers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bound),      cmocka_unit_test(test_specials), cmocka_unit_test(test_given_alone),
      cmocka_unit_test(test_all_in_use), cmocka_unit_test(test_refused),  cmocka_unit_test(test_at_once),
      cmocka_unit_test(test_fork),
  };
  return cmocka_run_group_tests_name("rt/open_instances", tests, NULL, NULL);
}
