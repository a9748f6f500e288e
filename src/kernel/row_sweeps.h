// Kernels that go over rows (or columns) in sweeps: the details of the heroes "reduction" and "rows".
//
// A sweep visits every element of a row; it ends in values of reductions. What one sweep computes at one point of the
// space is a computation of its own, made here: it takes the kernel's inputs and, as scalars, what is known by then:
// results of this row's reductions in earlier sweeps, and values of this very element that an earlier sweep kept
// because they are expensive. When all sweeps are over, the values of the row itself are computed (the ends).
#ifndef HEDDLE_KERNEL_ROW_SWEEPS_H_
#define HEDDLE_KERNEL_ROW_SWEEPS_H_

#include "kernel/kernel.h"
#include "kernel/reducer.h"
#include "kernel/row_analysis.h"

// Something known in a row (per row or per element) by the time it is given to a body.
typedef struct sweep_given {
  const shape *shape;     // of the value in the program
  const instruction *of;  // reduce or kept instruction
  int element;            // of a reduce of several values
  bool is_kept;           // one per element; else one per row
  int output;             // where a kept value lies; -1: in a buffer of its own, one row long
} sweep_given;

typedef struct sweep_reduction {
  const instruction *reduce;
  reducer how;
  int count;         // values
  int first_result;  // of the sweep's body: the inputs
  int first_init;    // of the inits
  int first_given;
} sweep_reduction;

// Result `result` of a body goes to output `output` of the kernel.
typedef struct sweep_store {
  int output, result;
} sweep_store;

typedef VEC(sweep_reduction) sweep_reductions;
typedef VEC(sweep_store) sweep_stores;

typedef struct row_sweep {
  int body;  // of the kernel plan; -1 if nothing is to be computed
  sweep_reductions reductions;
  sweep_stores stores;
  sweep_stores kept;  // `output` is the number of a given value
} row_sweep;

typedef struct row_sweeps {
  reduction_space space;
  VEC(sweep_given) givens;
  int inits;  // body without dims: initial values of all reductions
  int sweep_count;
  row_sweep *sweeps;
  row_sweep ends;  // its body has the kept dims only
} row_sweeps;

// Makes the bodies and sets them in the plan (k->bodies). `body`: what the outputs depend on, operands first.
// `buffer_bytes`: what may be kept per row beside the outputs.
void row_sweeps_make(arena *a, kernel_plan *k, const row_analysis *analysis, const instruction_list *body,
                     int64_t buffer_bytes, row_sweeps *out);

#endif
