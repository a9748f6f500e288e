// How many threads make a result of a reduction on a grid, and what it takes of shared memory.
#include "kernel/grid_reduction.h"

#include "kernel/testing.h"

typedef struct planned {
  arena *arena;
  target_description target;
  kernel_plan *plan;
  const hero_grid_reduction *hero;
} planned;

// `reduce`: the shape of the operand, of the result, and the reduced dims.
static planned plan_marked(const char *reducer, const char *mark, const char *operand, const char *result,
                           const char *dims) {
  planned p = {.arena = arena_create(), .target = target_gpu()};
  const char *source = arena_printf(p.arena,
                                    "HloModule m\nf { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                                    "  ROOT r = f32[] %s(a, b)\n}\nENTRY e {\n  p = f32[%s] parameter(0)\n"
                                    "  z = f32[] constant(0)\n  ROOT r = f32[%s] reduce(p, z), dimensions={%s}, "
                                    "to_apply=f%s\n}\n",
                                    reducer, operand, result, dims, mark);
  module *m = testing_parse(p.arena, source);
  testing_require(kernel_plan_create(p.arena, m->entry, "k", &p.target, 0, NULL, &p.plan), source);
  p.hero = &p.plan->details.grid_reduction;
  return p;
}

static planned plan_reducer(const char *reducer, const char *operand, const char *result, const char *dims) {
  return plan_marked(reducer, "", operand, result, dims);
}

static planned plan(const char *operand, const char *result, const char *dims) {
  return plan_reducer("add", operand, result, dims);
}

static bool is_power_of_two(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

// What holds of every plan.
static void check(const planned *p, int64_t kept, int64_t reduced) {
  const launch_plan *l = &p->plan->launch;
  const hero_grid_reduction *h = p->hero;
  assert_int_equal(p->plan->hero, HERO_REDUCTION);
  assert_int_equal(l->threads % p->target.subgroup_size, 0);
  assert_in_range(l->threads, 32, 1024);
  assert_in_range(l->shared_bytes, 0, p->target.grid.static_shared_bytes);
  assert_in_range(l->blocks_x, 1, p->target.max_grid_x);
  assert_true(is_power_of_two(h->threads));
  assert_int_equal(h->on_tiles.passes.space.kept, kept);
  assert_int_equal(h->on_tiles.passes.space.reduced, reduced);
  if (h->is_staged) {
    assert_true(l->blocks_x * h->threads >= kept);
    assert_true(h->trips * h->vector >= reduced);
  } else if (h->piece > 0) {
    assert_true(h->spans * h->span >= reduced);
    assert_true(l->blocks_x * h->on_tiles.tile >= kept);
    assert_int_equal(l->threads, h->threads * h->on_tiles.tile);
  } else if (h->on_tiles.is_column) {
    assert_true(h->threads * h->trips >= reduced);
    assert_true(l->blocks_x * h->on_tiles.columns >= kept);
  } else {
    assert_true(h->threads * h->trips * h->vector >= reduced);
    assert_true(l->blocks_x * h->on_tiles.tile >= kept);
    assert_int_equal(l->threads, h->threads * h->on_tiles.tile);
  }
}

static void test_rows_of_every_length(void **state) {
  (void)state;
  static const int64_t lengths[] = {2, 3, 31, 32, 33, 127, 1023, 1024, 1025, 16384, 1000000, 10000000};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    char operand[64];
    (void)snprintf(operand, sizeof operand, "50,%lld", (long long)lengths[n]);
    planned p = plan(operand, "50", "1");
    check(&p, 50, lengths[n]);
    arena_destroy(p.arena);
  }
}

static void test_columns_of_every_width(void **state) {
  (void)state;
  static const int64_t widths[] = {2, 3, 4, 7, 8, 31, 32, 33, 64, 100, 127, 128, 129, 4096, 100000};
  for (size_t n = 0; n < sizeof widths / sizeof *widths; n++) {
    char operand[64], result[64];
    (void)snprintf(operand, sizeof operand, "777,%lld", (long long)widths[n]);
    (void)snprintf(result, sizeof result, "%lld", (long long)widths[n]);
    planned p = plan(operand, result, "0");
    check(&p, widths[n], 777);
    assert_true(p.hero->on_tiles.is_column);
    arena_destroy(p.arena);
  }
}

static void test_one_element_is_no_reduction(void **state) {
  (void)state;
  planned p = plan("50,1", "50", "1");
  assert_int_equal(p.plan->hero, HERO_LOOP);
  arena_destroy(p.arena);
}

