// oneDNN and OpenBLAS read their limits from the environment, OpenBLAS before main: so the process sets them and starts
// itself again.
#include "tools/cpu_flag.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu_level.h"
#include "base/file.h"
#include "base/vec.h"

static bool is_set(const char *variable, const char *value) {
  const char *found = getenv(variable);
  return found && strcmp(found, value) == 0;
}

// The command line as the system keeps it: each argument with a NUL behind it.
static heddle_status start_over(arena *a) {
  str line;
  VEC(char *) arguments = {0};
  TRY(file_read(a, "/proc/self/cmdline", &line));
  char *words = arena_strdup(a, line.data, line.size);
  for (size_t at = 0; at < line.size; at += strlen(words + at) + 1) vec_push(a, &arguments, words + at);
  vec_push(a, &arguments, NULL);
  execv("/proc/self/exe", arguments.data);
  return status_error(HEDDLE_INVALID, "--cpu: the process cannot start itself again");
}

static heddle_status limit_libraries(const cpu_level_info *level) {
  if (is_set("ONEDNN_MAX_CPU_ISA", level->onednn) && is_set("OPENBLAS_CORETYPE", level->openblas)) return status_ok();
  if (setenv("ONEDNN_MAX_CPU_ISA", level->onednn, 1) != 0 || setenv("OPENBLAS_CORETYPE", level->openblas, 1) != 0)
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the environment");
  arena *a = arena_create();
  heddle_status s = start_over(a);
  arena_destroy(a);
  return s;
}

heddle_status cpu_flag_take(const char *name, bool runs) {
  cpu_level level;
  if (!name) return status_ok();
  if (!cpu_level_find(name, &level))
    return status_error(HEDDLE_INVALID, "found --cpu=%s, wanted native, x86-64-v2, x86-64-v3, x86-64-v4 or cooperlake",
                        name);
  if (level == CPU_LEVEL_NATIVE) return status_ok();
  if (!cpu_level_runs(runs ? level : CPU_LEVEL_V2))
    return status_error(HEDDLE_INVALID, "found --cpu=%s, whose instructions this machine does not have", name);
  cpu_level_limit(level);
  return runs ? limit_libraries(&cpu_levels[level]) : status_ok();
}
