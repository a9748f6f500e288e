// A module in the LLVM dialect becomes an object, the object becomes code that runs.
#include <mlir-c/IR.h>
#include <string.h>

#include "base/testing.h"
#include "emit/ir_builder.h"
#include "link/link.h"
#include "target/cpu.h"

static const char doubler[] =
    "llvm.func @double_it(%buffers: !llvm.ptr, %begin: i64, %end: i64) {\n"
    "  %in = llvm.load %buffers : !llvm.ptr -> !llvm.ptr\n"
    "  %place = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
    "  %out = llvm.load %place : !llvm.ptr -> !llvm.ptr\n"
    "  %from = llvm.getelementptr %in[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
    "  %to = llvm.getelementptr %out[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
    "  %x = llvm.load %from : !llvm.ptr -> f32\n"
    "  %y = llvm.fadd %x, %x : f32\n"
    "  llvm.store %y, %to : f32, !llvm.ptr\n"
    "  llvm.return\n"
    "}\n";

typedef struct fixture {
  arena *a;
  MlirContext context;
  MlirModule module;
  target_description machine;
} fixture;

static int set_up(void **state) {
  static fixture f;
  f.a = arena_create();
  f.context = ir_context_create();
  f.module = mlirModuleCreateParse(f.context, mlirStringRefCreateFromCString(doubler));
  if (mlirModuleIsNull(f.module)) return -1;
  *state = &f;
  f.machine = cpu_target_host(f.a, 1);
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
  arena_destroy(f->a);
  return 0;
}

static void test_runs(void **state) {
  fixture *f = *state;
  text assembly = {0}, llvm_ir = {0};
  code_options options = {.assembly = &assembly, .llvm_ir = &llvm_ir};
  kernel_image object;
  assert_true(status_is_ok(cpu_emit(f->a, mlirModuleGetOperation(f->module), &f->machine, &options, &object)));
  assert_memory_equal(object.data, "\177ELF", 4);
  assert_non_null(strstr(text_cstr(&assembly), "double_it"));
  assert_non_null(strstr(text_cstr(&llvm_ir), "target-cpu"));
  link_code *code;
  void *entry;
  const str bytes = {object.data, object.size};
  const link_entry wanted = {0, "double_it"};
  assert_true(status_is_ok(link_objects(1, &bytes, 1, &wanted, &entry, &code)));
  float in[] = {1, 2.5f}, out[2] = {0};
  void *buffers[] = {in, out};
  ((void (*)(void **, int64_t, int64_t))entry)(buffers, 1, 2);
  assert_true(out[0] == 0 && out[1] == 5);
  link_release(code);
  text_free(&assembly);
  text_free(&llvm_ir);
}

// The passes are kept between kernels, which must not show: with constants, a second function, in contexts that are
// gone.
static void test_leaves_nothing_to_the_next(void **state) {
  fixture *f = *state;
  static const char other[] =
      "llvm.func internal @half(%x: vector<16xf32>) -> vector<16xf32> attributes {no_inline} {\n"
      "  %c = llvm.mlir.constant(dense<0.5> : vector<16xf32>) : vector<16xf32>\n"
      "  %y = llvm.fmul %x, %c : vector<16xf32>\n"
      "  llvm.return %y : vector<16xf32>\n"
      "}\n"
      "llvm.func @double_it(%buffers: !llvm.ptr, %begin: i64, %end: i64) {\n"
      "  %x = llvm.load %buffers : !llvm.ptr -> vector<16xf32>\n"
      "  %y = llvm.call @half(%x) : (vector<16xf32>) -> vector<16xf32>\n"
      "  llvm.store %y, %buffers : vector<16xf32>, !llvm.ptr\n"
      "  llvm.return\n"
      "}\n";
  kernel_image images[4];
  for (int i = 0; i < 4; i++) {
    const char *source = i % 2 ? other : doubler;
    MlirContext context = ir_context_create();
    MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(source));
    assert_false(mlirModuleIsNull(module));
    const code_options plain = {.entry = "double_it"};
    assert_true(status_is_ok(cpu_emit(f->a, mlirModuleGetOperation(module), &f->machine, &plain, &images[i])));
    mlirModuleDestroy(module);
    mlirContextDestroy(context);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(images[i].size, images[i + 2].size);
    assert_memory_equal(images[i].data, images[i + 2].data, images[i].size);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_runs, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_leaves_nothing_to_the_next, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("target/cpu", tests, NULL, NULL);
}
