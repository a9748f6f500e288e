// Kernels of tiles that fail are planned again without: here they fail since a watcher of passes spoils them.
#include "api/tile_failures.h"

#include "api/compile.h"
#include "api/testing.h"
#include "base/arena_testing.h"
#include "emit/ir_builder.h"
#include "import/import.h"
#include "kernel/untiled.h"

// Two kernels of tiles, and one that emitters would make a loop over a product of.
static const char source[] =
    "HloModule m\n"
    "ENTRY e {\n"
    "  x = f32[32,64] parameter(0)\n"
    "  w = f32[64,48] parameter(1)\n"
    "  v = f32[48,32] parameter(2)\n"
    "  y = f32[32,48] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  z = f32[32,48] tanh(y)\n"
    "  u = f32[32,32] dot(z, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT t = f32[32,32] negate(u)\n"
    "}\n";

// How many kernels are still to be spoiled.
typedef struct spoiler {
  int left;
} spoiler;

// A call of a function, which no region may have.
static void spoil(void *argument, const pass *p, const pass_unit_kind *kind, const void *unit) {
  spoiler *s = argument;
  (void)p, (void)kind;
  if (s->left-- <= 0) return;
  arena *a = arena_create();
  const MlirOperation module = {(void *)unit};
  const ir_operations functions = ir_collect(a, module, "func.func");
  MlirContext context = mlirOperationGetContext(module);
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(ir_body(functions.data[0], 0)), a);
  MlirNamedAttribute callee =
      ir_named(context, "callee", mlirFlatSymbolRefAttrGet(context, mlirStringRefCreateFromCString("elsewhere")));
  ir_build(&b, (ir_op_state){.name = "func.call", .attribute_count = 1, .attributes = &callee});
  arena_destroy(a);
}

static heddle_status compile_for(arena *a, const char *text, const target_description *target, target_codegen codegen,
                                 int spoiled, compiled *out) {
  spoiler s = {spoiled};
  pass_control control = PASS_CONTROL_DEFAULT;
  pass_watcher watcher = {.after = "iree-codegen-hlo-to-linalg-on-buffers", .see = spoil, .argument = &s};
  pass_control_add(&control, &watcher);
  module *m;
  testing_expect(import_module(a, "m.hlo", str_from(text), NULL, &m), HEDDLE_OK, "");
  compile_options *o = arena_new(a, compile_options);
  *o = (compile_options){.threads = 1, .target = target, .codegen = codegen, .control = &control};
  return compile_module(a, m, o, out);
}

static heddle_status compile(arena *a, target_codegen codegen, int spoiled, compiled *out) {
  return compile_for(a, source, NULL, codegen, spoiled, out);
}

static int tiles_of(const compiled *c) {
  int count = 0;
  for (int k = 0; k < c->plan->kernel_count; k++) count += c->plan->kernels[k]->hero == HERO_TILES;
  return count;
}

static void test_plans_again(void **state) {
  arena *a = *state;
  int whole = 0;
  for (int spoiled = 0; spoiled <= 3; spoiled++) {
    compiled c;
    testing_expect(compile(a, CODEGEN_TILES, spoiled, &c), HEDDLE_OK, "");
    if (spoiled == 0) whole = tiles_of(&c);
    else assert_true(tiles_of(&c) < whole);
    compiled_release(&c);
  }
  assert_true(whole > 0);
}

// However often it fails it ends, without tiles.
static void test_ends(void **state) {
  arena *a = *state;
  compiled c;
  testing_expect(compile(a, CODEGEN_TILES, INT32_MAX, &c), HEDDLE_OK, "");
  assert_int_equal(tiles_of(&c), 0);
  compiled_release(&c);
}

