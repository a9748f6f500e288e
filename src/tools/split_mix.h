// Makes random bits for the modules and arguments that tools make up.
#ifndef HEDDLE_TOOLS_SPLIT_MIX_H_
#define HEDDLE_TOOLS_SPLIT_MIX_H_

#include <stdint.h>

// SplitMix64 (Steele, Lea and Flood, 2014): small, and the same everywhere.
static inline uint64_t split_mix_next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif
