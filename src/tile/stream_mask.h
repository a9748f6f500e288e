// Masks of a streamed softmax: blocks that they hide are passed over, blocks that they show whole are not masked.
#ifndef HEDDLE_TILE_STREAM_MASK_H_
#define HEDDLE_TILE_STREAM_MASK_H_

#include "tile/stream_tiles.h"

typedef struct stream_mask {
  MlirValue shown;      // one byte for each score; null: there is no mask
  MlirValue unmasked;   // the scores before it
  double hidden;        // what scores are where it is false
  MlirValue hides_any;  // i1, whether it may hide any score of the block at hand; null: that is not known
} stream_mask;

// What masks the scores, whose dims are in the order of blocks.
stream_mask stream_mask_of(const stream *s, MlirValue scores);

// i1: the block at hand changes nothing, `largest` being the largest scores before it. Finds m->hides_any.
MlirValue stream_mask_hides(const stream *s, ir_builder *b, const stream_frames *f, stream_mask *m, MlirValue largest);

// The block's scores, behind stream_mask_hides; masked only if it may hide any.
MlirValue stream_mask_scores(const stream *s, ir_builder *b, const stream_frames *f, const stream_mask *m,
                             MlirValue scores);

#endif
