// iree-codegen-moves-by-tile: what products, reductions and windows read of padded, joined, cut, reshaped or turned
// arrays is made for the tile that reads it.
//
// A slice of a tensor that was put together is no producer that tiling can fuse: the whole of it would have to lie in
// memory, which a dispatch region does not have. So the tensor is said again, as one structured operation that asks for
// each of its elements (pulled.h), and comes along with its readers' tiles like any other. It is marked as held: its
// tile is made once by a workgroup, not again for every register tile within, and goes through the tile's own memory.
// Fusion on tensors would take it into its reader's body, where it would be computed for every multiplication; so this
// stands behind it.
#include "tile/by_tile.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

#include "base/map.h"
#include "dialect/tiling.h"
#include "tile/passes.h"
#include "tile/pulled.h"
#include "tile/structured.h"

bool by_tile_is_held(MlirOperation op) { return !mlirAttributeIsNull(ir_get(op, BY_TILE_HELD)); }

static void hold(MlirOperation op) { ir_set(op, BY_TILE_HELD, mlirUnitAttrGet(mlirOperationGetContext(op))); }

// --- tensors that are said again

// A slice or a reshape of what a binding holds is one of its memory.
static bool is_place_in_memory(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  while (!ir_is_null(op) &&
         (ir_is(op, "tensor.extract_slice") || ir_is(op, "tensor.expand_shape") || ir_is(op, "tensor.collapse_shape")))
    op = ir_defining_op(ir_operand(op, 0));
  return ir_is_null(op) || ir_is(op, "arith.constant") || ir_is(op, "hal.interface.load.tensor");
}

static bool is_said_again(arena *a, MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  if (ir_is_null(op) || !mlirTypeIsARankedTensor(mlirValueGetType(v))) return false;
  if (ir_is(op, "tensor.insert_slice")) return true;
  const bool is_move =
      ir_is(op, "tensor.extract_slice") || ir_is(op, "tensor.expand_shape") || ir_is(op, "tensor.collapse_shape");
  return is_move && !is_place_in_memory(v) && pulled_is_from_memory(a, v);
}

static MlirValue say_again(arena *a, MlirValue v) {
  MlirType type = mlirValueGetType(v);
  const int rank = (int)mlirShapedTypeGetRank(type);
  ir_builder b = ir_builder_after(ir_defining_op(v), a), body;
  MlirValue empty = structured_empty(&b, rank, ir_dims(a, type), ir_element_type(type)), at[SHAPE_MAX_RANK];
  MlirAffineMap identity = structured_identity(b.context, rank);
  MlirOperation made = structured_begin(
      &b, &(structured_op){.output_count = 1, .outputs = &empty, .maps = &identity, .loop_count = rank}, &body);
  for (int d = 0; d < rank; d++) at[d] = structured_index(&body, d);
  MlirValue element = pulled_element(&body, v, at);
  structured_yield(&body, 1, &element);
  hold(made);
  return ir_result(made, 0);
}

// Once for all who read it: `said` has what was made, by tensor.
static MlirValue said_again(arena *a, ptr_map *said, MlirValue v) {
  MlirValue *made = ptr_map_get(said, v.ptr);
  if (made) return *made;
  made = arena_new(a, MlirValue);
  *made = say_again(a, v);
  ptr_map_put(a, said, v.ptr, made);
  return *made;
}

// --- who reads

static bool reads_elements(arena *a, MlirOperation op) {
  return ir_is(op, "linalg.generic") && ir_collect(a, op, "tensor.extract").size > 0;
}

static void convert_operands(arena *a, ptr_map *said, MlirOperation op) {
  const int inputs = tiling_output(op, 0);
  for (int k = 0; k < inputs; k++) {
    MlirValue x = ir_operand(op, k);
    if (is_said_again(a, x)) mlirOperationSetOperand(op, k, said_again(a, said, x));
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    if (!ir_is_null(producer) && structured_reduces(op) && reads_elements(a, producer)) hold(producer);
  }
}

// What a body asks for element by element.
static void convert_body(arena *a, MlirOperation op) {
  const ir_operations reads = ir_collect(a, op, "tensor.extract");
  for (int k = 0; k < reads.size; k++) {
    MlirValue from = ir_operand(reads.data[k], 0), at[SHAPE_MAX_RANK];
    MlirOperation producer = ir_defining_op(from);
    if (ir_is_null(producer) || is_place_in_memory(from) || !pulled_is_from_memory(a, from)) continue;
    for (int d = 1; d < mlirOperationGetNumOperands(reads.data[k]); d++) at[d - 1] = ir_operand(reads.data[k], d);
    ir_builder b = ir_builder_before(reads.data[k], a);
    MlirValue element = pulled_element(&b, from, at);
    ir_replace(reads.data[k], &element);
  }
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  ptr_map said = {0};
  for (int k = 0; k < all.size; k++) {
    if (!tiling_is_structured(all.data[k]) || mlirOperationGetNumResults(all.data[k]) == 0) continue;
    convert_operands(c->scratch, &said, all.data[k]);
    convert_body(c->scratch, all.data[k]);
  }
  return lower_tidy(context, unit);
}

// --- sizes

enum { HELD_BYTES = 128 << 10 };  // for one workgroup's tile: less than a second-level cache, and than a tile may have

static int64_t extent(MlirAffineExpr e, const int64_t *loops) {
  if (mlirAffineExprIsADim(e)) return loops[mlirAffineDimExprGetPosition(e)];
  if (!mlirAffineExprIsABinary(e)) return 1;
  MlirAffineExpr y = mlirAffineBinaryOpExprGetRHS(e);
  const int64_t x = extent(mlirAffineBinaryOpExprGetLHS(e), loops);
  if (mlirAffineExprIsAAdd(e)) return x + extent(y, loops) - 1;
  const int64_t c = mlirAffineExprIsAConstant(y) ? mlirAffineConstantExprGetValue(y) : 1;
  if (mlirAffineExprIsAMul(e)) return (x - 1) * c + 1;
  return mlirAffineExprIsAMod(e) ? (x < c ? x : c) : (x + c - 2) / c + 1;
}

// Bytes that are held for a tile of the operation of these sizes; `depth` ends it for whatever is not fused so deep.
static int64_t held_bytes(MlirOperation op, const int64_t *loops, int depth) {
  int64_t bytes = 0;
  for (int k = 0; k < tiling_output(op, 0) && depth > 0; k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    int64_t of_producer[TILING_MAX_LOOPS], elements = 1;
    bool is_reduction[TILING_MAX_LOOPS];
    if (ir_is_null(producer) || tiling_loops(producer, of_producer, is_reduction) < 0) continue;
    MlirAffineMap read = tiling_map(op, k);
    MlirAffineMap written =
        tiling_map(producer, tiling_output(producer, (int)mlirOpResultGetResultNumber(ir_operand(op, k))));
    for (int d = 0; d < mlirAffineMapGetNumResults(read); d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(written, d);
      const int64_t size = extent(mlirAffineMapGetResult(read, d), loops);
      elements *= size;
      if (mlirAffineExprIsADim(e)) of_producer[mlirAffineDimExprGetPosition(e)] = size;
    }
    if (by_tile_is_held(producer))
      bytes += elements * ((ir_bit_width(ir_element_type(ir_result_type(producer, 0))) + 7) / 8);
    bytes += held_bytes(producer, of_producer, depth - 1);
  }
  return bytes;
}

static int64_t held_by_tile(MlirOperation root, int count, const int64_t *trips, const int64_t *sizes) {
  int64_t loops[TILING_MAX_LOOPS];
  for (int k = 0; k < count; k++) loops[k] = sizes[k] > 0 ? sizes[k] : trips[k];
  return held_bytes(root, loops, 8);
}

static int64_t smaller_divisor(int64_t trips, int64_t size) {
  for (size--; size > 1 && trips % size != 0;) size--;
  return size;
}

// Each step takes the loop that makes most of the difference.
void by_tile_fit(MlirOperation root, int count, const int64_t *trips, int64_t *sizes) {
  int64_t held = held_by_tile(root, count, trips, sizes);
  for (int best = 0; held > HELD_BYTES && best >= 0;) {
    best = -1;
    for (int k = 0; k < count; k++) {
      if (sizes[k] <= 1) continue;
      const int64_t size = sizes[k];
      sizes[k] = smaller_divisor(trips[k], size);
      const int64_t less = held_by_tile(root, count, trips, sizes);
      sizes[k] = size;
      if (less >= held) continue;
      held = less;
      best = k;
    }
    if (best >= 0) sizes[best] = smaller_divisor(trips[best], sizes[best]);
  }
}

const pass tile_by_tile = {
    .name = "iree-codegen-moves-by-tile",
    .summary = "padded, joined, cut and turned arrays to operations whose tiles their readers' tiles need",
    .order_reason =
        "behind fusion, which would compute them for every use; before roots are chosen, as these come along",
    .use = PASS_IMPROVES,
    .run = run,
};
