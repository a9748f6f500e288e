// Eight lanes take the words in turn, so that eight multiplications are under way at once. A lane's step can be undone
// for any word (xor, multiplication by an odd number, rotation), and so can the steps that bring the lanes together:
// two inputs that differ in one word differ in that lane until the end.
#include "base/checksum.h"

#include <string.h>

enum { LANES = 8, BLOCK = 8 * LANES };

static const uint64_t factor = 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio, made odd

static uint64_t step(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * factor;
  return lane << 29 | lane >> 35;
}

static uint64_t word_at(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static void take_block(uint64_t *lanes, const unsigned char *block) {
  for (int k = 0; k < LANES; k++) lanes[k] = step(lanes[k], word_at(block + 8 * k));
}

uint64_t checksum_of(const void *data, size_t size) {
  uint64_t lanes[LANES];
  for (int k = 0; k < LANES; k++) lanes[k] = (uint64_t)(k + 1) * factor;
  const unsigned char *bytes = data;
  size_t left = size;
  for (; left >= BLOCK; left -= BLOCK, bytes += BLOCK) take_block(lanes, bytes);
  unsigned char rest[BLOCK] = {0};
  if (left) memcpy(rest, bytes, left);
  take_block(lanes, rest);
  uint64_t sum = size;
  for (int k = 0; k < LANES; k++) sum = step(sum, lanes[k] ^ lanes[k] >> 32);
  return sum ^ sum >> 32;
}
