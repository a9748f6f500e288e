// Maxima of halves are computed in f32; others stay as they are.
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <string.h>

#include "base/testing.h"
#include "target/llvm_extremes.h"

static const char source[] =
    "declare <4 x half> @llvm.maximum.v4f16(<4 x half>, <4 x half>)\n"
    "declare bfloat @llvm.minimum.bf16(bfloat, bfloat)\n"
    "declare double @llvm.maximum.f64(double, double)\n"
    "declare half @llvm.fabs.f16(half)\n"
    "define <4 x half> @halves(<4 x half> %a, <4 x half> %b) {\n"
    "  %m = call <4 x half> @llvm.maximum.v4f16(<4 x half> %a, <4 x half> %b)\n"
    "  %n = call <4 x half> @llvm.maximum.v4f16(<4 x half> %m, <4 x half> %b)\n"
    "  ret <4 x half> %n\n}\n"
    "define bfloat @scalar(bfloat %a, bfloat %b) {\n"
    "  %m = call bfloat @llvm.minimum.bf16(bfloat %a, bfloat %b)\n"
    "  ret bfloat %m\n}\n"
    "define double @others(double %a, half %b, ptr %p) {\n"
    "  %m = call double @llvm.maximum.f64(double %a, double %a)\n"
    "  %n = call half @llvm.fabs.f16(half %b)\n"
    "  store half %n, ptr %p\n"
    "  ret double %m\n}\n";

static void test_narrow_extremes_are_widened(void **state) {
  (void)state;
  LLVMContextRef c = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(source, strlen(source), "test");
  LLVMModuleRef module = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(c, buffer, &module, &message)) fail_msg("%s", message);
  llvm_widen_extremes(module);
  char *text = LLVMPrintModuleToString(module);
  assert_null(strstr(text, "call <4 x half> @llvm.maximum"));
  assert_null(strstr(text, "call bfloat @llvm.minimum"));
  assert_non_null(strstr(text, "fpext <4 x half> %a to <4 x float>"));
  assert_non_null(strstr(text, "call <4 x float> @llvm.maximum.v4f32"));
  assert_non_null(strstr(text, "call float @llvm.minimum.f32"));
  assert_non_null(strstr(text, "call double @llvm.maximum.f64(double %a, double %a)"));
  assert_non_null(strstr(text, "call half @llvm.fabs.f16(half %b)"));
  assert_false(LLVMVerifyModule(module, LLVMReturnStatusAction, &message));
  LLVMDisposeMessage(message);
  LLVMDisposeMessage(text);
  LLVMDisposeModule(module);
  LLVMContextDispose(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_narrow_extremes_are_widened)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
