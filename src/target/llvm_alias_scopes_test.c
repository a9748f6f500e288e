// Each written buffer has a scope, on its own accesses and kept off all others.
#include "target/llvm_alias_scopes.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "base/testing.h"

static char *scoped(const char *source) {
  LLVMContextRef c = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(source, strlen(source), "test");
  LLVMModuleRef module = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(c, buffer, &module, &message)) fail_msg("%s", message);
  arena *a = arena_create();
  llvm_scope_accesses(a, module);
  arena_destroy(a);
  assert_false(LLVMVerifyModule(module, LLVMReturnStatusAction, &message));
  LLVMDisposeMessage(message);
  char *text = LLVMPrintModuleToString(module);
  LLVMDisposeModule(module);
  LLVMContextDispose(c);
  return text;
}

static void test_written_buffers_have_scopes(void **state) {
  (void)state;
  char *text = scoped(
      "define void @k(ptr noalias %in, ptr noalias %x, ptr noalias %y) {\n"
      "  %a = getelementptr float, ptr %in, i64 4\n"
      "  %v = load float, ptr %a\n"
      "  %w = load float, ptr %x\n"
      "  store float %v, ptr %x\n"
      "  %old = atomicrmw fadd ptr %y, float %w monotonic\n"
      "  ret void\n}\n");
  assert_non_null(strstr(text, "%v = load float, ptr %a, align 4, !noalias !0"));
  assert_non_null(strstr(text, "%w = load float, ptr %x, align 4, !alias.scope !4, !noalias !5"));
  assert_non_null(strstr(text, "store float %v, ptr %x, align 4, !alias.scope !4, !noalias !5"));
  assert_non_null(strstr(text, "atomicrmw fadd ptr %y, float %w monotonic, align 4, !alias.scope !5, !noalias !4"));
  assert_non_null(strstr(text, "!\"buffer of argument 1\""));
  assert_null(strstr(text, "!\"buffer of argument 0\""));
  LLVMDisposeMessage(text);
}

// Where two arguments may be one memory, nothing is known.
static void test_nothing_is_said_without_noalias(void **state) {
  (void)state;
  char *text = scoped(
      "define void @k(ptr noalias %in, ptr %x) {\n"
      "  %v = load float, ptr %in\n"
      "  store float %v, ptr %x\n"
      "  ret void\n}\n");
  assert_null(strstr(text, "alias.scope"));
  assert_null(strstr(text, "!noalias"));
  LLVMDisposeMessage(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_written_buffers_have_scopes),
      cmocka_unit_test(test_nothing_is_said_without_noalias),
  };
  return cmocka_run_group_tests_name("target/llvm_alias_scopes", tests, NULL, NULL);
}
