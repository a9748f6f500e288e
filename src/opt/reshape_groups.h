// Which dims of a reshape's operand become which dims of its result.
#ifndef HEDDLE_OPT_RESHAPE_GROUPS_H_
#define HEDDLE_OPT_RESHAPE_GROUPS_H_

#include "hlo/shape.h"

// Dims [from, from_end) hold the same elements in the same order as dims [to, to_end). One side may be empty: then the
// other's dims have size 1.
typedef struct reshape_group {
  int from, from_end, to, to_end;
} reshape_group;

enum { RESHAPE_MAX_GROUPS = 2 * SHAPE_MAX_RANK };

// Splits both lists of dims into the smallest groups, in order; dims of size 1 apart stand in groups of their own.
// Returns their number. Both shapes must have the same positive number of elements.
int reshape_groups_find(const shape *from, const shape *to, reshape_group out[RESHAPE_MAX_GROUPS]);

// Whether the group is one dim that stays as it is.
static inline bool reshape_group_keeps(const reshape_group *g) {
  return g->from_end - g->from == 1 && g->to_end - g->to == 1;
}

#endif
