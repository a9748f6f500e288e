// One table, base/target.c's, spells the names.
#include "tools/codegen_flag.h"

#include <string.h>

heddle_status codegen_flag_take(const char *name, target_codegen *out) {
  *out = CODEGEN_CHOSEN;
  for (int k = CODEGEN_CHOSEN + 1; name && k < CODEGEN_COUNT; k++) {
    *out = (target_codegen)k;
    if (strcmp(name, target_codegen_name(*out)) == 0) return status_ok();
  }
  return name ? status_error(HEDDLE_INVALID, "--codegen: found %s, wanted library, emitters or tiles", name)
              : status_ok();
}
