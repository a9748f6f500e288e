// The flag --cpu: the instruction set that code is generated for and, where it runs, that all routines keep to.
#ifndef HEDDLE_TOOLS_CPU_FLAG_H_
#define HEDDLE_TOOLS_CPU_FLAG_H_

#include <stdbool.h>

#include "base/status.h"

#define CPU_FLAG_ARGUMENT "native|x86-64-v2|x86-64-v3|x86-64-v4|cooperlake"

// Takes the flag's value (null: native) for the whole process. Where code will run in it the machine has to have that
// level, and the libraries keep to it too: as they choose when they are loaded, the process then starts over once, with
// their variables of the environment set, before anything was read or written. HEDDLE_INVALID for other names and for
// levels that this machine cannot have.
heddle_status cpu_flag_take(const char *name, bool runs);

#endif
