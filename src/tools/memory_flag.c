// Reads the flag.
#include "tools/memory_flag.h"

heddle_status memory_flag_take(const char *text, memory_limit *out) {
  *out = (memory_limit){0};
  return text ? status_context(memory_limit_parse(text, out), "in --memory-limit=%s", text) : status_ok();
}
