// How many queries and keys of attention a workgroup of a grid takes at a time.
#include "kernel/online_softmax.h"

#include "base/testing.h"

static void test_grid_blocks(void **state) {
  (void)state;
  static const struct {
    int64_t queries, keys, features, bytes, of_queries, of_keys;  // of_queries 0: none fits
  } cases[] = {
      {64, 64, 128, 4, 16, 16},  // keys and values of 64 features
      {64, 72, 96, 4, 16, 12},   // a divisor leaves nothing over
      {64, 74, 96, 4, 16, 16},   // those of 74 are 1 and 2
      {12, 9, 32, 4, 12, 9},     // all of them
      {17, 64, 32, 4, 0, 0},     // no block divides the queries
      {3, 64, 32, 4, 0, 0},     {64, 64, 256, 4, 8, 8}, {64, 64, 600, 4, 4, 4},
      {64, 64, 1024, 4, 0, 0},  {64, 64, 128, 8, 8, 8},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    int64_t queries = 0, keys = 0;
    const bool fits = online_softmax_grid_blocks(cases[c].queries, cases[c].keys, cases[c].features, cases[c].bytes,
                                                 16 << 10, &queries, &keys);
    assert_int_equal(fits, cases[c].of_queries > 0);
    if (!fits) continue;
    assert_int_equal(queries, cases[c].of_queries);
    assert_int_equal(keys, cases[c].of_keys);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
