// Which values of a fusion belong to rows, so that one kernel can compute all of it row by row.
//
// A row is what one reduction combines to one result. Reductions over the same space (reduction_space.h) share rows: a
// value that depends on one of them is either one per row (a result and what is computed of results) or one per element
// (results spread over the rows again). What depends on no reduction may be anything; it is computed where it is
// needed. A reduction of values that depend on others is a pass later than these.
#ifndef HEDDLE_KERNEL_ROW_ANALYSIS_H_
#define HEDDLE_KERNEL_ROW_ANALYSIS_H_

#include "kernel/reduction_space.h"

typedef enum row_class {
  ROW_INVARIANT,    // depends on no reduction over rows
  ROW_PER_ROW,      // one value per row, in the order of the rows
  ROW_PER_ELEMENT,  // one per element, in the order of the space
} row_class;

typedef struct row_value {
  row_class class;
  int level;          // passes that must be over before the value can be computed
  bool is_reduction;  // a reduce of pass level - 1
} row_value;

typedef struct row_analysis {
  reduction_space space;
  ptr_map values;  // instruction -> row_value; none for what is free
  int reduction_count;
  bool repeats;    // reductions over other spaces are among the members: computed again wherever they are needed
  int pass_count;  // with that which only stores
} row_analysis;

// What is wanted: a value of an instruction (a reduce of several has several).
typedef struct row_output {
  const instruction *root;
  const shape *shape;
} row_output;

// False if there is no reduction, or if something is in the way. `members`: operands before users; operands that are
// not among them are free.
bool row_analysis_of(arena *a, int member_count, instruction *const *members, int output_count,
                     const row_output *outputs, row_analysis *out);

// Free for instructions that the analysis did not see.
row_value row_analysis_value(const row_analysis *r, const instruction *i);
// The class an output has as part of the rows: free values are stored by element or by row. False if neither.
bool row_analysis_output(const row_analysis *r, const row_output *output, row_value *out);

// Whether element n of the instruction is computed of elements n of its operands (scalars aside), counted row-major.
bool row_analysis_keeps_order(const instruction *i);

#endif
