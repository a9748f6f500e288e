// Groups a kernel's outputs by the index space that a loop walks for them.
#ifndef HEDDLE_KERNEL_LOOP_GROUPS_H_
#define HEDDLE_KERNEL_LOOP_GROUPS_H_

#include "kernel/kernel.h"

typedef struct loop_group {
  const shape *space;
  const instruction *slice;  // whose elements the space has; null: outputs of one element count
  VEC(kernel_value) values;
} loop_group;

typedef struct loop_groups {
  VEC(loop_group) list;
  int *group_of;  // by output: -1 if it is empty
  int *value_of;  // by output: which of the group's values
} loop_groups;

// Outputs of equal element counts are a group. False if all have as many.
bool loop_groups_by_size(arena *a, const kernel_plan *k, loop_groups *out);

// Each output is a group: a slice, all of arrays with the same dims. False if some output is none, or all are empty.
bool loop_groups_of_slices(arena *a, const kernel_plan *k, loop_groups *out);

// A part for each group, for the plan: its values over its space.
kernel_part *loop_groups_parts(arena *a, const loop_groups *groups);

// What one element costs of all groups taken together.
launch_cost loop_groups_cost(const kernel_plan *k, const instruction_list *body, const loop_groups *groups);

#endif
