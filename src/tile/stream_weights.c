// Another loop over blocks of keys behind the one that sums. Weights go through memory only as the result that they
// are, and what is hidden is computed like the rest: its weights are 0 or NaN as in the program.
#include "tile/stream_weights.h"

#include "tile/structured.h"

// The use by whoever stores the value; null if nobody does, or others than `reader` read it as well.
static MlirOpOperand only_store(MlirValue value, MlirOperation reader) {
  MlirOpOperand found = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation by = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(by, reader)) continue;
    if (!mlirOpOperandIsNull(found) || !ir_is(by, "hal.interface.store.tensor")) return (MlirOpOperand){NULL};
    found = use;
  }
  return found;
}

void stream_weights_find(stream *s, MlirValue value, MlirOperation reader, const stream_frame *frame) {
  MlirOpOperand use = only_store(value, reader);
  if (!ir_is_null(s->weights_store) || mlirOpOperandIsNull(use) || stream_tiles_has_loop(frame, -1)) return;
  s->weights_store = mlirOpOperandGetOwner(use);
  s->of_returned = *frame;
}

// The block's part of the tile of all keys, or the tile with that part replaced.
static MlirOperation part_of(const stream *s, ir_builder *b, const char *name, const MlirValue *tensors, int count,
                             MlirType type) {
  int64_t offsets[SHAPE_MAX_RANK] = {0}, sizes[SHAPE_MAX_RANK] = {0}, strides[SHAPE_MAX_RANK] = {0};
  MlirValue at = s->offsets[s->key];
  structured_part part = {
      .rank = s->of_returned.rank, .offsets = offsets, .sizes = sizes, .strides = strides, .at = &at};
  for (int d = 0; d < part.rank; d++) {
    const int64_t loop = s->of_returned.loops[d];
    sizes[d] = s->block[loop];
    strides[d] = 1;
    if (loop != s->key || ir_constant_value(at, &offsets[d])) continue;
    offsets[d] = STRUCTURED_AT;
    part.at_count = 1;
  }
  return structured_slice(b, name, &part, count, tensors, type);
}

// Computed as the scores lie, along the queries, then turned to where they are to lie.
static MlirValue of_block(const stream *s, ir_builder *b, const stream_frames *f, MlirValue scores,
                          MlirValue subtracted, MlirValue divisor, MlirValue onto) {
  const stream_tiles_input inputs[] = {{stream_tiles_at(s, b, &f->scores, scores), f->scores},
                                       {subtracted, f->rows},
                                       {divisor, f->rows},
                                       {stream_tiles_empty(s, b, &f->scores, s->number), f->scores}};
  MlirValue x[4];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->scores, 4, inputs, false, &body, x);
  MlirValue value = ir_unary(&body, "math.exp", ir_binary(&body, "arith.subf", x[0], x[1]));
  value = stream_tiles_end(&body, made, ir_binary(&body, "arith.divf", value, x[2]));
  const stream_tiles_input moved[] = {{value, f->scores}, {onto, s->of_returned}};
  made = stream_tiles_begin(s, b, &s->of_returned, 2, moved, false, &body, x);
  MlirType wanted = ir_element_type(mlirValueGetType(onto));
  const bool is_narrow = ir_bit_width(wanted) < ir_bit_width(s->number);
  return stream_tiles_end(&body, made, is_narrow ? ir_cast(&body, "arith.truncf", wanted, x[0]) : x[0]);
}

// One block of keys, at s->offsets and of the size s->block.
static MlirValue with_block(stream *s, ir_builder *b, const stream_frames *f, MlirValue scores, MlirValue subtracted,
                            MlirValue divisor, MlirValue whole) {
  int64_t sizes[SHAPE_MAX_RANK];
  for (int d = 0; d < s->of_returned.rank; d++) sizes[d] = s->block[s->of_returned.loops[d]];
  MlirType of_whole = mlirValueGetType(whole);
  MlirType type =
      mlirRankedTensorTypeGet(s->of_returned.rank, sizes, ir_element_type(of_whole), mlirAttributeGetNull());
  MlirValue onto = ir_result(part_of(s, b, "tensor.extract_slice", &whole, 1, type), 0);
  MlirValue tile = of_block(s, b, f, scores, subtracted, divisor, onto);
  return ir_result(part_of(s, b, "tensor.insert_slice", (MlirValue[]){tile, whole}, 2, of_whole), 0);
}

MlirValue stream_weights_tile(stream *s, ir_builder *b, const stream_frames *f, MlirValue scores, MlirValue subtracted,
                              MlirValue divisor, MlirValue onto) {
  const int64_t keys = s->trips[s->key], block = s->block[s->key], whole = keys / block * block;
  MlirValue before = s->offsets[s->key];
  MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, whole), ir_index(b, block), 1, &onto);
  MlirBlock body = ir_body(loop, 0);
  ir_builder in = ir_builder_at_end(s->context, body, s->arena);
  s->offsets[s->key] = mlirBlockGetArgument(body, 0);
  MlirValue made = with_block(s, &in, f, scores, subtracted, divisor, mlirBlockGetArgument(body, 1));
  ir_yield(&in, 1, &made);
  MlirValue all = ir_result(loop, 0);
  if (whole < keys) {
    s->block[s->key] = keys - whole;
    s->offsets[s->key] = ir_index(b, whole);
    all = with_block(s, b, f, scores, subtracted, divisor, all);
    s->block[s->key] = block;
  }
  s->offsets[s->key] = before;
  return all;
}
