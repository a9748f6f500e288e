#include "tile/stream_tiles.h"

#include <math.h>

#include <mlir-c/AffineExpr.h>

// --- dims

stream_frame stream_tiles_frame(const stream *s, int operand) {
  MlirAffineMap map = tiling_map(s->product, operand);
  stream_frame f = {.rank = (int)mlirAffineMapGetNumResults(map)};
  for (int d = 0; d < f.rank; d++) f.loops[d] = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, d));
  return f;
}

bool stream_tiles_has_loop(const stream_frame *f, int64_t loop) {
  bool any = false;
  for (int d = 0; d < f->rank; d++) any |= f->loops[d] == loop;
  return any;
}

stream_frame stream_tiles_without(const stream_frame *f, int64_t loop) {
  stream_frame out = {0};
  for (int d = 0; d < f->rank; d++)
    if (f->loops[d] != loop) out.loops[out.rank++] = f->loops[d];
  return out;
}

void stream_tiles_append(stream_frame *f, int64_t loop) { f->loops[f->rank++] = loop; }

// --- tensors and operations of tiles

MlirValue stream_tiles_empty(const stream *s, ir_builder *b, const stream_frame *f, MlirType element) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < f->rank; d++) dims[d] = s->block[f->loops[d]];
  return structured_empty(b, f->rank, dims, element);
}

MlirValue stream_tiles_fill(const stream *s, ir_builder *b, const stream_frame *f, double value) {
  return structured_fill(b, ir_float(b, s->number, value), stream_tiles_empty(s, b, f, s->number));
}

// tensor.extract_slice or tensor.parallel_insert_slice of the tile where it is.
MlirOperation stream_tiles_slice(const stream *s, ir_builder *b, const char *name, const stream_frame *f,
                                 const MlirValue *of, int of_count, MlirType result) {
  MlirValue at[SHAPE_MAX_RANK];
  int64_t offsets[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  structured_part part = {.rank = f->rank, .offsets = offsets, .sizes = sizes, .strides = strides, .at = at};
  for (int d = 0; d < f->rank; d++) {
    MlirValue offset = s->offsets[f->loops[d]];
    int64_t known = 0;
    const bool is_known = !offset.ptr || ir_constant_value(offset, &known);
    offsets[d] = is_known ? known : STRUCTURED_AT;
    if (!is_known) at[part.at_count++] = offset;
    sizes[d] = s->block[f->loops[d]];
    strides[d] = 1;
  }
  return structured_slice(b, name, &part, of_count, of, result);
}

MlirValue stream_tiles_at(const stream *s, ir_builder *b, const stream_frame *f, MlirValue v) {
  int64_t sizes[SHAPE_MAX_RANK];
  for (int d = 0; d < f->rank; d++) sizes[d] = s->block[f->loops[d]];
  MlirType type = mlirRankedTensorTypeGet(f->rank, sizes, ir_element_type(mlirValueGetType(v)), mlirAttributeGetNull());
  return ir_result(stream_tiles_slice(s, b, "tensor.extract_slice", f, &v, 1, type), 0);
}

// Where the loops `of` stand among the loops `in`.
static MlirAffineMap map_into(const stream *s, const stream_frame *of, const stream_frame *in) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < of->rank; d++)
    for (int k = 0; k < in->rank; k++)
      if (in->loops[k] == of->loops[d]) dims[d] = k;
  return structured_dims(s->context, in->rank, of->rank, dims);
}

// An operation whose loops are those of `space`; the last input is what it begins with. `arguments` are the elements,
// in the type of sums but for the last.
MlirOperation stream_tiles_begin(const stream *s, ir_builder *b, const stream_frame *space, int count,
                                 const stream_tiles_input *inputs, bool reduces, ir_builder *body,
                                 MlirValue *arguments) {
  MlirValue values[STREAM_TILES_INPUTS];
  MlirAffineMap maps[STREAM_TILES_INPUTS];
  bool is_reduction[SHAPE_MAX_RANK + 1] = {false};
  for (int k = 0; k < count; k++) {
    values[k] = inputs[k].value;
    maps[k] = map_into(s, &inputs[k].frame, space);
  }
  for (int k = 0; k < space->rank; k++)
    is_reduction[k] = reduces && !stream_tiles_has_loop(&inputs[count - 1].frame, space->loops[k]);
  const structured_op op = {.input_count = count - 1,
                            .inputs = values,
                            .output_count = 1,
                            .outputs = &values[count - 1],
                            .maps = maps,
                            .loop_count = space->rank,
                            .is_reduction = is_reduction};
  MlirOperation made = structured_begin(b, &op, body);
  for (int k = 0; k < count; k++) {
    MlirValue element = mlirBlockGetArgument(body->block, k);
    const bool is_narrow = mlirTypeIsAFloat(mlirValueGetType(element)) &&
                           ir_bit_width(mlirValueGetType(element)) < ir_bit_width(s->number);
    arguments[k] = is_narrow ? ir_cast(body, "arith.extf", s->number, element) : element;
  }
  return made;
}

MlirValue stream_tiles_end(ir_builder *body, MlirOperation made, MlirValue value) {
  structured_yield(body, 1, &value);
  return ir_result(made, 0);
}

// The largest score, or 0 while there is none.
MlirValue stream_tiles_shift(const stream *s, ir_builder *body, MlirValue largest) {
  MlirValue none = ir_cmpf(body, "oeq", largest, ir_float(body, s->number, -INFINITY));
  return ir_select(body, none, ir_float(body, s->number, 0), largest);
}
