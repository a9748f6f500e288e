// A fuzz target describes itself by one struct; driver.c makes a libFuzzer target of it.
#ifndef HEDDLE_FUZZ_TARGET_H_
#define HEDDLE_FUZZ_TARGET_H_

#include "fuzz/accepted.h"
#include "fuzz/mutate.h"

typedef struct fuzz_target {
  // Reads the input and ends the process if something that must hold of it does not. Whether it was accepted.
  bool (*check)(str input, accepted_depth depth);
  size_t (*mutate)(uint8_t *data, size_t size, size_t max_size, uint64_t seed);
  // Crosses two inputs; null if one of them is changed instead.
  size_t (*mutate_with)(uint8_t *data, size_t size, const uint8_t *other, size_t other_size, size_t max_size,
                        uint64_t seed);
} fuzz_target;

// Defined by each target.
extern const fuzz_target fuzz_this;

#endif
