// One group of counters for each thread, since a group follows the thread that it was opened for.
#include "rt/hardware_counters.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct thread_group {
  pid_t thread;
  int leader;  // the group's file descriptor
  int others[HARDWARE_COUNTER_COUNT - 1];
} thread_group;

struct hardware_counters {
  int count;
  thread_group groups[];
};

static const struct {
  const char *name;
  uint64_t config;
} counters[HARDWARE_COUNTER_COUNT] = {
    [COUNTER_CYCLES] = {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    [COUNTER_INSTRUCTIONS] = {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    [COUNTER_CACHE_MISSES] = {"cache_misses", PERF_COUNT_HW_CACHE_MISSES},
};

const char *hardware_counters_name(hardware_counter counter) { return counters[counter].name; }

static pid_t this_thread(void) { return (pid_t)syscall(SYS_gettid); }

static int open_counter(pid_t thread, int leader, uint64_t config) {
  struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
                              .size = sizeof a,
                              .config = config,
                              .read_format = PERF_FORMAT_GROUP,
                              .exclude_kernel = 1,
                              .exclude_hv = 1};
  return (int)syscall(SYS_perf_event_open, &a, thread, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static void close_group(const thread_group *g) {
  for (int k = 0; k < HARDWARE_COUNTER_COUNT - 1; k++)
    if (g->others[k] >= 0) close(g->others[k]);
  if (g->leader >= 0) close(g->leader);
}

static bool open_group(pid_t thread, thread_group *out) {
  *out = (thread_group){.thread = thread, .leader = open_counter(thread, -1, counters[0].config)};
  bool is_open = out->leader >= 0;
  for (int k = 1; k < HARDWARE_COUNTER_COUNT; k++) {
    out->others[k - 1] = is_open ? open_counter(thread, out->leader, counters[k].config) : -1;
    is_open = out->others[k - 1] >= 0;
  }
  if (is_open) return true;
  const int reason = errno;
  close_group(out);
  errno = reason;
  return false;
}

static int count_threads(DIR *tasks) {
  int count = 0;
  rewinddir(tasks);
  for (const struct dirent *e; (e = readdir(tasks));) count += e->d_name[0] != '.';
  return count;
}

static heddle_status refused(void) {
  return status_error(HEDDLE_DEVICE_FAILED, "no hardware counters: perf_event_open: %s%s", strerror(errno),
                      errno == EACCES || errno == EPERM ? " (/proc/sys/kernel/perf_event_paranoid)"
                      : errno == ENOENT                 ? " (the machine, or its virtual machine, has none)"
                                                        : "");
}

static heddle_status open_groups(DIR *tasks, hardware_counters **out) {
  const int most = count_threads(tasks);
  hardware_counters *c = calloc(1, sizeof *c + (size_t)most * sizeof *c->groups);
  if (!c) return status_no_memory();
  rewinddir(tasks);
  for (const struct dirent *e; c->count < most && (e = readdir(tasks));) {
    const pid_t thread = (pid_t)strtol(e->d_name, NULL, 10);
    if (thread <= 0) continue;
    if (open_group(thread, &c->groups[c->count])) {
      c->count++;
    } else if (errno != ESRCH) {  // a thread may end meanwhile
      heddle_status s = refused();
      hardware_counters_close(c);
      return s;
    }
  }
  *out = c;
  return status_ok();
}

heddle_status hardware_counters_open(hardware_counters **out) {
  *out = NULL;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return status_error(HEDDLE_DEVICE_FAILED, "no hardware counters: /proc/self/task: %s", strerror(errno));
  heddle_status s = open_groups(tasks, out);
  closedir(tasks);
  return s;
}

void hardware_counters_close(hardware_counters *c) {
  if (!c) return;
  for (int i = 0; i < c->count; i++) close_group(&c->groups[i]);
  free(c);
}

void hardware_counters_read(const hardware_counters *c, bool all_threads, uint64_t values[HARDWARE_COUNTER_COUNT]) {
  memset(values, 0, HARDWARE_COUNTER_COUNT * sizeof *values);
  const pid_t own = all_threads ? 0 : this_thread();
  for (int i = 0; i < c->count; i++) {
    if (!all_threads && c->groups[i].thread != own) continue;
    uint64_t read_now[1 + HARDWARE_COUNTER_COUNT];  // how many, and their values
    if (read(c->groups[i].leader, read_now, sizeof read_now) != (ssize_t)sizeof read_now) continue;
    for (int k = 0; k < HARDWARE_COUNTER_COUNT; k++) values[k] += read_now[1 + k];
  }
}
