// A kernel's plan prints all that its hero decided: each byte of it that is turned changes the text.
#include "kernel/kernel.h"

#include "kernel/testing.h"

// Bytes that are not turned: pointers and counts, what they lead to is looked at element by element; enumerations.
typedef struct field {
  size_t offset, size;
} field;

typedef struct fields {
  int count;
  const field *list;
} fields;

#define FIELD(type, name) {offsetof(type, name), sizeof(((type *)0)->name)}
#define FIELDS(...)                                                                     \
  (fields) {                                                                            \
    sizeof(const field[]){__VA_ARGS__} / sizeof(field), (const field[]) { __VA_ARGS__ } \
  }
#define NO_FIELDS (fields){0}

typedef struct planned {
  arena *arena;
  kernel_plan *plan;
  target_description target;
} planned;

static planned plan(const char *source, hero_kind hero, int alias_count, target_description target) {
  planned p = {.arena = arena_create(), .target = target};
  const kernel_alias first = {0, 0};
  module *m = testing_parse(p.arena, source);
  testing_require(kernel_plan_create(p.arena, m->entry, "k", &target, alias_count, &first, &p.plan), source);
  if (p.plan->hero != hero) fail_msg("%s\nis a %s", source, kernel_hero_name(p.plan->hero));
  return p;
}

static str printed(const planned *p) {
  text out = {0};
  kernel_plan_print(&out, &p->target, p->plan);
  str s = str_from(arena_strdup(p->arena, text_cstr(&out), strlen(text_cstr(&out))));
  text_free(&out);
  return s;
}

static bool is_left_out(const fields *f, size_t byte) {
  for (int n = 0; n < f->count; n++)
    if (byte >= f->list[n].offset && byte < f->list[n].offset + f->list[n].size) return true;
  return false;
}

// values: all ones but for padding.
static void turn(const planned *p, const char *what, void *object, const void *values, size_t size, fields left_out) {
  unsigned char *bytes = object;
  const str before = printed(p);
  for (size_t b = 0; b < size; b++) {
    if (!((const unsigned char *)values)[b] || is_left_out(&left_out, b)) continue;
    bytes[b] ^= 1;
    const str after = printed(p);
    bytes[b] ^= 1;
    if (str_equal(before, after)) fail_msg("byte %zu of %s is not in\n" STR_FMT, b, what, STR_ARG(before));
  }
}

#if __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(object) __builtin_clear_padding(object)
#else  // who cannot tell what is padding turns nothing
#define CLEAR_PADDING(object) memset(object, 0, sizeof *(object))
#endif

