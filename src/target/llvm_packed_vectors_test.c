// Vectors of i2 and i4 are opened where nothing but elements of them is wanted.
#include "target/llvm_packed_vectors.h"

#include <llvm-c/IRReader.h>
#include <string.h>

#include "base/testing.h"

// The module behind the pass; the caller disposes of the text.
static char *opened(const char *source) {
  LLVMContextRef c = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(source, strlen(source), "test");
  LLVMModuleRef module = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(c, buffer, &module, &message)) fail_msg("%s", message);
  arena *a = arena_create();
  llvm_open_packed_vectors(a, module);
  char *printed = LLVMPrintModuleToString(module);
  arena_destroy(a);
  LLVMDisposeModule(module);
  LLVMContextDispose(c);
  return printed;
}

static void assert_opened(const char *source, const char *const *wanted) {
  char *printed = opened(source);
  for (int k = 0; wanted[k]; k++)
    if (!strstr(printed, wanted[k])) fail_msg("no `%s` in\n%s", wanted[k], printed);
  LLVMDisposeMessage(printed);
}

static void test_loads_become_words(void **state) {
  (void)state;
  assert_opened(
      "define i4 @f(ptr %p) {\n"
      "  %v = load <16 x i4>, ptr %p, align 4, !invariant.load !0\n"
      "  %x = extractelement <16 x i4> %v, i32 9\n"
      "  ret i4 %x\n}\n!0 = !{}\n",
      (const char *const[]){"load i64, ptr %p, align 4, !invariant.load", "lshr i64 %1, 36", "trunc i64 %2 to i4",
                            NULL});
}

static void test_casts_become_words(void **state) {
  (void)state;
  assert_opened(
      "define i2 @f(<4 x i32> %w) {\n"
      "  %v = bitcast <4 x i32> %w to <64 x i2>\n"
      "  %x = extractelement <64 x i2> %v, i64 17\n"
      "  ret i2 %x\n}\n",
      (const char *const[]){"extractelement <4 x i32> %w, i32 1", "lshr i32 %1, 2", "trunc i32 %2 to i2", NULL});
}

static void test_long_vectors_of_bytes_move_as_words(void **state) {
  (void)state;
  assert_opened(
      "define void @f(ptr %p, ptr %q) {\n"
      "  %v = load <16 x i8>, ptr %p, align 16\n"
      "  store <16 x i8> %v, ptr %q, align 16\n"
      "  %w = load <4 x i8>, ptr %p, align 4\n"
      "  store <4 x i8> %w, ptr %q, align 4\n"
      "  ret void\n}\n",
      (const char *const[]){"load <4 x i32>, ptr %p, align 16", "store <4 x i32> %", "ptr %q, align 16",
                            "load <4 x i8>, ptr %p, align 4", "store <4 x i8> %w, ptr %q, align 4", NULL});
}

static void test_others_stay(void **state) {
  (void)state;
  assert_opened(
      "define <2 x i4> @f(ptr %p) {\n"
      "  %v = load <2 x i4>, ptr %p\n"
      "  ret <2 x i4> %v\n}\n"
      "define i4 @g(ptr %p, i32 %i) {\n"
      "  %w = load <2 x i4>, ptr %p\n"
      "  %x = extractelement <2 x i4> %w, i32 %i\n"
      "  ret i4 %x\n}\n"
      "define i1 @h(ptr %p) {\n"
      "  %u = load <8 x i1>, ptr %p\n"
      "  %x = extractelement <8 x i1> %u, i32 1\n"
      "  ret i1 %x\n}\n",
      (const char *const[]){"%v = load <2 x i4>", "%w = load <2 x i4>", "%u = load <8 x i1>", NULL});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loads_become_words),
      cmocka_unit_test(test_casts_become_words),
      cmocka_unit_test(test_long_vectors_of_bytes_move_as_words),
      cmocka_unit_test(test_others_stay),
  };
  return cmocka_run_group_tests_name("target/llvm_packed_vectors", tests, NULL, NULL);
}
