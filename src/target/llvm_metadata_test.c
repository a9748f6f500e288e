// Hints and ranges end up where they belong.
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"
#include "target/llvm_metadata.h"

static LLVMModuleRef parse(LLVMContextRef c, const char *source) {
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(source, strlen(source), "test");
  LLVMModuleRef module = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(c, buffer, &module, &message)) fail_msg("%s", message);
  return module;
}

static const char loops[] =
    "define void @f(ptr %p, i64 %n) {\n"
    "entry:\n  br label %vector\n"
    "vector:\n"
    "  %i = phi i64 [0, %entry], [%i1, %vector_body]\n"
    "  %c = icmp slt i64 %i, %n\n"
    "  br i1 %c, label %vector_body, label %scalar\n"
    "vector_body:\n"
    "  %a = load <8 x float>, ptr %p\n"
    "  store <8 x float> %a, ptr %p\n"
    "  %i1 = add i64 %i, 8\n"
    "  br label %vector\n"
    "scalar:\n"
    "  %j = phi i64 [0, %vector], [%j1, %scalar_body]\n"
    "  %d = icmp slt i64 %j, %n\n"
    "  br i1 %d, label %scalar_body, label %done\n"
    "scalar_body:\n"
    "  %j1 = add i64 %j, 1\n"
    "  br label %scalar\n"
    "done:\n  ret void\n}\n";

static void test_only_vector_loops_are_marked(void **state) {
  (void)state;
  LLVMContextRef c = LLVMContextCreate();
  arena *a = arena_create();
  LLVMModuleRef module = parse(c, loops);
  llvm_hint_vector_loops(a, module);
  char *text = LLVMPrintModuleToString(module);
  assert_non_null(strstr(text, "br label %vector, !llvm.loop"));
  assert_null(strstr(text, "br label %scalar, !llvm.loop"));
  assert_non_null(strstr(text, "distinct !{"));
  assert_non_null(strstr(text, "!\"llvm.loop.vectorize.enable\", i1 false"));
  assert_non_null(strstr(text, "!\"llvm.loop.unroll.disable\""));
  LLVMDisposeMessage(text);
  LLVMDisposeModule(module);
  LLVMContextDispose(c);
  arena_destroy(a);
}

// %head: of one load by ones; %outer: around it; %large: by fours; %dear: calls, too long for two of them.
static const char grid_loops[] =
    "declare float @__nv_sinf(float)\n"
    "define void @f(ptr %p, i64 %n) {\n"
    "entry:\n  br label %outer\n"
    "outer:\n"
    "  %o = phi i64 [0, %entry], [%o1, %outer_end]\n"
    "  %oc = icmp slt i64 %o, %n\n"
    "  br i1 %oc, label %head, label %large\n"
    "head:\n"
    "  %i = phi i64 [0, %outer], [%i1, %body]\n"
    "  %c = icmp slt i64 %i, %n\n"
    "  br i1 %c, label %body, label %outer_end\n"
    "body:\n"
    "  %x = load float, ptr %p\n"
    "  %i1 = add i64 %i, 1\n"
    "  br label %head\n"
    "outer_end:\n  %o1 = add i64 %o, 1\n  br label %outer\n"
    "large:\n"
    "  %j = phi i64 [0, %outer], [%j1, %large_body]\n"
    "  %d = icmp slt i64 %j, %n\n"
    "  br i1 %d, label %large_body, label %dear\n"
    "large_body:\n"
    "  %y = load float, ptr %p\n"
    "  %j1 = add i64 %j, 4\n"
    "  br label %large\n"
    "dear:\n"
    "  %k = phi i64 [0, %large], [%k1, %dear_body]\n"
    "  %e = icmp slt i64 %k, %n\n"
    "  br i1 %e, label %dear_body, label %done\n"
    "dear_body:\n"
    "  %z = load float, ptr %p\n"
    "  %s = call float @__nv_sinf(float %z)\n"
    "  %k1 = add i64 %k, 1\n"
    "  br label %dear\n"
    "done:\n  ret void\n}\n";

// The name of the hint's node of the loop that begins at the block.
static void assert_hint(const char *printed, const char *block, const char *wanted) {
  char branch[64];
  snprintf(branch, sizeof branch, "  br label %%%s, !llvm.loop ", block);
  const char *at = strstr(printed, branch);
  assert_non_null(at);
  char node[32];
  snprintf(node, sizeof node, "\n!%d = distinct ", atoi(at + strlen(branch) + 1));
  const char *loop = strstr(printed, node);
  assert_non_null(loop);
  const char *second = strstr(loop, ", !");
  assert_non_null(second);
  snprintf(node, sizeof node, "\n!%d = ", atoi(second + 3));
  const char *hint = strstr(printed, node);
  assert_non_null(hint);
  assert_int_equal(strncmp(hint + strlen(node), wanted, strlen(wanted)), 0);
}

static void test_grid_loops_are_unrolled_by_what_they_read(void **state) {
  (void)state;
  LLVMContextRef c = LLVMContextCreate();
  arena *a = arena_create();
  LLVMModuleRef module = parse(c, grid_loops);
  target_description target;
  assert_true(target_find(str_from("sm_90"), &target));
  target.code.max_unrolled_cost = target.code.unrolled_math_cost + 5;
  llvm_hint_grid_loops(a, module, &target);
  char *printed = LLVMPrintModuleToString(module);
  assert_hint(printed, "head", "!{!\"llvm.loop.unroll.count\", i32 4}");
  assert_hint(printed, "outer", "!{!\"llvm.loop.unroll.disable\"}");
  assert_hint(printed, "large", "!{!\"llvm.loop.unroll.disable\"}");
  assert_hint(printed, "dear", "!{!\"llvm.loop.unroll.disable\"}");
  LLVMDisposeMessage(printed);
  LLVMDisposeModule(module);
  LLVMContextDispose(c);
  arena_destroy(a);
}

static void test_thread_numbers_are_bounded(void **state) {
  (void)state;
  LLVMContextRef c = LLVMContextCreate();
  LLVMModuleRef module = parse(c,
                               "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                               "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                               "declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n"
                               "define i32 @f() {\n"
                               "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                               "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                               "  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n"
                               "  ret i32 %t\n}\n");
  llvm_bound_thread_numbers(module, &(launch_bounds){.threads_x = 128, .blocks_x = 24576, .blocks_y = 1});
  char *text = LLVMPrintModuleToString(module);
  assert_non_null(strstr(text, "tid.x(), !range"));
  assert_non_null(strstr(text, "ctaid.x(), !range"));
  assert_null(strstr(text, "tid.y(), !range"));
  assert_non_null(strstr(text, "!{i32 0, i32 128}"));
  assert_non_null(strstr(text, "!{i32 0, i32 24576}"));
  LLVMDisposeMessage(text);
  LLVMDisposeModule(module);
  LLVMContextDispose(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_vector_loops_are_marked),
      cmocka_unit_test(test_grid_loops_are_unrolled_by_what_they_read),
      cmocka_unit_test(test_thread_numbers_are_bounded),
  };
  return cmocka_run_group_tests_name("target/llvm_metadata", tests, NULL, NULL);
}
