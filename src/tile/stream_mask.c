// A mask is looked for where scores are selected by it. What it leaves of a block is told by the block's corners, where
// it is made of positions (tile/position_bounds.h): a block of which it leaves none is passed over, if that changes
// nothing: the exponentials are 0 then, and the values, which 0 would be multiplied with, finite; one of which it
// leaves all is not masked. Another mask is computed, and passed over likewise.
#include "tile/stream_mask.h"

#include <math.h>

#include "tile/position_bounds.h"

// --- what is a mask

// The number that all elements of a tensor are; false if that is not known.
static bool number_of(MlirValue v, double *out) {
  for (MlirOperation op = ir_defining_op(v); !ir_is_null(op); op = ir_defining_op(ir_operand(op, 0))) {
    if (ir_is(op, "arith.constant")) {
      MlirAttribute value = ir_get(op, "value");
      const bool is_one = mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
      if (is_one) value = mlirDenseElementsAttrGetSplatValue(value);
      if (!mlirAttributeIsAFloat(value)) return false;
      *out = mlirFloatAttrGetValueDouble(value);
      return true;
    }
    if (!tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 2) return false;
  }
  return false;
}

static stream_mask mask_of_select(const stream *s, MlirOperation op) {
  stream_mask m = {0};
  if (ir_is_null(op) || !tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 4) return m;
  MlirValue shown = ir_operand(op, 0);
  const bool is_select = ir_collect(s->arena, op, "arith.select").size > 0 && ir_collect(s->arena, op, NULL).size == 4;
  const bool is_whole = mlirAffineMapEqual(tiling_map(op, 0), tiling_map(op, 3)) &&
                        mlirAffineMapEqual(tiling_map(op, 1), tiling_map(op, 3));
  if (is_select && is_whole && mlirTypeIsAInteger(ir_element_type(mlirValueGetType(shown))) &&
      number_of(ir_operand(op, 2), &m.hidden)) {
    m.shown = shown;
    m.unmasked = ir_operand(op, 1);
  }
  return m;
}

static MlirValue copied_like(ir_builder *b, MlirOperation copy, MlirValue v) {
  MlirType type = ir_result_type(copy, 0);
  MlirValue empty = structured_empty(b, (int)mlirShapedTypeGetRank(type), ir_dims(b->arena, type),
                                     ir_element_type(mlirValueGetType(v)));
  return ir_result(structured_copy(b, v, empty, tiling_map(copy, 0)), 0);
}

// Where scores are a copy of what is masked, with fewer dims, the mask is copied like them.
stream_mask stream_mask_of(const stream *s, MlirValue scores) {
  MlirOperation op = ir_defining_op(scores);
  const bool is_copy = !ir_is_null(op) && tiling_is_structured(op) && mlirOperationGetNumOperands(op) == 2 &&
                       ir_collect(s->arena, op, NULL).size == 2;
  if (!is_copy) return mask_of_select(s, op);
  stream_mask m = mask_of_select(s, ir_defining_op(ir_operand(op, 0)));
  if (!m.shown.ptr) return m;
  ir_builder b = ir_builder_after(op, s->arena);
  m.shown = copied_like(&b, op, m.shown);
  m.unmasked = copied_like(&b, op, m.unmasked);
  return m;
}

// --- whether a block changes anything

static const stream_frame no_dims;

// A byte that is 0 if all bytes are that `element` gives of each of `value`, whose dims are those of `f`.
static MlirValue any_of(const stream *s, ir_builder *b, const stream_frame *f, MlirValue value,
                        MlirValue (*element)(const stream *s, ir_builder *body, MlirValue x, double hidden),
                        double hidden) {
  MlirType byte = mlirIntegerTypeGet(s->context, 8);
  MlirValue none = structured_fill(b, ir_int(b, byte, 0), stream_tiles_empty(s, b, &no_dims, byte));
  const stream_tiles_input inputs[] = {{value, *f}, {none, no_dims}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, f, 2, inputs, true, &body, x);
  MlirValue any = stream_tiles_end(&body, made, ir_binary(&body, "arith.ori", x[1], element(s, &body, x[0], hidden)));
  return ir_value(b, "tensor.extract", byte, 1, &any);
}

