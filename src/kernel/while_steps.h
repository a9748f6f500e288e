// Divides a turn of a loop into steps, for bodies whose points need other points.
#ifndef HEDDLE_KERNEL_WHILE_STEPS_H_
#define HEDDLE_KERNEL_WHILE_STEPS_H_

#include "kernel/kernel.h"
#include "kernel/while_state.h"

// Sets the steps and arrays of the plan's details (turns) and its bodies; `outputs` are set. False if they would be too
// many or too large for the target. *work: operations of one turn.
bool while_steps_make(arena *a, kernel_plan *k, const while_state *s, const target_description *target, double *work);

#endif
