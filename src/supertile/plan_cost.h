// How long a planned program runs, roughly: enough to tell a plan of few large steps from one of many small ones, or
// from one that computes much twice.
#ifndef HEDDLE_SUPERTILE_PLAN_COST_H_
#define HEDDLE_SUPERTILE_PLAN_COST_H_

#include "lhlo/lhlo.h"

// Nanoseconds on one thread of a machine of our time. Turns of loops whose number is not known count as 16.
double plan_cost_find(const lhlo_program *p);

#endif
