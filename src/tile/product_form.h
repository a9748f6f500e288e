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
  bool is_narrow;    // it is an integer of 8 bits or less, extended …
  bool is_unsigned;  // … with zeros
  int minor;         // the loop along which neighbours in memory lie; -1: none
} product_side;

typedef struct product_form {
  MlirOperation op;
  MlirValue operands[33];  // inputs, then what the sums begin with
  MlirAffineMap maps[33];
  int loop_count;
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  MlirOperation multiply, add;  // in the body
  MlirValue adds;               // in the body, whether there is a term at all: null if there always is; where there is
                                // none, the product of finite factors is zero (tile/borders.h)
  MlirType type;                // of the sums
  int output;                   // the operand that the sums begin with
  // A register tile has rows and columns; vectors lie along columns, the loop of the result's minor dim. A row's factor
  // is the same for all columns, a column's for all rows.
  // Loops; depth is a reduction along which both factors have a dim of its own. No row: -1.
  int row, column, depth;
  bool shares_columns;  // both factors differ from column to column; then there is no depth, and rows are any loop
  product_side rows, columns;
  int64_t terms;  // of a sum
} product_form;

// False for what is no product with columns, all of static size.
bool product_form_of(MlirOperation op, product_form *out);

// Takes dims of one element at the end of operands away, behind which memory would not look like vectors.
void product_form_squeeze(product_form *p, ir_builder *b);
// Gives the operation's result to who uses it, in its own shape, in place of the operation.
void product_form_replace(const product_form *p, ir_builder *b, MlirValue sums);

// Computes a side's factor in another body from elements of the operands, by their numbers.
MlirValue product_form_factor(const product_form *p, ir_builder *body, const product_side *side,
                              const MlirValue *arguments);
// The same of whether there is a term, which the positions along the loops say.
MlirValue product_form_adds(const product_form *p, ir_builder *body, const MlirValue *arguments,
                            const MlirValue *positions);

// Loops around the rows along which the columns' factors are the same, and how many rows there are with them.
bool product_form_is_outer_row(const product_form *p, int loop);
int64_t product_form_rows(const product_form *p);

// The constant that the sums begin with; null if they begin with something else.
MlirValue product_form_begin(const product_form *p);

#endif
