// Reductions with any reducer, along dims or over windows. The init values are where a sum begins (linalg.fill); the
// reducer is the body. Sums and products of floats narrower than f32 accumulate in f32, as the emitters' do.
#include <mlir-c/AffineExpr.h>

#include "emit/elemental.h"
#include "hlo/combiner.h"
#include "kernel/hero_tiles.h"
#include "kernel/reducer.h"
#include "tile/linalg.h"
#include "tile/structured.h"

typedef struct reduction {
  const instruction *i;
  int count;            // values: half of the operands
  const shape *result;  // of the first value; all have its dims
  MlirValue *inputs;    // count of them, then `extra`
  int extra;            // operands that only tell how far loops go
  MlirAffineMap *maps;  // of inputs, extra, outputs
  int loop_count;
  bool is_reduction[2 * SHAPE_MAX_RANK];
  MlirValue *inits;  // scalars, as accumulators are stored
  bool asks;         // whether a point is an element: it may be one of a window that lies beside its array
} reduction;

static dtype value_dtype(const reduction *r, int value) { return r->i->operands[value]->shape->dtype; }

// Null if the reducer computes in its own types.
static const char *wide_operation(const reduction *r) {
  if (r->count != 1 || dtype_accumulator(value_dtype(r, 0)) == value_dtype(r, 0)) return NULL;
  const hlo_opcode op = combiner_opcode(r->i->called[0]);
  return op < HLO_OPCODE_COUNT ? emit_ops[op].on_float.op : NULL;
}

// Where nothing is reduced each element is computed from the init value itself: an operation that reads its own output
// must not be fused as if it did not.
static MlirValue accumulator(const reduction *r, const ir_builder *body, int k) {
  bool reduces = false;
  for (int d = 0; d < r->loop_count; d++) reduces |= r->is_reduction[d];
  return reduces ? mlirBlockGetArgument(body->block, r->count + r->extra + k) : r->inits[k];
}

// Whether the window is at an element of the array; null if it always is.
static MlirValue meets_array(ir_builder *body, const instruction *i) {
  const window *w = &i->attributes->window;
  const shape *from = i->operands[0]->shape;
  const int rank = from->rank;
  const shape *result = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
  MlirValue all = {NULL};
  for (int d = 0; d < rank; d++)
    all = linalg_and(body, all, linalg_meets_element(body, &w->dims[d], from->dims[d], result->dims[d], d, rank + d));
  return all;
}

// What a point beside the array would have combined is not taken.
static void keep_beside(ir_builder *body, const reduction *r, MlirValue *combined) {
  MlirValue meets = r->asks ? meets_array(body, r->i) : (MlirValue){NULL};
  for (int k = 0; k < r->count && !mlirValueIsNull(meets); k++) {
    MlirValue operands[] = {meets, combined[k], accumulator(r, body, k)};
    combined[k] = ir_value(body, "arith.select", mlirValueGetType(combined[k]), 3, operands);
  }
}

static heddle_status combine(linalg_emitter *e, const reduction *r, ir_builder *body, const char *wide,
                             MlirValue *combined) {
  MlirValue *values = arena_array(e->arena, MlirValue, 2 * r->count);  // accumulators, then elements
  for (int k = 0; k < r->count; k++) {
    values[k] = linalg_element(body, accumulator(r, body, k), value_dtype(r, k));
    values[r->count + k] = linalg_element(body, mlirBlockGetArgument(body->block, k), value_dtype(r, k));
  }
  if (!wide) {
    TRY(linalg_emit_scalars(e, body, r->i->called[0], values, combined));
    for (int k = 0; k < r->count; k++) combined[k] = linalg_stored(body, combined[k], value_dtype(r, k));
    return status_ok();
  }
  *combined = ir_binary(body, wide, values[0], emit_convert(body, values[1], value_dtype(r, 0), DTYPE_F32));
  return status_ok();
}

static heddle_status build_reduction(linalg_emitter *e, reduction *r, MlirValue *out) {
  const char *wide = wide_operation(r);
  r->inits = arena_array(e->arena, MlirValue, r->count);
  MlirValue *inits = arena_array(e->arena, MlirValue, r->count), *combined = arena_array(e->arena, MlirValue, r->count);
  for (int k = 0; k < r->count; k++) {
    const dtype t = value_dtype(r, k);
    MlirValue init = linalg_scalar(e, linalg_operand(e, r->i, r->count + k));
    if (wide) init = emit_convert(&e->b, init, t, DTYPE_F32);
    MlirValue empty = structured_empty(&e->b, r->result->rank, r->result->dims, mlirValueGetType(init));
    r->inits[k] = init;
    inits[k] = structured_fill(&e->b, init, empty);
  }
  const structured_op op = {.input_count = r->count + r->extra,
                            .inputs = r->inputs,
                            .output_count = r->count,
                            .outputs = inits,
                            .maps = r->maps,
                            .loop_count = r->loop_count,
                            .is_reduction = r->is_reduction};
  ir_builder body;
  MlirOperation made = structured_begin(&e->b, &op, &body);
  TRY(combine(e, r, &body, wide, combined));
  keep_beside(&body, r, combined);
  structured_yield(&body, r->count, combined);
  for (int k = 0; k < r->count; k++) {
    out[k] = ir_result(made, k);
    if (wide) out[k] = linalg_converted(e, out[k], r->result, DTYPE_F32, value_dtype(r, k));
  }
  return status_ok();
}

