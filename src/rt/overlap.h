// Tells which of the callers' arrays share memory.
#ifndef HEDDLE_RT_OVERLAP_H_
#define HEDDLE_RT_OVERLAP_H_

#include <stdbool.h>

#include "base/status.h"
#include "prog/program.h"

// Looks at the arrays of all devices, inputs[d][i] and outputs[d][i], none null where it has bytes. *reads_results:
// some result lies over an input, so that kernels would write what others have yet to read. An input that the program
// gives to a result of the same device, heirs[parameter] (-1: none), may be that result's memory. `bytes` are those of
// the parameters' arrays as callers have them, and behind them of the results'; null: they are added up here.
// HEDDLE_INVALID if two results overlap.
heddle_status overlap_find(const program *p, const int *heirs, const int64_t *bytes, const void *const *const *inputs,
                           void *const *const *outputs, bool *reads_results);

#endif
