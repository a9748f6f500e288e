// From the analysis of rows to the sweeps of a kernel (hero_details.h).
#ifndef HEDDLE_KERNEL_ROW_SWEEPS_H_
#define HEDDLE_KERNEL_ROW_SWEEPS_H_

#include "kernel/kernel.h"
#include "kernel/row_analysis.h"

// Makes the bodies and sets them in the plan (k->bodies). `body`: what the outputs depend on, operands first.
// `buffer_bytes`: what may be kept per row beside the outputs.
void row_sweeps_make(arena *a, kernel_plan *k, const row_analysis *analysis, const instruction_list *body,
                     int64_t buffer_bytes, row_sweeps *out);

#endif
