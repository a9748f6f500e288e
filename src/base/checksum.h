// A checksum that notices damage: fast enough to be taken of every byte that a program is loaded from. It is no
// protection against who wants to deceive.
#ifndef HEDDLE_BASE_CHECKSUM_H_
#define HEDDLE_BASE_CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>

// The same on all machines. Bytes that differ within one aligned word of eight alone (any flipped bit) always have
// different sums; others do but for one chance in 2^64 or so. Several GB/s on one core.
uint64_t checksum_of(const void *data, size_t size);

#endif
