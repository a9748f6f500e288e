// A window is read at stride * i + dilation * k. Once a step takes one k, that is every stride-th element of a slice,
// and the operation is a plain one of rows and columns, which vectorization knows.
#include "tile/unit_loops.h"

#include <mlir-c/AffineExpr.h>

#include "dialect/tiling.h"
#include "hlo/shape.h"
#include "tile/structured.h"

enum { MOST_OPERANDS = 16 };

typedef struct loops {
  int count, kept_count;
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], kept_is_reduction[TILING_MAX_LOOPS];
  int number[TILING_MAX_LOOPS];  // of each loop among those that are kept, -1 for the others
} loops;

// Where an operand is read, dim by dim: at offset + stride * loop.
typedef struct reading {
  int rank, kept_rank;
  int64_t offsets[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  int64_t kept_sizes[SHAPE_MAX_RANK], kept_loops[SHAPE_MAX_RANK];
  bool is_whole;
} reading;

typedef struct sum {
  int64_t factors[TILING_MAX_LOOPS], constant;
} sum;

// Adds factor * e; false if e is no sum of multiples of loops.
static bool add_to_sum(MlirAffineExpr e, int64_t factor, sum *out) {
  if (mlirAffineExprIsADim(e)) {
    out->factors[mlirAffineDimExprGetPosition(e)] += factor;
    return true;
  }
  if (mlirAffineExprIsAConstant(e)) {
    out->constant += factor * mlirAffineConstantExprGetValue(e);
    return true;
  }
  if (!mlirAffineExprIsABinary(e)) return false;
  MlirAffineExpr x = mlirAffineBinaryOpExprGetLHS(e), y = mlirAffineBinaryOpExprGetRHS(e);
  if (mlirAffineExprIsAAdd(e)) return add_to_sum(x, factor, out) && add_to_sum(y, factor, out);
  return mlirAffineExprIsAMul(e) && mlirAffineExprIsAConstant(y) &&
         add_to_sum(x, factor * mlirAffineConstantExprGetValue(y), out);
}

static bool read_dim(const loops *l, MlirAffineExpr e, int64_t size, reading *r) {
  sum s = {0};
  if (!add_to_sum(e, 1, &s) || s.constant < 0) return false;
  const int d = r->rank++;
  r->offsets[d] = s.constant;
  r->sizes[d] = r->strides[d] = 1;
  int found = 0;
  for (int k = 0; k < l->count; k++) {
    if (l->number[k] < 0 || s.factors[k] == 0) continue;
    if (found++ > 0 || s.factors[k] < 0) return false;
    r->sizes[d] = l->trips[k];
    r->strides[d] = s.factors[k];
    r->kept_loops[r->kept_rank] = l->number[k];
    r->kept_sizes[r->kept_rank++] = l->trips[k];
  }
  r->is_whole &= found == 1 && r->offsets[d] == 0 && r->strides[d] == 1 && r->sizes[d] == size;
  return true;
}

static bool read_operand(const loops *l, MlirOperation op, int operand, reading *r) {
  MlirAffineMap map = tiling_map(op, operand);
  MlirType t = mlirValueGetType(ir_operand(op, operand));
  *r = (reading){.is_whole = true};
  if (!mlirTypeIsARankedTensor(t)) return mlirAffineMapGetNumResults(map) == 0;
  bool all = mlirAffineMapGetNumResults(map) <= SHAPE_MAX_RANK;
  for (int d = 0; all && d < mlirAffineMapGetNumResults(map); d++)
    all = read_dim(l, mlirAffineMapGetResult(map, d), mlirShapedTypeGetDimSize(t, d), r);
  return all;
}

static bool find_loops(MlirOperation op, loops *l) {
  *l = (loops){0};
  l->count = tiling_loops(op, l->trips, l->is_reduction);
  for (int k = 0; k < l->count; k++) {
    if (l->trips[k] < 1) return false;
    l->number[k] = l->trips[k] == 1 ? -1 : l->kept_count;
    if (l->trips[k] > 1) l->kept_is_reduction[l->kept_count++] = l->is_reduction[k];
  }
  return l->kept_count > 0;
}

// Whether some operand is read along a sum of loops.
static bool has_windows(MlirOperation op) {
  bool any = false;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
    MlirAffineMap map = tiling_map(op, k);
    for (int d = 0; d < mlirAffineMapGetNumResults(map); d++)
      any |= !mlirAffineExprIsADim(mlirAffineMapGetResult(map, d));
  }
  return any;
}

