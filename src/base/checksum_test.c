#include "base/checksum.h"

#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

static void test_every_bit_counts(void **state) {
  (void)state;
  unsigned char bytes[200];
  for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(k * 37);
  for (size_t size = 0; size <= sizeof bytes; size += 13) {
    const uint64_t sum = checksum_of(bytes, size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
      bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
      assert_true(checksum_of(bytes, size) != sum);
      bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_true(checksum_of(bytes, size) == sum);
  }
}

static void test_size_and_place_count(void **state) {
  (void)state;
  const unsigned char zeros[200] = {0};
  for (size_t size = 1; size < sizeof zeros; size++)
    assert_true(checksum_of(zeros, size) != checksum_of(zeros, size - 1));
  char *odd = malloc(101);
  memset(odd, 'x', 101);
  odd[50] = 'y';
  char even[100];
  memcpy(even, odd + 1, 100);
  assert_true(checksum_of(odd + 1, 100) == checksum_of(even, 100));
  free(odd);
}

// Files that were written before must stay readable.
static void test_stays_what_it_is(void **state) {
  (void)state;
  assert_true(checksum_of("heddle", 6) == 0xd58699f930eff009u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_bit_counts),
      cmocka_unit_test(test_size_and_place_count),
      cmocka_unit_test(test_stays_what_it_is),
  };
  return cmocka_run_group_tests_name("base/checksum", tests, NULL, NULL);
}
