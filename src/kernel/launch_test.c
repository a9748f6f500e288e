// The launch covers every element exactly once and follows the rules it states.
#include "kernel/launch.h"

#include "base/testing.h"

static const launch_cost copy_f32 = {.bytes = 8, .operations = 1, .smallest_output_bits = 32};

static void test_gelu_on_a_gpu(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  launch_cost cost = {.bytes = 4, .operations = 40, .smallest_output_bits = 16};
  launch_plan l = launch_decide(&gpu, 6 * 512 * 4096, &cost);
  assert_int_equal(l.threads, 128);
  assert_int_equal(l.blocks_x, 24576);
  assert_int_equal(l.blocks_y, 1);
  assert_int_equal(l.unroll, 4);
}

static void test_small_work_is_not_unrolled(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  launch_plan l = launch_decide(&gpu, 100, &copy_f32);
  assert_int_equal(l.unroll, 1);
  assert_int_equal(l.threads, 100);
  assert_int_equal(l.blocks_x, 1);
}

static void test_unroll_divides_the_elements(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  assert_int_equal(launch_decide(&gpu, (1 << 20) + 2, &copy_f32).unroll, 2);
  assert_int_equal(launch_decide(&gpu, (1 << 20) + 1, &copy_f32).unroll, 1);
  launch_cost scalar = copy_f32;
  scalar.prevents_vectors = true;
  assert_int_equal(launch_decide(&gpu, 1 << 20, &scalar).unroll, 1);
}

static void test_large_bodies_are_not_unrolled(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  launch_cost cost = copy_f32;
  cost.registers = 32;
  assert_int_equal(launch_decide(&gpu, 1 << 20, &cost).unroll, 4);
  cost.registers = 33;
  assert_int_equal(launch_decide(&gpu, 1 << 20, &cost).unroll, 2);
  cost.registers = 200;
  assert_int_equal(launch_decide(&gpu, 1 << 20, &cost).unroll, 1);
  cost.registers = 8;
  cost.code = 3000;
  assert_int_equal(launch_decide(&gpu, 1 << 20, &cost).unroll, 1);
}

static void test_narrow_elements_move_sixteen_bytes(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  launch_cost copy = {.bytes = 2, .operations = 1, .smallest_output_bits = 8, .widest_bits = 8};
  assert_int_equal(launch_decide(&gpu, 1 << 22, &copy).unroll, 16);
  // As many threads as with four elements each.
  assert_int_equal(launch_decide(&gpu, (int64_t)gpu.cores * gpu.threads_per_core * 2, &copy).unroll, 8);
  assert_int_equal(launch_decide(&gpu, (int64_t)gpu.cores * gpu.threads_per_core, &copy).unroll, 4);
  copy.widest_bits = 16;
  assert_int_equal(launch_decide(&gpu, 1 << 22, &copy).unroll, 8);
  copy.widest_bits = 64;
  assert_int_equal(launch_decide(&gpu, 1 << 22, &copy).unroll, 4);
  copy.widest_bits = 0;
  assert_int_equal(launch_decide(&gpu, 1 << 22, &copy).unroll, 4);
  // Operands follow rows of 24 elements.
  copy.widest_bits = 8;
  copy.run = 24;
  assert_int_equal(launch_decide(&gpu, 3 << 22, &copy).unroll, 8);
  // Arithmetic takes the time.
  copy.run = 0;
  copy.operations = 40;
  assert_int_equal(launch_decide(&gpu, 1 << 22, &copy).unroll, 4);
}

static void test_threads_write_whole_bytes(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  launch_cost nibbles = {.bytes = 1, .operations = 1, .smallest_output_bits = 4};
  assert_int_equal(launch_decide(&gpu, 64, &nibbles).unroll, 2);
  launch_cost pairs = {.bytes = 1, .operations = 1, .smallest_output_bits = 2};
  assert_int_equal(launch_decide(&gpu, 64, &pairs).unroll, 4);
}

static void test_wide_grids_get_a_second_dimension(void **state) {
  (void)state;
  target_description gpu = target_gpu();
  gpu.max_grid_x = 65535;
  launch_plan l = launch_decide(&gpu, (int64_t)1 << 30, &copy_f32);
  assert_true(l.blocks_x <= 65535);
  assert_true(l.blocks_y > 1);
  assert_true(l.blocks_x * l.blocks_y * l.threads * l.unroll >= (int64_t)1 << 30);
}

static void test_everything_is_covered(void **state) {
  (void)state;
  target_description gpu = target_gpu(), cpu = target_cpu(2);
  const int64_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097, 123457, 12582912, 1000003};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    launch_plan g = launch_decide(&gpu, sizes[i], &copy_f32), c = launch_decide(&cpu, sizes[i], &copy_f32);
    int64_t block = g.threads * g.unroll;
    assert_true(g.blocks_x * g.blocks_y * block >= sizes[i]);
    assert_true((g.blocks_x * g.blocks_y - 1) * block < sizes[i]);
    assert_int_equal(c.tile % 64, 0);
    assert_true(c.tiles * c.tile >= sizes[i]);
    assert_true((c.tiles - 1) * c.tile < sizes[i]);
  }
}

static void test_cpu_tiles_shrink_with_the_cost_of_an_element(void **state) {
  (void)state;
  target_description cpu = target_cpu(2);
  launch_cost dot = {.bytes = 8, .operations = 100000, .smallest_output_bits = 32};
  assert_int_equal(launch_decide(&cpu, 1 << 20, &dot).tile, 64);
  launch_plan l = launch_decide(&cpu, 1 << 24, &copy_f32);
  assert_true(l.tile_bytes >= 16 << 10);
  assert_true(l.tiles >= 2 * 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gelu_on_a_gpu),
      cmocka_unit_test(test_small_work_is_not_unrolled),
      cmocka_unit_test(test_unroll_divides_the_elements),
      cmocka_unit_test(test_large_bodies_are_not_unrolled),
      cmocka_unit_test(test_narrow_elements_move_sixteen_bytes),
      cmocka_unit_test(test_threads_write_whole_bytes),
      cmocka_unit_test(test_wide_grids_get_a_second_dimension),
      cmocka_unit_test(test_everything_is_covered),
      cmocka_unit_test(test_cpu_tiles_shrink_with_the_cost_of_an_element),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