// --- slices

static MlirValue build_slice(ir_builder *b, const char *name, MlirType type, const reading *r, int operand_count,
                             const MlirValue *operands) {
  const structured_part part = {.rank = r->rank, .offsets = r->offsets, .sizes = r->sizes, .strides = r->strides};
  return ir_result(structured_slice(b, name, &part, operand_count, operands, type), 0);
}

static MlirValue slice_of(ir_builder *b, MlirValue x, const reading *r) {
  MlirType t = mlirValueGetType(x);
  if (r->is_whole) return x;
  MlirType type = mlirRankedTensorTypeGet(r->kept_rank, r->kept_sizes, ir_element_type(t), mlirAttributeGetNull());
  return build_slice(b, "tensor.extract_slice", type, r, 1, &x);
}

// --- the operation

// The body asks for positions along the loops that are kept; along the others there is one.
static void renumber_positions(arena *a, MlirOperation op, const loops *l) {
  const ir_operations all = ir_collect(a, op, "linalg.index");
  for (int k = 0; k < all.size; k++) {
    const int64_t loop = mlirIntegerAttrGetValueInt(ir_get(all.data[k], "dim"));
    ir_builder b = ir_builder_before(all.data[k], a);
    MlirValue position = l->number[loop] < 0 ? ir_index(&b, 0) : structured_index(&b, l->number[loop]);
    ir_replace(all.data[k], &position);
  }
}

static MlirOperation build(arena *a, MlirOperation op, const loops *l, const reading *readings, MlirValue *results) {
  ir_builder b = ir_builder_before(op, a), body;
  const int count = (int)mlirOperationGetNumOperands(op), inputs = tiling_output(op, 0);
  MlirValue operands[MOST_OPERANDS];
  MlirAffineMap maps[MOST_OPERANDS];
  for (int k = 0; k < count; k++) {
    operands[k] = slice_of(&b, ir_operand(op, k), &readings[k]);
    maps[k] = structured_dims(b.context, l->kept_count, readings[k].kept_rank, readings[k].kept_loops);
  }
  const structured_op wanted = {.input_count = inputs,
                                .inputs = operands,
                                .output_count = count - inputs,
                                .outputs = operands + inputs,
                                .maps = maps,
                                .loop_count = l->kept_count,
                                .is_reduction = l->kept_is_reduction};
  MlirOperation made = structured_begin(&b, &wanted, &body);
  MlirValue arguments[MOST_OPERANDS];
  for (int k = 0; k < count; k++) arguments[k] = mlirBlockGetArgument(body.block, k);
  structured_yield(&body, count - inputs, arguments + inputs);
  MlirOperation end = ir_terminator(body.block);
  renumber_positions(a, op, l);
  const ir_values yielded = ir_inline_block(a, ir_body(op, 0), end, arguments);
  for (int k = 0; k < yielded.size; k++) mlirOperationSetOperand(end, k, yielded.data[k]);
  for (int k = 0; k < count - inputs; k++) {
    MlirValue parts[] = {ir_result(made, k), ir_operand(op, inputs + k)};
    const reading *r = &readings[inputs + k];
    results[k] =
        r->is_whole ? parts[0] : build_slice(&b, "tensor.insert_slice", mlirValueGetType(parts[1]), r, 2, parts);
  }
  return made;
}

static void copy_attribute(MlirOperation from, MlirOperation to, const char *name) {
  MlirAttribute value = ir_get(from, name);
  if (!mlirAttributeIsNull(value)) ir_set(to, name, value);
}

void unit_loops_drop(arena *a, MlirOperation op) {
  loops l;
  reading readings[MOST_OPERANDS] = {0};
  MlirValue results[MOST_OPERANDS];
  const int count = (int)mlirOperationGetNumOperands(op);
  if (!ir_is(op, "linalg.generic") || count > MOST_OPERANDS || mlirOperationGetNumResults(op) == 0 ||
      !has_windows(op) || !find_loops(op, &l))
    return;
  for (int k = 0; k < count; k++)
    if (!read_operand(&l, op, k, &readings[k])) return;
  MlirOperation made = build(a, op, &l, readings, results);
  copy_attribute(op, made, "__internal_linalg_transform__");
  copy_attribute(op, made, "lowering_config");
  ir_replace(op, results);
}
