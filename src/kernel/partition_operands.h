// How instructions reach their operands, as far as partitioning and emission must agree on it.
#ifndef HEDDLE_KERNEL_PARTITION_OPERANDS_H_
#define HEDDLE_KERNEL_PARTITION_OPERANDS_H_

#include "kernel/partition.h"

// One entry per operand of i, in the arena.
heddle_status partition_find_operands(arena *a, const instruction *i, const partition_operand **out);

// Operand k is emitted several times for one element of i.
bool partition_evaluates_often(const instruction *i, int k);

#endif
