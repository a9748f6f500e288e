// Products: structured operations that add up x * y along loops, whatever x and y are computed from.
#ifndef HEDDLE_TILE_PRODUCT_FORM_H_
#define HEDDLE_TILE_PRODUCT_FORM_H_

#include "dialect/tiling.h"
#include "emit/ir_builder.h"

// One of the two factors.
typedef struct product_side {
  MlirValue factor;  // in the operation's body
  uint32_t inputs;   // bits: the operands that it is computed from
  uint32_t loops;    // bits: those that their elements depend on
  int plain;         // the operand of which the factor is an element; -1: it is computed
  int minor;         // the loop along which neighbours in memory lie; -1: none
} product_side;

typedef struct product_form {
  MlirOperation op;
  int loop_count;
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  MlirOperation multiply, add;  // in the body
  MlirType type;                // of the sums
  int output;                   // the operand that the sums begin with
  // A register tile has rows and columns; vectors lie along columns, the loop of the result's minor dim. A row's factor
  // is the same for all columns, a column's for all rows.
  int row, column, depth;  // loops; depth is a reduction along which both factors have a dim of its own
  product_side rows, columns;
  int64_t terms;  // of a sum
} product_form;

// False for what is no product with rows and columns of static size.
bool product_form_of(MlirOperation op, product_form *out);

#endif
