// The table, and how sizes of it fit loops that are shorter or not a multiple.
#include "tile/sizes.h"

#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/turn_lanes.h"

// By the width of vectors. A register tile of `rows` by `vectors` holds the sums of a product, and leaves registers for
// one row of the right side and one element of the left.
static const struct {
  int vector_bits, rows, vectors;
  int64_t workgroup_rows, workgroup_columns;
  int64_t elements;  // of a workgroup's tile that does not reduce
  // Of a product whose operands are packed: terms of a block, and bytes of its columns' and its rows' factors.
  int64_t terms, column_bytes, row_bytes;
  int64_t near_bytes;  // of columns' factors that are read where they lie as fast
} table[] = {
    {512, 12, 2, 256, 128, 16384, 512, 128 << 10, 48 << 10, 8 << 10},
    {256, 6, 2, 256, 128, 8192, 512, 128 << 10, 48 << 10, 8 << 10},
    {0, 4, 2, 128, 128, 4096, 256, 128 << 10, 96 << 10, 8 << 10},
};

static int row_of(const target_description *target) {
  int k = 0;
  while (target->vector_bits < table[k].vector_bits) k++;
  return k;
}

static int64_t lanes_of(const target_description *target, int bits) {
  const int64_t vector_bits = target->vector_bits > 128 ? target->vector_bits : 128;
  return vector_bits / bits > 0 ? vector_bits / bits : 1;
}

// Bits of the widest elements that the operation reads or writes.
static int widest(MlirOperation op) {
  int bits = 8;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    const int of_operand = ir_bit_width(ir_element_type(mlirValueGetType(ir_operand(op, k))));
    if (of_operand > bits) bits = of_operand;
  }
  return bits;
}

static int64_t lanes(const target_description *target, MlirOperation op) { return lanes_of(target, widest(op)); }

// The largest divisor of `size` that is at most `wanted`, and a multiple of `unit` if there is such a one of a useful
// size; all of it where only small ones are left.
static int64_t divisor(int64_t size, int64_t wanted, int64_t unit) {
  if (size <= wanted) return size;
  for (int64_t d = wanted; d * 4 > wanted && d > 0; d--)
    if (size % d == 0 && d % unit == 0) return d;
  for (int64_t d = wanted; d * 4 > wanted && d > 0; d--)
    if (size % d == 0) return d;
  return size;
}

#define MOST_WASTE 1.05  // that register tiles may compute more than with tiles of whole units

// About as many rows or columns of a product as wanted, and no more than `most`: the divisor of which register tiles of
// `unit` waste least. Where there is none that is worth it, tiles of whole units, of which the last one is smaller.
static int64_t product_tile(int64_t size, int64_t about, int64_t most, int64_t unit) {
  const int64_t wanted = int64_min(about, int64_max(most / unit * unit, 1)),
                largest = int64_min(wanted + wanted / 2, int64_max(most, 1));
  int64_t best = size;
  double least = 0;
  if (size <= largest) return size;
  for (int64_t d = largest; d >= wanted / 2 && d > 0; d--) {
    if (size % d != 0) continue;
    const double waste = (double)(int64_ceil_div(d, unit) * unit) / (double)d;
    const bool is_closer = int64_max(d - wanted, wanted - d) < int64_max(best - wanted, wanted - best);
    if (best < size && (waste > least || (waste == least && !is_closer))) continue;
    best = d;
    least = waste;
  }
  const int64_t count = int64_ceil_div(size, wanted);
  const double units = (double)(int64_ceil_div(size, unit) * unit) / (double)size;
  if (best < size && least <= MOST_WASTE * units) return best;
  return int64_ceil_div(int64_ceil_div(size, count), unit) * unit;
}

// The same of whole panels.
static int64_t panel_tile(int64_t size, int64_t wanted, int64_t most, int64_t width) {
  const int64_t panels = int64_ceil_div(size, width), about = int64_max(1, int64_min(wanted, most) / width);
  if (size <= int64_min(wanted + wanted / 2, most)) return size;
  for (int64_t d = about; 2 * d >= about && d > 0; d--)
    if (panels % d == 0 && size % width == 0) return d * width;
  return about * width;
}

// How much of a loop a workgroup's tile and a register's tile take, by its place among the loops that are tiled,
// counted from the innermost.
typedef struct share {
  int64_t workgroup, unit;
} share;

static share share_of(const target_description *target, MlirOperation op, int place, const sizes_request *r,
                      int64_t left) {
  const int row = row_of(target);
  const int64_t rows = r->is_product ? table[row].rows : 1;
  if (r->held > 1)
    return (share){place > 0       ? 1
                   : r->is_product ? int64_min(left, table[row].workgroup_rows)
                                   : left,
                   place > 0 ? 1 : rows};
  if (!r->is_product) return (share){left, place > 0 ? 1 : lanes(target, op) * table[row].vectors};
  if (place == 0) return (share){table[row].workgroup_columns, lanes(target, op) * table[row].vectors};
  return (share){place == 1 ? table[row].workgroup_rows / 2 : 1, place == 1 ? rows : 1};
}

