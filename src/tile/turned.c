// An elementwise operation, or a contraction, computes its result in any order of dims as well: its loops are put into
// that order, and the maps of its operands say where each point finds its elements. Operands that are as large as the
// result follow, so that they are read as they lie; smaller ones stay.
#include "tile/turned.h"

#include <mlir-c/AffineExpr.h>
#include <string.h>

#include "dialect/tiling.h"
#include "tile/structured.h"

typedef struct made {
  MlirValue value;
  int64_t order[SHAPE_MAX_RANK];
} made;

typedef struct turn {
  turned_values *all;
  ir_builder *b;
  MlirOperation op;
  int loops;
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  int64_t from[TILING_MAX_LOOPS];  // by new loop: the old one
} turn;

static int rank_of(MlirValue v) { return (int)mlirShapedTypeGetRank(mlirValueGetType(v)); }

static MlirType turned_type(arena *a, MlirType t, const int64_t *order) {
  const int rank = (int)mlirShapedTypeGetRank(t);
  const int64_t *dims = ir_dims(a, t);
  int64_t to[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) to[d] = dims[order[d]];
  return mlirRankedTensorTypeGet(rank, to, ir_element_type(t), mlirAttributeGetNull());
}

static MlirValue copied(ir_builder *b, MlirValue v, const int64_t *order) {
  const int rank = rank_of(v);
  MlirType type = turned_type(b->arena, mlirValueGetType(v), order);
  int64_t inverse[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) inverse[order[d]] = d;
  MlirValue empty = ir_value(b, "tensor.empty", type, 0, NULL);
  return ir_result(structured_copy(b, v, empty, structured_dims(b->context, rank, rank, inverse)), 0);
}

// --- loops in another order

// The old loops as the new ones' dims.
static MlirAffineMap loop_map(const turn *t) {
  MlirAffineExpr exprs[TILING_MAX_LOOPS];
  for (int k = 0; k < t->loops; k++) exprs[t->from[k]] = mlirAffineDimExprGet(t->b->context, k);
  return mlirAffineMapGet(t->b->context, t->loops, 0, t->loops, exprs);
}

// The operand's map with its results in another order, from the new loops.
static MlirAffineMap turned_map(const turn *t, int operand, const int64_t *order) {
  MlirAffineMap old = tiling_map(t->op, operand), loops = loop_map(t);
  const int rank = (int)mlirAffineMapGetNumResults(old);
  MlirAffineExpr exprs[2 * SHAPE_MAX_RANK] = {{0}};
  for (int d = 0; d < rank; d++)
    exprs[d] = mlirAffineExprCompose(mlirAffineMapGetResult(old, order ? order[d] : d), loops);
  return mlirAffineMapGet(t->b->context, t->loops, 0, rank, exprs);
}

// Where the new loop is in a map; -1 if it is not there, or twice.
static int place_of_loop(const turn *t, MlirAffineMap map, int loop) {
  int at = -1, found = 0;
  for (int d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    const bool is_it = mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == t->from[loop];
    found += is_it;
    if (is_it) at = d;
  }
  return found == 1 ? at : -1;
}

// The order of dims in which the new loops meet an operand whose map only names loops, dims of one element first;
// false for other maps, and for operands that have not all loops of the result.
static bool order_of_operand(const turn *t, int operand, int64_t *order) {
  MlirAffineMap old = tiling_map(t->op, operand);
  const int rank = (int)mlirAffineMapGetNumResults(old);
  int count = 0;
  if (rank_of(ir_operand(t->op, operand)) != rank || rank > SHAPE_MAX_RANK) return false;
  for (int d = 0; d < rank; d++)
    if (mlirAffineExprIsAConstant(mlirAffineMapGetResult(old, d))) order[count++] = d;
  for (int k = 0; k < t->loops; k++) {
    const int64_t loop = t->from[k];
    if (t->is_reduction[loop]) continue;
    const int at = place_of_loop(t, old, k);
    if (at < 0 && t->trips[loop] != 1) return false;
    if (at >= 0) order[count++] = at;
  }
  return count == rank;
}

// Loops of the result come first, in its order, those of the reduction behind them.
static bool order_loops(turn *t, const int64_t *order) {
  MlirAffineMap written = tiling_map(t->op, tiling_output(t->op, 0));
  const int rank = (int)mlirAffineMapGetNumResults(written);
  int next = 0;
  for (int d = 0; d < rank; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(written, (intptr_t)order[d]);
    if (!mlirAffineExprIsADim(e)) return false;
    t->from[next++] = mlirAffineDimExprGetPosition(e);
  }
  for (int k = 0; k < t->loops; k++)
    if (t->is_reduction[k]) t->from[next++] = k;
  return next == t->loops;
}

// --- the operation anew