static MlirValue is_zero(const stream *s, ir_builder *b, MlirValue byte) {
  return ir_cmpi(b, "eq", byte, ir_int(b, mlirIntegerTypeGet(s->context, 8), 0));
}

static MlirValue itself(const stream *s, ir_builder *body, MlirValue x, double hidden) {
  (void)s;
  (void)body;
  (void)hidden;
  return x;
}

static MlirValue as_byte(const stream *s, ir_builder *body, MlirValue condition) {
  return ir_cast(body, "arith.extui", mlirIntegerTypeGet(s->context, 8), condition);
}

// Whether exp(hidden - x) might be more than 0, or NaN: the smallest f32 is 2^-149, the smallest f64 2^-1074. As long
// as there is no score a finite hidden one may become the largest.
static MlirValue may_count(const stream *s, ir_builder *body, MlirValue x, double hidden) {
  const double least = ir_bit_width(s->number) > 32 ? -746 : -104;
  MlirValue largest = isinf(hidden) ? stream_tiles_shift(s, body, x) : x;
  MlirValue shifted = ir_binary(body, "arith.subf", ir_float(body, s->number, hidden), largest);
  return as_byte(s, body, ir_cmpf(body, "uge", shifted, ir_float(body, s->number, least)));
}

static MlirValue is_not_zero(const stream *s, ir_builder *body, MlirValue x, double hidden) {
  (void)hidden;
  return as_byte(s, body, ir_cmpf(body, "une", x, ir_float(body, s->number, 0)));
}

// Sums along the keys of the values less themselves: 0 if all are finite.
static MlirValue zeros_of(const stream *s, ir_builder *b, const stream_frames *f, MlirValue values,
                          stream_frame *rest) {
  *rest = stream_tiles_without(&f->values, s->key);
  stream_frame space = *rest;
  stream_tiles_append(&space, s->key);
  const stream_tiles_input inputs[] = {{values, f->values}, {stream_tiles_fill(s, b, rest, 0), *rest}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &space, 2, inputs, true, &body, x);
  MlirValue zero = ir_binary(&body, "arith.subf", x[0], x[0]);
  return stream_tiles_end(&body, made, ir_binary(&body, "arith.addf", x[1], zero));
}

static MlirValue shown_rows(const stream *s, ir_builder *b, const stream_frames *f, MlirValue shown) {
  MlirType byte = mlirIntegerTypeGet(s->context, 8);
  stream_frame space = stream_tiles_without(&f->scores, s->key);
  stream_tiles_append(&space, s->key);
  MlirValue none = structured_fill(b, ir_int(b, byte, 0), stream_tiles_empty(s, b, &f->rows, byte));
  const stream_tiles_input inputs[] = {{shown, f->scores}, {none, f->rows}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &space, 2, inputs, true, &body, x);
  return stream_tiles_end(&body, made, ir_binary(&body, "arith.ori", x[1], x[0]));
}

// i1: the mask hides the whole block.
static MlirValue hides_all(const stream *s, ir_builder *b, const stream_frames *f, const stream_mask *m) {
  MlirValue rows = shown_rows(s, b, f, stream_tiles_at(s, b, &f->scores, m->shown));
  return is_zero(s, b, any_of(s, b, &f->rows, rows, itself, 0));
}

