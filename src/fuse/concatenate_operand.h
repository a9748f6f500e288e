// Describes an operand of a concatenate that the library copies: for each row of the result, the same number of
// elements of an array.
#ifndef HEDDLE_FUSE_CONCATENATE_OPERAND_H_
#define HEDDLE_FUSE_CONCATENATE_OPERAND_H_

#include "hlo/array_view.h"

// In elements of the array.
typedef struct concatenate_operand {
  const instruction *array;
  int64_t first;   // that row 0 takes
  int64_t stride;  // from row to row
  int64_t size;    // of one row
} concatenate_operand;

// Operands of a concatenate that kernels have loops for: the code of one with more takes longer to make, in the end
// with the square of their number. More are copied by the library, which is one table for any number.
enum { CONCATENATE_MOST_IN_KERNEL = 64 };

// Whether `i` is a concatenate of more than that, or of open sizes.
bool concatenate_operand_for_library(const instruction *i);

// How many rows the concatenate's result has: what lies in front of its dimension. 1 if there are no elements.
int64_t concatenate_operand_rows(const instruction *concatenate);

// The operand as an array of its own.
concatenate_operand concatenate_operand_whole(const instruction *concatenate, int operand);

// The operand where it lies in the array that slices and reshapes show: the first instruction that is none. False if
// it does not lie in rows.
bool concatenate_operand_shown(const instruction *concatenate, int operand, concatenate_operand *out);

#endif
