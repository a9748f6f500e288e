// Says how instructions reach their operands, as far as partitioning and emission must agree on it.
#ifndef HEDDLE_KERNEL_PARTITION_OPERANDS_H_
#define HEDDLE_KERNEL_PARTITION_OPERANDS_H_

#include "index/hlo_indexing.h"

// How an instruction reaches one of its operands.
typedef struct partition_operand {
  const indexing_map *map;   // from the instruction's indices to the operand's; null: identity
  const runtime_value *rts;  // what the map's runtime variables are
  bool is_needed;            // false: no element of the operand is ever read
  bool is_offset;            // read only as a runtime variable of other operands
} partition_operand;

// One entry per operand of i, in the arena.
heddle_status partition_find_operands(arena *a, const instruction *i, const partition_operand **out);

// Operand k is emitted several times for one element of i.
bool partition_evaluates_often(const instruction *i, int k);

// Which scope of `i` its operand k is evaluated in: -1 for the scope that holds i, else a branch number.
int partition_operand_branch(const instruction *i, int k);
int partition_branch_count(const instruction *i);

// The shape whose indices address `i`: its own, or a tuple's first element's.
const shape *partition_index_shape(const instruction *i);

#endif
