// Registers consist of parts of 128 bits, within which one instruction puts numbers of two registers side by side. Four
// rows are turned by eight of those, whatever their length, and each part is stored where it belongs. A square of 16
// rows takes as long by 64 instructions, for which compiling takes three times as long.
#include "tile/turn_lanes.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/BuiltinAttributes.h>

#include "base/map.h"
#include "dialect/tiling.h"

enum { MOST_LANES = 64 };

// --- the two loops

typedef struct turn {
  ir_builder *b;
  MlirOperation op;
  int across, along;  // loops: of the rows that are read, and of the numbers of a row
  int64_t lanes;
} turn;

// The loop that an operand's innermost dim is; -1 if it is none, or if other dims are no loops.
static int innermost_loop(MlirOperation op, int operand) {
  MlirAffineMap map = tiling_map(op, operand);
  const intptr_t rank = mlirAffineMapGetNumResults(map);
  bool are_places = rank > 0;
  for (intptr_t d = 0; d < rank; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    are_places &= mlirAffineExprIsADim(e) || mlirAffineExprIsAConstant(e);
  }
  if (!are_places) return -1;
  MlirAffineExpr last = mlirAffineMapGetResult(map, rank - 1);
  return mlirAffineExprIsADim(last) ? (int)mlirAffineDimExprGetPosition(last) : -1;
}

// Arithmetic on elements alone.
static bool is_arithmetic(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const str s = {name.data, name.length};
  return (str_starts_with(s, "arith.") || str_starts_with(s, "math.")) && mlirOperationGetNumRegions(op) == 0 &&
         mlirOperationGetNumResults(op) == 1 && !mlirTypeIsAIndex(ir_result_type(op, 0));
}

static bool has_plain_body(MlirOperation op) {
  MlirBlock body = ir_body(op, 0);
  const int outputs = (int)mlirOperationGetNumOperands(op) - 1;
  MlirOperation end = ir_terminator(body);
  bool is_plain = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(body, outputs)));
  for (MlirOperation at = mlirBlockGetFirstOperation(body); !mlirOperationEqual(at, end);
       at = mlirOperationGetNextInBlock(at))
    is_plain &= is_arithmetic(at);
  return is_plain;
}

static bool find_loops(MlirOperation op, int *along, int *across) {
  if (!tiling_is_structured(op) || mlirOperationGetNumOperands(op) < 2) return false;
  const int last = (int)mlirOperationGetNumOperands(op) - 1;
  bool is_same = tiling_output(op, 0) == last;
  *along = innermost_loop(op, 0);
  *across = innermost_loop(op, last);
  for (int k = 1; k < last; k++) is_same &= innermost_loop(op, k) == *along;
  return is_same && *along >= 0 && *across >= 0 && *along != *across;
}

bool turn_lanes_takes(MlirOperation op) {
  int along, across;
  if (!find_loops(op, &along, &across) || !has_plain_body(op)) return false;
  MlirType element = ir_element_type(mlirValueGetType(ir_operand(op, (int)mlirOperationGetNumOperands(op) - 1)));
  return ir_bit_width(element) == 32 && !mlirTypeIsAIndex(element);
}

static bool has_size(turn *t) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], is_alone = find_loops(t->op, &t->along, &t->across);
  const int count = tiling_loops(t->op, trips, is_reduction);
  for (int k = 0; k < count; k++) is_alone &= !is_reduction[k] && (k == t->along || k == t->across || trips[k] == 1);
  if (!is_alone) return false;
  t->lanes = trips[t->along];
  return trips[t->across] == TURN_LANES_ROWS && t->lanes >= TURN_LANES_ROWS && t->lanes <= MOST_LANES &&
         (t->lanes & (t->lanes - 1)) == 0;
}

// --- accesses

static MlirType vector_of(MlirType element, int64_t size) { return mlirVectorTypeGet(1, &size, element); }

static MlirType element_of(const turn *t, int operand) {
  return ir_element_type(mlirValueGetType(ir_operand(t->op, operand)));
}

static int rank_of(const turn *t, int operand) { return (int)mlirAffineMapGetNumResults(tiling_map(t->op, operand)); }

// The indices of an operand's elements with `loop` at `at` and all others at 0.
static void place(const turn *t, int operand, int loop, int64_t at, MlirValue *out) {
  MlirAffineMap map = tiling_map(t->op, operand);
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    int64_t index = mlirAffineExprIsAConstant(e) ? mlirAffineConstantExprGetValue(e) : 0;
    if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == loop) index = at;
    out[d] = ir_index(t->b, index);
  }
}

static void access_attributes(const turn *t, int rank, bool is_read, MlirNamedAttribute *out) {
  const ir_builder *b = t->b;
  MlirAttribute whole = mlirBoolAttrGet(b->context, true);
  const int32_t read[] = {1, rank, 1, 0}, write[] = {1, 1, rank, 0};
  out[0] = ir_named(b->context, "in_bounds", mlirArrayAttrGet(b->context, 1, &whole));
  out[1] =
      ir_named(b->context, "permutation_map", mlirAffineMapAttrGet(mlirAffineMapMinorIdentityGet(b->context, rank, 1)));
  out[2] = ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, is_read ? read : write));
}

