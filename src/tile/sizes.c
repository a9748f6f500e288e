// The table, and how sizes of it fit loops that are shorter or not a multiple.
#include "tile/sizes.h"

#include "emit/ir_builder.h"

// By the width of vectors. A register tile of `rows` by `vectors` holds the sums of a product, and leaves registers for
// one row of the right side and one element of the left.
static const struct {
  int vector_bits, rows, vectors;
  int64_t workgroup_rows, workgroup_columns;
  int64_t elements;  // of a workgroup's tile that does not reduce
} table[] = {
    {512, 8, 2, 64, 256, 16384},
    {256, 6, 2, 48, 128, 8192},
    {0, 4, 2, 32, 64, 4096},
};

static int row_of(const target_description *target) {
  int k = 0;
  while (target->vector_bits < table[k].vector_bits) k++;
  return k;
}

static int64_t lanes(const target_description *target, MlirOperation op) {
  int bits = 8;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    const int of_operand = ir_bit_width(ir_element_type(mlirValueGetType(ir_operand(op, k))));
    if (of_operand > bits) bits = of_operand;
  }
  const int64_t vector_bits = target->vector_bits > 128 ? target->vector_bits : 128;
  return vector_bits / bits > 0 ? vector_bits / bits : 1;
}

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

void sizes_of_tiles(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                    uint32_t allowed, bool is_product, int64_t *workgroup, int64_t *registers) {
  const int row = row_of(target);
  int64_t left = table[row].elements;
  int place = 0;  // counted from the innermost of the loops that may be tiled
  for (int k = 0; k < count; k++) workgroup[k] = registers[k] = 0;
  for (int k = count - 1; k >= 0; k--) {
    if (!(allowed & 1U << k)) continue;
    const int64_t width = lanes(target, op) * table[row].vectors, rows = is_product ? table[row].rows : 1;
    const int64_t unit = place == 0 ? width : place == 1 ? rows : 1;
    const int64_t wanted = !is_product  ? left
                           : place == 0 ? table[row].workgroup_columns
                           : place == 1 ? table[row].workgroup_rows
                                        : 1;
    workgroup[k] = divisor(trips[k], wanted > 1 ? wanted : 1, unit);
    registers[k] = workgroup[k] < unit ? workgroup[k] : unit;
    left /= workgroup[k] > 0 ? workgroup[k] : 1;
    place++;
  }
}

void sizes_of_step(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                   const bool *is_reduction, bool is_product, int64_t *step) {
  for (int k = count - 1; k >= 0; k--) {
    step[k] = is_reduction[k] ? 1 : 0;
    if (k == count - 1 && is_reduction[k] && !is_product) step[k] = lanes(target, op);
    if (step[k] > trips[k] && trips[k] > 0) step[k] = trips[k];
  }
}
