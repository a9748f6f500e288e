// Lists the computations that run as programs: the entry and the computations that its control flow calls, but not the
// bodies of fusions and reducers.
#ifndef HEDDLE_HLO_PROGRAM_ORDER_H_
#define HEDDLE_HLO_PROGRAM_ORDER_H_

#include "hlo/module.h"

typedef VEC(computation *) program_list;

// The entry first, then each as it is met, once.
void program_list_find(arena *a, const module *m, program_list *out);
// Appends what the instruction runs as programs, but for those that are in `seen`, which it keeps.
void program_list_add_called(arena *a, const instruction *i, ptr_map *seen, program_list *out);

// Callees before callers, each once; the entry is the last.
heddle_status program_order(arena *a, const module *m, program_list *out);

#endif
