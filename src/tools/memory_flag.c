// Reads the flag.
#include "tools/memory_flag.h"

#include "api/run.h"
#include "rt/memory_watch.h"

heddle_status memory_flag_take(const char *text, memory_limit *out) {
  *out = (memory_limit){0};
  return text ? status_context(memory_limit_parse(text, out), "in --memory-limit=%s", text) : status_ok();
}

heddle_status memory_flag_run(arena *a, compiled *program, int count, literal *const *arguments, literal **result) {
  const long long limit = program->program.memory_limit;
  if (limit == 0 || !program->executable) return run_once(a, program, count, arguments, result);
  memory_watch watch;
  memory_watch_start(&watch, a, program->executable);
  heddle_status s = run_once(a, program, count, arguments, result);
  executable_set_profiler(program->executable, NULL, NULL);
  TRY(s);
  const long long measured = atomic_load(&watch.peak);
  if (measured <= limit) return status_ok();
  return status_error(HEDDLE_INTERNAL, "the run took %lld bytes, the limit is %lld", measured, limit);
}
