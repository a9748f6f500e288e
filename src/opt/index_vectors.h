// The index operand of gather and scatter as a list of index vectors, which is what both canonical forms have.
#ifndef HEDDLE_OPT_INDEX_VECTORS_H_
#define HEDDLE_OPT_INDEX_VECTORS_H_

#include "hlo/builder.h"
#include "hlo/index_dims.h"

typedef struct index_vectors {
  instruction *vectors;  // [count, entries]
  int64_t count;
  int entries;
  int64_t *map;    // operand dim of each entry: the batching dims first
  int batch_rank;  // the dims of `count`, in order
  int64_t *batch_dims;
} index_vectors;

// Whether the indices are of that form already, with map 0, 1, 2, ...
bool index_vectors_are_canonical(const instruction *indices, const index_dims *d);
index_vectors index_vectors_make(const builder *b, instruction *indices, const index_dims *d);

// Of a single vector (count 1): where it starts along each of the operand's `rank` dims, as scalars of the indices'
// type.
void index_vectors_starts(const builder *b, const index_vectors *v, int rank, instruction **starts);

// permutation[k] = the dim that comes k-th when `first` come first and the rest follow in order.
void index_vectors_put_first(int rank, int count, const int64_t *first, int64_t *permutation);
// inverse[permutation[k]] = k
void index_vectors_invert(int rank, const int64_t *permutation, int64_t *inverse);
// 0, 1, 2, ... from `start` on, in the arena.
int_list index_vectors_count_up(arena *a, int64_t start, int count);

#endif
