// Fuse groups: operations that planning makes one step of, a kernel or a library's call, and that must be tiled
// together so that it can do so again.
//
// Planning is asked in place of the patterns that lower operations: what it has computed within a step without storing
// it is the step's group (the patterns' marking mode). The principal operation, which the step ends with, has the
// group's number as `fuse_group_id`; every member has the numbers of its groups as `fuse_group`. An operation that
// several steps compute for themselves is in several groups. Only the bottom of a group is ever tiled, the member that
// no other member of it reads; the others come along.
#ifndef HEDDLE_SUPERTILE_FUSE_GROUPS_H_
#define HEDDLE_SUPERTILE_FUSE_GROUPS_H_

#include "supertile/plan_steps.h"

typedef VEC(int) fuse_group_ids;

typedef struct fuse_groups {
  arena *arena;
  const plan_steps *steps;
  int count;
  ptr_map fuse_group_id;  // principal operation: its group's number, plus one
  ptr_map fuse_group;     // member: fuse_group_ids *
  VEC(int64_t) inputs;    // by group: bytes of what its members read from elsewhere
} fuse_groups;

// Marks the groups of all steps.
void fuse_groups_mark(arena *a, const plan_steps *steps, fuse_groups *out);

// Marks one group, from its output backwards to the values that are stored.
void fuse_groups_mark_backward(fuse_groups *g, instruction *output);

// What an operation takes as far as its group tells: nothing but of the group's bottom, which takes what the group
// reads and writes.
int64_t fuse_groups_operation_data_size(const fuse_groups *g, const instruction *i);

// "group 3: a, b, c", from the bottom on.
void fuse_groups_print(text *out, const fuse_groups *g, const instruction *bottom);

#endif