// `object` may point to what the plan holds as constant.
#define TURN(p, type, object, left_out)                                 \
  do {                                                                  \
    type values;                                                        \
    memset(&values, 0xff, sizeof values);                               \
    CLEAR_PADDING(&values);                                             \
    turn(p, #type, (void *)(object), &values, sizeof values, left_out); \
  } while (0)

static void turn_block(const planned *p, const kernel_block *b) {
  TURN(p, kernel_block, b, FIELDS(FIELD(kernel_block, space)));
}

static void turn_ints(const planned *p, int count, const int *list) {
  for (int n = 0; n < count; n++) TURN(p, int, &list[n], NO_FIELDS);
}

// Pieces are printed of kernels for open sizes alone: test_open_sizes.
static const fields grid_launch = {
    7, (const field[]){FIELD(launch_plan, threads), FIELD(launch_plan, blocks_x), FIELD(launch_plan, blocks_y),
                       FIELD(launch_plan, unroll), FIELD(launch_plan, shared_bytes), FIELD(launch_plan, pieces),
                       FIELD(launch_plan, rest_limit)}};
static const fields tile_launch = {
    5, (const field[]){FIELD(launch_plan, tile), FIELD(launch_plan, tiles), FIELD(launch_plan, tile_bytes),
                       FIELD(launch_plan, pieces), FIELD(launch_plan, rest_limit)}};

static void end(planned *p) {
  TURN(p, launch_plan, &p->plan->launch, p->target.has_grid ? tile_launch : grid_launch);
  arena_destroy(p->arena);
}

static const char rows[] =
    "HloModule m\nENTRY e {\n  p = f32[70,100] parameter(0)\n  q = f32[100] parameter(1)\n"
    "  b = f32[70,100] broadcast(q), dimensions={1}\n  ROOT r = f32[70,100] add(p, b)\n}\n";

static void test_loop(void **state) {
  (void)state;
  planned p = plan(rows, HERO_LOOP, 0, target_cpu(2)), grid = plan(rows, HERO_LOOP, 0, target_gpu());
  hero_loop *h = &p.plan->details.loop;
  assert_true(h->is_blocked);
  TURN(&p, bool, &h->is_blocked, NO_FIELDS);
  turn_block(&p, &h->block);
  assert_false(grid.plan->details.loop.is_blocked);
  end(&p);
  end(&grid);
}

static void test_open_sizes(void **state) {
  (void)state;
  planned p = plan(rows, HERO_LOOP, 0, target_cpu(2));
  p.plan->launch.pieces = 8;
  TURN(&p, launch_plan, &p.plan->launch,
       FIELDS(FIELD(launch_plan, threads), FIELD(launch_plan, blocks_x), FIELD(launch_plan, blocks_y),
              FIELD(launch_plan, unroll), FIELD(launch_plan, shared_bytes), FIELD(launch_plan, tiles)));
  arena_destroy(p.arena);
}

static void turn_range(const planned *p, const grid_range *r) {
  TURN(p, grid_range, r, FIELDS(FIELD(grid_range, space)));
}

static const char two_sizes[] =
    "HloModule m\nENTRY e {\n  p = f32[70,100] parameter(0)\n  q = f32[100] parameter(1)\n"
    "  m = f32[70,100] negate(p)\n  n = f32[100] negate(q)\n  o = f32[7000] bitcast(m)\n"
    "  ROOT r = (f32[70,100], f32[100], f32[7000]) tuple(m, n, o)\n}\n";

static void test_grid_loops(void **state) {
  (void)state;
  planned p = plan(two_sizes, HERO_LOOPS, 0, target_gpu());
  const hero_grid_loops *h = &p.plan->details.grid_loops;
  assert_int_equal(h->range_count, 2);
  for (int r = 0; r < h->range_count; r++) turn_range(&p, &h->ranges[r]);
  turn_ints(&p, p.plan->output_count, h->range_of);
  turn_ints(&p, p.plan->output_count, h->value_of);
  TURN(&p, hero_grid_loops, h,
       FIELDS(FIELD(hero_grid_loops, range_count), FIELD(hero_grid_loops, ranges), FIELD(hero_grid_loops, range_of),
              FIELD(hero_grid_loops, value_of)));
  end(&p);
}

static void test_loops(void **state) {
  (void)state;
  planned p = plan(two_sizes, HERO_LOOPS, 0, target_cpu(2));
  const hero_loops *h = &p.plan->details.loops;
  assert_int_equal(h->block_count, 2);
  for (int b = 0; b < h->block_count; b++) turn_block(&p, &h->blocks[b]);
  turn_ints(&p, p.plan->output_count, h->block_of);
  turn_ints(&p, p.plan->output_count, h->value_of);
  TURN(&p, hero_loops, h,
       FIELDS(FIELD(hero_loops, block_count), FIELD(hero_loops, blocks), FIELD(hero_loops, block_of),
              FIELD(hero_loops, value_of)));
  end(&p);
}

static const char joined[] =
    "HloModule m\nENTRY e {\n  p = f32[40,300] parameter(0)\n  q = f32[40,70] parameter(1)\n"
    "  n = f32[40,70] negate(q)\n  ROOT r = f32[40,370] concatenate(p, n), dimensions={1}\n}\n";

static void test_grid_concatenate(void **state) {
  (void)state;
  planned p = plan(joined, HERO_CONCATENATE, 0, target_gpu());
  const hero_grid_concatenate *h = &p.plan->details.grid_concatenate;
  assert_int_equal(h->range_count, 2);
  for (int r = 0; r < h->range_count; r++) {
    turn_range(&p, &h->ranges[r]);
    TURN(&p, int64_t, &h->offsets[r], NO_FIELDS);
  }
  TURN(&p, hero_grid_concatenate, h,
       FIELDS(FIELD(hero_grid_concatenate, range_count), FIELD(hero_grid_concatenate, ranges),
              FIELD(hero_grid_concatenate, offsets), FIELD(hero_grid_concatenate, epilogue)));
  end(&p);
}

static void test_concatenate(void **state) {
  (void)state;
  planned p = plan(joined, HERO_CONCATENATE, 0, target_cpu(2));
  const hero_concatenate *h = &p.plan->details.concatenate;
  assert_int_equal(h->block_count, 2);
  for (int b = 0; b < h->block_count; b++) {
    turn_block(&p, &h->blocks[b]);
    TURN(&p, int64_t, &h->offsets[b], NO_FIELDS);
  }
  TURN(&p, hero_concatenate, h,
       FIELDS(FIELD(hero_concatenate, block_count), FIELD(hero_concatenate, by_row), FIELD(hero_concatenate, blocks),
              FIELD(hero_concatenate, offsets), FIELD(hero_concatenate, epilogue)));
  end(&p);
}

static void test_transpose(void **state) {
  (void)state;
  planned p = plan(
      "HloModule m\nENTRY e {\n  p = f32[20,160,170] parameter(0)\n  q = f32[20,160,170] parameter(1)\n"
      "  n = f32[20,160,170] exponential(p)\n  s = f32[20,170,160] transpose(n), dimensions={0,2,1}\n"
      "  t = f32[20,170,160] transpose(q), dimensions={0,2,1}\n  ROOT a = f32[20,170,160] add(s, t)\n}\n",
      HERO_TRANSPOSE, 0, target_cpu(2));
  const hero_transpose *h = &p.plan->details.transpose;
  assert_int_equal(h->hero_count, 2);
  turn_ints(&p, h->hero_count, h->groups);
  turn_ints(&p, h->hero_count, h->direct_inputs);
  turn_ints(&p, h->hero_count, h->direct_outputs);
  for (int n = 0; n < h->hero_count; n++) TURN(&p, register_block, &h->blocks[n], NO_FIELDS);
  TURN(&p, hero_transpose, h,
       FIELDS(FIELD(hero_transpose, hero_count), FIELD(hero_transpose, heroes), FIELD(hero_transpose, group_count),
              FIELD(hero_transpose, groups), FIELD(hero_transpose, to_operand), FIELD(hero_transpose, to_result),
              FIELD(hero_transpose, direct_inputs), FIELD(hero_transpose, direct_outputs),
              FIELD(hero_transpose, blocks), FIELD(hero_transpose, epilogue)));
  end(&p);
}

static void turn_grid_transpose(const char *source) {
  planned p = plan(source, HERO_TRANSPOSE, 0, target_gpu());
  const hero_grid_transpose *h = &p.plan->details.grid_transpose;
  for (int n = 0; n < h->hero_count; n++)
    TURN(&p, grid_transpose_tile, &h->in_shared[n], FIELDS(FIELD(grid_transpose_tile, shape)));
  for (int n = 0; n < p.plan->output_count; n++)
    TURN(&p, grid_transpose_side_output, &h->side_outputs[n], FIELDS(FIELD(grid_transpose_side_output, map)));
  TURN(&p, hero_grid_transpose, h,
       FIELDS(FIELD(hero_grid_transpose, hero_count), FIELD(hero_grid_transpose, heroes),
              FIELD(hero_grid_transpose, in_shared), FIELD(hero_grid_transpose, group_count),
              FIELD(hero_grid_transpose, to_operand), FIELD(hero_grid_transpose, to_result),
              FIELD(hero_grid_transpose, side_outputs), FIELD(hero_grid_transpose, epilogue)));
  end(&p);
}

static void test_grid_transpose(void **state) {
  (void)state;
  turn_grid_transpose(
      "HloModule m\nENTRY e {\n  p = f32[20,160,170] parameter(0)\n  q = f32[20,160,170] parameter(1)\n"
      "  n = f32[20,160,170] exponential(p)\n  s = f32[20,170,160] transpose(n), dimensions={0,2,1}\n"
      "  t = f32[20,170,160] transpose(q), dimensions={0,2,1}\n  a = f32[20,170,160] add(s, t)\n"
      "  ROOT r = (f32[20,170,160], f32[20,160,170]) tuple(a, n)\n}\n");
}

static void turn_pass(const planned *p, const row_pass *s) {
  for (int n = 0; n < s->reductions.size; n++) {
    dtype *accumulator = (dtype *)s->reductions.data[n].accumulators, as_planned = *accumulator;
    const str before = printed(p);
    *accumulator = DTYPE_F64;
    assert_false(str_equal(before, printed(p)));
    *accumulator = as_planned;
    TURN(p, row_reduction, &s->reductions.data[n],
         FIELDS(FIELD(row_reduction, reduce), FIELD(row_reduction, how.form), FIELD(row_reduction, how.operations),
                FIELD(row_reduction, count), FIELD(row_reduction, accumulators)));
  }
  for (int n = 0; n < s->stores.size; n++) TURN(p, row_store, &s->stores.data[n], NO_FIELDS);
  for (int n = 0; n < s->kept.size; n++) TURN(p, row_store, &s->kept.data[n], NO_FIELDS);
  TURN(p, row_pass, s, FIELDS(FIELD(row_pass, reductions), FIELD(row_pass, stores), FIELD(row_pass, kept)));
}

// What reductions have on tiles and on a grid.
static void turn_passes(const planned *p, const hero_reduction *h) {
  const row_passes *s = &h->passes;
  for (int n = 0; n < s->pass_count; n++) turn_pass(p, &s->passes[n]);
  turn_pass(p, &s->row_results);
  for (int g = 0; g < s->carried_values.size; g++)
    TURN(p, carried_value, &s->carried_values.data[g], FIELDS(FIELD(carried_value, shape), FIELD(carried_value, of)));
  for (int g = 0; g < s->space.group_count; g++) {
    TURN(p, int64_t, &s->space.sizes[g], NO_FIELDS);
    TURN(p, bool, &s->space.is_reduced[g], NO_FIELDS);
  }
  TURN(p, hero_reduction, h,
       FIELDS(FIELD(hero_reduction, passes.space.group_count), FIELD(hero_reduction, passes.space.sizes),
              FIELD(hero_reduction, passes.space.is_reduced), FIELD(hero_reduction, passes.carried_values),
              FIELD(hero_reduction, passes.pass_count), FIELD(hero_reduction, passes.passes),
              FIELD(hero_reduction, passes.row_results)));
}

static void turn_reduction(const char *entry, int pass_count, bool is_column) {
  arena *a = arena_create();
  const char *source = arena_printf(
      a,
      "HloModule m\nadd { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
      "ENTRY e {\n  p = f32[40,1000] parameter(0)\n  z = f32[] constant(0)\n%s}\n",
      entry);
  planned p = plan(source, HERO_REDUCTION, 0, target_cpu(2));
  const hero_reduction *h = &p.plan->details.reduction;
  const row_passes *s = &h->passes;
  assert_int_equal(s->pass_count, pass_count);
  assert_int_equal(h->is_column, is_column);
  turn_passes(&p, h);
  end(&p);
  arena_destroy(a);
}

static void test_reduction(void **state) {
  (void)state;
  turn_reduction("  ROOT r = f32[40] reduce(p, z), dimensions={1}, to_apply=add\n", 1, false);
  turn_reduction("  ROOT r = f32[1000] reduce(p, z), dimensions={0}, to_apply=add\n", 1, true);
  turn_reduction("  ROOT r = f32[] reduce(p, z), dimensions={0,1}, to_apply=add\n", 1, false);
  turn_reduction(
      "  x = f32[40,1000] exponential(p)\n  s = f32[40] reduce(x, z), dimensions={1}, to_apply=add\n"
      "  c = f32[40,1000] broadcast(s), dimensions={0}\n  ROOT q = f32[40,1000] divide(x, c)\n",
      2, false);
}

static void test_grid_reduction(void **state) {
  (void)state;
  static const char *const entries[] = {
      "  ROOT r = f32[40] reduce(p, z), dimensions={1}, to_apply=add\n",
      "  ROOT r = f32[1000] reduce(p, z), dimensions={0}, to_apply=add\n",
      ("  x = f32[40,1000] exponential(p)\n  s = f32[40] reduce(x, z), dimensions={1}, to_apply=add\n"
       "  c = f32[40,1000] broadcast(s), dimensions={0}\n  ROOT q = f32[40,1000] divide(x, c)\n"),
  };
  for (size_t n = 0; n < sizeof entries / sizeof *entries; n++) {
    arena *a = arena_create();
    planned p = plan(arena_printf(a,
                                  "HloModule m\nadd { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                                  "  ROOT r = f32[] add(a, b)\n}\nENTRY e {\n  p = f32[40,1000] parameter(0)\n"
                                  "  z = f32[] constant(0)\n%s}\n",
                                  entries[n]),
                     HERO_REDUCTION, 0, target_gpu());
    const hero_grid_reduction *h = &p.plan->details.grid_reduction;
    turn_passes(&p, &h->on_tiles);
    TURN(&p, hero_grid_reduction, h, FIELDS(FIELD(hero_grid_reduction, on_tiles)));
    end(&p);
    arena_destroy(a);
  }
}

static void test_grid_reductions(void **state) {
  (void)state;
  planned p = plan(
      "HloModule m\nadd { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
      "ENTRY e {\n  p = f32[40,1000] parameter(0)\n  q = f32[77,300] parameter(1)\n  z = f32[] constant(0)\n"
      "  s = f32[40] reduce(p, z), dimensions={1}, to_apply=add\n"
      "  m = f32[300] reduce(q, z), dimensions={0}, to_apply=add\n"
      "  ROOT r = (f32[40], f32[300]) tuple(s, m)\n}\n",
      HERO_REDUCTIONS, 0, target_gpu());
  const hero_grid_reductions *h = &p.plan->details.grid_reductions;
  assert_int_equal(h->group_count, 2);
  for (int g = 0; g < h->group_count; g++) {
    const grid_group *group = &h->groups[g];
    TURN(&p, grid_group, group, FIELDS(FIELD(grid_group, plan), FIELD(grid_group, outputs)));
    const hero_grid_reduction *own = &group->plan->details.grid_reduction;
    TURN(&p, hero_grid_reduction, own, FIELDS(FIELD(hero_grid_reduction, on_tiles)));
  }
  end(&p);
}

static void test_scatter(void **state) {
  (void)state;
  planned p = plan(
      "HloModule m\nadd { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
      "ENTRY e {\n  p = f32[650,30] parameter(0)\n  i = s32[900,1] parameter(1)\n  u = f32[900,1,30] parameter(2)\n"
      "  ROOT r = f32[650,30] scatter(p, i, u), update_window_dims={1,2}, inserted_window_dims={},\n"
      "  scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n}\n",
      HERO_SCATTER, 1, target_cpu(2));
  hero_scatter *h = &p.plan->details.scatter;
  TURN(&p, hero_scatter, h,
       FIELDS(FIELD(hero_scatter, scatter), FIELD(hero_scatter, updates), FIELD(hero_scatter, tiling)));
  const str before = printed(&p);
  h->tiling = h->tiling == SCATTER_SERIAL ? SCATTER_BY_OWNER : SCATTER_SERIAL;
  assert_false(str_equal(before, printed(&p)));
  end(&p);
}

static void test_grid_scatter(void **state) {
  (void)state;
  planned p = plan(
      "HloModule m\nadd { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
      "ENTRY e {\n  p = f32[650,30] parameter(0)\n  i = s32[900,1] parameter(1)\n  u = f32[900,1,30] parameter(2)\n"
      "  ROOT r = f32[650,30] scatter(p, i, u), update_window_dims={1,2}, inserted_window_dims={},\n"
      "  scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n}\n",
      HERO_SCATTER, 1, target_gpu());
  hero_grid_scatter *h = &p.plan->details.grid_scatter;
  TURN(&p, hero_grid_scatter, h,
       FIELDS(FIELD(hero_grid_scatter, scatter), FIELD(hero_grid_scatter, updates), FIELD(hero_grid_scatter, form)));
  const str before = printed(&p);
  h->form = h->form == GRID_SCATTER_ATOMIC ? GRID_SCATTER_RUNS : GRID_SCATTER_ATOMIC;
  assert_false(str_equal(before, printed(&p)));
  end(&p);
}

static const char update[] =
    "HloModule m\nENTRY e {\n  p = f32[65,300] parameter(0)\n  q = f32[5,77] parameter(1)\n  i = s32[] parameter(2)\n"
    "  n = f32[5,77] negate(q)\n  ROOT r = f32[65,300] dynamic-update-slice(p, n, i, i)\n}\n";

static void test_grid_update_slice(void **state) {
  (void)state;
  planned p = plan(update, HERO_UPDATE_SLICE, 1, target_gpu());
  const hero_grid_update_slice *h = &p.plan->details.grid_update_slice;
  turn_range(&p, &h->window);
  TURN(&p, hero_grid_update_slice, h,
       FIELDS(FIELD(hero_grid_update_slice, window), FIELD(hero_grid_update_slice, slices)));
  end(&p);
}

static void test_update_slice(void **state) {
  (void)state;
  planned p = plan(update, HERO_UPDATE_SLICE, 1, target_cpu(2));
  const hero_update_slice *h = &p.plan->details.update_slice;
  turn_block(&p, &h->block);
  TURN(&p, hero_update_slice, h, FIELDS(FIELD(hero_update_slice, block), FIELD(hero_update_slice, slices)));
  end(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loop),
      cmocka_unit_test(test_open_sizes),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_concatenate),
      cmocka_unit_test(test_transpose),
      cmocka_unit_test(test_grid_transpose),
      cmocka_unit_test(test_reduction),
      cmocka_unit_test(test_grid_reduction),
      cmocka_unit_test(test_grid_reductions),
      cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_update_slice),
      cmocka_unit_test(test_grid_scatter),
      cmocka_unit_test(test_grid_loops),
      cmocka_unit_test(test_grid_concatenate),
      cmocka_unit_test(test_grid_update_slice),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
