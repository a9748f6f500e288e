// The walk from a root to what it reads, and the loops that are divided on the way.
#include "tile/groups.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"

typedef struct tile {
  const int64_t *trips;
  int64_t *sizes;
} tile;

// The root's loop that a loop is, -1 if it is none.
typedef struct origin {
  int loops[TILING_MAX_LOOPS];
} origin;

static int64_t aligned(int64_t trips, int64_t size, int64_t group) {
  if (size == 0 || group <= 1 || size % group == 0) return size;
  const int64_t whole = size > group ? trips : group, unit = size > group ? group : 1;
  size -= size % unit;
  while (size > unit && whole % size != 0) size -= unit;
  return size;
}

static void align_expression(MlirAffineExpr e, const origin *from, const tile *t) {
  if (!mlirAffineExprIsABinary(e)) return;
  MlirAffineExpr x = mlirAffineBinaryOpExprGetLHS(e), y = mlirAffineBinaryOpExprGetRHS(e);
  const bool divides = mlirAffineExprIsAFloorDiv(e) || mlirAffineExprIsAMod(e) || mlirAffineExprIsACeilDiv(e);
  if (divides && mlirAffineExprIsADim(x) && mlirAffineExprIsAConstant(y)) {
    const int k = from->loops[mlirAffineDimExprGetPosition(x)];
    if (k >= 0) t->sizes[k] = aligned(t->trips[k], t->sizes[k], mlirAffineConstantExprGetValue(y));
  }
  align_expression(x, from, t);
  align_expression(y, from, t);
}

static origin origin_of_producer(MlirOperation producer, int result, MlirAffineMap read, const origin *reader) {
  origin o;
  for (int k = 0; k < TILING_MAX_LOOPS; k++) o.loops[k] = -1;
  MlirAffineMap written = tiling_map(producer, tiling_output(producer, result));
  for (int d = 0; d < mlirAffineMapGetNumResults(written); d++) {
    MlirAffineExpr to = mlirAffineMapGetResult(written, d), from = mlirAffineMapGetResult(read, d);
    if (mlirAffineExprIsADim(to) && mlirAffineExprIsADim(from))
      o.loops[mlirAffineDimExprGetPosition(to)] = reader->loops[mlirAffineDimExprGetPosition(from)];
  }
  return o;
}

static void align(MlirOperation op, const origin *from, const tile *t) {
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    MlirAffineMap map = tiling_map(op, k);
    for (int d = 0; d < mlirAffineMapGetNumResults(map); d++) align_expression(mlirAffineMapGetResult(map, d), from, t);
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    if (ir_is_null(producer) || !tiling_is_structured(producer)) continue;
    const origin o = origin_of_producer(producer, (int)mlirOpResultGetResultNumber(ir_operand(op, k)), map, from);
    align(producer, &o, t);
  }
}

void groups_align(MlirOperation root, int count, const int64_t *trips, int64_t *sizes) {
  origin own;
  for (int k = 0; k < TILING_MAX_LOOPS; k++) own.loops[k] = k < count ? k : -1;
  const tile t = {trips, sizes};
  align(root, &own, &t);
}
