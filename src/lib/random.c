// Blocks of neighbouring counters are computed side by side in loops without branches, which compilers turn into vector
// instructions; on machines with AVX2 a second copy of the loops is used that was compiled for it.
#include "lib/random.h"

#include "base/cpu_level.h"
#include "base/int64.h"
#include "base/pool.h"
#include "lib/element.h"

// Counters computed at a time, and how many of those a thread takes at least.
enum { BATCH = 128, PHILOX_ROUNDS = 10 };

typedef struct generation {
  const lib_array *bits;
  uint64_t key, low, high;    // low: the counter, or its lower half
  int64_t total;              // elements
  int64_t size, half, inner;  // of the dim that ThreeFry splits
  bool is_double;
  bool has_avx2;
} generation;

// words[w][j]: word w of the block at counter + j.
typedef uint32_t batch_words[4][BATCH];

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

// Twenty rounds; a key word is added before the first and after every fourth.
INLINE void three_fry_batch(uint64_t key, uint64_t counter, batch_words out) {
  const uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bda};
  for (int j = 0; j < BATCH; j++) {
    uint32_t x = (uint32_t)(counter + (uint64_t)j) + k0, y = (uint32_t)((counter + (uint64_t)j) >> 32) + k1;
#define ROUND(by) x += y, y = rotate(y, by) ^ x
#define GROUP(a, b, c, d, n) \
  ROUND(a);                  \
  ROUND(b);                  \
  ROUND(c);                  \
  ROUND(d);                  \
  x += keys[((n) + 1) % 3];  \
  y += keys[((n) + 2) % 3] + (n) + 1
    GROUP(13, 15, 26, 6, 0);
    GROUP(17, 29, 16, 24, 1);
    GROUP(13, 15, 26, 6, 2);
    GROUP(17, 29, 16, 24, 3);
    GROUP(13, 15, 26, 6, 4);
#undef GROUP
#undef ROUND
    out[0][j] = x;
    out[1][j] = y;
  }
}

INLINE void philox_batch(uint64_t key, uint64_t low, uint64_t high, batch_words out) {
  for (int j = 0; j < BATCH; j++) {
    const uint64_t l = low + (uint64_t)j, h = high + (l < low);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t x0 = (uint32_t)l, x1 = (uint32_t)(l >> 32), x2 = (uint32_t)h, x3 = (uint32_t)(h >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
      const uint64_t p = (uint64_t)0xd2511f53 * x0, q = (uint64_t)0xcd9e8d57 * x2;
      x0 = (uint32_t)(q >> 32) ^ x1 ^ k0;
      x1 = (uint32_t)q;
      x2 = (uint32_t)(p >> 32) ^ x3 ^ k1;
      x3 = (uint32_t)p;
      k0 += 0x9e3779b9;
      k1 += 0xbb67ae85;
    }
    out[0][j] = x0;
    out[1][j] = x1;
    out[2][j] = x2;
    out[3][j] = x3;
  }
}

static void three_fry_plain(uint64_t key, uint64_t counter, batch_words out) { three_fry_batch(key, counter, out); }
static void philox_plain(uint64_t key, uint64_t low, uint64_t high, batch_words out) {
  philox_batch(key, low, high, out);
}

#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2")))
AVX2 static void three_fry_avx2(uint64_t key, uint64_t counter, batch_words out) { three_fry_batch(key, counter, out); }
AVX2 static void philox_avx2(uint64_t key, uint64_t low, uint64_t high, batch_words out) {
  philox_batch(key, low, high, out);
}
#else
#define three_fry_avx2 three_fry_plain
#define philox_avx2 philox_plain
static bool machine_has_avx2(void) { return false; }
#endif

static void three_fry(const generation *g, uint64_t counter, batch_words out) {
  (g->has_avx2 ? three_fry_avx2 : three_fry_plain)(g->key, counter, out);
}

// Block `number` of this generation and those after it.
static void philox(const generation *g, uint64_t number, batch_words out) {
  const uint64_t counter = g->low + number;
  (g->has_avx2 ? philox_avx2 : philox_plain)(g->key, counter, g->high + (counter < g->low), out);
}

// --- from words to elements

static void store(const generation *g, int64_t element, uint64_t word) { element_store(g->bits, element, word); }

// Blocks are numbered row-major over the shape with the split dim halved (rounded up); block b's two words lie next to
// each other along that dim, and an odd dim drops the last one.
static void store_three_fry(const generation *g, int64_t first, int64_t count, batch_words words) {
  uint32_t *numbers = g->bits->data;
  const bool is_dense = dtypes[g->bits->type].bits == 32 && g->inner > 1;
  int64_t in = first % g->inner, row = first / g->inner % g->half, outer = first / g->inner / g->half;
  for (int64_t j = 0; j < count;) {
    const int64_t run = int64_min(count - j, g->inner - in), at = (outer * g->size + 2 * row) * g->inner + in;
    const bool has_second = 2 * row + 1 < g->size;
    if (is_dense) {
      memcpy(numbers + at, &words[0][j], (size_t)run * sizeof *numbers);
      if (has_second) memcpy(numbers + at + g->inner, &words[1][j], (size_t)run * sizeof *numbers);
    } else {
      for (int64_t r = 0; r < run; r++) {
        store(g, at + r, words[0][j + r]);
        if (has_second) store(g, at + g->inner + r, words[1][j + r]);
      }
    }
    j += run;
    in = 0;
    if (++row == g->half) {
      row = 0;
      outer++;
    }
  }
}

