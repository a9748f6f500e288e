// Mixes numbers into a hash value, one after another.
#ifndef HEDDLE_BASE_HASH_H_
#define HEDDLE_BASE_HASH_H_

#include <stdint.h>

// The factor is 2^64 divided by the golden ratio, made odd: its multiples spread evenly, whatever the values have in
// common.
static inline uint64_t hash_mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

#endif
