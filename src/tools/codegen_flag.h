// The flag --codegen: who makes code where several could.
#ifndef HEDDLE_TOOLS_CODEGEN_FLAG_H_
#define HEDDLE_TOOLS_CODEGEN_FLAG_H_

#include "base/status.h"
#include "base/target.h"

#define CODEGEN_FLAG(value)                                  \
  {"codegen", FLAG_TEXT, &(value), "library|emitters|tiles", \
   "who makes code where several could (whoever is expected to be fastest)"}

// Takes the flag's value; null stands for CODEGEN_CHOSEN. HEDDLE_INVALID for other names.
heddle_status codegen_flag_take(const char *name, target_codegen *out);

#endif
