// Borders, joints and cuts rarely run along the innermost dim: whether an element is there, and from where it comes, is
// then the same for a whole row of them. So what depends on the position in the row alone is a vector, and the
// questions are asked once for all of its lanes.
#include "tile/row_copies.h"

#include "dialect/tiling.h"
#include "tile/nest.h"

enum { MOST_VALUES = 256 };  // of a body

// What a value of the body is for the lanes of a vector.
typedef enum lane_kind {
  LANE_SAME,    // one value for all
  LANE_NUMBER,  // an index that grows by one from lane to lane
  LANE_OWN,     // a vector
  LANE_UNKNOWN,
} lane_kind;

typedef struct rows {
  MlirOperation op;
  MlirBlock block;
  int rank, count;
  MlirValue values[MOST_VALUES], made[MOST_VALUES];
  lane_kind kinds[MOST_VALUES];
} rows;

static int number_of(const rows *r, MlirValue v) {
  for (int k = 0; k < r->count; k++)
    if (mlirValueEqual(r->values[k], v)) return k;
  return -1;
}

static lane_kind kind_of(const rows *r, MlirValue v) {
  const int number = number_of(r, v);
  if (number >= 0) return r->kinds[number];
  return mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), r->block) ? LANE_UNKNOWN
                                                                                                : LANE_SAME;
}

// --- what the lanes have

static lane_kind of_load(const rows *r, MlirOperation op) {
  const int last = (int)mlirOperationGetNumOperands(op) - 1;
  for (int k = 0; k < last; k++)
    if (kind_of(r, ir_operand(op, k)) != LANE_SAME) return LANE_UNKNOWN;
  const lane_kind kind = last > 0 ? kind_of(r, ir_operand(op, last)) : LANE_SAME;
  return kind == LANE_NUMBER ? LANE_OWN : kind;
}

// A sum of one number of a lane and what is the same for all.
static lane_kind of_index(const rows *r, MlirOperation op) {
  int numbers = 0;
  MlirAttribute map = ir_get(op, "map");
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    const lane_kind kind = kind_of(r, ir_operand(op, k));
    if (kind == LANE_SAME) continue;
    if (kind != LANE_NUMBER) return LANE_UNKNOWN;
    if (!mlirAttributeIsNull(map)) {
      MlirAffineExpr e = mlirAffineMapGetResult(mlirAffineMapAttrGetValue(map), 0);
      if (k >= mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(map)) || !nest_is_linear(e)) return LANE_UNKNOWN;
      if (nest_coefficient(e, k) != 1) return LANE_UNKNOWN;
    }
    numbers++;
  }
  return numbers == 0 ? LANE_SAME : numbers == 1 ? LANE_NUMBER : LANE_UNKNOWN;
}

static lane_kind of_operation(const rows *r, MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const str s = {name.data, name.length};
  if (mlirOperationGetNumRegions(op) > 0 || mlirOperationGetNumResults(op) != 1) return LANE_UNKNOWN;
  if (str_is(s, "linalg.index"))
    return mlirIntegerAttrGetValueInt(ir_get(op, "dim")) == r->rank - 1 ? LANE_NUMBER : LANE_SAME;
  if (str_is(s, "memref.load")) return of_load(r, op);
  if (str_is(s, "affine.apply") || (str_is(s, "arith.addi") && mlirTypeIsAIndex(ir_result_type(op, 0))))
    return of_index(r, op);
  if (!str_starts_with(s, "arith.") && !str_starts_with(s, "math.")) return LANE_UNKNOWN;
  lane_kind kind = LANE_SAME;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    const lane_kind own = kind_of(r, ir_operand(op, k));
    if (own == LANE_NUMBER || own == LANE_UNKNOWN) return LANE_UNKNOWN;
    if (own == LANE_OWN) kind = LANE_OWN;
  }
  return kind;
}

static bool read_body(rows *r) {
  MlirOperation end = ir_terminator(r->block);
  for (MlirOperation op = mlirBlockGetFirstOperation(r->block); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    const lane_kind kind = of_operation(r, op);
    if (kind == LANE_UNKNOWN || r->count == MOST_VALUES) return false;
    r->values[r->count] = ir_result(op, 0);
    r->kinds[r->count++] = kind;
  }
  const lane_kind result = kind_of(r, ir_operand(end, 0));
  return result == LANE_OWN || result == LANE_SAME;
}

// --- vectors

static MlirType vector_of(MlirType element, int64_t lanes) { return mlirVectorTypeGet(1, &lanes, element); }

static MlirValue current(const rows *r, MlirValue v) {
  const int number = number_of(r, v);
  return number < 0 ? v : r->made[number];
}

static MlirValue as_vector(const rows *r, ir_builder *b, MlirValue v, int64_t lanes) {
  MlirValue now = current(r, v);
  if (ir_is_vector(mlirValueGetType(now))) return now;
  return ir_cast(b, "vector.broadcast", vector_of(mlirValueGetType(now), lanes), now);
}

static MlirNamedAttribute in_bounds(const ir_builder *b) {
  MlirAttribute whole = mlirBoolAttrGet(b->context, true);
  return ir_named(b->context, "in_bounds", mlirArrayAttrGet(b->context, 1, &whole));
}

