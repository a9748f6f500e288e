// Every item is visited once, whatever the number of threads and whoever calls; nobody waits for a thread that is busy
// elsewhere; OpenMP has one thread inside.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/testing.h"

enum { ITEMS = 10007, THREADS = 5 };
static atomic_int visits[ITEMS];

static void visit(void *argument, int64_t begin, int64_t end) {
  atomic_int *counts = argument;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&counts[i], 1);
}

static void test_every_item_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= THREADS; threads++) {
    for (int64_t count = 0; count <= ITEMS; count = count * 7 + 1) {
      memset(visits, 0, sizeof visits);
      pool_run(threads, count, visit, visits);
      for (int i = 0; i < ITEMS; i++) assert_int_equal(atomic_load(&visits[i]), i < count);
    }
  }
  assert_true(pool_started() < THREADS);
}

// --- numbers

// Slot k is in use while a thread with number k works.
static void use_number(void *argument, int64_t begin, int64_t end) {
  atomic_int *in_use = argument;
  for (int64_t k = begin; k < end; k++) {
    const int number = pool_thread();
    if (number < 0 || number >= THREADS || atomic_fetch_add(&in_use[number], 1) != 0) abort();
    for (volatile int spin = 0; spin < 200; spin = spin + 1) continue;
    atomic_fetch_sub(&in_use[number], 1);
  }
}

static void test_numbers_are_of_one_thread_each(void **state) {
  (void)state;
  atomic_int in_use[THREADS] = {0};
  for (int round = 0; round < 200; round++) pool_run(THREADS, 100, use_number, in_use);
  assert_int_equal(pool_thread(), 0);
}

// --- callers

static void *call_often(void *argument) {
  atomic_int *counts = argument;
  for (int round = 0; round < 500; round++) pool_run(3, 64, visit, counts);
  return NULL;
}

static void test_callers_share_the_threads(void **state) {
  (void)state;
  enum { CALLERS = 4 };
  pthread_t callers[CALLERS];
  memset(visits, 0, sizeof visits);
  for (int k = 0; k < CALLERS; k++) assert_int_equal(pthread_create(&callers[k], NULL, call_often, visits + 64 * k), 0);
  for (int k = 0; k < CALLERS; k++) pthread_join(callers[k], NULL);
  for (int i = 0; i < 64 * CALLERS; i++) assert_int_equal(atomic_load(&visits[i]), 500);
}

typedef struct gate {
  atomic_int inside;
  atomic_bool is_open;
} gate;

// Every thread that comes stays until the gate is opened.
static void stay(void *argument, int64_t begin, int64_t end) {
  gate *g = argument;
  atomic_fetch_add(&g->inside, (int)(end - begin));
  while (!atomic_load(&g->is_open)) sched_yield();
}

static void *hold_threads(void *argument) {
  pool_run(THREADS, THREADS, stay, argument);
  return NULL;
}

// All of the pool's threads are held by another caller's region: the work is done all the same.
static void test_busy_threads_are_not_waited_for(void **state) {
  (void)state;
  gate g = {0};
  pthread_t holder;
  assert_int_equal(pthread_create(&holder, NULL, hold_threads, &g), 0);
  while (atomic_load(&g.inside) < THREADS) sched_yield();
  memset(visits, 0, sizeof visits);
  pool_run(THREADS, ITEMS, visit, visits);
  for (int i = 0; i < ITEMS; i++) assert_int_equal(atomic_load(&visits[i]), 1);
  atomic_store(&g.is_open, true);
  pthread_join(holder, NULL);
}

static void call_inside(void *argument, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    const int number = pool_thread();
    pool_run(4, 100, visit, (atomic_int *)argument + 100 * k);
    if (pool_thread() != number) abort();
  }
}

static void test_calls_inside_run_alone(void **state) {
  (void)state;
  memset(visits, 0, sizeof visits);
  pool_run(3, 50, call_inside, visits);
  for (int i = 0; i < 5000; i++) assert_int_equal(atomic_load(&visits[i]), 1);
}

static void test_children_start_anew(void **state) {
  (void)state;
  pool_run(3, ITEMS, visit, visits);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    memset(visits, 0, sizeof visits);
    bool is_right = pool_started() == 0;
    pool_run(3, ITEMS, visit, visits);
    for (int i = 0; i < ITEMS; i++) is_right &= atomic_load(&visits[i]) == 1;
    _exit(is_right && pool_started() > 0 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// OpenMP's runtime, as libraries see it: a number for each thread.
static _Thread_local int openmp_threads = 7;
static int get_threads(void) { return openmp_threads; }
static void set_threads(int threads) { openmp_threads = threads; }

static void adopt(void *seven, int64_t begin, int64_t end) {
  (void)begin;
  (void)end;
  pool_adopt_openmp(get_threads, set_threads);
  pool_tell_openmp();
  *(bool *)seven = openmp_threads != 1;
}

static void count_alone(void *argument, int64_t begin, int64_t end) {
  atomic_fetch_add((atomic_int *)argument, openmp_threads == 1 ? (int)(end - begin) : 0);
}

// Also where a library is loaded within a region, and the caller's own number is given back.
static void test_openmp_has_one_thread_inside(void **state) {
  (void)state;
  bool seven = true;
  pool_run(1, 1, adopt, &seven);
  assert_false(seven);
  assert_int_equal(openmp_threads, 7);
  atomic_int alone = 0;
  pool_run(THREADS, ITEMS, count_alone, &alone);
  assert_int_equal(atomic_load(&alone), ITEMS);
  assert_int_equal(openmp_threads, 7);
  pool_tell_openmp();
  assert_int_equal(openmp_threads, 7);
  openmp_threads = 3;
  pool_run(1, 1, count_alone, &alone);
  assert_int_equal(atomic_load(&alone), ITEMS + 1);
  assert_int_equal(openmp_threads, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_item_once),
      cmocka_unit_test(test_numbers_are_of_one_thread_each),
      cmocka_unit_test(test_callers_share_the_threads),
      cmocka_unit_test(test_busy_threads_are_not_waited_for),
      cmocka_unit_test(test_calls_inside_run_alone),
      cmocka_unit_test(test_children_start_anew),
      cmocka_unit_test(test_openmp_has_one_thread_inside),
  };
  return cmocka_run_group_tests_name("base/pool", tests, NULL, NULL);
}
