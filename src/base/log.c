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

double log_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
