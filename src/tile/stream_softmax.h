// The mark of a product whose weights are a softmax along what it sums over (kernel/online_softmax.h).
#ifndef HEDDLE_TILE_STREAM_SOFTMAX_H_
#define HEDDLE_TILE_STREAM_SOFTMAX_H_

// An attribute of the product: which of its operands the weights are.
#define TILE_ONLINE_SOFTMAX "iree.online_softmax"

#endif
