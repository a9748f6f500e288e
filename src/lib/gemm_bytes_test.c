// Tiles of products of bytes by oneDNN, which any machine can do, against naive loops.
#include "lib/gemm_bytes.h"

#include <stdlib.h>

#include "lib/external.h"
#include "lib/testing.h"

static int8_t at(const gemm_matrix *m, int64_t r, int64_t c) {
  return ((const int8_t *)m->data)[m->is_transposed ? c * m->leading + r : r * m->leading + c];
}

static int8_t *filled(arena *a, int64_t bytes, uint64_t seed) {
  int8_t *to = arena_alloc(a, (size_t)bytes);
  for (int64_t k = 0; k < bytes; k++) to[k] = (int8_t)testing_next(&seed);
  return to;
}

// Sides whose lines are `gap` apart; sums, too, of which what lies between them stays.
static void check(int64_t rows, int64_t columns, int64_t depth, int way, int64_t gap) {
  arena *a = arena_create();
  const bool turns_lhs = way & 1, turns_rhs = way >> 1;
  const int64_t size[3] = {rows, columns, depth};
  const int64_t left = (turns_lhs ? rows : depth) + gap, right = (turns_rhs ? depth : columns) + gap;
  const gemm_matrix lhs = {filled(a, left * (turns_lhs ? depth : rows), 1), left, turns_lhs};
  const gemm_matrix rhs = {filled(a, right * (turns_rhs ? columns : depth), 2), right, turns_rhs};
  int32_t *to = arena_alloc(a, (size_t)(rows * (columns + gap)) * sizeof *to);
  for (int64_t k = 0; k < rows * (columns + gap); k++) to[k] = -7;
  const gemm_sums sums = {to, columns + gap, false};
  void *scratch = aligned_alloc(64, (size_t)gemm_bytes_room(rows, columns, depth));
  assert_true(gemm_bytes_product(size, &lhs, &rhs, &sums, scratch));
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < depth; k++) sum += (uint32_t)(at(&lhs, r, k) * at(&rhs, k, c));
      assert_int_equal((uint32_t)to[r * (columns + gap) + c], sum);
    }
    for (int64_t c = columns; c < columns + gap; c++) assert_int_equal(to[r * (columns + gap) + c], -7);
  }
  free(scratch);
  arena_destroy(a);
}

static void test_products(void **state) {
  (void)state;
  heddle_status s = external_need(EXTERNAL_ONEDNN);
  assert_true(status_is_ok(s));
  for (int way = 0; way < 4; way++) {
    check(32, 32, 32, way, 0);
    check(33, 65, 47, way, 0);
    check(70, 34, 130, way, 5);
    check(64, 64, 1024, way, 64);
  }
}

// Tiles hold few bytes of a side, whatever the depth.
static void test_tiles(void **state) {
  (void)state;
  static const int64_t depths[] = {32, 1000, 5000, 1 << 20};
  for (int k = 0; k < 4; k++) {
    const int64_t size[3] = {1000, 48, depths[k]};
    int64_t tile[2];
    gemm_bytes_tile(size, tile);
    assert_in_range(tile[0], 48, 256);
    assert_int_equal(tile[1], 48);
    if (depths[k] <= 5000) assert_true(tile[0] * depths[k] <= 1 << 19);
  }
  assert_false(gemm_bytes_takes((int64_t[]){31, 4096, 4096}));
  assert_false(gemm_bytes_takes((int64_t[]){64, 64, 64}));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_tiles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
