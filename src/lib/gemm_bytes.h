// Products of signed bytes with sums of 32 bits on processors that multiply whole matrices of them (AMX), by oneDNN.
// Internal to gemm.
//
// oneDNN does so for matrices whose rows lie one after the other, no part of larger ones. So slabs of the right side,
// and what of the left one lies otherwise, are copied; that takes a tenth of the product's time.
#ifndef HEDDLE_LIB_GEMM_BYTES_H_
#define HEDDLE_LIB_GEMM_BYTES_H_

#include "lib/gemm_matrix.h"

// Whether a product of [rows, columns, depth] gains by it on this machine; loads oneDNN where it is asked.
bool gemm_bytes_takes(const int64_t size[static 3]);

// Rows and columns of a tile, of which a thread holds all of the depth.
void gemm_bytes_tile(const int64_t size[static 3], int64_t tile[static 2]);

// Bytes of scratch memory for a tile of so many rows and columns.
int64_t gemm_bytes_room(int64_t rows, int64_t columns, int64_t depth);

// Multiplies one tile on the calling thread, modulo 2^32. Elements of the sides are bytes. `size`: of the tile; the
// depth is the whole one. False when oneDNN has no memory.
bool gemm_bytes_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                        const gemm_sums *sums, void *scratch);

#endif
