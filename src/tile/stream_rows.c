// The program's own operations compute such a value: a slice of it pulls tiles of them behind the loop over keys, as
// far as the reductions, whose results the loop has.
#include "tile/stream_rows.h"

#include <mlir-c/AffineExpr.h>

#include "base/map.h"
#include "tile/structured.h"

// --- where they come from

static bool contains(arena *a, MlirOperation op, const char *name) { return ir_collect(a, op, name).size > 0; }

// What the elements are of, if they are only repeated, converted, or get other dims of one element.
static MlirValue unmoved(arena *a, MlirValue v) {
  for (MlirOperation op = ir_defining_op(v); !ir_is_null(op); op = ir_defining_op(v)) {
    if (!tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 2 || ir_is(op, "linalg.fill")) return v;
    const int inside = ir_collect(a, op, NULL).size - 1;  // without the operation itself
    const bool converts = contains(a, op, "arith.extf") || contains(a, op, "arith.truncf");
    if (inside != 1 + converts) return v;
    v = ir_operand(op, 0);
  }
  return v;
}

static bool is_reduction_of(const stream *s, MlirOperation op, const char *computes, MlirValue reduced) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  const int loops = tiling_loops(op, trips, is_reduction);
  int count = 0;
  for (int k = 0; k < loops; k++) count += is_reduction[k];
  return count == 1 && contains(s->arena, op, computes) &&
         mlirValueEqual(unmoved(s->arena, ir_operand(op, 0)), unmoved(s->arena, reduced));
}

// Each operation is looked at once.
static MlirOperation find_reduction(const stream *s, MlirValue value, const char *computes, MlirValue reduced) {
  ir_operations waiting = {0};
  ptr_map seen = {0};
  MlirOperation first = ir_defining_op(value);
  if (!ir_is_null(first)) vec_push(s->arena, &waiting, first);
  for (int n = 0; n < waiting.size; n++) {
    MlirOperation op = waiting.data[n];
    if (!tiling_is_structured(op)) continue;
    if (is_reduction_of(s, op, computes, reduced)) return op;
    for (int k = 0; k < mlirOperationGetNumOperands(op); k++) {
      MlirOperation from = ir_defining_op(ir_operand(op, k));
      if (ir_is_null(from) || ptr_map_has(&seen, from.ptr)) continue;
      ptr_map_put(s->arena, &seen, from.ptr, from.ptr);
      vec_push(s->arena, &waiting, from);
    }
  }
  return (MlirOperation){NULL};
}

stream_row stream_rows_find(const stream *s, MlirValue value, const stream_frame *frame, const char *computes,
                            MlirValue reduced) {
  stream_row row = {.value = value, .frame = *frame, .reduction = find_reduction(s, value, computes, reduced)};
  if (!ir_is_null(row.reduction)) row.is_bare = mlirValueEqual(unmoved(s->arena, value), ir_result(row.reduction, 0));
  return row;
}

// --- tiles of them

// The first key's: it is the same for all of them.
static MlirValue of_first_key(const stream *s, ir_builder *b, const stream_row *row, MlirType type) {
  MlirValue at[SHAPE_MAX_RANK];
  int64_t offsets[SHAPE_MAX_RANK] = {0}, strides[SHAPE_MAX_RANK];
  structured_part part = {
      .rank = row->frame.rank, .offsets = offsets, .sizes = ir_dims(b->arena, type), .strides = strides, .at = at};
  for (int d = 0; d < row->frame.rank; d++) {
    const int64_t loop = row->frame.loops[d];
    strides[d] = 1;
    if (loop < 0 || loop == s->key || ir_constant_value(s->offsets[loop], &offsets[d])) continue;
    offsets[d] = STRUCTURED_AT;
    at[part.at_count++] = s->offsets[loop];
  }
  return ir_result(structured_slice(b, "tensor.extract_slice", &part, 1, &row->value, type), 0);
}

// The same elements with a result's dims `to`: for each dim of `v` the one that it is, or -1 for dims of one element.
static MlirValue reshaped(const stream *s, ir_builder *b, MlirValue v, MlirValue to, const int *dims) {
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(to)),
            from = (int)mlirShapedTypeGetRank(mlirValueGetType(v));
  MlirAffineExpr exprs[SHAPE_MAX_RANK] = {{0}};
  for (int d = 0; d < from; d++)
    exprs[d] = dims[d] < 0 ? mlirAffineConstantExprGet(s->context, 0) : mlirAffineDimExprGet(s->context, dims[d]);
  MlirAffineMap maps[] = {mlirAffineMapGet(s->context, rank, 0, from, exprs), structured_identity(s->context, rank)};
  const structured_op op = {
      .input_count = 1, .inputs = &v, .output_count = 1, .outputs = &to, .maps = maps, .loop_count = rank};
  ir_builder body;
  MlirOperation made = structured_begin(b, &op, &body);
  MlirValue x = mlirBlockGetArgument(body.block, 0);
  MlirType wanted = ir_element_type(mlirValueGetType(to));
  const int bits = ir_bit_width(mlirValueGetType(x)), wanted_bits = ir_bit_width(wanted);
  if (bits < wanted_bits) x = ir_cast(&body, "arith.extf", wanted, x);
  else if (bits > wanted_bits) x = ir_cast(&body, "arith.truncf", wanted, x);
  structured_yield(&body, 1, &x);
  return ir_result(made, 0);
}

MlirValue stream_rows_at(stream *s, ir_builder *b, const stream_frames *f, const stream_row *row) {
  int64_t sizes[SHAPE_MAX_RANK];
  int dims[SHAPE_MAX_RANK] = {0};
  for (int d = 0; d < row->frame.rank; d++) {
    const int64_t loop = row->frame.loops[d];
    sizes[d] = loop < 0 || loop == s->key ? 1 : s->block[loop];
    dims[d] = -1;
    for (int k = 0; k < f->rows.rank; k++)
      if (f->rows.loops[k] == loop) dims[d] = k;
  }
  MlirType type = mlirRankedTensorTypeGet(row->frame.rank, sizes, ir_element_type(mlirValueGetType(row->value)),
                                          mlirAttributeGetNull());
  return reshaped(s, b, of_first_key(s, b, row, type), stream_tiles_empty(s, b, &f->rows, s->number), dims);
}

// Of all dims of a slice of rows only that of the queries has more than one element, as of the tile that takes its
// place, where it is the last.
bool stream_rows_replace(const stream *s, MlirOperation slice) {
  MlirOperation of = ir_defining_op(ir_operand(slice, 0));
  const bool is_largest = mlirOperationEqual(of, s->subtracted.reduction),
             is_sum = !ir_is_null(s->divisor.reduction) && mlirOperationEqual(of, s->divisor.reduction);
  MlirValue tile = is_largest ? s->largest : s->sums;
  if ((!is_largest && !is_sum) || !tile.ptr) return false;
  ir_builder b = ir_builder_before(slice, s->arena);
  MlirType type = ir_result_type(slice, 0);
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(tile));
  int dims[SHAPE_MAX_RANK] = {0};
  for (int d = 0; d < rank; d++) dims[d] = -1;
  for (int d = 0; d < mlirShapedTypeGetRank(type); d++)
    if (mlirShapedTypeGetDimSize(type, d) > 1) dims[rank - 1] = d;
  MlirValue made = reshaped(s, &b, tile, ir_value(&b, "tensor.empty", type, 0, NULL), dims);
  ir_replace(slice, &made);
  return true;
}
