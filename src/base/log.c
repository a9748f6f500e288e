// One global level, read without a lock: it is set before threads start.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static int current_level;

void log_set_level(int level) { current_level = level; }
int log_level(void) { return current_level; }

void log_print(int level, const char *format, ...) {
  if (level > current_level) return;
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

static double read_clock(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double log_seconds(void) { return read_clock(CLOCK_MONOTONIC); }
double log_cpu_seconds(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
