// Results whose sizes are known only when a program has run.
#ifndef HEDDLE_LHLO_DYNAMIC_RESULTS_H_
#define HEDDLE_LHLO_DYNAMIC_RESULTS_H_

#include "hlo/module.h"

// How many of dim `dimension` of result `result` exist is what result `size` (s32[], behind all results that the
// program was written with) says.
typedef struct dynamic_size {
  int result, dimension, size;
} dynamic_size;

typedef struct dynamic_results {
  int given_count;  // results that the program was written with; sizes follow
  int count;
  dynamic_size *sizes;
} dynamic_results;

// The text of the module's attribute (opt/dynamic_padder.h), empty if there is none.
str dynamic_results_text(const module *m);

// From that text. HEDDLE_INVALID where it does not fit the results.
heddle_status dynamic_results_find(arena *a, const module *m, int result_count, const shape *const *results,
                                   dynamic_results *out);

#endif