static bool is_allowed(const sizes_request *r, int loop) { return loop < 32 && (r->allowed >> loop & 1U); }

// Of a product with rows and columns, wherever its loops are.
static void tiles_of_product(const target_description *target, MlirOperation op, const sizes_request *r,
                             int64_t *workgroup, int64_t *registers) {
  const int row = row_of(target);
  const int64_t width = lanes(target, op) * table[row].vectors;
  int64_t rows = table[row].workgroup_rows, columns = table[row].workgroup_columns, most = INT64_MAX;
  if (r->shares_columns) {
    rows = 4 * table[row].workgroup_columns;
    columns = columns / 2;
  } else if (r->holds_sums) {
    rows = rows / 4 * 3;
    columns = columns / 4 * 3;
    if (r->needs_packing) most = SIZES_MOST_SUM_BYTES * 8 / widest(op);
  }
  for (int pass = 0; pass < 2; pass++)
    for (int k = r->count - 1; k >= 0; k--) {
      if (!is_allowed(r, k) || (r->roles[k] == SIZES_OUTER_ROW) != (pass == 1)) continue;
      const bool is_row = r->roles[k] == SIZES_ROW, is_column = r->roles[k] == SIZES_COLUMN;
      const int64_t unit = is_row ? table[row].rows : is_column ? width : 1;
      const int64_t wanted = is_column ? columns : is_row || pass == 1 ? rows : 1;
      // Sums of channels by themselves need not be two vectors wide, as nothing is loaded for several of them.
      const int64_t whole = is_column && r->shares_columns ? lanes(target, op) : unit;
      workgroup[k] = is_column && r->panel_width > 0 ? panel_tile(r->trips[k], wanted, most, r->panel_width)
                     : wanted > 1 && pass == 0       ? product_tile(r->trips[k], wanted, most, whole)
                                                     : int64_largest_divisor(r->trips[k], int64_min(wanted, most));
      most = int64_max(1, most / workgroup[k]);
      registers[k] = int64_min(workgroup[k], unit);
      if (is_row || pass == 1) rows = int64_max(1, rows / workgroup[k]);
    }
}

void sizes_of_tiles(const target_description *target, MlirOperation op, const sizes_request *r, int64_t *workgroup,
                    int64_t *registers) {
  int64_t left = int64_max(1, table[row_of(target)].elements / r->held);
  int place = 0;
  for (int k = 0; k < r->count; k++) workgroup[k] = registers[k] = 0;
  if (r->roles && r->is_product && r->held <= 1) {
    tiles_of_product(target, op, r, workgroup, registers);
    return;
  }
  for (int k = r->count - 1; k >= 0; k--) {
    if (!is_allowed(r, k)) continue;
    const share s = share_of(target, op, place++, r, left);
    workgroup[k] = divisor(r->trips[k], int64_max(s.workgroup, 1), s.unit);
    registers[k] = int64_min(workgroup[k], s.unit);
    left = int64_max(1, left / int64_max(1, workgroup[k]));
  }
}

// Whether neighbours along the loop lie side by side in what is read.
static bool is_minor(MlirOperation op, int loop) {
  MlirAffineMap map = tiling_map(op, 0);
  const int rank = (int)mlirAffineMapGetNumResults(map);
  if (rank == 0) return false;
  MlirAffineExpr last = mlirAffineMapGetResult(map, rank - 1);
  return mlirAffineExprIsFunctionOfDim(last, loop);
}

// The loop along which neighbours lie side by side in something that is read across the vectors, which lie along the
// innermost one: a block of both is read by rows and turned in registers. -1 if there is none.
static int turned_loop(MlirOperation op, int count) {
  for (int k = 0; k < tiling_output(op, 0); k++) {
    MlirAffineMap map = tiling_map(op, k);
    const int rank = (int)mlirAffineMapGetNumResults(map);
    MlirAffineExpr last = rank > 0 ? mlirAffineMapGetResult(map, rank - 1) : (MlirAffineExpr){NULL};
    if (rank < 2 || !mlirAffineExprIsADim(last) || mlirAffineDimExprGetPosition(last) == count - 1) continue;
    for (int d = 0; d < rank - 1; d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == count - 1)
        return (int)mlirAffineDimExprGetPosition(last);
    }
  }
  return -1;
}

// As many rows of a product as leave nothing over, if that is not much less than a register tile has: the rest would be
// code of its own.
static int64_t whole_rows(int64_t trips, int64_t rows) {
  for (int64_t d = rows; 3 * d >= 2 * rows; d--)
    if (trips % d == 0) return d;
  return rows;
}

