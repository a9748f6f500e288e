// Why a program does not fit: the step that is in the way, and an operation there that cannot be cut.
#ifndef HEDDLE_SUPERTILE_REFUSAL_H_
#define HEDDLE_SUPERTILE_REFUSAL_H_

#include "base/memory_limit.h"
#include "lhlo/footprint.h"
#include "supertile/least_limit.h"
#include "supertile/lower_bound.h"
#include "supertile/plan_steps.h"

typedef struct refusal {
  source_location where;
  memory_level level;
  int64_t bytes;          // that the step takes there
  footprint_parts parts;  // of them
  str step;               // its opcode and name; empty: everything fits
  str uncut;              // what stands in the way of tiles, and why; empty: nothing is known
} refusal;

// The step that needs most of the first level that is short. Texts are made in `a`.
void refusal_find(arena *a, const module *m, const plan_steps *steps, const int64_t limits[MEMORY_LEVELS],
                  refusal *out);

refusal refusal_copy(arena *a, const refusal *r);  // with its texts

// The error: what is needed at the least, what there is, and what no tiling takes less than.
heddle_status refusal_status(const refusal *r, least_limit needed, int64_t limit, const lower_bound *bound);

#endif
