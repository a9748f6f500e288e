// libFuzzer's side of every target: inputs go to its check, changes come from its mutator, and the end of the run says
// how many of the inputs were accepted.
//
// HEDDLE_FUZZ_DEEP=N sends every N-th accepted input (by its hash, so that a finding comes back) through the other
// formats and the passes, and every COMPILED_EVERY-th of those through the compiler; 0 or nothing: none of them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/target.h"

// One change in so many is libFuzzer's own, of bytes: what no mutator of ours would write must be refused, too.
enum { BYTES_EVERY = 16, LONGEST_INPUT = 1 << 16 };
// Of the inputs that are refused in a new way one in so many is kept to be changed further: each further change of such
// a text is refused at the same place, while those of an accepted one get behind it.
enum { REFUSED_EVERY = 16 };
// A compilation takes as long as some hundred inputs that are only read.
enum { COMPILED_EVERY = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size, uint8_t *out,
                                 size_t max_size, unsigned seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct {
  long inputs, accepted, through, compiled;
  uint64_t deep_every;
} counts;

static void report(void) {
  fprintf(stderr, "accepted: %ld of %ld inputs, %ld sent through formats and passes, %ld compiled\n", counts.accepted,
          counts.inputs, counts.through, counts.compiled);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  const char *every = getenv("HEDDLE_FUZZ_DEEP");
  counts.deep_every = every ? strtoull(every, NULL, 10) : 0;
  return atexit(report);
}

static accepted_depth depth_of(str input) {
  const uint64_t hash = str_hash(input);
  if (counts.deep_every == 0 || hash % counts.deep_every != 0) return ACCEPTED_PRINTED;
  return hash / counts.deep_every % COMPILED_EVERY == 0 ? ACCEPTED_COMPILED : ACCEPTED_THROUGH;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > LONGEST_INPUT) return 0;
  const str input = {(const char *)data, size};
  const accepted_depth depth = depth_of(input);
  const bool is_accepted = fuzz_this.check(input, depth);
  counts.inputs++;
  counts.accepted += is_accepted;
  counts.through += is_accepted && depth >= ACCEPTED_THROUGH;
  counts.compiled += is_accepted && depth >= ACCEPTED_COMPILED;
  return is_accepted || str_hash(input) % REFUSED_EVERY == 0 ? 0 : -1;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  if (seed % BYTES_EVERY == 0 || size == 0) return LLVMFuzzerMutate(data, size, max_size);
  return fuzz_this.mutate(data, size, max_size, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size, uint8_t *out,
                                 size_t max_size, unsigned seed) {
  if (one_size > max_size) return 0;
  memcpy(out, one, one_size);
  if (fuzz_this.mutate_with) return fuzz_this.mutate_with(out, one_size, two, two_size, max_size, seed);
  return fuzz_this.mutate(out, one_size, max_size, seed);
}
