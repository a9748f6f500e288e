// The table of code generators, one row for each kind of target. The compiler's driver (api/compile.c) knows no more of
// a target than its row and its description (base/target.h).
#ifndef HEDDLE_TARGET_CODE_GENERATORS_H_
#define HEDDLE_TARGET_CODE_GENERATORS_H_

#include "target/code.h"

extern const code_generator code_generators[TARGET_KIND_COUNT];

// The table's row, or what makes code for the kernel simulator in place of it.
const code_generator *code_generator_find(target_kind kind, bool simulates);

#endif
