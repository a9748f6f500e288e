// Tiles of a streamed softmax: which part of an operand or result one is, and the operations that compute one.
#ifndef HEDDLE_TILE_STREAM_TILES_H_
#define HEDDLE_TILE_STREAM_TILES_H_

#include "base/target.h"
#include "dialect/tiling.h"
#include "tile/structured.h"

// An operand or result of tiles: its dims as the product's loops.
typedef struct stream_frame {
  int rank;
  int64_t loops[SHAPE_MAX_RANK];
} stream_frame;

typedef enum stream_role { ROLE_BATCH, ROLE_QUERY, ROLE_FEATURE, ROLE_KEY } stream_role;

// A value of each query, repeated for all keys, and the reduction along the keys that it is a function of, or nothing
// else than (is_bare).
typedef struct stream_row {
  MlirValue value;
  stream_frame frame;
  MlirOperation reduction;
  bool is_bare;
} stream_row;

typedef struct stream {
  arena *arena;
  MlirContext context;
  MlirOperation product;
  int weights;  // operand of the product; the other one are the values
  MlirValue scores;
  stream_frame of_scores;
  MlirOperation weights_store;  // where the weights are a result, too; null: they are not
  stream_frame of_returned;
  stream_row subtracted, divisor;  // a divisor without a value: the weights are the exponentials
  MlirValue largest, sums;         // of the block of queries that is being finished
  MlirType number;                 // of sums
  const target_description *grid;  // of workgroups, whose workitems the tiles are dealt out to; null: vectors
  int loops, key, query;
  int64_t trips[TILING_MAX_LOOPS];
  stream_role roles[TILING_MAX_LOOPS];
  int64_t block[TILING_MAX_LOOPS];      // size of a tile
  MlirValue offsets[TILING_MAX_LOOPS];  // of the tile that is being made; of features and, between blocks, keys: 0
} stream;

typedef struct stream_frames {
  stream_frame rows, scores, values, product, result;
} stream_frames;

typedef struct stream_tiles_input {
  MlirValue value;
  stream_frame frame;
} stream_tiles_input;

enum { STREAM_TILES_INPUTS = 9 };  // of one operation

// The dims of an operand of the product.
stream_frame stream_tiles_frame(const stream *s, int operand);
bool stream_tiles_has_loop(const stream_frame *f, int64_t loop);
stream_frame stream_tiles_without(const stream_frame *f, int64_t loop);
void stream_tiles_append(stream_frame *f, int64_t loop);

// Tensors of a tile's size.
MlirValue stream_tiles_empty(const stream *s, ir_builder *b, const stream_frame *f, MlirType element);
MlirValue stream_tiles_fill(const stream *s, ir_builder *b, const stream_frame *f, double value);

// tensor.extract_slice or tensor.parallel_insert_slice of the tile where it is (s->offsets); a null type: no result.
MlirOperation stream_tiles_slice(const stream *s, ir_builder *b, const char *name, const stream_frame *f,
                                 const MlirValue *of, int of_count, MlirType result);
MlirValue stream_tiles_at(const stream *s, ir_builder *b, const stream_frame *f, MlirValue v);

// An operation whose loops are those of `space`; the last input is what it begins with. `arguments` get the elements,
// in the type of sums. stream_tiles_end gives it its result.
MlirOperation stream_tiles_begin(const stream *s, ir_builder *b, const stream_frame *space, int count,
                                 const stream_tiles_input *inputs, bool reduces, ir_builder *body,
                                 MlirValue *arguments);
MlirValue stream_tiles_end(ir_builder *body, MlirOperation made, MlirValue value);

// What is subtracted from scores: the largest one, or 0 while there is none.
MlirValue stream_tiles_shift(const stream *s, ir_builder *body, MlirValue largest);

#endif
