// Counters where the system refuses them, in every way that it has, and where it gives them: the system is a fake.
#include "rt/hardware_counters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/testing.h"

static struct {
  int refused;  // how many counters open before one is refused; -1: none is
  int error;    // with which it is
  int opened;
} fake;

static const uint64_t values_of_group[] = {HARDWARE_COUNTER_COUNT, 7, 80, 900};

// The leader of a group reads as all of its counters.
static int open_fake(int leader) {
  int ends[2];
  if (fake.opened++ == fake.refused) {
    errno = fake.error;
    return -1;
  }
  if (leader >= 0) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], values_of_group, sizeof values_of_group), sizeof values_of_group);
  close(ends[1]);
  return ends[0];
}

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...) {
  if (number != SYS_perf_event_open) return __real_syscall(number);
  va_list arguments;
  va_start(arguments, number);
  va_arg(arguments, void *);
  assert_int_equal(va_arg(arguments, pid_t), getpid());
  va_arg(arguments, int);
  const int leader = va_arg(arguments, int);
  va_end(arguments);
  return open_fake(leader);
}

static int open_files(void) {
  int count = 0;
  DIR *all = opendir("/proc/self/fd");
  assert_non_null(all);
  while (readdir(all)) count++;
  closedir(all);
  return count;
}

static void refuse(int behind, int error, heddle_code code, const char *says) {
  const int before = open_files();
  hardware_counters *c;
  fake.refused = behind;
  fake.error = error;
  fake.opened = 0;
  heddle_status s = hardware_counters_open(&c);
  assert_int_equal(heddle_status_code(s), code);
  if (!strstr(heddle_status_message(s), says)) fail_msg("%s does not say %s", heddle_status_message(s), says);
  heddle_status_free(s);
  assert_null(c);
  assert_int_equal(open_files(), before);
}

static void test_says_why_it_is_refused(void **state) {
  (void)state;
  for (int behind = 0; behind < HARDWARE_COUNTER_COUNT; behind++) {
    refuse(behind, EACCES, HEDDLE_DEVICE_FAILED, "perf_event_paranoid");
    refuse(behind, EPERM, HEDDLE_DEVICE_FAILED, "perf_event_paranoid");
    refuse(behind, ENOENT, HEDDLE_DEVICE_FAILED, "virtual machine");
    refuse(behind, EMFILE, HEDDLE_DEVICE_FAILED, "Too many open files");
  }
}

static void test_reads(void **state) {
  (void)state;
  for (int all = 0; all < 2; all++) {
    const int before = open_files();
    hardware_counters *c;
    uint64_t values[HARDWARE_COUNTER_COUNT];
    fake.refused = -1;
    assert_true(status_is_ok(hardware_counters_open(&c)));
    hardware_counters_read(c, all, values);
    assert_memory_equal(values, values_of_group + 1, sizeof values);
    hardware_counters_close(c);
    assert_int_equal(open_files(), before);
  }
}

// A thread that ends while it is looked at is no error, and counts nothing.
static void test_ended_thread(void **state) {
  (void)state;
  hardware_counters *c;
  uint64_t values[HARDWARE_COUNTER_COUNT] = {1, 1, 1};
  fake.refused = fake.opened = 0;
  fake.error = ESRCH;
  assert_true(status_is_ok(hardware_counters_open(&c)));
  hardware_counters_read(c, true, values);
  for (int k = 0; k < HARDWARE_COUNTER_COUNT; k++) assert_int_equal(values[k], 0);
  hardware_counters_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_says_why_it_is_refused),
      cmocka_unit_test(test_reads),
      cmocka_unit_test(test_ended_thread),
  };
  return cmocka_run_group_tests_name("rt/hardware_counters", tests, NULL, NULL);
}
