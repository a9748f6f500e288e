// Sizes of tiles, from the figures of the target.
#ifndef HEDDLE_TILE_SIZES_H_
#define HEDDLE_TILE_SIZES_H_

#include <mlir-c/IR.h>

#include "base/target.h"

// What a root's loop is of the product that it is computed from.
typedef enum sizes_role {
  SIZES_OTHER,
  SIZES_ROW,
  SIZES_OUTER_ROW,  // whose rows have the same columns' factors
  SIZES_COLUMN,
} sizes_role;

// What a root's tiles depend on.
typedef struct sizes_request {
  int count;  // of loops
  const int64_t *trips;
  uint32_t allowed;         // a bit for each loop that may be tiled
  bool is_product;          // a register tile has several rows then, so that what is loaded is used more than once
  const sizes_role *roles;  // by loop; null: no product has rows and columns
  bool shares_columns;      // the product multiplies each column by its own factors: all rows read few of them
  int64_t panel_width;      // of panels that the product reads, none of which two workgroups share; 0: it reads none
  bool holds_sums;          // of a product: the root is computed from them
  bool needs_packing;       // the product does, for which there is room beside few sums only
  int64_t held;             // elements that a tile of one row keeps of what is computed on the way
} sizes_request;

// The tile of a workgroup and the tile in registers, 0 along loops that are not tiled.
void sizes_of_tiles(const target_description *target, MlirOperation op, const sizes_request *r, int64_t *workgroup,
                    int64_t *registers);

// Of one step of an operation within a register tile, 0 along loops that it takes whole: a row that is summed is read
// by vectors; a product goes on by one row of its right side.
void sizes_of_step(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                   const bool *is_reduction, bool is_product, int64_t *step);

enum { SIZES_MOST_SUM_BYTES = 96 << 10 };  // of a product whose sums are read by what is computed next

// Of a product with packed operands: a register tile, vectors' lanes, and the blocks that fit the memory of a tile.
typedef struct sizes_packing {
  int64_t rows, columns;
  int64_t lanes;
  int64_t terms;      // of the sums, in a block
  int64_t row_block;  // rows whose factors are packed at a time
} sizes_packing;

// For sums of the element type, of so many rows, columns and terms, from factors that are `packed`; `share` products
// share the memory.
sizes_packing sizes_of_packing(const target_description *target, MlirType type, MlirType packed, int64_t rows,
                               int64_t columns, int64_t terms, bool packs_rows, int share);

// Whether the product takes much longer without it. `lies_well`: vectors of columns can be read where they are.
bool sizes_needs_packing(MlirType type, int64_t columns, int64_t terms, bool lies_well);

// Whether there are columns enough for a vector, and terms to be copied.
bool sizes_may_pack(const target_description *target, MlirType type, int64_t columns, int64_t terms);

// Whether the copies cost less than they save. `lies_well`: vectors of columns can be read where they are.
bool sizes_worth_packing(const target_description *target, MlirType type, int64_t rows, int64_t columns, int64_t terms,
                         bool lies_well);

// Of a product whose operands are read where they lie.
typedef struct sizes_direct {
  int64_t rows, columns;  // of a register tile
  int64_t terms;          // lanes of partial sums
  int64_t dots;           // columns that have them at a time
  int64_t streams;        // terms that are added to all columns at a time
} sizes_direct;

sizes_direct sizes_of_direct(const target_description *target, MlirType type);

// Whether that is worth it for so few rows. `lies_well`: columns are neighbours; else `terms` are that are so many.
bool sizes_worth_reading(const target_description *target, MlirType type, int64_t rows, int64_t columns, int64_t terms,
                         bool lies_well);

#endif
