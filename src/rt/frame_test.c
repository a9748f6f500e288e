// A run neither allocates nor takes a lock once the first one is over. The linker sends the calls of this room (and of
// all that is linked into the test) through the functions here.
#include "rt/testing.h"

#include <pthread.h>

static _Atomic int calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

void *__wrap_malloc(size_t size) {
  calls++;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  calls++;
  return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
  calls++;
  return __real_realloc(old, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  calls++;
  return __real_posix_memalign(out, alignment, size);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
  calls++;
  return __real_pthread_mutex_lock(mutex);
}

static void increment(void *const *buffers, int64_t begin, int64_t end) {
  const int *from = buffers[0];
  int *to = buffers[1];
  for (int64_t i = begin; i < end; i++) to[i] = from[i] + 1;
}

// Kernels, a parallel step, a loop, a sort and a copy, with temporaries on huge pages.
static program_sequence build(testing_program *h, int64_t count) {
  const int in = testing_memory(h, PROGRAM_PARAMETER, 0, 4 * count),
            out = testing_memory(h, PROGRAM_RESULT, 0, 4 * count);
  const int room = testing_memory(h, PROGRAM_TEMPORARY, 0, 16 * count), kernel = testing_kernel(h, increment, 2);
  int parts[4];
  for (int k = 0; k < 4; k++) parts[k] = testing_slice(h, room, 4 * count * k, 4 * count);
  program_thunk *steps[5], *turn = testing_step(h, kernel, parts[2], parts[2]);
  for (int k = 0; k < 2; k++) steps[k] = testing_step(h, kernel, in, parts[k]);
  const program_array from = testing_array(h, DTYPE_S32, 1, &count, parts[1]),
                      to = testing_array(h, DTYPE_S32, 1, &count, parts[2]);
  steps[2] = testing_library(h, THUNK_SORT, 1, &from, 1, &to);
  testing_int(h, steps[2], "dimension", 0);
  testing_int(h, steps[2], "keys", 0);
  testing_int(h, steps[2], "descending", 0);
  testing_int(h, steps[2], "order", 0);
  steps[3] = testing_thunk(h, THUNK_FOR, 1, &parts[2], 1, &parts[2]);
  steps[4] = testing_thunk(h, THUNK_COPY, 1, &parts[2], 1, &out);
  testing_kernel_of(h, turn)->tiles = count;
  for (int k = 0; k < 2; k++) {
    testing_kernel_of(h, steps[k])->tiles = count;
    testing_kernel_of(h, steps[k])->tile_bytes = 8;
  }
  program_sequence body = testing_sequence(h, 1, &turn);
  testing_nest(h, steps[3], 1, &body);
  steps[3]->trip_count = 3;
  return testing_sequence(h, 5, steps);
}

static void test_warm_runs_allocate_nothing(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  testing_program h = testing_start();
  executable *e;
  testing_check(testing_create(&h, build(&h, COUNT), 2, &e));
  int *given = malloc(4 * COUNT), *found = malloc(4 * COUNT);
  for (int i = 0; i < COUNT; i++) given[i] = COUNT - i;
  calls = 0;
  testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  assert_true(calls > 0);  // the frame; or the linker's help is missing
  calls = 0;
  for (int run = 0; run < 5; run++) testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  assert_int_equal(calls, 0);
  for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], i + 1 + 4);
  executable_destroy(e);
  free(given);
  free(found);
  testing_end(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_warm_runs_allocate_nothing)};
  return cmocka_run_group_tests_name("rt/frame", tests, NULL, NULL);
}
