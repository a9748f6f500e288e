// Which dims of a reshape's operand become which dims of its result: both lists are walked together, and whichever
// product of sizes is behind takes the next dim.
#include "opt/reshape_groups.h"

static bool is_one(const shape *s, int d) { return d < s->rank && s->dims[d] == 1; }

int reshape_groups_find(const shape *from, const shape *to, reshape_group out[RESHAPE_MAX_GROUPS]) {
  int count = 0, i = 0, j = 0;
  while (i < from->rank || j < to->rank) {
    reshape_group g = {i, i, j, j};
    if (is_one(from, i) && is_one(to, j)) {
      g.from_end = ++i;
      g.to_end = ++j;
    } else if (is_one(from, i) || j == to->rank) {
      g.from_end = ++i;
    } else if (is_one(to, j) || i == from->rank) {
      g.to_end = ++j;
    } else {
      int64_t l = from->dims[i++], r = to->dims[j++];
      while (l != r && (l < r ? i < from->rank : j < to->rank)) {
        if (l < r) l *= from->dims[i++];
        else r *= to->dims[j++];
      }
      g.from_end = i;
      g.to_end = j;
    }
    out[count++] = g;
  }
  return count;
}
