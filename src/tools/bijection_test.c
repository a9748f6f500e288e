// Maps that reach every element once, and what is said of others.
#include "tools/bijection.h"

#include "api/compile.h"
#include "base/arena_testing.h"
#include "hlo/text.h"

// Null if every element of `array` is reached once, else the error's first line.
static const char *check(arena *a, const char *map_text, const char *array, int64_t *points) {
  const indexing_map *map;
  const shape *s;
  assert_true(status_is_ok(indexing_map_parse(a, str_from(map_text), &map)));
  assert_true(status_is_ok(shape_parse(a, str_from(array), &s)));
  const bijection_maps maps = {.data = &map, .size = 1};
  heddle_status status = bijection_check(a, &maps, s, points);
  if (status_is_ok(status)) return NULL;
  const char *message = arena_printf(a, "%s", status_brief(status));
  heddle_status_free(status);
  return message;
}

static void test_exactly_once(void **state) {
  arena *a = *state;
  int64_t points;
  assert_null(check(a, "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 2], s0 in [0, 3]", "f32[12]", &points));
  assert_int_equal(points, 12);
  // The constraint cuts the last tile short.
  assert_null(check(a,
                    "(d0)[s0] -> ((d0 * 4 + s0) floordiv 5, (d0 * 4 + s0) mod 5), domain: d0 in [0, 2], s0 in [0, 3], "
                    "d0 * 4 + s0 in [0, 9]",
                    "f32[2,5]", &points));
  assert_int_equal(points, 10);
  assert_null(check(a, "() -> ()", "f32[]", &points));
  assert_int_equal(points, 1);
  assert_null(check(a, "KNOWN EMPTY", "f32[0]", &points));
}

static void test_wrong_counts(void **state) {
  arena *a = *state;
  int64_t points;
  assert_string_equal(check(a, "(d0) -> (d0), domain: d0 in [0, 2]", "f32[4]", &points),
                      "element {3} is reached 0 times, wanted once");
  assert_string_equal(check(a, "(d0)[s0] -> (d0, 1), domain: d0 in [0, 1], s0 in [0, 2]", "f32[2,2]", &points),
                      "element {0, 0} is reached 0 times, wanted once");
  assert_string_equal(check(a, "(d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, 2]", "f32[2]", &points),
                      "element {0} is reached 3 times, wanted once");
  assert_string_equal(check(a, "(d0) -> (d0), domain: d0 in [0, 4]", "f32[4]", &points),
                      "a point lies outside of the array");
  assert_string_equal(check(a, "KNOWN EMPTY", "f32[4]", &points), "no element is reached");
}

static void test_what_cannot_be_counted(void **state) {
  arena *a = *state;
  int64_t points;
  assert_string_equal(check(a, "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 3]", "f32[4]", &points),
                      "the index map depends on run-time values");
  assert_non_null(
      strstr(check(a, "(d0) -> (d0), domain: d0 in [0, 999999999]", "f32[1000000000]", &points), "more than"));
}

static const char module_text[] =
    "HloModule m\n"
    "ENTRY e {\n"
    "  p = f32[30,7] parameter(0)\n"
    "  q = f32[30] parameter(1)\n"
    "  b = f32[30,7] broadcast(q), dimensions={0}\n"
    "  s = f32[30,7] add(p, b)\n"
    "  t = f32[7,30] transpose(s), dimensions={1,0}\n"
    "  ROOT r = f32[7,30] negate(t)\n"
    "}\n";

static const instruction *find(const kernel_plan *kernel, const char *name) {
  const instruction_list *all = &kernel->computation->instructions;
  for (int i = 0; i < all->size; i++)
    if (str_is(all->data[i]->name, name)) return all->data[i];
  return NULL;
}

static void check_kernel(arena *a, target_description target) {
  module *m;
  written_kernels *plan;
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(module_text), &m)));
  assert_true(status_is_ok(written_kernels_plan(a, m, target, &plan)));
  const kernel_plan *kernel = plan->kernels[0];
  const shape *space;
  int64_t points;
  const instruction *sum = find(kernel, "s");
  bijection_maps maps = {0}, read = {0}, spread = {0}, none = {0};
  assert_true(status_is_ok(bijection_maps_to_instruction(a, kernel, &target, sum, &maps, &space)));
  assert_true(status_is_ok(bijection_check(a, &maps, space, &points)));
  assert_int_equal(points, 210);
  assert_true(status_is_ok(bijection_maps_to_operand(a, kernel, &target, sum, 0, &read)));
  assert_true(status_is_ok(bijection_check(a, &read, sum->operands[0]->shape, &points)));
  // The broadcast's operand is read seven times over.
  const instruction *broadcast = find(kernel, "b");
  assert_true(status_is_ok(bijection_maps_to_operand(a, kernel, &target, broadcast, 0, &spread)));
  heddle_status status = bijection_check(a, &spread, broadcast->operands[0]->shape, &points);
  assert_string_equal(status_brief(status), "element {0} is reached 7 times, wanted once");
  heddle_status_free(status);
  status = bijection_maps_to_operand(a, kernel, &target, sum, 2, &none);
  assert_string_equal(status_brief(status), "s has no operand 2");
  heddle_status_free(status);
}

static void test_kernels(void **state) { check_kernel(*state, target_cpu(2)); }

// --- heroes

#define ADD "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
#define ALIASED "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n"

