// Known answers of both generators; every type and shape against one block at a time.
#include <stdlib.h>

#include "base/testing.h"
#include "lib/element.h"
#include "lib/random.h"

static void generate(int64_t algorithm, int words, const uint64_t *state, uint64_t *moved, lib_array bits,
                     int threads) {
  const int64_t dims[] = {words};
  const lib_array operand = {DTYPE_U64, 1, dims, (void *)(uintptr_t)state, true};
  const lib_array results[] = {{DTYPE_U64, 1, dims, moved, true}, bits};
  const named_attribute attribute = {.name = "algorithm", .kind = NAMED_INTS, .count = 1, .ints = &algorithm};
  const lib_call call = {.operand_count = 1,
                         .operands = &operand,
                         .result_count = 2,
                         .results = results,
                         .attribute_count = 1,
                         .attributes = &attribute,
                         .threads = threads};
  assert_true(status_is_ok(random_bits_check(&call)));
  random_bits_execute(&call);
}

// The test vectors that the generators' authors publish (Random123).
static void test_known_answers(void **state) {
  (void)state;
  static const struct {
    int64_t algorithm;
    int words;
    uint64_t state[3];
    uint32_t expected[4];
  } cases[] = {
      {RANDOM_BITS_THREE_FRY, 2, {0, 0}, {0x6b200159, 0x99ba4efe}},
      {RANDOM_BITS_THREE_FRY, 2, {UINT64_MAX, UINT64_MAX}, {0x1cb996fc, 0xbb002be7}},
      {RANDOM_BITS_THREE_FRY, 2, {0x0370734413198a2e, 0x85a308d3243f6a88}, {0xc4923a9c, 0x483df7a0}},
      {RANDOM_BITS_PHILOX, 3, {0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {RANDOM_BITS_PHILOX, 3, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const int64_t count = cases[k].algorithm == RANDOM_BITS_PHILOX ? 4 : 2;
    uint32_t found[4];
    uint64_t moved[3];
    generate(cases[k].algorithm, cases[k].words, cases[k].state, moved, (lib_array){DTYPE_U32, 1, &count, found, true},
             1);
    for (int w = 0; w < count; w++) assert_int_equal(found[w], cases[k].expected[w]);
    assert_true(moved[0] == cases[k].state[0] && moved[1] == cases[k].state[1] + 1);
    if (cases[k].words == 3) assert_true(moved[2] == cases[k].state[2] + (moved[1] == 0));
  }
}

// The words of the first `blocks` blocks, in turn, two or four of each.
static uint32_t *words_of(int64_t algorithm, const uint64_t *state, int64_t blocks) {
  const int64_t count = blocks * (algorithm == RANDOM_BITS_PHILOX ? 4 : 2);
  uint32_t *words = malloc((size_t)count * 4 + 4);
  uint64_t moved[3];
  generate(algorithm, algorithm == RANDOM_BITS_PHILOX ? 3 : 2, state, moved,
           (lib_array){DTYPE_U32, 1, &count, words, true}, 1);
  return words;
}

// Which word of which block makes 32-bit element k by ThreeFry.
static void find_word(const lib_array *a, int64_t k, uint64_t *number, int *word) {
  int split = 0;
  for (int d = 1; d < a->rank && a->dims[split] % 2; d++)
    if (a->dims[d] % 2 == 0 || a->dims[d] > a->dims[split]) split = d;
  int64_t inner = 1, size = a->rank ? a->dims[split] : 1;
  for (int d = split + 1; d < a->rank; d++) inner *= a->dims[d];
  const int64_t along = k / inner % size;
  *number = (uint64_t)((k / (size * inner) * ((size + 1) / 2) + along / 2) * inner + k % inner);
  *word = (int)(along % 2);
}

static void check(int64_t algorithm, dtype t, int rank, const int64_t *dims, int threads) {
  static const uint64_t state[3] = {0x123456789abcdef0, UINT64_MAX - 70, 5};  // the counter wraps around
  for (int packed = 0; packed < 2; packed++) {
    lib_array bits = {t, rank, dims, NULL, packed == 1};
    const int64_t total = lib_element_count(&bits);
    bits.data = calloc((size_t)total * 8 + 1, 1);
    uint64_t moved[3];
    generate(algorithm, algorithm == RANDOM_BITS_PHILOX ? 3 : 2, state, moved, bits, threads);
    const bool is_double = dtypes[t].bits == 64;
    const bool is_philox = algorithm == RANDOM_BITS_PHILOX;
    uint32_t *all = words_of(algorithm, state, total);
    for (int64_t k = 0; k < total; k++) {
      const int per_block = is_philox ? (is_double ? 2 : 4) : is_double ? 1 : 2;
      uint64_t number = (uint64_t)(k / per_block);
      int word = (int)(k % per_block) * (is_double ? 2 : 1);
      if (!is_philox && !is_double) find_word(&bits, k, &number, &word);
      const uint32_t *words = all + number * (is_philox ? 4 : 2);
      uint64_t expected = is_double ? words[word] | (uint64_t)words[word + 1] << 32 : words[word];
      if (dtypes[t].bits < 64) expected &= ((uint64_t)1 << dtypes[t].bits) - 1;
      assert_true(element_load(&bits, k) == expected);
    }
    free(all);
    free(bits.data);
  }
}

static void test_types_and_shapes(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_U2,  DTYPE_S4,  DTYPE_F4E2M1FN, DTYPE_U8,  DTYPE_S16,
                                DTYPE_F16, DTYPE_U32, DTYPE_F32,      DTYPE_S64, DTYPE_F64};
  static const struct {
    int rank;
    int64_t dims[3];
  } shapes[] = {{0, {0}},       {1, {0}},       {1, {1}},        {1, {7}},       {1, {600}},
                {2, {3, 5}},    {2, {5, 3}},    {2, {4, 300}},   {2, {3, 10}},   {3, {3, 1, 9}},
                {3, {3, 4, 5}}, {3, {7, 5, 3}}, {2, {301, 131}}, {3, {2, 0, 3}}, {2, {1, 1}}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int64_t algorithm = 1; algorithm <= 2; algorithm++)
        check(algorithm, types[t], shapes[s].rank, shapes[s].dims, 1 + (int)(s % 2));
}

static void test_threads_change_nothing(void **state) {
  (void)state;
  enum { COUNT = 300001 };
  static const int64_t dims[] = {COUNT};
  static const uint64_t key[3] = {7, 8, 9};
  uint32_t *alone = malloc(4 * COUNT), *many = malloc(4 * COUNT);
  for (int64_t algorithm = 1; algorithm <= 2; algorithm++) {
    uint64_t moved[3];
    const int words = algorithm == RANDOM_BITS_PHILOX ? 3 : 2;
    generate(algorithm, words, key, moved, (lib_array){DTYPE_U32, 1, dims, alone, true}, 1);
    generate(algorithm, words, key, moved, (lib_array){DTYPE_U32, 1, dims, many, true}, 3);
    assert_memory_equal(alone, many, 4 * COUNT);
  }
  free(alone);
  free(many);
}

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    int64_t algorithm, words;
    dtype type;
  } cases[] = {{0, 2, DTYPE_U32}, {1, 3, DTYPE_U32}, {2, 4, DTYPE_U32}, {1, 1, DTYPE_U32}, {2, 2, DTYPE_C64}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const lib_array word = {DTYPE_U64, 1, &cases[k].words, NULL, true};
    const lib_array results[] = {word, {cases[k].type, 1, &cases[k].words, NULL, true}};
    const named_attribute attribute = {
        .name = "algorithm", .kind = NAMED_INTS, .count = 1, .ints = &cases[k].algorithm};
    const lib_call call = {.operand_count = 1,
                           .operands = &word,
                           .result_count = 2,
                           .results = results,
                           .attribute_count = 1,
                           .attributes = &attribute,
                           .threads = 1};
    heddle_status s = random_bits_check(&call);
    assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
    heddle_status_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_answers),
      cmocka_unit_test(test_types_and_shapes),
      cmocka_unit_test(test_threads_change_nothing),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("lib/random", tests, NULL, NULL);
}