// i1: the block changes nothing. What that depends on beside the mask is looked at only if the mask hides all of it.
static MlirValue changes_nothing(const stream *s, ir_builder *b, const stream_frames *f, const stream_mask *m,
                                 MlirValue all_hidden, MlirValue largest) {
  MlirType bit = mlirIntegerTypeGet(s->context, 1);
  MlirOperation branch = ir_if(b, all_hidden, 1, &bit);
  ir_builder in = ir_builder_at_end(s->context, ir_body(branch, 0), s->arena),
             otherwise = ir_builder_at_end(s->context, ir_body(branch, 1), s->arena);
  stream_frame rest;
  MlirValue values = stream_tiles_at(s, &in, &f->values, ir_operand(s->product, 1 - s->weights));
  MlirValue zeros = zeros_of(s, &in, f, values, &rest);
  MlirValue is_finite = is_zero(s, &in, any_of(s, &in, &rest, zeros, is_not_zero, 0));
  MlirValue is_nothing = is_zero(s, &in, any_of(s, &in, &f->rows, largest, may_count, m->hidden));
  ir_yield(&in, 1, (MlirValue[]){ir_binary(&in, "arith.andi", is_finite, is_nothing)});
  ir_yield(&otherwise, 1, (MlirValue[]){ir_int(&otherwise, bit, 0)});
  return ir_result(branch, 0);
}

// What a mask of positions leaves of the block; false if it is another mask.
static bool find_shown(const stream *s, ir_builder *b, const stream_frames *f, const stream_mask *m,
                       position_truth *out) {
  position_range dims[SHAPE_MAX_RANK];
  for (int d = 0; d < f->scores.rank; d++) {
    const int64_t loop = f->scores.loops[d], size = s->block[loop];
    MlirValue first = s->offsets[loop].ptr ? s->offsets[loop] : ir_index(b, 0);
    MlirValue last = size == 1 ? first : ir_binary(b, "arith.addi", first, ir_index(b, size - 1));
    dims[d] = (position_range){first, last, 0, s->trips[loop] - 1};
  }
  return position_bounds(b, m->shown, dims, out);
}

MlirValue stream_mask_hides(const stream *s, ir_builder *b, const stream_frames *f, stream_mask *m, MlirValue largest) {
  position_truth shown = {0};
  MlirValue all_hidden;
  if (find_shown(s, b, f, m, &shown)) m->hides_any = shown.may_be_false;
  if (shown.may_be_true.ptr)
    all_hidden = ir_cmpi(b, "eq", shown.may_be_true, ir_int(b, mlirIntegerTypeGet(s->context, 1), 0));
  else all_hidden = hides_all(s, b, f, m);
  return changes_nothing(s, b, f, m, all_hidden, largest);
}

MlirValue stream_mask_scores(const stream *s, ir_builder *b, const stream_frames *f, const stream_mask *m,
                             MlirValue scores) {
  if (!m->hides_any.ptr) return stream_tiles_at(s, b, &f->scores, scores);
  MlirValue block = stream_tiles_at(s, b, &f->scores, m->unmasked);
  MlirType type = mlirValueGetType(block), bit = mlirIntegerTypeGet(s->context, 1);
  MlirOperation branch = ir_if(b, m->hides_any, 1, &type);
  ir_builder masked = ir_builder_at_end(s->context, ir_body(branch, 0), s->arena),
             whole = ir_builder_at_end(s->context, ir_body(branch, 1), s->arena), body;
  MlirValue mask = stream_tiles_at(s, &masked, &f->scores, m->shown), x[2];
  const stream_tiles_input inputs[] = {{mask, f->scores}, {block, f->scores}};
  MlirOperation made = stream_tiles_begin(s, &masked, &f->scores, 2, inputs, false, &body, x);
  MlirValue shown = x[0], score = mlirBlockGetArgument(body.block, 1);
  if (!mlirTypeEqual(mlirValueGetType(shown), bit)) shown = ir_cast(&body, "arith.trunci", bit, shown);
  MlirValue hidden = ir_float(&body, mlirValueGetType(score), m->hidden);
  MlirValue result = stream_tiles_end(&body, made, ir_select(&body, shown, score, hidden));
  ir_yield(&masked, 1, &result);
  ir_yield(&whole, 1, &block);
  return ir_result(branch, 0);
}