// Fusion makes sums of these products of vectors, under names that no module has before: one that fails leaves the
// other one, and the product of matrices, to tiles.
static void test_what_fusion_names_fails_alone(void **state) {
  arena *a = *state;
  static const char sums[] =
      "HloModule m\n"
      "ENTRY e {\n"
      "  x = f32[777] parameter(0)\n"
      "  y = f32[777] parameter(1)\n"
      "  d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      "  z = f32[555] parameter(2)\n"
      "  s = f32[] dot(z, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      "  v = f32[64,96] parameter(3)\n"
      "  w = f32[96,64] parameter(4)\n"
      "  p = f32[64,64] dot(v, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  ROOT all = (f32[], f32[], f32[64,64]) tuple(d, s, p)\n"
      "}\n";
  int whole = 0;
  for (int spoiled = 0; spoiled <= 1; spoiled++) {
    compiled c;
    testing_expect(compile_for(a, sums, target_vulkan(), CODEGEN_TILES, spoiled, &c), HEDDLE_OK, "");
    if (spoiled == 0) whole = tiles_of(&c);
    else assert_int_equal(tiles_of(&c), whole - 1);
    compiled_release(&c);
  }
  assert_int_equal(whole, 3);
}

// Fusion makes a sum of this product, under names that no module has before.
static void test_ends_where_fusion_names(void **state) {
  arena *a = *state;
  static const char sum[] =
      "HloModule m\n"
      "ENTRY e {\n"
      "  x = f32[777] parameter(0)\n"
      "  y = f32[777] parameter(1)\n"
      "  ROOT d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      "}\n";
  compiled c;
  testing_expect(compile_for(a, sum, target_vulkan(), CODEGEN_TILES, 0, &c), HEDDLE_OK, "");
  assert_true(tiles_of(&c) > 0);
  compiled_release(&c);
  testing_expect(compile_for(a, sum, target_vulkan(), CODEGEN_TILES, INT32_MAX, &c), HEDDLE_OK, "");
  assert_int_equal(tiles_of(&c), 0);
  compiled_release(&c);
}

static void test_notes_what_avoids_failure(void **state) {
  arena *a = *state;
  module *m;
  testing_expect(import_module(a, "m.hlo", str_from(source), NULL, &m), HEDDLE_OK, "");
  kernel_plan k = {.name = "main", .computation = m->entry, .hero = HERO_TILES};
  tile_failures f = {.arena = a};
  text told = {0};
  heddle_status full = status_error(HEDDLE_OUT_OF_MEMORY, "full"), refused = status_error(HEDDLE_UNIMPLEMENTED, "no");
  assert_false(tile_failures_note(&f, &k, full));
  k.hero = HERO_LOOP;
  assert_false(tile_failures_note(&f, &k, refused));
  k.hero = HERO_TILES;
  assert_true(tile_failures_note(&f, &k, refused));
  assert_false(f.has_all);
  assert_int_equal(tile_failures_codegen(&f, CODEGEN_TILES), CODEGEN_TILES);
  tile_failures_mark(&f, m);
  for (int n = 0; n < m->entry->instructions.size; n++) {
    const instruction *i = m->entry->instructions.data[n];
    assert_int_equal(untiled_is(i), i->opcode != HLO_PARAMETER);
  }
  // The same once more: marks do not help.
  assert_true(tile_failures_note(&f, &k, refused));
  assert_true(f.has_all);
  assert_false(tile_failures_note(&f, &k, refused));
  assert_int_equal(tile_failures_codegen(&f, CODEGEN_CHOSEN), CODEGEN_LIBRARY);
  assert_int_equal(tile_failures_codegen(&f, CODEGEN_LIBRARY), CODEGEN_LIBRARY);
  assert_int_equal(tile_failures_codegen(&f, CODEGEN_EMITTERS), CODEGEN_EMITTERS);
  assert_int_equal(tile_failures_codegen(&f, CODEGEN_TILES), CODEGEN_EMITTERS);
  tile_failures_print(&f, &told);
  assert_true(str_starts_with(text_view(&told), "t: not by tiles, which failed: no\n"));
  text_free(&told);
  heddle_status_free(full);
  heddle_status_free(refused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_plans_again),
      TESTING_IN_ARENA(test_ends),
      TESTING_IN_ARENA(test_what_fusion_names_fails_alone),
      TESTING_IN_ARENA(test_ends_where_fusion_names),
      TESTING_IN_ARENA(test_notes_what_avoids_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
