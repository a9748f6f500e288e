// Finds softmaxes whose weights are only there to be summed with: attention.
//
//   product[…] = sum over keys of weights[…, key] values[key, …]
//   weights    = exponential / sum of it along the keys, or the exponential alone
//   exponential = exp(scores - maximum of them along the keys)
//
// In place of the sum may stand a function of it, of the maximum and of other values of rows, and in place of the
// maximum one of that: so a score without a key takes part (an attention sink), a sum gets a term against zeros, and a
// maximum that is not finite is replaced.
//
// Such a product can take the keys block by block: of what came before it keeps the largest score, the sum and the
// product so far, and shrinks the latter two when a larger score comes (the online softmax of Milakov and Gimelshein,
// 2018; with the product, FlashAttention of Dao et al., 2022). So neither scores nor weights need memory of their size.
#ifndef HEDDLE_KERNEL_ONLINE_SOFTMAX_H_
#define HEDDLE_KERNEL_ONLINE_SOFTMAX_H_

#include "hlo/module.h"

// Queries, and keys, that a kernel takes at a time.
enum { ONLINE_SOFTMAX_BLOCK = 64 };
// The most queries of a block, and keys, for a workgroup of a grid.
enum { ONLINE_SOFTMAX_GRID_BLOCK = 16 };

// How many of `queries` a block has: as many, whole vectors if it is more than one, as all blocks take the least time
// with, of which the last one overlaps the one before it. `is_alone`: nothing else is dealt out, so that there are two
// blocks at the least, unless there is one query. *computed: how many queries that is like, the overlap and what each
// block takes beside its queries included.
int64_t online_softmax_queries(int64_t queries, bool is_alone, int64_t *computed);

// The same for a workgroup of a grid, which has little memory: how many of `queries`, a divisor, and how many of `keys`
// at a time, a divisor if there is one that is not much smaller. `features` of a query and of a value, together, of so
// many bytes each. False if too few fit, or divide.
bool online_softmax_grid_blocks(int64_t queries, int64_t keys, int64_t features, int64_t element_bytes, int64_t memory,
                                int64_t *queries_of_block, int64_t *keys_of_block);

enum { ONLINE_SOFTMAX_ROWS = 48 };  // how many operations may make what is subtracted and what divides

typedef struct online_softmax {
  const instruction *product;  // a dot
  int side;                    // its operand that the weights are
  int key_dim;                 // of the scores, and of all else that has their shape
  const instruction *weights;  // the quotient, or the exponential
  const instruction *scores, *maximum, *exponential;
  const instruction *sum;  // null: the weights are the exponential
  // What makes of the two reductions what is subtracted and what divides, all that depends on one of them.
  const instruction *rows[ONLINE_SOFTMAX_ROWS];
  int row_count;
} online_softmax;

// Whether the dot is such a product. Conversions between floats may stand anywhere, as excess precision allows, and so
// may reshapes that only add or take away dims of one element; transposes may stand in front of the product.
bool online_softmax_of(const instruction *dot, online_softmax *out);

// Whether an array of weights is such a softmax along one of its dims; *out has no product then.
bool online_softmax_of_weights(const instruction *weights, int key_dim, online_softmax *out);

#endif