static MlirValue turned_init(ir_builder *b, MlirValue init, const int64_t *order) {
  MlirOperation op = ir_defining_op(init);
  MlirType type = turned_type(b->arena, mlirValueGetType(init), order);
  if (!ir_is_null(op) && ir_is(op, "tensor.empty")) return ir_value(b, "tensor.empty", type, 0, NULL);
  if (!ir_is_null(op) && ir_is(op, "linalg.fill"))
    return structured_fill(b, ir_operand(op, 0), ir_value(b, "tensor.empty", type, 0, NULL));
  return copied(b, init, order);
}

static void turn_indices(const turn *t, MlirOperation made) {
  ir_operations all = ir_collect(t->b->arena, made, "linalg.index");
  MlirType i64 = mlirIntegerTypeGet(t->b->context, 64);
  for (int n = 0; n < all.size; n++) {
    const int64_t old = mlirIntegerAttrGetValueInt(ir_get(all.data[n], "dim"));
    for (int k = 0; k < t->loops; k++)
      if (t->from[k] == old) {
        ir_set(all.data[n], "dim", mlirIntegerAttrGet(i64, k));
        break;
      }
  }
}

static MlirValue rebuilt(turn *t, const int64_t *order) {
  const int count = (int)mlirOperationGetNumOperands(t->op);
  MlirValue *operands = arena_array(t->b->arena, MlirValue, count);
  MlirAttribute *maps = arena_array(t->b->arena, MlirAttribute, count);
  bool is_reduction[TILING_MAX_LOOPS];
  for (int k = 0; k < t->loops; k++) is_reduction[k] = t->is_reduction[t->from[k]];
  for (int k = 0; k < count - 1; k++) {
    int64_t own[SHAPE_MAX_RANK] = {0};
    operands[k] = ir_operand(t->op, k);
    const bool follows = order_of_operand(t, k, own);
    if (follows) operands[k] = turned(t->all, t->b, operands[k], own);
    maps[k] = mlirAffineMapAttrGet(turned_map(t, k, follows ? own : NULL));
  }
  operands[count - 1] = turned_init(t->b, ir_operand(t->op, count - 1), order);
  maps[count - 1] = mlirAffineMapAttrGet(turned_map(t, count - 1, order));
  MlirType type = mlirValueGetType(operands[count - 1]);
  MlirOperation copy = mlirOperationClone(t->op);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(copy, 0));
  mlirOperationDestroy(copy);
  MlirNamedAttribute attributes[] = {
      ir_named(t->b->context, "indexing_maps", mlirArrayAttrGet(t->b->context, count, maps)),
      ir_named(t->b->context, "iterator_types", structured_iterators(t->b, t->loops, is_reduction)),
      ir_named(t->b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(t->b->context, 2, (int32_t[]){count - 1, 1})),
  };
  MlirOperation made = ir_build(t->b, (ir_op_state){.name = "linalg.generic",
                                                    .operand_count = count,
                                                    .operands = operands,
                                                    .result_count = 1,
                                                    .results = &type,
                                                    .attribute_count = 3,
                                                    .attributes = attributes,
                                                    .region_count = 1,
                                                    .regions = &region});
  turn_indices(t, made);
  return ir_result(made, 0);
}

static bool is_in_order(int rank, const int64_t *order) {
  bool all = true;
  for (int d = 0; d < rank; d++) all &= order[d] == d;
  return all;
}

static MlirValue make(turned_values *all, ir_builder *b, MlirValue v, const int64_t *order) {
  turn t = {.all = all, .b = b, .op = ir_defining_op(v)};
  const bool has_form = !ir_is_null(t.op) && tiling_is_structured(t.op) && mlirOperationGetNumResults(t.op) == 1 &&
                        !ir_is(t.op, "linalg.fill");
  if (!has_form) return copied(b, v, order);
  t.loops = tiling_loops(t.op, t.trips, t.is_reduction);
  return order_loops(&t, order) ? rebuilt(&t, order) : copied(b, v, order);
}

MlirValue turned(turned_values *all, ir_builder *b, MlirValue v, const int64_t *order) {
  const int rank = rank_of(v);
  if (is_in_order(rank, order)) return v;
  MlirOperation op = ir_defining_op(v);
  const made *before = ir_is_null(op) ? NULL : ptr_map_get(&all->by_operation, op.ptr);
  if (before && memcmp(before->order, order, (size_t)rank * sizeof *order) == 0) return before->value;
  made *m = arena_new(b->arena, made);
  memcpy(m->order, order, (size_t)rank * sizeof *order);
  m->value = make(all, b, v, order);
  if (!ir_is_null(op)) ptr_map_put(b->arena, &all->by_operation, op.ptr, m);
  return m->value;
}
