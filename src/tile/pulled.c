// The way back from an element to the elements that it is made of.
#include "tile/pulled.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

#include "base/map.h"
#include "dialect/tiling.h"
#include "hlo/shape.h"
#include "kernel/hero_tiles.h"

typedef struct puller {
  ir_builder *b;
  int steps;  // that may still be taken; what is read in several ways is asked for several times
} puller;

static MlirValue element_at(puller *p, MlirValue tensor, const MlirValue *at);

static int rank_of(MlirValue tensor) { return (int)mlirShapedTypeGetRank(mlirValueGetType(tensor)); }

// --- positions

static MlirValue plus(ir_builder *b, MlirValue x, int64_t y) {
  return y == 0 ? x : ir_binary(b, "arith.addi", x, ir_index(b, y));
}

static MlirValue times(ir_builder *b, MlirValue x, int64_t y) {
  return y == 1 ? x : ir_binary(b, "arith.muli", x, ir_index(b, y));
}

static MlirValue and (ir_builder * b, MlirValue x, MlirValue y) {
  return mlirValueIsNull(x) ? y : ir_binary(b, "arith.andi", x, y);
}

static MlirValue position(ir_builder *b, MlirAffineExpr e, const MlirValue *loops) {
  if (mlirAffineExprIsADim(e)) return loops[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e)) return ir_index(b, mlirAffineConstantExprGetValue(e));
  MlirValue x = position(b, mlirAffineBinaryOpExprGetLHS(e), loops),
            y = position(b, mlirAffineBinaryOpExprGetRHS(e), loops);
  const char *name = mlirAffineExprIsAAdd(e)        ? "arith.addi"
                     : mlirAffineExprIsAMul(e)      ? "arith.muli"
                     : mlirAffineExprIsAFloorDiv(e) ? "arith.floordivsi"
                     : mlirAffineExprIsACeilDiv(e)  ? "arith.ceildivsi"
                                                    : "arith.remui";
  return ir_binary(b, name, x, y);
}

// --- slices

typedef struct cut {
  int rank;
  int64_t offsets[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
} cut;

static bool read_list(MlirOperation op, const char *name, int rank, int64_t *out) {
  MlirAttribute list = ir_get(op, name);
  if (mlirDenseArrayGetNumElements(list) != rank) return false;
  for (int d = 0; d < rank; d++) {
    out[d] = mlirDenseI64ArrayGetElement(list, d);
    if (out[d] == mlirShapedTypeGetDynamicSize()) return false;
  }
  return true;
}

// Where a slice lies, if that is known and it has all dims of the whole; `part` and `whole` are its two sides.
static bool read_cut(MlirOperation op, MlirValue part, MlirValue whole, cut *out) {
  out->rank = rank_of(whole);
  return rank_of(part) == out->rank && out->rank <= SHAPE_MAX_RANK &&
         read_list(op, "static_offsets", out->rank, out->offsets) &&
         read_list(op, "static_sizes", out->rank, out->sizes) &&
         read_list(op, "static_strides", out->rank, out->strides);
}

static MlirValue element_of_slice(puller *p, MlirOperation op, const cut *c, const MlirValue *at) {
  MlirValue in_whole[SHAPE_MAX_RANK] = {{NULL}};
  for (int d = 0; d < c->rank; d++) in_whole[d] = plus(p->b, times(p->b, at[d], c->strides[d]), c->offsets[d]);
  return element_at(p, ir_operand(op, 0), in_whole);
}

// Where the position is within the part along one dim, moved to the nearest element if it is beside; *inside becomes
// the condition that it is none of these.
static MlirValue within(ir_builder *b, const cut *c, int d, int64_t whole, MlirValue at, MlirValue *inside) {
  if (c->offsets[d] == 0 && c->sizes[d] == whole && c->strides[d] == 1) return at;
  MlirValue zero = ir_index(b, 0), from_first = plus(b, at, -c->offsets[d]), in_part = from_first;
  if (c->offsets[d] > 0) *inside = and(b, *inside, ir_cmpi(b, "sge", from_first, zero));
  if (c->strides[d] > 1) {
    MlirValue stride = ir_index(b, c->strides[d]);
    *inside = and(b, *inside, ir_cmpi(b, "eq", ir_binary(b, "arith.remsi", from_first, stride), zero));
    in_part = ir_binary(b, "arith.divsi", from_first, stride);
  }
  MlirValue last = ir_index(b, c->sizes[d] - 1);
  if (c->offsets[d] > 0) in_part = ir_binary(b, "arith.maxsi", in_part, zero);
  if (c->offsets[d] + (c->sizes[d] - 1) * c->strides[d] < whole - 1) {
    *inside = and(b, *inside, ir_cmpi(b, "sle", in_part, last));
    in_part = ir_binary(b, "arith.minsi", in_part, last);
  }
  return in_part;
}

static MlirValue element_of_insert(puller *p, MlirOperation op, const cut *c, const MlirValue *at) {
  MlirValue part = ir_operand(op, 0), whole = ir_operand(op, 1), in_part[SHAPE_MAX_RANK] = {{NULL}}, inside = {NULL};
  bool is_empty = false;
  for (int d = 0; d < c->rank; d++) is_empty |= c->sizes[d] == 0;
  if (is_empty) return element_at(p, whole, at);
  for (int d = 0; d < c->rank; d++)
    in_part[d] = within(p->b, c, d, mlirShapedTypeGetDimSize(mlirValueGetType(whole), d), at[d], &inside);
  MlirValue found = element_at(p, part, in_part);
  return mlirValueIsNull(inside) ? found : ir_select(p->b, inside, found, element_at(p, whole, at));
}

// --- reshapes: elements keep their order

static MlirValue element_of_reshape(puller *p, MlirOperation op, const MlirValue *at) {
  MlirValue from = ir_operand(op, 0), in_from[SHAPE_MAX_RANK] = {{NULL}}, number = ir_index(p->b, 0);
  MlirType to = ir_result_type(op, 0), type = mlirValueGetType(from);
  for (int d = 0; d < mlirShapedTypeGetRank(to); d++) {
    MlirValue before = times(p->b, number, mlirShapedTypeGetDimSize(to, d));
    number = d == 0 ? at[0] : ir_binary(p->b, "arith.addi", before, at[d]);
  }
  for (int d = rank_of(from) - 1; d >= 0; d--) {
    MlirValue size = ir_index(p->b, mlirShapedTypeGetDimSize(type, d));
    in_from[d] = d > 0 ? ir_binary(p->b, "arith.remui", number, size) : number;
    if (d > 0) number = ir_binary(p->b, "arith.divui", number, size);
  }
  return element_at(p, from, in_from);
}

// --- structured operations whose points are elements of the result

static bool is_pointwise(MlirOperation op, int result) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], all = ir_is(op, "linalg.generic");
  const int count = all ? tiling_loops(op, trips, is_reduction) : -1;
  if (count < 0 || count > SHAPE_MAX_RANK) return false;
  for (int k = 0; k < count; k++) all &= !is_reduction[k];
  MlirBlock block = ir_body(op, 0);
  const int first_output = tiling_output(op, 0);
  for (int k = first_output; k < mlirBlockGetNumArguments(block); k++)
    all &= mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(block, k)));
  for (MlirOperation o = mlirBlockGetFirstOperation(block); !ir_is_null(o); o = mlirOperationGetNextInBlock(o))
    all &= mlirOperationGetNumRegions(o) == 0;
  return all && mlirAffineMapIsPermutation(tiling_map(op, tiling_output(op, result)));
}

