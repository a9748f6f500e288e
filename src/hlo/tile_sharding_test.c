// Shardings' texts, and what they say of the parts of an array.
#include "hlo/tile_sharding.h"

#include "base/testing.h"
#include "hlo/text.h"

static void expect_devices(const char *source, int rank, int count, const int64_t *devices) {
  arena *a = arena_create();
  tile_sharding s;
  heddle_status status = tile_sharding_parse(a, str_from(source), SOURCE_UNKNOWN, &s);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  assert_int_equal(s.rank, rank);
  assert_int_equal(s.count, count);
  for (int k = 0; k < count; k++) assert_int_equal(s.devices[k], devices[k]);
  arena_destroy(a);
}

static void test_texts(void **state) {
  (void)state;
  expect_devices("{replicated}", 0, 0, NULL);
  expect_devices("{manual}", 0, 0, NULL);
  expect_devices("{maximal device=3}", 0, 0, NULL);
  expect_devices("{devices=[2,2]<=[4]}", 2, 4, (int64_t[]){0, 1, 2, 3});
  expect_devices("{devices=[2,2]<=[2,2]T(1,0)}", 2, 4, (int64_t[]){0, 2, 1, 3});
  expect_devices("{devices=[3,2]<=[2,3]T(1,0)}", 2, 6, (int64_t[]){0, 3, 1, 4, 2, 5});
  expect_devices("{devices=[6]<=[2,1,3]T(2,1,0)}", 1, 6, (int64_t[]){0, 3, 1, 4, 2, 5});
  expect_devices("{devices=[2,1,2]1,3,0,2 last_tile_dim_replicate}", 3, 4, (int64_t[]){1, 3, 0, 2});
  expect_devices("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", 3, 4, (int64_t[]){0, 1, 2, 3});
}

static void test_malformed_texts(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "devices=[2]<=[2]",
      "{",
      "{somehow}",
      "{devices=[2]}",
      "{devices=[2]<=[3]}",
      "{devices=[]<=[1]}",
      "{devices=[2,2]<=[2,2]T(0,0)}",
      "{devices=[2,2]<=[2,2]T(0)}",
      "{devices=[2,2]<=[2,2]T(0,1,2)}",
      "{devices=[2]0,0}",
      "{devices=[2]0,2}",
      "{devices=[2]0,1,2}",
      "{devices=[0]<=[0]}",
      "{devices=[2,1000000]<=[2000000]}",
      "{devices=[4294967296,4294967296]<=[1]}",
      "{devices=[99999999999999999999]<=[1]}",
      "{devices=[2]<=[2]",
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    arena *a = arena_create();
    tile_sharding s;
    heddle_status status = tile_sharding_parse(a, str_from(texts[k]), (source_location){"f", 3, 4}, &s);
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    assert_int_equal(status_where(status).line, 3);
    heddle_status_free(status);
    arena_destroy(a);
  }
}

// The move of the only custom call of that target, in a module of four partitions.
static heddle_status move_in(arena *a, const char *body, const char *target, tile_move *out) {
  module *m;
  const char *source = arena_printf(a, "HloModule m, num_partitions=4\nENTRY e {\n%s\n}\n", body);
  heddle_status s = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  for (int k = 0; k < m->entry->instructions.size; k++) {
    const instruction *i = m->entry->instructions.data[k];
    if (tile_sharding_is_move(i) && str_is(i->attributes->custom_call_target, target))
      return tile_move_of(a, i, 4, out);
  }
  fail_msg("no %s", target);
  return status_ok();
}

static void test_parts_begin_where_the_grid_says(void **state) {
  (void)state;
  static const int64_t starts[4][2] = {{0, 0}, {4, 0}, {0, 3}, {4, 3}};
  arena *a = arena_create();
  tile_move move;
  int64_t start[SHAPE_MAX_RANK];
  heddle_status s = move_in(a,
                            "p = f32[4,3] parameter(0)\n"
                            "ROOT r = f32[8,6] custom-call(p), custom_call_target=\"SPMDShardToFullShape\", "
                            "sharding={devices=[2,2]<=[2,2]T(1,0)}",
                            "SPMDShardToFullShape", &move);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  for (int d = 0; d < 4; d++) {
    tile_move_start(&move, d, start);
    assert_int_equal(start[0], starts[d][0]);
    assert_int_equal(start[1], starts[d][1]);
  }
  arena_destroy(a);
}

static void expect_misfit(const char *part, const char *sharding, const char *message) {
  arena *a = arena_create();
  tile_move move;
  const char *body = arena_printf(a,
                                  "p = f32[8,6] parameter(0), sharding={%s}\n"
                                  "ROOT r = %s custom-call(p), custom_call_target=\"SPMDFullToShardShape\", "
                                  "sharding={manual}",
                                  sharding, part);
  heddle_status s = move_in(a, body, "SPMDFullToShardShape", &move);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  if (!strstr(heddle_status_message(s), message)) fail_msg("%s", heddle_status_message(s));
  heddle_status_free(s);
  arena_destroy(a);
}

static void test_moves_that_do_not_fit(void **state) {
  (void)state;
  expect_misfit("f32[2,6]", "replicated", "wanted dimension 0 in 1 equal parts");
  expect_misfit("f32[3,6]", "devices=[4,1]<=[4]", "wanted dimension 0 in 4 equal parts");
  expect_misfit("f32[4,6]", "devices=[2,1]<=[2]", "among 2 devices, but the module's num_partitions is 4");
  expect_misfit("f32[2,6]", "devices=[4]<=[4]", "a sharding of rank 1 for f32[8,6]");
  expect_misfit("f16[2,6]", "devices=[4,1]<=[4]", "one array");
  expect_misfit("f32[2]", "devices=[4,1]<=[4]", "one array");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_malformed_texts),
      cmocka_unit_test(test_parts_begin_where_the_grid_says),
      cmocka_unit_test(test_moves_that_do_not_fit),
  };
  return cmocka_run_group_tests_name("tile_sharding", tests, NULL, NULL);
}