static MlirNamedAttribute innermost(const ir_builder *b, int rank) {
  return ir_named(b->context, "permutation_map",
                  mlirAffineMapAttrGet(mlirAffineMapMinorIdentityGet(b->context, rank, 1)));
}

static MlirValue load_lanes(const rows *r, ir_builder *b, MlirOperation load, int64_t lanes) {
  const int rank = (int)mlirOperationGetNumOperands(load) - 1;
  MlirType element = ir_result_type(load, 0);
  MlirValue *operands = arena_array(b->arena, MlirValue, rank + 2);
  for (int k = 0; k <= rank; k++) operands[k] = current(r, ir_operand(load, k));
  operands[rank + 1] = mlirTypeIsAFloat(element) ? ir_float(b, element, 0) : ir_int(b, element, 0);
  MlirNamedAttribute attributes[] = {
      in_bounds(b), innermost(b, rank),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, (int32_t[]){1, rank, 1, 0}))};
  return ir_value_with(b, "vector.transfer_read", vector_of(element, lanes), rank + 2, operands, 3, attributes);
}

static MlirValue make_lanes(const rows *r, ir_builder *b, MlirOperation op, int64_t lanes) {
  if (ir_is(op, "memref.load")) return load_lanes(r, b, op, lanes);
  const int count = (int)mlirOperationGetNumOperands(op), attributes = (int)mlirOperationGetNumAttributes(op);
  MlirValue *operands = arena_array(b->arena, MlirValue, count);
  MlirNamedAttribute *kept = arena_array(b->arena, MlirNamedAttribute, attributes);
  for (int k = 0; k < attributes; k++) kept[k] = mlirOperationGetAttribute(op, k);
  for (int k = 0; k < count; k++) {
    const bool chooses = k == 0 && ir_is(op, "arith.select");
    operands[k] = chooses ? current(r, ir_operand(op, k)) : as_vector(r, b, ir_operand(op, k), lanes);
  }
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return ir_value_with(b, arena_strdup(b->arena, name.data, name.length), vector_of(ir_result_type(op, 0), lanes),
                       count, operands, attributes, kept);
}

// The body for the lanes from `at` on.
static void build_lanes(rows *r, ir_builder *b, const MlirValue *at, int64_t lanes) {
  for (int n = 0; n < r->count; n++) {
    MlirOperation op = ir_defining_op(r->values[n]);
    if (ir_is(op, "linalg.index")) {
      r->made[n] = at[mlirIntegerAttrGetValueInt(ir_get(op, "dim"))];
    } else if (r->kinds[n] == LANE_OWN) {
      r->made[n] = make_lanes(r, b, op, lanes);
    } else {
      MlirOperation copy = mlirOperationClone(op);
      for (int k = 0; k < mlirOperationGetNumOperands(op); k++)
        mlirOperationSetOperand(copy, k, current(r, ir_operand(op, k)));
      if (ir_is_null(b->before)) mlirBlockAppendOwnedOperation(b->block, copy);
      else mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
      r->made[n] = ir_result(copy, 0);
    }
  }
  MlirValue *operands = arena_array(b->arena, MlirValue, 2 + r->rank);
  operands[0] = as_vector(r, b, ir_operand(ir_terminator(r->block), 0), lanes);
  operands[1] = ir_operand(r->op, 0);
  for (int d = 0; d < r->rank; d++) operands[2 + d] = at[d];
  MlirNamedAttribute attributes[] = {
      in_bounds(b), innermost(b, r->rank),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, (int32_t[]){1, 1, r->rank, 0}))};
  ir_build(b, (ir_op_state){.name = "vector.transfer_write",
                            .operand_count = 2 + r->rank,
                            .operands = operands,
                            .attribute_count = 3,
                            .attributes = attributes});
}

static void build_loops(rows *r, ir_builder *b, const int64_t *dims, int d, MlirValue *at, int64_t lanes) {
  const bool is_last = d == r->rank - 1;
  const int64_t step = is_last ? lanes : 1, whole = dims[d] / step * step;
  if (whole > 0) {
    MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, whole), ir_index(b, step), 0, NULL);
    ir_builder inner = ir_builder_at_end(b->context, ir_body(loop, 0), b->arena);
    at[d] = mlirBlockGetArgument(ir_body(loop, 0), 0);
    if (is_last) build_lanes(r, &inner, at, lanes);
    else build_loops(r, &inner, dims, d + 1, at, lanes);
    ir_yield(&inner, 0, NULL);
  }
  if (whole == dims[d]) return;
  at[d] = ir_index(b, whole);
  build_lanes(r, b, at, dims[d] - whole);
}

bool row_copies_vectorize(arena *a, MlirOperation op, int64_t lanes) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  const int rank = tiling_loops(op, trips, is_reduction);
  if (rank < 1 || mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 0) return false;
  if (!mlirAffineMapIsIdentity(tiling_map(op, 0)) || trips[rank - 1] < 4) return false;
  rows r = {.op = op, .block = ir_body(op, 0), .rank = rank};
  for (int d = 0; d < rank; d++)
    if (trips[d] < 0 || is_reduction[d]) return false;
  if (!read_body(&r)) return false;
  ir_builder b = ir_builder_before(op, a);
  MlirValue at[TILING_MAX_LOOPS];
  build_loops(&r, &b, trips, 0, at, lanes);
  ir_erase(op);
  return true;
}