// The innermost loop that is no reduction runs over vectors; around it a product has the rows of a register tile, and
// what does not multiply goes one by one. What is no longer than that is taken whole. A reduction other than a product
// takes twice the vectors, since each of its steps waits for the one before.
void sizes_of_step(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                   const bool *is_reduction, bool is_product, int64_t *step) {
  const int row = row_of(target);
  const int64_t width = lanes(target, op) * table[row].vectors, rows = table[row].rows;
  bool reduces = false;
  for (int k = 0; k < count; k++) reduces |= is_reduction[k];
  const int turned = reduces ? -1 : turned_loop(op, count);
  int place = 0;
  for (int k = count - 1; k >= 0; k--) {
    step[k] = 0;
    if (turned >= 0 && (k == turned || k == count - 1)) {
      const bool is_whole = trips[turned] >= TURN_LANES_ROWS && trips[k] % TURN_LANES_ROWS == 0;
      step[k] = k == count - 1 && is_whole && turn_lanes_takes(op) ? TURN_LANES_ROWS : lanes(target, op);
      place++;
    } else if (is_reduction[k]) {
      step[k] = k == count - 1 && !is_product && is_minor(op, k) ? lanes(target, op) : 1;
    } else {
      const int64_t wide = reduces && !is_product ? 2 * width : width;
      const int64_t most = place == 0 ? wide : !is_product ? rows : place == 1 ? whole_rows(trips[k], rows) : 1;
      if (trips[k] > most) step[k] = place == 0 || is_product ? most : 1;
      place++;
    }
    if (step[k] > trips[k] && trips[k] > 0) step[k] = trips[k];
  }
}

// --- products with packed operands

sizes_packing sizes_of_packing(const target_description *target, MlirType type, MlirType packed, int64_t rows,
                               int64_t columns, int64_t terms, bool packs_rows, int share) {
  const int row = row_of(target), bits = ir_bit_width(type), packed_bits = ir_bit_width(packed);
  const int64_t bytes = packed_bits > 8 ? packed_bits / 8 : 1;
  sizes_packing s = {.rows = table[row].rows, .lanes = lanes_of(target, bits)};
  s.columns = s.lanes * table[row].vectors;
  if (columns <= s.lanes) s.columns = s.lanes;
  s.rows = int64_ceil_div(rows, int64_ceil_div(rows, s.rows));  // no tile has much less than others
  const int64_t padded = int64_ceil_div(columns, s.columns) * s.columns;
  const int64_t fit = table[row].column_bytes / share / (padded * bytes);
  s.terms = int64_min(terms, int64_max(1, int64_min(table[row].terms * bits / packed_bits, fit)));
  const int64_t block = table[row].row_bytes / share / (s.terms * bytes);
  s.row_block = packs_rows ? int64_max(1, block / s.rows) * s.rows : INT64_MAX;
  return s;
}

// Measured: of sums that something is computed from, products by smaller right sides take up to 1.25 times as long
// packed, since their tiles are smaller then.
bool sizes_needs_packing(MlirType type, int64_t columns, int64_t terms, bool lies_well) {
  enum { FAR_BYTES = 1 << 20 };
  return !lies_well || columns * terms * ir_bit_width(type) / 8 > FAR_BYTES;
}

bool sizes_may_pack(const target_description *target, MlirType type, int64_t columns, int64_t terms) {
  return columns * 2 >= lanes_of(target, ir_bit_width(type)) && terms >= 2;
}

bool sizes_worth_packing(const target_description *target, MlirType type, int64_t rows, int64_t columns, int64_t terms,
                         bool lies_well) {
  const int row = row_of(target), bits = ir_bit_width(type);
  const int64_t lanes = lanes_of(target, bits);
  if (rows < table[row].rows || !sizes_may_pack(target, type, columns, terms)) return false;
  return !lies_well || columns % (lanes * table[row].vectors) != 0 ||
         columns * terms * bits / 8 > table[row].near_bytes;
}

// --- products whose operands are read where they lie

sizes_direct sizes_of_direct(const target_description *target, MlirType type) {
  const int row = row_of(target);
  const int64_t width = lanes_of(target, ir_bit_width(type)) * table[row].vectors;
  return (sizes_direct){table[row].rows, width, width, 4, 8};
}

bool sizes_worth_reading(const target_description *target, MlirType type, int64_t rows, int64_t columns, int64_t terms,
                         bool lies_well) {
  const int row = row_of(target), bits = ir_bit_width(type);
  const int64_t lanes = lanes_of(target, bits);
  if (rows >= table[row].rows) return false;
  return lies_well ? columns >= lanes : terms >= lanes;
}
