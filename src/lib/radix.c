// Items that are compared as a whole, by one thread: in vectors where the machine has them (sort_lanes.h). Many items:
// counting sort by eight bits at a time, lowest first, each pass split over the threads; a pass whose items
// all agree is left out. Few items: short runs, then merging, which has no tables to clear; without a branch that
// depends on the items, which nobody could foresee, where they are compared as a whole.
#include "lib/radix.h"

#include <stdbool.h>
#include <string.h>

#include "base/pool.h"
#include "lib/sort_lanes.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, RUN = 16, SHORT_RUN = 8, MANY = 1024, MAX_STRANDS = 16 };

// Fewer items a thread than this are not worth waking it.
enum { STRAND_ITEMS = 32 << 10 };

// --- few

static inline __attribute__((always_inline)) uint64_t key_at(const char *items, int bytes, int64_t i) {
  if (bytes == 4) return ((const uint32_t *)(const void *)items)[i];
  if (bytes == 8) return ((const uint64_t *)(const void *)items)[i];
  return ((const radix_pair *)(const void *)items)[i].key;
}

static inline __attribute__((always_inline)) void copy_item(char *to, int64_t at, const char *from, int64_t i,
                                                            int bytes) {
  memcpy(to + at * bytes, from + i * bytes, (size_t)bytes);
}

static inline __attribute__((always_inline)) void insert(char *items, int bytes, int low, uint64_t mask, int64_t begin,
                                                         int64_t end) {
  for (int64_t i = begin + 1; i < end; i++) {
    char item[16];
    memcpy(item, items + i * bytes, (size_t)bytes);
    const uint64_t key = key_at(items, bytes, i) >> low & mask;
    int64_t at = i;
    for (; at > begin && (key_at(items, bytes, at - 1) >> low & mask) > key; at--)
      copy_item(items, at, items, at - 1, bytes);
    memcpy(items + at * bytes, item, (size_t)bytes);
  }
}

static inline __attribute__((always_inline)) void merge(const char *from, char *to, int bytes, int low, uint64_t mask,
                                                        const int64_t bounds[3]) {
  int64_t l = bounds[0], r = bounds[1];
  for (int64_t at = bounds[0]; at < bounds[2]; at++) {
    const bool takes_right = l == bounds[1] || (r < bounds[2] && (key_at(from, bytes, r) >> low & mask) <
                                                                     (key_at(from, bytes, l) >> low & mask));
    copy_item(to, at, from, takes_right ? r++ : l++, bytes);
  }
}

// Items of one integer that are compared as a whole. Runs come from Batcher's network.
#define SORT_WHOLE(name, type)                                                                          \
  static inline __attribute__((always_inline)) void name##_exchange(type *x, int i, int j) {            \
    const type a = x[i], b = x[j];                                                                      \
    x[i] = a < b ? a : b;                                                                               \
    x[j] = a < b ? b : a;                                                                               \
  }                                                                                                     \
  static void name##_run(type *x) {                                                                     \
    static const unsigned char pairs[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},    \
                                             {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},    \
                                             {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};                   \
    type y[SHORT_RUN];                                                                                  \
    memcpy(y, x, sizeof y);                                                                             \
    _Pragma("GCC unroll 19") for (int k = 0; k < 19; k++) name##_exchange(y, pairs[k][0], pairs[k][1]); \
    memcpy(x, y, sizeof y);                                                                             \
  }                                                                                                     \
  static void name##_merge(const type *from, type *to, const int64_t bounds[3]) {                       \
    const type *l = from + bounds[0], *r = from + bounds[1];                                            \
    const type *const l_end = r, *const r_end = from + bounds[2];                                       \
    to += bounds[0];                                                                                    \
    while (l < l_end && r < r_end) {                                                                    \
      const type a = *l, b = *r;                                                                        \
      const bool takes_right = b < a;                                                                   \
      *to++ = takes_right ? b : a;                                                                      \
      r += takes_right;                                                                                 \
      l += !takes_right;                                                                                \
    }                                                                                                   \
    memcpy(to, l, (size_t)(l_end - l) * sizeof(type));                                                  \
    memcpy(to + (l_end - l), r, (size_t)(r_end - r) * sizeof(type));                                    \
  }                                                                                                     \
  static type *name(type *items, type *spare, int64_t count) {                                          \
    type last[SHORT_RUN];                                                                               \
    const int64_t whole = count / SHORT_RUN * SHORT_RUN, rest = count - whole;                          \
    for (int64_t begin = 0; begin < whole; begin += SHORT_RUN) name##_run(items + begin);               \
    for (int k = 0; k < SHORT_RUN; k++) last[k] = k < rest ? items[whole + k] : (type) - 1;             \
    if (rest > 1) name##_run(last);                                                                     \
    memcpy(items + whole, last, (size_t)rest * sizeof(type));                                           \
    for (int64_t width = SHORT_RUN; width < count; width *= 2) {                                        \
      for (int64_t begin = 0; begin < count; begin += 2 * width) {                                      \
        const int64_t middle = begin + width < count ? begin + width : count;                           \
        const int64_t end = begin + 2 * width < count ? begin + 2 * width : count;                      \
        name##_merge(items, spare, (int64_t[]){begin, middle, end});                                    \
      }                                                                                                 \
      type *sorted = spare;                                                                             \
      spare = items;                                                                                    \
      items = sorted;                                                                                   \
    }                                                                                                   \
    return items;                                                                                       \
  }

SORT_WHOLE(sort_whole_u32, uint32_t)
SORT_WHOLE(sort_whole_u64, uint64_t)

