// What one thread holds is free in the child of another's fork.
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/testing.h"

enum { FORKS = 200, CHILD_SECONDS = 20 };

static lock first = LOCK_INITIALIZER, second = LOCK_INITIALIZER;
static atomic_bool ends;

static void *hold(void *l) {
  while (!ends) {
    lock_take(l);
    lock_give(l);
    lock_hold_forks();
    lock_let_forks();
  }
  return NULL;
}

static void test_child_can_take(void **state) {
  (void)state;
  pthread_t threads[2];
  assert_int_equal(pthread_create(&threads[0], NULL, hold, &first), 0);
  assert_int_equal(pthread_create(&threads[1], NULL, hold, &second), 0);
  for (int k = 0; k < FORKS; k++) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      alarm(CHILD_SECONDS);
      lock_take(&first);
      lock_give(&first);
      lock_take(&second);
      lock_give(&second);
      lock_hold_forks();
      lock_let_forks();
      _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
  ends = true;
  for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_child_can_take)};
  return cmocka_run_group_tests_name("base/lock", tests, NULL, NULL);
}