// Words side by side in row-major order; `words_per_element` of them make one of 64 bits.
static void store_in_turn(const generation *g, int64_t first_word, int64_t count, int per_block, batch_words words) {
  if (dtypes[g->bits->type].bits == 32) {
    uint32_t *to = (uint32_t *)g->bits->data + first_word;
    const int64_t all = int64_min(count * per_block, g->total - first_word);
    int64_t done = 0;
    if (per_block == 2)
      for (; done + 2 <= all; done += 2) {
        to[done] = words[0][done / 2];
        to[done + 1] = words[1][done / 2];
      }
    for (; done + 4 <= all && per_block == 4; done += 4)
      for (int w = 0; w < 4; w++) to[done + w] = words[w][done / 4];
    for (; done < all; done++) to[done] = words[done % per_block][done / per_block];
    return;
  }
  const int step = g->is_double ? 2 : 1;
  for (int64_t j = 0; j < count; j++)
    for (int w = 0; w < per_block; w += step) {
      const int64_t element = (first_word + j * per_block + w) / step;
      if (element >= g->total) return;
      store(g, element, g->is_double ? words[w][j] | (uint64_t)words[w + 1][j] << 32 : words[w][j]);
    }
}

// --- batches

typedef struct work {
  const generation *generation;
  bool is_philox;
  int64_t blocks;
} work;

static void generate_batches(void *argument, int64_t begin, int64_t end) {
  const work *w = argument;
  const generation *g = w->generation;
  batch_words words;
  for (int64_t batch = begin; batch < end; batch++) {
    const int64_t first = batch * BATCH, count = int64_min(BATCH, w->blocks - first);
    if (w->is_philox) philox(g, (uint64_t)first, words);
    else three_fry(g, g->low + (uint64_t)first, words);
    if (w->is_philox) store_in_turn(g, 4 * first, count, 4, words);
    else if (g->is_double || (g->inner == 1 && g->size % 2 == 0)) store_in_turn(g, 2 * first, count, 2, words);
    else store_three_fry(g, first, count, words);
  }
}

// Fewer batches than this are done before another thread has woken up.
enum { PARALLEL_BATCHES = 64 };

static void generate(const generation *g, bool is_philox, int64_t blocks, int threads) {
  const work w = {g, is_philox, blocks};
  const int64_t batches = (blocks + BATCH - 1) / BATCH;
  if (element_is_shared(g->bits) || batches < PARALLEL_BATCHES) threads = 1;
  pool_run(threads, batches, generate_batches, (void *)(uintptr_t)&w);
}

// The dim that is cut in two halves so that one ThreeFry block gives an element to each: the first even one, else the
// largest.
static void find_split(generation *g) {
  const lib_array *a = g->bits;
  int split = 0;
  for (int d = 0; d < a->rank; d++) {
    if (a->dims[d] % 2 == 0) {
      split = d;
      break;
    }
    if (a->dims[d] > a->dims[split]) split = d;
  }
  g->size = a->rank ? a->dims[split] : 1;
  g->half = (g->size + 1) / 2;
  g->inner = 1;
  for (int d = split + 1; d < a->rank; d++) g->inner *= a->dims[d];
}

heddle_status random_bits_check(const lib_call *call) {
  const int64_t algorithm = lib_int(call, "algorithm", 0);
  bool fits = call->operand_count == 1 && call->result_count == 2 && call->operands[0].type == DTYPE_U64 &&
              call->results[0].type == DTYPE_U64 &&
              (algorithm == RANDOM_BITS_THREE_FRY || algorithm == RANDOM_BITS_PHILOX);
  const int64_t words = fits ? lib_element_count(&call->operands[0]) : 0;
  fits = fits && lib_element_count(&call->results[0]) == words && words >= 2 &&
         words <= (algorithm == RANDOM_BITS_PHILOX ? 3 : 2) &&
         (dtypes[call->results[1].type].class & (CLASS_INTEGER | CLASS_FLOAT));
  if (fits) return status_ok();
  return status_error(HEDDLE_INVALID, "random bits: a state of two words (Philox: or three) and numbers are wanted");
}

void random_bits_execute(const lib_call *call) {
  const lib_array *bits = &call->results[1];
  const uint64_t *state = call->operands[0].data;
  uint64_t *moved = call->results[0].data;
  const int64_t words = lib_element_count(&call->operands[0]);
  generation g = {.bits = bits, .key = state[0], .low = state[1], .total = lib_element_count(bits)};
  g.is_double = dtypes[bits->type].bits == 64;
  g.has_avx2 = cpu_level_has_avx2();
  g.high = words > 2 ? state[2] : state[0];  // two words: the key is the counter's upper half too
  memcpy(moved, state, (size_t)words * sizeof *moved);
  if (!g.total) return;
  if (lib_int(call, "algorithm", 0) == RANDOM_BITS_PHILOX) {
    const int64_t per_block = g.is_double ? 2 : 4, blocks = (g.total + per_block - 1) / per_block;
    generate(&g, true, blocks, call->threads);
    moved[1] += (uint64_t)blocks;
    if (words > 2 && moved[1] < g.low) moved[2]++;
    return;
  }
  find_split(&g);
  const int64_t blocks = g.is_double ? g.total : g.total / g.size * g.half;
  generate(&g, false, blocks, call->threads);
  moved[1] += (uint64_t)blocks;
}
