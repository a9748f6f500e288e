// Changes MLIR bytecode inside of its sections: a small number becomes one near it, a stretch is cut, repeated or
// copied with the section's length corrected, so that the sections behind stay where the reader looks for them.
#include <stdbool.h>

#include "base/vec.h"
#include "fuzz/mutate.h"
#include "tools/split_mix.h"

enum { HEADER_BYTES = 4, IS_ALIGNED = 0x80, LONGEST_STRETCH = 16 };

typedef struct section {
  size_t length_at, begin, end;  // of its length's number, of its contents
} section;

typedef struct sections {
  arena *arena;
  VEC(section) all;
  uint64_t random;
} sections;

static size_t below(sections *s, size_t limit) { return limit > 0 ? split_mix_next(&s->random) % limit : 0; }

// MLIR's variable-width numbers: the trailing zeros of the first byte say how many bytes follow. 0 bytes: past the end.
static size_t number_size(const uint8_t *data, size_t size, size_t at) {
  if (at >= size) return 0;
  size_t bytes = data[at] == 0 ? 9 : 1 + (size_t)__builtin_ctz(data[at]);
  return at + bytes <= size ? bytes : 0;
}

static uint64_t number_at(const uint8_t *data, size_t at, size_t bytes) {
  uint64_t value = 0;
  if (bytes == 9) {
    memcpy(&value, data + at + 1, sizeof value);
    return value;
  }
  memcpy(&value, data + at, bytes < 8 ? bytes : 8);
  return value >> bytes;
}

// Keeps the width, so that nothing behind it moves; false if the value needs more.
static bool put_number(uint8_t *data, size_t at, size_t bytes, uint64_t value) {
  if (bytes == 9) {
    memcpy(data + at + 1, &value, sizeof value);
    return true;
  }
  if (bytes == 0 || (bytes * 7 < 64 && value >> (bytes * 7))) return false;
  value = (value << 1 | 1) << (bytes - 1);
  memcpy(data + at, &value, bytes);
  return true;
}

static void find_sections(sections *s, const uint8_t *data, size_t size) {
  size_t at = HEADER_BYTES;
  at += number_size(data, size, at);        // version
  while (at < size && data[at] != 0) at++;  // producer
  for (at++; at + 2 <= size;) {
    const bool is_aligned = data[at] & IS_ALIGNED;
    section found = {.length_at = at + 1};
    size_t bytes = number_size(data, size, at + 1), length = bytes ? number_at(data, at + 1, bytes) : size;
    at += 1 + bytes;
    if (is_aligned && at < size) {
      const size_t width = number_size(data, size, at), alignment = width ? number_at(data, at, width) : 0;
      at += width;
      while (alignment > 0 && alignment <= size && at % alignment != 0) at++;
    }
    if (bytes == 0 || at > size || length > size - at) return;
    found.begin = at;
    found.end = at += length;
    if (length > 0) vec_push(s->arena, &s->all, found);
  }
}

static void change_number(sections *s, const section *in, uint8_t *data, size_t size) {
  const size_t at = in->begin + below(s, in->end - in->begin), bytes = number_size(data, size, at);
  const uint64_t old = bytes ? number_at(data, at, bytes) : 0;
  const uint64_t near[] = {old + 1, old - 1, old + 2, old ^ 1, old / 2, below(s, 64), below(s, 256)};
  if (bytes > 1 && below(s, 2) && put_number(data, at, bytes, near[below(s, sizeof near / sizeof *near)])) return;
  const uint8_t steps[] = {2, 254, 4, 252, 1, 255};
  if (below(s, 4)) data[at] = (uint8_t)(data[at] + steps[below(s, sizeof steps)]);
  else data[at] ^= (uint8_t)(1 << below(s, 8));
}

// One stretch of the section goes or is put in front of another place, if the section's length still has room.
static size_t change_stretch(sections *s, const section *in, uint8_t *data, size_t size, size_t max_size) {
  const size_t length = in->end - in->begin, width = number_size(data, size, in->length_at);
  const size_t n = 1 + below(s, length < LONGEST_STRETCH ? length : LONGEST_STRETCH);
  const size_t from = in->begin + below(s, length - n + 1), to = in->begin + below(s, length);
  if (below(s, 2)) {
    if (!put_number(data, in->length_at, width, length - n)) return size;
    memmove(data + from, data + from + n, size - from - n);
    return size - n;
  }
  uint8_t copied[LONGEST_STRETCH];
  if (size + n > max_size || !put_number(data, in->length_at, width, length + n)) return size;
  memcpy(copied, data + from, n);
  memmove(data + to + n, data + to, size - to);
  memcpy(data + to, copied, n);
  return size + n;
}

size_t mutate_bytecode(uint8_t *data, size_t size, size_t max_size, uint64_t seed) {
  sections s = {.arena = arena_create(), .random = seed};
  find_sections(&s, data, size);
  if (s.all.size > 0) {
    const section *in = &s.all.data[below(&s, (size_t)s.all.size)];
    if (below(&s, 8)) change_number(&s, in, data, size);
    else size = change_stretch(&s, in, data, size, max_size);
  }
  arena_destroy(s.arena);
  return size;
}
