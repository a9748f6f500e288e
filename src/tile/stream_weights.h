// The weights of a streamed softmax, where somebody beside the product wants them.
#ifndef HEDDLE_TILE_STREAM_WEIGHTS_H_
#define HEDDLE_TILE_STREAM_WEIGHTS_H_

#include "tile/stream_tiles.h"

// Notes that weights are stored, if `value` is: it is one between the quotient and the product, towards which `reader`
// reads it; `frame` is which of the product's loops its dims are.
void stream_weights_find(stream *s, MlirValue value, MlirOperation reader, const stream_frame *frame);

// The weights of the block of queries for all keys, in their place in `onto`: scores are computed once more, now that
// it is known what is subtracted from them and what divides (tiles of f->rows).
MlirValue stream_weights_tile(stream *s, ir_builder *b, const stream_frames *f, MlirValue scores, MlirValue subtracted,
                              MlirValue divisor, MlirValue onto);

#endif