typedef struct copied {
  ptr_map values;  // of the body -> MlirValue, what it is for the element
  arena *arena;
} copied;

static void remember(copied *c, MlirValue from, MlirValue to) {
  MlirValue *kept = arena_new(c->arena, MlirValue);
  *kept = to;
  ptr_map_put(c->arena, &c->values, from.ptr, kept);
}

static MlirValue copy_of(const copied *c, MlirValue v) {
  const MlirValue *made = ptr_map_get(&c->values, v.ptr);
  return made ? *made : v;
}

static void copy_operation(puller *p, copied *c, MlirOperation op, const MlirValue *loops) {
  if (ir_is(op, "linalg.index")) {
    remember(c, ir_result(op, 0), loops[mlirIntegerAttrGetValueInt(ir_get(op, "dim"))]);
    return;
  }
  const int operands = (int)mlirOperationGetNumOperands(op);
  if (ir_is(op, "tensor.extract")) {
    MlirValue at[SHAPE_MAX_RANK] = {{NULL}};
    for (int k = 1; k < operands; k++) at[k - 1] = copy_of(c, ir_operand(op, k));
    remember(c, ir_result(op, 0), element_at(p, ir_operand(op, 0), at));
    return;
  }
  MlirOperation made = mlirOperationClone(op);
  for (int k = 0; k < operands; k++) mlirOperationSetOperand(made, k, copy_of(c, ir_operand(op, k)));
  if (ir_is_null(p->b->before)) mlirBlockAppendOwnedOperation(p->b->block, made);
  else mlirBlockInsertOwnedOperationBefore(p->b->block, p->b->before, made);
  for (int k = 0; k < mlirOperationGetNumResults(op); k++) remember(c, ir_result(op, k), ir_result(made, k));
}

