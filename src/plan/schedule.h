// In which order a computation's instructions run.
#ifndef HEDDLE_PLAN_SCHEDULE_H_
#define HEDDLE_PLAN_SCHEDULE_H_

#include "hlo/module.h"

// Every instruction once, operands and control predecessors first, so that little memory is live at a time. The same
// module always gets the same order.
heddle_status schedule_computation(arena *a, const computation *c, instruction_list *out);

#endif