// Elements of `written`, and of operand 0 of `reader`, that are reached once each.
typedef struct hero_case {
  hero_kind hero;
  const char *written, *reader;
  int64_t written_points, read_points;
  const char *source;
} hero_case;

static const hero_case hero_cases[] = {
    {HERO_TRANSPOSE, "r", "n", 60200, 60200,
     "ENTRY e { p = f32[200,301] parameter(0) n = f32[200,301] exponential(p)\n"
     "  t = f32[301,200] transpose(n), dimensions={1,0} ROOT r = f32[301,200] negate(t) }"},
    {HERO_REDUCTION, "r", "n", 600, 38400,  // columns
     ADD "ENTRY e { p = f32[2,64,300] parameter(0) z = f32[] constant(0) n = f32[2,64,300] negate(p)\n"
         "  ROOT r = f32[2,300] reduce(n, z), dimensions={1}, to_apply=add }"},
    {HERO_REDUCTION, "r", "n", 21007, 840280,  // columns in blocks
     ADD "ENTRY e { p = f32[7,40,3001] parameter(0) z = f32[] constant(0) n = f32[7,40,3001] negate(p)\n"
         "  ROOT r = f32[7,3001] reduce(n, z), dimensions={1}, to_apply=add }"},
    {HERO_REDUCTION, "r", "n", 65, 19500,  // rows
     ADD "ENTRY e { p = f32[65,300] parameter(0) z = f32[] constant(0) n = f32[65,300] negate(p)\n"
         "  ROOT r = f32[65] reduce(n, z), dimensions={1}, to_apply=add }"},
    {HERO_REDUCTION, "r", "s", 19500, 19500,
     ADD "ENTRY e { p = f32[65,300] parameter(0) z = f32[] constant(0)\n"
         "  s = f32[65] reduce(p, z), dimensions={1}, to_apply=add b = f32[65,300] broadcast(s), dimensions={0}\n"
         "  d = f32[65,300] subtract(p, b) x = f32[65,300] multiply(d, d)\n"
         "  v = f32[65] reduce(x, z), dimensions={1}, to_apply=add w = f32[65,300] broadcast(v), dimensions={0}\n"
         "  ROOT r = f32[65,300] divide(d, w) }"},
    {HERO_CONCATENATE, "r", "n", 24505, 19500,
     "ENTRY e { p = f32[65,300] parameter(0) q = f32[65,77] parameter(1) n = f32[65,300] negate(p)\n"
     "  ROOT r = f32[65,377] concatenate(n, q), dimensions={1} }"},
    {HERO_UPDATE_SLICE, "r", "n", 385, 385,
     ALIASED "ENTRY e { p = f32[65,300] parameter(0) q = f32[5,77] parameter(1) i = s32[] parameter(2)\n"
             "  n = f32[5,77] negate(q) ROOT r = f32[65,300] dynamic-update-slice(p, n, i, i) }"},
    {HERO_SCATTER, "scatter.1", "n", 15000, 15000,
     ALIASED ADD "ENTRY e { p = f32[650,30] parameter(0) i = s32[500,1] parameter(1) u = f32[500,30] parameter(2)\n"
                 "  n = f32[500,30] negate(u) ROOT r = f32[650,30] scatter(p, i, n), update_window_dims={1},\n"
                 "  inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }"},
    {HERO_LOOPS, "a", "a", 30000, 0,
     "ENTRY e { p = f32[400,300] parameter(0) a = f32[100,300] slice(p), slice={[7:107],[0:300]}\n"
     "  b = f32[300,300] slice(p), slice={[100:400],[0:300]} ROOT t = (f32[100,300], f32[300,300]) tuple(a, b) }"},
};

static void check_hero(arena *a, const hero_case *c, int threads) {
  const target_description target = target_cpu(threads);
  const compile_options options = {.threads = threads};
  module *m;
  lhlo_program *program;
  compile_times times = {0};
  assert_true(status_is_ok(hlo_parse(a, "test", str_from(c->source), &m)));
  assert_true(status_is_ok(compile_plan(a, m, &options, &times, NULL, &program)));
  const kernel_plan *kernel = program->kernels[0];
  assert_int_equal(kernel->hero, c->hero);
  bijection_maps maps = {0}, read = {0};
  const shape *space;
  int64_t points;
  const instruction *written = find(kernel, c->written), *reader = find(kernel, c->reader);
  assert_true(status_is_ok(bijection_maps_to_instruction(a, kernel, &target, written, &maps, &space)));
  assert_true(status_is_ok(bijection_check(a, &maps, space, &points)));
  assert_int_equal(points, c->written_points);
  assert_true(status_is_ok(bijection_maps_to_operand(a, kernel, &target, reader, 0, &read)));
  heddle_status s = bijection_check(a, &read, reader->operands[0]->shape, &points);
  assert_true(status_is_ok(s) == (c->read_points > 0));
  heddle_status_free(s);
  if (c->read_points > 0) assert_int_equal(points, c->read_points);
}

static void test_heroes(void **state) {
  for (size_t k = 0; k < sizeof hero_cases / sizeof *hero_cases; k++)
    for (int threads = 1; threads <= 5; threads += 2) check_hero(*state, &hero_cases[k], threads);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_exactly_once),
      TESTING_IN_ARENA(test_wrong_counts),
      TESTING_IN_ARENA(test_what_cannot_be_counted),
      TESTING_IN_ARENA(test_kernels),
      TESTING_IN_ARENA(test_heroes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
