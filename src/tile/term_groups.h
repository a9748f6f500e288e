// Terms of a product that one instruction multiplies, adds up and adds to a wider sum.
#ifndef HEDDLE_TILE_TERM_GROUPS_H_
#define HEDDLE_TILE_TERM_GROUPS_H_

#include "base/target.h"
#include "tile/product_form.h"

// How a product's factors are packed for such an instruction.
typedef struct term_group {
  int size;       // terms side by side; 1: there is none, all else is 0
  MlirType type;  // of the factors: 16-bit integers (two), bytes (four) or bf16 (two)
  // Of bytes one side is signed and the other is not. Where both were alike, the first bit of the rows' factors is
  // turned: they are 128 more, or less, than they were, and sums begin with what takes that back.
  bool flips_rows;
} term_group;

term_group term_groups_of(const target_description *target, bool exact, const product_form *p);

// The attribute of an operation on memory that adds a group's products: rows [row][term] and columns [column][term] of
// the group's type, sums [row][column] of 32 bits. Its body says which factors are unsigned.
#define TERM_GROUP "term_group"

// The attribute of one that copies bytes [column][terms] to groups [group][column][term], as many groups as columns.
// Its body widens them as the group's type asks for.
#define TERM_TURN "term_turn"

// Replaces operations with one of these attributes by arithmetic on vectors.
void term_groups_turn(arena *a, MlirOperation op);
void term_groups_vectorize(arena *a, const target_description *target, MlirOperation op);

#endif
