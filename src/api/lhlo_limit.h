// A limit to the memory of a program that is given as LHLO: it is not tiled, but counted, and refused if it takes more.
#ifndef HEDDLE_API_LHLO_LIMIT_H_
#define HEDDLE_API_LHLO_LIMIT_H_

#include "base/memory_limit.h"
#include "lhlo/lhlo.h"
#include "prog/program.h"

// Sets the program's limit and the plan's footprint. HEDDLE_OUT_OF_MEMORY at the operation that takes most of a level
// that is short. `made` is the program of the plan `p`, whose operations' sizes are known (lhlo/footprint.h).
heddle_status lhlo_limit_keep(const memory_limit *limit, lhlo_program *p, program *made);

#endif
