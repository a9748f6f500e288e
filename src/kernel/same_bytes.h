// Finds what a value is before bitcasts, reshapes and copies: who computes it, and whose memory it could share.
#ifndef HEDDLE_KERNEL_SAME_BYTES_H_
#define HEDDLE_KERNEL_SAME_BYTES_H_

#include "hlo/module.h"

// Whether the instruction has its operand's elements, in the same order in memory: bitcast, reshape, copy.
bool same_bytes_kept(const instruction *i);

// The first instruction behind those that keep bytes; `i` itself if it is no such one.
const instruction *same_bytes_origin(const instruction *i);

// The instruction behind value `element` of `root`, elements of tuples looked through as well; *number is which of its
// values that is.
const instruction *same_bytes_writer(const instruction *root, int element, int *number);

#endif
