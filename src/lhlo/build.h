// Makes LHLO of a module: it says what runs when, and where values lie.
#ifndef HEDDLE_LHLO_BUILD_H_
#define HEDDLE_LHLO_BUILD_H_

#include "lhlo/lhlo.h"

// Schedules the module and gives every value its memory. The module must have gone through the opt pipeline and
// fuse_run; every instruction that is not a parameter, constant, tuple, get-tuple-element or bitcast becomes one
// operation. The module must outlive the result.
heddle_status lhlo_build(arena *a, const module *m, const target_description *target, lhlo_program **out);

#endif
