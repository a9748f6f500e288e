// Super tiling: a program whose operations do not fit into memory becomes one whose loops over tiles do.
//
// The rewrite is from HLO to HLO, in front of fusion, so that all that comes behind serves its loops as any others.
// What fits is never guessed: every program that is considered is planned to the end, and the buffers' real places
// decide (lhlo/footprint.h).
#ifndef HEDDLE_SUPERTILE_SUPERTILE_H_
#define HEDDLE_SUPERTILE_SUPERTILE_H_

#include "base/memory_limit.h"
#include "lhlo/lhlo.h"

// Plans a module, which it may change: fusion, order and memory. Everything made lives in the arena.
typedef heddle_status (*supertile_plan_fn)(void *argument, arena *a, module *m, lhlo_program **out);

typedef struct supertile_options {
  memory_limit limit;
  bool exact;        // sums keep their order
  bool only_counts;  // nothing is tiled: what does not fit as it is is refused
  supertile_plan_fn plan;
  void *argument;
  text *report;  // what was tiled, how, and what it takes; may be null
} supertile_options;

// What a program takes, by level.
typedef struct supertile_peaks {
  int64_t natural[MEMORY_LEVELS], predicted[MEMORY_LEVELS], limit[MEMORY_LEVELS];
} supertile_peaks;

// Rewrites the module in place so that its plan stays within the limit, or leaves it as it is if it does. Where nothing
// fits the error is HEDDLE_OUT_OF_MEMORY at the operation that needs most, with what it needs and what there is.
// `peaks` may be null.
heddle_status supertile_run(module *m, const supertile_options *options, supertile_peaks *peaks);

#endif
