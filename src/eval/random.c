// rng-bit-generator: the counter-based generators ThreeFry-2x32 and Philox-4x32, bit for bit as XLA lays their words
// out.
//
// The state is a key in its first 64-bit word and a counter in the rest; the new state has the counter moved on by the
// number of blocks used. Results of 8 and 16 bits are the low bits of 32-bit words.
#include "eval/interpreter.h"

enum { PHILOX_ROUNDS = 10 };

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

// Twenty rounds; a key word is added before the first and after every fourth.
static void three_fry(uint64_t key, uint64_t counter, uint32_t out[2]) {
  static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bda};
  uint32_t x = (uint32_t)counter + k0, y = (uint32_t)(counter >> 32) + k1;
  for (uint32_t group = 0; group < 5; group++) {
    for (int r = 0; r < 4; r++) {
      x += y;
      y = rotate(y, rotations[group & 1][r]) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  out[0] = x;
  out[1] = y;
}

static void philox(uint64_t key, uint64_t low, uint64_t high, uint32_t out[4]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t x[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    const uint64_t p = (uint64_t)0xd2511f53 * x[0], q = (uint64_t)0xcd9e8d57 * x[2];
    const uint32_t next[4] = {(uint32_t)(q >> 32) ^ x[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ x[3] ^ k1,
                              (uint32_t)p};
    memcpy(x, next, sizeof x);
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  memcpy(out, x, sizeof x);
}

// The word's low bits as they are, of floats too.
static void store_word(value *v, int64_t index, uint64_t word) {
  const dtype_info *t = &dtypes[v->shape->dtype];
  if (t->class == CLASS_FLOAT) {
    if (t->bits < 8) word &= ((uint64_t)1 << t->bits) - 1;
    memcpy((char *)v->data + index * t->bytes, &word, (size_t)t->bytes);  // the host is little-endian
    return;
  }
  literal view = {.shape = v->shape, .data = v->data};
  literal_set_int(&view, index, (int64_t)word);
}

// The dim that is cut in two halves so that one ThreeFry block gives an element to each: the first even one, else the
// largest.
static int split_dim(const shape *s) {
  int largest = 0;
  for (int d = 0; d < s->rank; d++) {
    if (s->dims[d] % 2 == 0) return d;
    if (s->dims[d] > s->dims[largest]) largest = d;
  }
  return largest;
}

// Blocks are numbered row-major over the shape with the split dim halved (rounded up); block b's two words lie next to
// each other along that dim, and an odd dim drops the last one. Returns the number of blocks.
static uint64_t three_fry_words(uint64_t key, uint64_t counter, value *bits) {
  const shape *s = bits->shape;
  const int64_t total = shape_element_count(s);
  const int split = split_dim(s);
  const int64_t size = s->rank ? s->dims[split] : 1, half = (size + 1) / 2;
  int64_t inner = 1;
  for (int d = split + 1; d < s->rank; d++) inner *= s->dims[d];
  for (int64_t k = 0; k < total; k++) {
    const int64_t outer = k / (size * inner), along = k / inner % size;
    const int64_t block = (outer * half + along / 2) * inner + k % inner;
    uint32_t words[2];
    three_fry(key, counter + (uint64_t)block, words);
    store_word(bits, k, words[along % 2]);
  }
  return total ? (uint64_t)(total / size * half) : 0;
}

static uint64_t three_fry_double_words(uint64_t key, uint64_t counter, value *bits) {
  const int64_t total = shape_element_count(bits->shape);
  for (int64_t k = 0; k < total; k++) {
    uint32_t words[2];
    three_fry(key, counter + (uint64_t)k, words);
    store_word(bits, k, words[0] | (uint64_t)words[1] << 32);
  }
  return (uint64_t)total;
}

// Four words of 32 bits a block, in row-major order.
static uint64_t philox_words(uint64_t key, uint64_t low, uint64_t high, value *bits) {
  const bool is_double = dtypes[bits->shape->dtype].bits == 64;
  const int64_t total = shape_element_count(bits->shape), per_block = is_double ? 2 : 4;
  for (int64_t k = 0; k < total; k++) {
    const uint64_t counter = low + (uint64_t)(k / per_block);
    uint32_t x[4];
    philox(key, counter, high + (counter < low), x);
    const int64_t at = k % per_block;
    store_word(bits, k, is_double ? x[2 * at] | (uint64_t)x[2 * at + 1] << 32 : x[at]);
  }
  return (uint64_t)((total + per_block - 1) / per_block);
}

static void generate(random_algorithm algorithm, const uint64_t *state, int64_t words, value *new_state, value *bits) {
  uint64_t *moved = new_state->data;
  memcpy(moved, state, (size_t)words * sizeof *state);
  if (algorithm == RANDOM_THREE_FRY) {
    const bool is_double = dtypes[bits->shape->dtype].bits == 64;
    moved[1] += (is_double ? three_fry_double_words : three_fry_words)(state[0], state[1], bits);
    return;
  }
  const uint64_t high = words > 2 ? state[2] : state[0];  // two words: the key is the counter's upper half too
  moved[1] += philox_words(state[0], state[1], high, bits);
  if (words > 2 && moved[1] < state[1]) moved[2]++;
}

heddle_status eval_rng_bit_generator(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const random_algorithm algorithm = i->attributes->algorithm;
  const value *state = operands[0];
  const int64_t words = shape_element_count(state->shape);
  if (state->shape->dtype != DTYPE_U64 || words < 2 || words > 3 || (algorithm == RANDOM_THREE_FRY && words != 2))
    return interpreter_refuse(i, "a state of this shape");
  if (!shape_is_tuple(i->shape) || i->shape->tuple_size != 2 ||
      !(dtypes[i->shape->elements[1]->dtype].class & (CLASS_INTEGER | CLASS_FLOAT)))
    return interpreter_refuse(i, "results other than (state, numbers)");
  value *results[2] = {0};
  heddle_status status = value_create(&in->pool, state->shape, i->where, &results[0]);
  if (status_is_ok(status)) status = value_create(&in->pool, i->shape->elements[1], i->where, &results[1]);
  if (status_is_ok(status)) {
    generate(algorithm, state->data, words, results[0], results[1]);
    status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
  }
  value_release(results[0]);
  value_release(results[1]);
  return status;
}
