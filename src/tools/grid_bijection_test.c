// Threads of a grid reach each element once, and what does not is found.
#include "tools/grid_bijection.h"

#include "base/arena_testing.h"
#include "hlo/text.h"
#include "kernel/testing.h"
#include "kernel/written_kernels.h"
#include "tools/bijection.h"

// Elements of `written`, and of operand 0 of `reader`, that are reached once each.
typedef struct grid_case {
  hero_kind hero;
  const char *written, *reader;
  int64_t written_points, read_points;
  const char *source;
} grid_case;

static const grid_case cases[] = {
    {HERO_LOOP, "r", "r", 210, 210,
     "ENTRY e { p = f32[30,7] parameter(0) q = f32[30] parameter(1) b = f32[30,7] broadcast(q), dimensions={0}\n"
     "  ROOT r = f32[30,7] add(p, b) }"},
    {HERO_TRANSPOSE, "r", "t", 60200, 60200,  // with an edge
     "ENTRY e { p = f32[200,301] parameter(0) n = f32[200,301] exponential(p)\n"
     "  t = f32[301,200] transpose(n), dimensions={1,0} ROOT r = f32[301,200] negate(t) }"},
    {HERO_TRANSPOSE, "t", "n", 60200, 60200,  // of values that no output stores
     "ENTRY e { p = f32[200,301] parameter(0) n = f32[200,301] exponential(p)\n"
     "  t = f32[301,200] transpose(n), dimensions={1,0} ROOT r = f32[301,200] negate(t) }"},
    {HERO_TRANSPOSE, "r", "t", 1048576, 1048576,  // packed
     "ENTRY e { p = bf16[512,2048] parameter(0) t = bf16[2048,512] transpose(p), dimensions={1,0}\n"
     "  ROOT r = bf16[2048,512] negate(t) }"},
    {HERO_TRANSPOSE, "n", "t", 60200, 60200,  // stored beside
     "ENTRY e { p = f32[200,301] parameter(0) n = f32[200,301] exponential(p)\n"
     "  t = f32[301,200] transpose(n), dimensions={1,0} ROOT r = (f32[301,200], f32[200,301]) tuple(t, n) }"},
};

static const instruction *find(const kernel_plan *kernel, const char *name) {
  const instruction_list *all = &kernel->computation->instructions;
  for (int i = 0; i < all->size; i++)
    if (str_is(all->data[i]->name, name)) return all->data[i];
  fail_msg("no %s", name);
  return NULL;
}

static kernel_plan *plan(arena *a, const target_description *target, const char *source) {
  module *m;
  written_kernels *plans;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(source), &m)));
  assert_true(status_is_ok(written_kernels_plan(a, m, *target, &plans)));
  kernel_plan *kernel = arena_new(a, kernel_plan);
  *kernel = *plans->kernels[0];
  return kernel;
}

static void test_each_once(void **state) {
  arena *a = *state;
  const target_description target = target_gpu();
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    const grid_case *c = &cases[n];
    const kernel_plan *kernel = plan(a, &target, c->source);
    assert_int_equal(kernel->hero, c->hero);
    grid_count written = {0}, read = {0};
    testing_require(grid_bijection_add(a, kernel, &target, find(kernel, c->written), &written), c->source);
    testing_require(bijection_judge(a, written.space, written.visits, written.points), c->source);
    assert_int_equal(written.points, c->written_points);
    testing_require(grid_bijection_add_operand(a, kernel, &target, find(kernel, c->reader), 0, &read), c->source);
    testing_require(bijection_judge(a, read.space, read.visits, read.points), c->source);
    assert_int_equal(read.points, c->read_points);
  }
}

static void expect(heddle_status status, const char *message) {
  assert_string_equal(status_brief(status), message);
  heddle_status_free(status);
}

static void test_what_is_wrong(void **state) {
  arena *a = *state;
  const target_description target = target_gpu();
  const char *source =
      "ENTRY e { p = f32[64,96] parameter(0) q = f32[64] parameter(1) b = f32[64,96] broadcast(q), dimensions={0}\n"
      "  n = f32[64,96] add(p, b) ROOT t = f32[96,64] transpose(n), dimensions={1,0} }";
  kernel_plan *kernel = plan(a, &target, source);
  const instruction *t = find(kernel, "t");
  grid_count many = {0}, none = {0}, few = {0}, twice = {0}, beyond = {0};
  expect(grid_bijection_add_operand(a, kernel, &target, t, 1, &none), "t has no operand 1");
  testing_require(grid_bijection_add_operand(a, kernel, &target, find(kernel, "b"), 0, &many), source);
  expect(bijection_judge(a, many.space, many.visits, many.points), "element {0} is reached 96 times, wanted once");
  kernel->launch.blocks_x--;
  testing_require(grid_bijection_add(a, kernel, &target, t, &few), source);
  expect(bijection_judge(a, few.space, few.visits, few.points), "element {64, 32} is reached 0 times, wanted once");
  kernel->launch.blocks_x++;
  kernel->details.grid_transpose.tile_a = 16;
  testing_require(grid_bijection_add(a, kernel, &target, t, &twice), source);
  expect(bijection_judge(a, twice.space, twice.visits, twice.points),
         "element {48, 0} is reached 0 times, wanted once");
  kernel->details.grid_transpose.tile_a = 48;
  expect(grid_bijection_add(a, kernel, &target, t, &beyond), "a thread of kernel @main leaves t");
}

int main(void) {
  const struct CMUnitTest tests[] = {TESTING_IN_ARENA(test_each_once), TESTING_IN_ARENA(test_what_is_wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
