// Multiplies f32 matrices of which the right one is used only a few dozen times, as a layer's weights are by a few rows
// of tokens: then reading it takes as long as multiplying. A right side that is the same in every call is packed once,
// for a few hundred rows, too. Internal to gemm.
//
// The left side is packed once for all threads (gemm_stream_pack). The right side is read from front to back, ahead of
// the multiplications and beside them. Every sum is added up term by term in the order of the depth, so that results
// depend neither on how columns are cut into tiles nor on the width of vectors.
#ifndef HEDDLE_LIB_GEMM_STREAM_H_
#define HEDDLE_LIB_GEMM_STREAM_H_

#include "lib/gemm_matrix.h"

enum { GEMM_STREAM_COLUMNS = 128 };  // a tile has whole groups of so many, but for the last one

// Whether products of these sizes (rows, columns, depth) are taken on this machine.
bool gemm_stream_takes(const int64_t size[static 3], bool transpose_rhs);

// Whether it pays to pack the right side once for all calls.
bool gemm_stream_keeps(const int64_t size[static 3]);

// Floats of the packed left side, and what each thread needs beside it, both to lie at multiples of 64 bytes.
int64_t gemm_stream_packed(const int64_t size[static 3], bool transpose_rhs);
int64_t gemm_stream_room(const int64_t size[static 3], bool transpose_rhs);

// The left side is packed in so many parts, each by any thread.
int64_t gemm_stream_parts(const int64_t size[static 3], bool transpose_rhs);
void gemm_stream_pack(const int64_t size[static 3], bool transpose_rhs, const gemm_matrix *lhs, int64_t part,
                      float *packed);

// The sums of `columns` columns and the terms `begin` to `end` of the depth. `size` is of the whole product, whose left
// side was packed; `rhs` and `sums` begin at the first column and at `begin`. Sums are not added to what is there.
typedef struct gemm_stream_tile {
  int64_t columns, begin, end;
} gemm_stream_tile;
void gemm_stream_product(const int64_t size[static 3], const gemm_stream_tile *tile, const float *packed,
                         const gemm_matrix *rhs, const gemm_sums *sums, float *room);

// A right side that is the same in every call is packed once: so many floats, at a multiple of 64 bytes, by groups of
// GEMM_STREAM_COLUMNS columns, each by any thread. Left sides are packed as for a right side that is not transposed.
int64_t gemm_stream_kept(const int64_t size[static 3]);
void gemm_stream_keep(const int64_t size[static 3], const gemm_matrix *rhs, int64_t group, float *kept);

// As gemm_stream_product, with the same bits; `kept` begins at the tile's first column, which a group begins with.
void gemm_stream_kept_product(const int64_t size[static 3], const gemm_stream_tile *tile, const float *packed,
                              const float *kept, const gemm_sums *sums, float *room);

#endif
