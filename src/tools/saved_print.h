// What a saved program is, for people: signature, open sizes, memory, the code that its file has.
#ifndef HEDDLE_TOOLS_SAVED_PRINT_H_
#define HEDDLE_TOOLS_SAVED_PRINT_H_

#include "rt/saved_program.h"

void saved_print(text *out, arena *a, const saved_program *saved);

#endif
