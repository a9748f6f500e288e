// Runs stages one after the other.
#include "api/stages.h"

#include <string.h>

#include "base/call.h"
#include "base/guard.h"
#include "base/log.h"

void compile_times_add(compile_times *times, const char *name, double seconds) {
  for (int i = 0; i < times->count; i++) {
    if (strcmp(times->stages[i].name, name) != 0) continue;
    times->stages[i].seconds += seconds;
    return;
  }
  if (times->count < COMPILE_STAGES_MAX) times->stages[times->count++] = (struct compile_stage){name, seconds};
}

heddle_status stages_run(const compile_step *stages, bool has_dump, const compile_progress *progress,
                         compile_times *times, void *state) {
  for (const compile_step *s = stages; s->run; s++) {
    TRY(call_check());
    TRY(guard_check_room());
    if (s->name) progress_tell(progress, s->name, 0, 0);
    const double start = log_seconds();
    TRY(s->run(state));
    if (s->name) compile_times_add(times, s->name, log_seconds() - start);
    if (has_dump && s->dump) TRY(s->dump(state));
  }
  return status_ok();
}