// Whether the items' other bits ascend, so that items may be compared as a whole and equal keys keep their order.
static bool ascend_below(const uint64_t *items, int low, int64_t count) {
  const uint64_t mask = ((uint64_t)1 << low) - 1;
  bool ascend = true;
  for (int64_t i = 1; i < count; i++) ascend &= (items[i - 1] & mask) <= (items[i] & mask);
  return ascend;
}

static inline __attribute__((always_inline)) void *sort_few(int bytes, int low, uint64_t mask, char *items, char *spare,
                                                            int64_t count) {
  for (int64_t begin = 0; begin < count; begin += RUN)
    insert(items, bytes, low, mask, begin, begin + RUN < count ? begin + RUN : count);
  for (int64_t width = RUN; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      const int64_t middle = begin + width < count ? begin + width : count;
      const int64_t end = begin + 2 * width < count ? begin + 2 * width : count;
      merge(items, spare, bytes, low, mask, (int64_t[]){begin, middle, end});
    }
    char *sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

// --- many

typedef struct pass {
  int bytes, shift;
  uint64_t mask;
  const char *from;
  char *to;
  int64_t count;
  int strands;
  int64_t at[MAX_STRANDS][DIGITS];  // first counts, then where each strand's next item of a digit goes
} pass;

static int64_t strand_begin(const pass *p, int64_t strand) { return p->count / p->strands * strand; }

static int64_t strand_end(const pass *p, int64_t strand) {
  return strand + 1 == p->strands ? p->count : strand_begin(p, strand + 1);
}

static inline __attribute__((always_inline)) void count_strand(pass *p, int64_t strand, int bytes) {
  int64_t *counts = p->at[strand];
  const int64_t end = strand_end(p, strand);
  const char *from = p->from;  // copies: for all that the compiler knows, what is stored could be them
  const int shift = p->shift;
  const uint64_t mask = p->mask;
  memset(counts, 0, sizeof p->at[strand]);
  for (int64_t i = strand_begin(p, strand); i < end; i++) counts[key_at(from, bytes, i) >> shift & mask]++;
}

static inline __attribute__((always_inline)) void move_strand(pass *p, int64_t strand, int bytes) {
  int64_t *at = p->at[strand];
  const int64_t end = strand_end(p, strand);
  const char *from = p->from;
  char *to = p->to;
  const int shift = p->shift;
  const uint64_t mask = p->mask;
  for (int64_t i = strand_begin(p, strand); i < end; i++)
    copy_item(to, at[key_at(from, bytes, i) >> shift & mask]++, from, i, bytes);
}

static void count_strands(void *argument, int64_t begin, int64_t end) {
  pass *p = argument;
  for (int64_t strand = begin; strand < end; strand++) {
    if (p->bytes == 4) count_strand(p, strand, 4);
    else if (p->bytes == 8) count_strand(p, strand, 8);
    else count_strand(p, strand, 16);
  }
}

static void move_strands(void *argument, int64_t begin, int64_t end) {
  pass *p = argument;
  for (int64_t strand = begin; strand < end; strand++) {
    if (p->bytes == 4) move_strand(p, strand, 4);
    else if (p->bytes == 8) move_strand(p, strand, 8);
    else move_strand(p, strand, 16);
  }
}

// Counts become places. False if all items have the same digit.
static bool place_digits(pass *p) {
  int64_t next = 0;
  for (int digit = 0; digit < DIGITS; digit++) {
    const int64_t before = next;
    for (int strand = 0; strand < p->strands; strand++) {
      const int64_t count = p->at[strand][digit];
      p->at[strand][digit] = next;
      next += count;
    }
    if (next - before == p->count) return false;
  }
  return true;
}

static void *sort_many(int bytes, int low, int high, void *items, void *spare, int64_t count, int threads) {
  pass p;  // all but its tables, which are large
  p.bytes = bytes;
  p.count = count;
  const int64_t most = count / STRAND_ITEMS + 1;
  p.strands = most < threads ? (int)most : threads;
  if (p.strands > MAX_STRANDS) p.strands = MAX_STRANDS;
  if (p.strands < 1) p.strands = 1;
  for (int bit = low; bit < high; bit += DIGIT_BITS) {
    p.shift = bit;
    p.mask = high - bit < DIGIT_BITS ? ((uint64_t)1 << (high - bit)) - 1 : DIGITS - 1;
    p.from = items;
    p.to = spare;
    pool_run(p.strands, p.strands, count_strands, &p);
    if (!place_digits(&p)) continue;
    pool_run(p.strands, p.strands, move_strands, &p);
    void *sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

void *radix_sort(int item_bytes, int low, int high, void *items, void *spare, int64_t count, int threads) {
  const bool is_whole = low == 0 ? item_bytes <= 8 : item_bytes == 8 && low == 32 && high == 64;
  const bool is_one_strand = threads <= 1 || count < 2 * STRAND_ITEMS;
  if (is_whole && is_one_strand && (low == 0 || ascend_below(items, low, count)) &&
      sort_lanes_run(item_bytes, items, spare, count))
    return items;
  if (count >= MANY) return sort_many(item_bytes, low, high, items, spare, count, threads);
  const uint64_t mask = high - low < 64 ? ((uint64_t)1 << (high - low)) - 1 : ~(uint64_t)0;
  if (item_bytes == 4 && low == 0) return sort_whole_u32(items, spare, count);
  if (item_bytes == 8 && low == 0) return sort_whole_u64(items, spare, count);
  if (item_bytes == 8 && low == 32 && high == 64 && ascend_below(items, low, count))
    return sort_whole_u64(items, spare, count);
  if (item_bytes == 4) return sort_few(4, low, mask, items, spare, count);
  if (item_bytes == 8) return sort_few(8, low, mask, items, spare, count);
  return sort_few(16, low, mask, items, spare, count);
}
