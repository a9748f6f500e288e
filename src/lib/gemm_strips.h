// Multiplies f32 matrices with AVX2 by a right side that is the same in every call: it is packed once, into strips of
// 32 columns, [strip][depth][32], the form of gemm_stream_keep. Internal to gemm.
//
// The left side is read where it lies. Every sum is added up term by term in the order of the depth, so that results do
// not depend on how the product is cut into tiles, nor on whether the right side is packed yet.
#ifndef HEDDLE_LIB_GEMM_STRIPS_H_
#define HEDDLE_LIB_GEMM_STRIPS_H_

#include "lib/gemm_matrix.h"

enum { GEMM_STRIPS_WIDTH = 32 };

// Whether this machine multiplies products of these sizes (rows, columns, depth) sooner so. False where it has AVX-512,
// for which there is gemm_stream.
bool gemm_strips_takes(const int64_t size[static 3]);

// Floats that a thread needs for a tile of so many rows, to lie at a multiple of 64 bytes.
int64_t gemm_strips_room(int64_t rows);

// Packs the columns `column` … `end` - 1, of which only the last ones are no whole strip, to their place in `kept`,
// which has the whole depth `depth` of each column.
void gemm_strips_keep(const gemm_matrix *rhs, int64_t depth, int64_t column, int64_t end, float *kept);

typedef struct gemm_strips_tile {
  int64_t rows, columns, depth;
  const float *lhs;    // the first row at the first term
  int64_t leading;     // from one row of it to the next
  const float *kept;   // packed columns from the first one and the first term on; null: `rhs` has them
  int64_t kept_depth;  // of all of their terms
  gemm_matrix rhs;     // from the first column and the first term on
} gemm_strips_tile;

// Sums are not added to what is there.
void gemm_strips_product(const gemm_strips_tile *tile, const gemm_sums *sums, float *room);

#endif