static MlirValue read_row(const turn *t, int operand, int64_t row) {
  const int rank = rank_of(t, operand);
  MlirValue *operands = arena_array(t->b->arena, MlirValue, rank + 2);
  MlirType element = element_of(t, operand);
  MlirNamedAttribute attributes[3];
  operands[0] = ir_operand(t->op, operand);
  place(t, operand, t->across, row, operands + 1);
  operands[rank + 1] = mlirTypeIsAFloat(element) ? ir_float(t->b, element, 0) : ir_int(t->b, element, 0);
  access_attributes(t, rank, true, attributes);
  return ir_value_with(t->b, "vector.transfer_read", vector_of(element, t->lanes), rank + 2, operands, 3, attributes);
}

static void write_part(const turn *t, MlirValue part, int64_t lane) {
  const int output = (int)mlirOperationGetNumOperands(t->op) - 1, rank = rank_of(t, output);
  MlirValue *operands = arena_array(t->b->arena, MlirValue, rank + 2);
  MlirNamedAttribute attributes[3];
  operands[0] = part;
  operands[1] = ir_operand(t->op, output);
  place(t, output, t->along, lane, operands + 2);
  access_attributes(t, rank, false, attributes);
  ir_build(t->b, (ir_op_state){.name = "vector.transfer_write",
                               .operand_count = rank + 2,
                               .operands = operands,
                               .attribute_count = 3,
                               .attributes = attributes});
}

// --- a row of results

static MlirValue as_vector(const turn *t, const ptr_map *made, MlirValue v) {
  MlirValue now = {ptr_map_get(made, v.ptr)};
  if (now.ptr) return now;
  return ir_cast(t->b, "vector.broadcast", vector_of(mlirValueGetType(v), t->lanes), v);
}

static MlirValue compute(const turn *t, const ptr_map *made, MlirOperation op) {
  const int count = (int)mlirOperationGetNumOperands(op), attributes = (int)mlirOperationGetNumAttributes(op);
  MlirValue *operands = arena_array(t->b->arena, MlirValue, count);
  MlirNamedAttribute *kept = arena_array(t->b->arena, MlirNamedAttribute, attributes);
  for (int k = 0; k < attributes; k++) kept[k] = mlirOperationGetAttribute(op, k);
  for (int k = 0; k < count; k++) operands[k] = as_vector(t, made, ir_operand(op, k));
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return ir_value_with(t->b, arena_strdup(t->b->arena, name.data, name.length),
                       vector_of(ir_result_type(op, 0), t->lanes), count, operands, attributes, kept);
}

static MlirValue row_of_results(const turn *t, int64_t row) {
  ptr_map made = {0};
  MlirBlock body = ir_body(t->op, 0);
  MlirOperation end = ir_terminator(body);
  for (int k = 0; k < mlirOperationGetNumOperands(t->op) - 1; k++)
    ptr_map_put(t->b->arena, &made, mlirBlockGetArgument(body, k).ptr, (void *)read_row(t, k, row).ptr);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    ptr_map_put(t->b->arena, &made, ir_result(op, 0).ptr, (void *)compute(t, &made, op).ptr);
  return as_vector(t, &made, ir_operand(end, 0));
}

// --- registers

static MlirValue shuffle(const turn *t, MlirValue x, MlirValue y, int64_t count, const int64_t *lanes) {
  MlirAttribute mask[MOST_LANES];
  MlirType i64 = mlirIntegerTypeGet(t->b->context, 64);
  for (int64_t k = 0; k < count; k++) mask[k] = mlirIntegerAttrGet(i64, lanes[k]);
  MlirValue operands[] = {x, y};
  MlirNamedAttribute attribute = ir_named(t->b->context, "mask", mlirArrayAttrGet(t->b->context, count, mask));
  return ir_value_with(t->b, "vector.shuffle", vector_of(mlirShapedTypeGetElementType(mlirValueGetType(x)), count), 2,
                       operands, 1, &attribute);
}

// In each part of four lanes: `size` of x, then as many of y, and so on, from the part's first or third lane on.
static MlirValue side_by_side(const turn *t, MlirValue x, MlirValue y, int64_t size, bool is_high) {
  int64_t lanes[MOST_LANES];
  for (int64_t k = 0; k < t->lanes; k++) {
    const int64_t in_part = k % 4, of_y = in_part / size % 2, from = (size == 1 ? in_part / 2 : in_part % 2);
    lanes[k] = k - in_part + from + (is_high ? 2 : 0) + of_y * t->lanes;
  }
  return shuffle(t, x, y, t->lanes, lanes);
}

static void write_parts(const turn *t, MlirValue turned, int64_t first) {
  for (int64_t at = 0; at < t->lanes; at += 4) {
    const int64_t lanes[] = {at, at + 1, at + 2, at + 3};
    write_part(t, t->lanes == 4 ? turned : shuffle(t, turned, turned, 4, lanes), at + first);
  }
}

bool turn_lanes_vectorize(arena *a, MlirOperation op) {
  if (!turn_lanes_takes(op) || mlirOperationGetNumResults(op) > 0) return false;
  ir_builder b = ir_builder_before(op, a);
  turn t = {.b = &b, .op = op};
  if (!has_size(&t)) return false;
  MlirValue rows[TURN_LANES_ROWS];
  for (int k = 0; k < TURN_LANES_ROWS; k++) rows[k] = row_of_results(&t, k);
  for (int half = 0; half < 2; half++) {
    MlirValue x = side_by_side(&t, rows[0], rows[1], 1, half == 1),
              y = side_by_side(&t, rows[2], rows[3], 1, half == 1);
    for (int k = 0; k < 2; k++) write_parts(&t, side_by_side(&t, x, y, 2, k == 1), 2 * half + k);
  }
  ir_erase(op);
  return true;
}
