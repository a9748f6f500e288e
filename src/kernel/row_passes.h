// Makes the passes over the row of a reduction kernel (hero_details.h) from the analysis of its rows.
#ifndef HEDDLE_KERNEL_ROW_PASSES_H_
#define HEDDLE_KERNEL_ROW_PASSES_H_

#include "kernel/kernel.h"
#include "kernel/row_analysis.h"

// Makes the bodies and sets them in the plan (k->bodies). `body`: what the outputs depend on, operands first.
// `buffer_bytes`: what may be kept per row beside the outputs; negative: nothing is kept, there neither, but computed
// again.
void row_passes_make(arena *a, kernel_plan *k, const row_analysis *analysis, const instruction_list *body,
                     int64_t buffer_bytes, row_passes *out);

#endif