static reduction begin(linalg_emitter *e, const instruction *i, int extra) {
  const int count = i->operand_count / 2;
  return (reduction){.i = i,
                     .count = count,
                     .result = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape,
                     .inputs = arena_array(e->arena, MlirValue, count + extra),
                     .extra = extra,
                     .maps = arena_array(e->arena, MlirAffineMap, 2 * count + extra)};
}

heddle_status linalg_reduce(linalg_emitter *e, const instruction *i, MlirValue *out) {
  reduction r = begin(e, i, 0);
  const int rank = i->operands[0]->shape->rank;
  int64_t kept[SHAPE_MAX_RANK];
  int kept_count = 0;
  r.loop_count = rank;
  for (int d = 0; d < rank; d++) {
    r.is_reduction[d] = int_list_has(i->attributes->dimensions, d);
    if (!r.is_reduction[d]) kept[kept_count++] = d;
  }
  for (int k = 0; k < r.count; k++) {
    r.inputs[k] = linalg_operand(e, i, k);
    r.maps[k] = structured_identity(e->b.context, rank);
    r.maps[r.count + k] = structured_dims(e->b.context, rank, kept_count, kept);
  }
  return build_reduction(e, &r, out);
}

// --- windows

static bool begins_with(const instruction *init, double number) {
  return reducer_knows(init) && !dtype_is_complex(init->shape->dtype) && literal_get_double(init->literal, 0) == number;
}

// Whether a sum, or whatever it is, stays the same if the init value is combined with it again, as often as may be: so
// it is no matter then what lies beside the array.
static bool init_is_harmless(const instruction *i) {
  if (i->operand_count != 2) return false;
  switch (combiner_opcode(i->called[0])) {
    case HLO_ADD: return begins_with(i->operands[1], 0);
    case HLO_AND: return true;
    case HLO_MAXIMUM: return true;
    case HLO_MINIMUM: return true;
    case HLO_MULTIPLY: return begins_with(i->operands[1], 1);
    case HLO_OR: return true;
    case HLO_XOR: return begins_with(i->operands[1], 0);
    default: return false;
  }
}

static MlirValue padded_operand(linalg_emitter *e, const instruction *i, int k, int count) {
  const window *w = &i->attributes->window;
  MlirValue x = linalg_operand(e, i, k);
  if (!hero_tiles_pads(w)) return x;
  return linalg_windowed(e, x, i->operands[k]->shape, w, NULL, linalg_scalar(e, linalg_operand(e, i, count + k)));
}

// Loops: the result's dims, then the window's. No array has the window's dims; an empty one says how large they are, as
// in linalg's own pooling operations.
heddle_status linalg_reduce_window(linalg_emitter *e, const instruction *i, MlirValue *out) {
  reduction r = begin(e, i, 1);
  const window *w = &i->attributes->window;
  const int rank = r.result->rank;
  MlirContext context = e->b.context;
  MlirAffineExpr at[SHAPE_MAX_RANK];
  int64_t own[SHAPE_MAX_RANK], window_dims[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK];
  r.loop_count = 2 * rank;
  r.asks = hero_tiles_pads(w) && !init_is_harmless(i);
  for (int d = 0; d < rank; d++) {
    MlirAffineExpr outer = mlirAffineDimExprGet(context, d), inner = mlirAffineDimExprGet(context, rank + d);
    at[d] = mlirAffineAddExprGet(
        mlirAffineMulExprGet(outer, mlirAffineConstantExprGet(context, w->dims[d].stride)),
        mlirAffineMulExprGet(inner, mlirAffineConstantExprGet(context, w->dims[d].window_dilation)));
    own[d] = d;
    window_dims[d] = rank + d;
    sizes[d] = w->dims[d].size;
    r.is_reduction[rank + d] = true;
  }
  for (int k = 0; k < r.count; k++) {
    r.inputs[k] = padded_operand(e, i, k, r.count);
    r.maps[k] = mlirAffineMapGet(context, r.loop_count, 0, rank, at);
    r.maps[r.count + 1 + k] = structured_dims(context, r.loop_count, rank, own);
  }
  r.inputs[r.count] = structured_empty(&e->b, rank, sizes, linalg_element_type(context, value_dtype(&r, 0)));
  r.maps[r.count] = structured_dims(context, r.loop_count, rank, window_dims);
  return build_reduction(e, &r, out);
}
