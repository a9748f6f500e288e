// Profile operations: `profile.start` and `profile.end` around what a profile shall show.
#ifndef HEDDLE_LHLO_PROFILE_H_
#define HEDDLE_LHLO_PROFILE_H_

#include "lhlo/lhlo.h"

// Puts them around every operation, those of bodies included.
void lhlo_profile_inject(lhlo_program *p);

// Whether the program has any. Then profiles show what stands between a pair, and nothing else; without any they show
// everything.
bool lhlo_profile_is_injected(const lhlo_program *p);

#endif
