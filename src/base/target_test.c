// The table of machines: every row is complete, every name finds its row.
#include "base/target.h"

#include <string.h>

#include "base/testing.h"

// A limit of zero would leave code as it is, whatever it costs.
static void expect_limits(const target_code_limits *l) {
  assert_true(l->max_inlined_operations > l->max_copied_operations && l->max_copied_operations > 0);
  assert_true(l->min_peeled_trips > 0 && l->max_peeled_operations > 0);
  assert_true(l->max_unrolled_cost > l->unrolled_math_cost && l->unrolled_math_cost > 0);
  assert_true(l->max_access_lanes > 1 && l->registers_per_vector > 0 && l->mask_register_bits > 0);
  assert_true(l->min_vector_lanes > 1 && l->max_copied_body > 0);
  assert_true(l->max_period > 2 && l->max_periodic_lanes >= l->max_period && l->max_lane_stride > 1);
  assert_true(l->max_lane_loads >= l->max_reduction_loads && l->max_reduction_loads > 0);
  assert_true(l->max_accumulators >= l->registers_per_vector && l->max_reduction_copies > 1);
  assert_true(l->huge_reduction > l->large_reduction && l->large_reduction > 0 && l->reduction_math_cost > 0);
}

// A figure that is zero where none may be would make a cost infinite or a tile empty.
static void expect_complete(const target_description *t) {
  assert_true(t->vector_registers > 0 && t->max_unroll > 0 && t->vector_lanes > 0);
  assert_true(t->cores > 0 && t->threads_per_core > 0 && t->subgroup_size > 0 && t->buffer_alignment > 0);
  assert_true(t->operations_per_ns > 0 && t->scalar_operations_per_ns > 0 && t->launch_ns > 0);
  assert_true(t->memory_bytes_per_ns > 0 && t->memory_bytes_per_ns <= t->mixed_bytes_per_ns);
  assert_true(t->mixed_bytes_per_ns <= t->cache_bytes_per_ns && t->cache_bytes > 0);
  assert_true(t->tile_bytes > 0 && t->tile_operations > 0 && t->most_tile > 0 && t->tiles_per_core > 0);
  assert_true(t->row_buffer_bytes > 0 && t->row_accumulators > 0);
  assert_true(t->constant_alignment > 0 && t->stream_alignment > 0);
  assert_int_equal(t->has_grid, t->shared_alignment > 0);
  expect_limits(&t->code);
  assert_true(t->index_bits == 32 || t->index_bits == 64);
  assert_non_null(t->chip);
  assert_non_null(t->features);
  assert_int_equal(t->has_grid, t->threads_per_block > 0);
  assert_int_equal(t->has_grid, t->shared_bytes > 0);
  assert_int_equal(t->has_grid, t->max_grid_x > 0);
}

static void test_rows(void **state) {
  (void)state;
  int kinds[TARGET_KIND_COUNT] = {0};
  for (int k = 0; target_name(k); k++) {
    target_description t;
    assert_true(target_find(str_from(target_name(k)), &t));
    assert_string_equal(t.name, target_name(k));
    expect_complete(&t);
    kinds[t.kind]++;
  }
  for (int k = 0; k < TARGET_KIND_COUNT; k++) assert_true(kinds[k] > 0);
}

static void test_names(void **state) {
  (void)state;
  target_description t;
  assert_true(target_find(STR("gpu"), &t));
  assert_string_equal(t.name, target_gpu().name);
  assert_false(target_find(STR("sm_1"), &t));
  assert_false(target_find(STR(""), &t));
}

static void test_threads(void **state) {
  (void)state;
  assert_int_equal(target_cpu(3).cores, 3);
  assert_int_equal(target_cpu(0).cores, 1);
}

// A megabyte lies in the cache, ten do not.
static void test_bytes_time(void **state) {
  (void)state;
  const target_description t = target_cpu(1);
  assert_true(target_bytes_time(&t, 1e6, 1e7) > target_bytes_time(&t, 1e6, 1e6));
}

// Wider vectors have costs of their own; bytes are cheaper still where one instruction multiplies four of them.
static void test_vectors(void **state) {
  (void)state;
  target_description narrow = target_cpu(1), wide = target_cpu(1), bytes = target_cpu(1);
  target_choose_vectors(&narrow, 256, true);
  target_choose_vectors(&wide, 512, false);
  target_choose_vectors(&bytes, 512, true);
  assert_int_equal(wide.vector_bits, 512);
  assert_memory_equal(&narrow.products, &target_any_cpu.products, sizeof narrow.products);
  for (int k = 0; k < TARGET_PRODUCT_TYPES; k++) {
    assert_true(wide.products.tiles[k].per_ns > 0 && wide.products.library[k].per_ns > 0);
    assert_true(wide.products.convolutions[k].per_ns > 0);
  }
  assert_true(bytes.multiplies_bytes && !wide.multiplies_bytes);
  assert_true(bytes.products.tiles[TARGET_BYTE_PRODUCTS].per_ns > wide.products.tiles[TARGET_BYTE_PRODUCTS].per_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_vectors), cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_bytes_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
