// One line for the process: tools compile one program at a time.
#include "tools/progress_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

// Shown after a second, and ten times a second at most.
#define FIRST_SECONDS 1.0
#define BETWEEN_SECONDS 0.1

static double started, shown;
static bool is_shown;

static void show(void *user, const char *stage, int done, int total) {
  (void)user;
  const double now = log_seconds();
  if (now - started < FIRST_SECONDS || (is_shown && now - shown < BETWEEN_SECONDS)) return;
  shown = now;
  is_shown = true;
  fprintf(stderr, "\r\033[K%s", stage);
  if (total > 0) fprintf(stderr, " %d of %d", done, total);
  fprintf(stderr, ", %.0f s", now - started);
  fflush(stderr);
}

compile_progress progress_line_make(void) {
  const char *terminal = getenv("TERM");
  if (!isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0) return (compile_progress){0};
  started = log_seconds();
  return (compile_progress){show, NULL};
}

void progress_line_clear(void) {
  if (is_shown) fputs("\r\033[K", stderr);
  is_shown = false;
}