static MlirValue element_of_point(puller *p, MlirOperation op, int result, const MlirValue *at) {
  MlirValue loops[SHAPE_MAX_RANK] = {{NULL}}, in_operand[SHAPE_MAX_RANK] = {{NULL}};
  MlirAffineMap written = tiling_map(op, tiling_output(op, result));
  for (int d = 0; d < mlirAffineMapGetNumResults(written); d++)
    loops[mlirAffineDimExprGetPosition(mlirAffineMapGetResult(written, d))] = at[d];
  copied c = {.arena = p->b->arena};
  MlirBlock block = ir_body(op, 0);
  for (int k = 0; k < tiling_output(op, 0); k++) {
    MlirValue x = ir_operand(op, k), argument = mlirBlockGetArgument(block, k);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(argument))) continue;
    MlirAffineMap map = tiling_map(op, k);
    for (int d = 0; d < mlirAffineMapGetNumResults(map); d++)
      in_operand[d] = position(p->b, mlirAffineMapGetResult(map, d), loops);
    remember(&c, argument, mlirTypeIsARankedTensor(mlirValueGetType(x)) ? element_at(p, x, in_operand) : x);
  }
  MlirOperation end = ir_terminator(block);
  for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationEqual(o, end);
       o = mlirOperationGetNextInBlock(o))
    copy_operation(p, &c, o, loops);
  return copy_of(&c, ir_operand(end, result));
}

// --- all of them

static MlirValue zero_of(ir_builder *b, MlirType t) {
  if (!mlirTypeIsAComplex(t)) return mlirTypeIsAFloat(t) ? ir_float(b, t, 0) : ir_int(b, t, 0);
  MlirValue zero = ir_float(b, mlirComplexTypeGetElementType(t), 0), parts[] = {zero, zero};
  return ir_value(b, "complex.create", t, 2, parts);
}

static MlirValue read_element(ir_builder *b, MlirValue tensor, const MlirValue *at) {
  MlirValue operands[1 + SHAPE_MAX_RANK] = {tensor};
  const int rank = rank_of(tensor);
  for (int d = 0; d < rank; d++) operands[1 + d] = at[d];
  return ir_value(b, "tensor.extract", ir_element_type(mlirValueGetType(tensor)), 1 + rank, operands);
}

static bool is_reshape(MlirOperation op) {
  return ir_is(op, "tensor.expand_shape") || ir_is(op, "tensor.collapse_shape");
}

static MlirValue element_at(puller *p, MlirValue tensor, const MlirValue *at) {
  MlirOperation op = ir_defining_op(tensor);
  cut c;
  if (ir_is_null(op) || --p->steps < 0 || rank_of(tensor) > SHAPE_MAX_RANK) return read_element(p->b, tensor, at);
  if (ir_is(op, "linalg.fill")) return ir_operand(op, 0);
  if (ir_is(op, "tensor.extract_slice") && read_cut(op, tensor, ir_operand(op, 0), &c))
    return element_of_slice(p, op, &c, at);
  if (ir_is(op, "tensor.insert_slice") && read_cut(op, ir_operand(op, 0), tensor, &c))
    return element_of_insert(p, op, &c, at);
  if (is_reshape(op)) return element_of_reshape(p, op, at);
  const int result = (int)mlirOpResultGetResultNumber(tensor);
  if (is_pointwise(op, result)) return element_of_point(p, op, result, at);
  return ir_is(op, "tensor.empty") ? zero_of(p->b, ir_element_type(mlirValueGetType(tensor)))
                                   : read_element(p->b, tensor, at);
}

MlirValue pulled_element(ir_builder *body, MlirValue tensor, const MlirValue *at) {
  puller p = {body, HERO_TILES_PULLED_MAX};
  return element_at(&p, tensor, at);
}

// --- where it ends

static bool ends_in_memory(arena *a, MlirValue tensor, int *steps);

static bool body_ends_in_memory(arena *a, MlirOperation op, int *steps) {
  const ir_operations reads = ir_collect(a, op, "tensor.extract");
  bool all = true;
  for (int k = 0; k < reads.size; k++) all = all && ends_in_memory(a, ir_operand(reads.data[k], 0), steps);
  return all;
}

static bool ends_in_memory(arena *a, MlirValue tensor, int *steps) {
  MlirOperation op = ir_defining_op(tensor);
  cut c;
  if (ir_is_null(op) || ir_is(op, "arith.constant") || ir_is(op, "hal.interface.load.tensor") ||
      ir_is(op, "linalg.fill") || ir_is(op, "tensor.empty"))
    return true;
  if (--*steps < 0) return false;
  if ((ir_is(op, "tensor.extract_slice") && read_cut(op, tensor, ir_operand(op, 0), &c)) || is_reshape(op))
    return ends_in_memory(a, ir_operand(op, 0), steps);
  if (ir_is(op, "tensor.insert_slice") && read_cut(op, ir_operand(op, 0), tensor, &c))
    return ends_in_memory(a, ir_operand(op, 0), steps) && ends_in_memory(a, ir_operand(op, 1), steps);
  if (!is_pointwise(op, (int)mlirOpResultGetResultNumber(tensor))) return false;
  bool all = body_ends_in_memory(a, op, steps);
  for (int k = 0; k < tiling_output(op, 0) && all; k++)
    all = !mlirTypeIsARankedTensor(mlirValueGetType(ir_operand(op, k))) || ends_in_memory(a, ir_operand(op, k), steps);
  return all;
}

bool pulled_is_from_memory(arena *a, MlirValue tensor) {
  int steps = HERO_TILES_PULLED_MAX;
  return rank_of(tensor) <= SHAPE_MAX_RANK && ends_in_memory(a, tensor, &steps);
}