static void test_short_rows_share_a_warp(void **state) {
  (void)state;
  planned p = plan("100000,32", "100000", "1");
  check(&p, 100000, 32);
  assert_int_equal(p.hero->vector, 4);
  assert_int_equal(p.hero->threads, 8);
  assert_int_equal(p.hero->on_tiles.tile, 16);
  assert_int_equal(p.plan->launch.shared_bytes, 0);
  arena_destroy(p.arena);
}

static void test_few_rows_get_more_threads(void **state) {
  (void)state;
  planned few = plan("3,4096", "3", "1"), many = plan("100000,4096", "100000", "1");
  check(&few, 3, 4096);
  check(&many, 100000, 4096);
  assert_int_equal(few.hero->threads, 1024);
  assert_int_equal(many.hero->threads, 128);
  arena_destroy(few.arena);
  arena_destroy(many.arena);
}

static void test_odd_short_rows_are_staged(void **state) {
  (void)state;
  planned p = plan("100000,7", "100000", "1");
  check(&p, 100000, 7);
  assert_true(p.hero->is_staged);
  assert_int_equal(p.hero->vector, 4);
  assert_int_equal(p.hero->pad, 0);
  arena_destroy(p.arena);
}

static void test_rows_within_a_sector_begin_before(void **state) {
  (void)state;
  planned odd = plan("5000,1023", "5000", "1"), even = plan("5000,1024", "5000", "1");
  assert_int_equal(odd.hero->align, 8);
  assert_int_equal(even.hero->align, 1);
  arena_destroy(odd.arena);
  arena_destroy(even.arena);
}

// Reducers without a mark have an order: one thread combines a row, however long, and others help it to read.
static void test_order_is_kept(void **state) {
  (void)state;
  planned p = plan_reducer("subtract", "1000,50", "1000", "1"), l = plan_reducer("subtract", "10,5000", "10", "1");
  planned m = plan_reducer("subtract", "50,40,60", "40", "0,2"), c = plan_reducer("subtract", "500,40", "40", "0");
  check(&p, 1000, 50);
  check(&l, 10, 5000);
  check(&m, 40, 3000);
  assert_true(p.hero->is_staged);
  assert_int_equal(l.hero->spans, 1);
  assert_int_equal(l.hero->threads, 32);
  assert_int_equal(m.hero->spans, 1);
  assert_int_equal(c.plan->hero, HERO_LOOP);
  arena_destroy(p.arena);
  arena_destroy(l.arena);
  arena_destroy(m.arena);
  arena_destroy(c.arena);
}

static planned plan_chunks(const char *operand, const char *result, const char *dims) {
  return plan_marked("subtract", ", frontend_attributes={heddle_order=\"chunks\"}", operand, result, dims);
}

// Every thread has a span of neighbours, and all spans together are the row or column.
static void test_chunks_are_spans(void **state) {
  (void)state;
  static const int64_t lengths[] = {65, 1000, 1023, 1025, 70000, 3000000};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    char row[64], column[64];
    (void)snprintf(row, sizeof row, "50,%lld", (long long)lengths[n]);
    (void)snprintf(column, sizeof column, "%lld,50", (long long)lengths[n]);
    planned both[] = {plan_chunks(row, "50", "1"), plan_chunks(column, "50", "0")};
    for (int k = 0; k < 2; k++) {
      const hero_grid_reduction *h = both[k].hero;
      check(&both[k], 50, lengths[n]);
      assert_int_equal(h->piece, k == 0 ? 32 : 0);
      assert_in_range(h->spans, 2, h->threads);
      assert_in_range(lengths[n], (h->spans - 1) * h->span + 1, h->spans * h->span);
      arena_destroy(both[k].arena);
    }
  }
}

static void test_more_rows_than_blocks_in_x(void **state) {
  (void)state;
  planned p = plan("70000000000,64", "70000000000", "1");
  const launch_plan *l = &p.plan->launch;
  assert_in_range(l->blocks_x, 1, p.target.max_grid_x);
  assert_int_equal(l->blocks_y, 5);
  assert_true(l->blocks_x * l->blocks_y * p.hero->on_tiles.tile >= 70000000000);
  arena_destroy(p.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_of_every_length),
      cmocka_unit_test(test_columns_of_every_width),
      cmocka_unit_test(test_one_element_is_no_reduction),
      cmocka_unit_test(test_short_rows_share_a_warp),
      cmocka_unit_test(test_few_rows_get_more_threads),
      cmocka_unit_test(test_odd_short_rows_are_staged),
      cmocka_unit_test(test_rows_within_a_sector_begin_before),
      cmocka_unit_test(test_order_is_kept),
      cmocka_unit_test(test_chunks_are_spans),
      cmocka_unit_test(test_more_rows_than_blocks_in_x),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
