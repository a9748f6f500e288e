// What a streamed softmax has one of for each query beside its largest score and the sum of exponentials: what the
// program subtracts from scores and divides by, which may be other functions of these two.
#ifndef HEDDLE_TILE_STREAM_ROWS_H_
#define HEDDLE_TILE_STREAM_ROWS_H_

#include "tile/stream_tiles.h"

// Finds what a value is a function of: the reduction along the keys that computes so ("arith.maximumf", "arith.addf")
// of what `reduced` holds. `frame` is that of the value, which is repeated for all keys.
stream_row stream_rows_find(const stream *s, MlirValue value, const stream_frame *frame, const char *computes,
                            MlirValue reduced);

// The value of a block of queries, computed where `b` stands, as a tile of f->rows. The reductions it comes from stay
// slices until stream_rows_replace gives them s->largest and s->sums.
MlirValue stream_rows_at(stream *s, ir_builder *b, const stream_frames *f, const stream_row *row);

// Whether the slice is one of those: what the block has takes its place, and it is erased.
bool stream_rows_replace(const stream *s, MlirOperation slice);

#endif
