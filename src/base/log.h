// Prints log lines on standard error. Logging is off by default. Level 0 prints warnings, level 1 what is decided,
// level 5 everything (the IR after every pass).
#ifndef HEDDLE_BASE_LOG_H_
#define HEDDLE_BASE_LOG_H_

#include <stdbool.h>

void log_set_level(int level);  // process-wide; set once at start-up
int log_level(void);
void log_print(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));  // adds the newline
double log_seconds(void);      // monotonic clock, for timings
double log_cpu_seconds(void);  // that all threads of the process have worked

#endif
