// Decides in which order the instructions of programs run.
#ifndef HEDDLE_LHLO_SCHEDULE_H_
#define HEDDLE_LHLO_SCHEDULE_H_

#include "hlo/module.h"

// For every computation that runs as a program (hlo/program_order.h) an `instruction_list *`: every instruction once,
// operands and control predecessors first, in an order that needs little memory at a time. The same module always gets
// the same orders. The position of each instruction is its mark.
heddle_status schedule_module(arena *a, const module *m, ptr_map *orders);

#endif
