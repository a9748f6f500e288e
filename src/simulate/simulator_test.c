// Kernels that are right, and the same kernels broken on purpose: the simulator has to tell them apart.
#include "simulate/simulator.h"

#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

// --- kernels

#define DECLARATIONS                                                    \
  "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n" \
  "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"                      \
  "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"                    \
  "declare void @llvm.nvvm.barrier0()\n"                                \
  "declare {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)\n"

// Turns a matrix of 32 x 32 floats around, through shared memory of 32 x 33: thread t of 128 takes column t mod 32 of
// rows t / 32, t / 32 + 4, ...
static const char transposes[] = DECLARATIONS
    "@shared = internal addrspace(3) global [1056 x float] undef, align 16\n"
    "define void @kernel(ptr %in, ptr %out) {\n"
    "entry:\n"
    "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    "  %lane = urem i32 %thread, 32\n"
    "  %row = udiv i32 %thread, 32\n"
    "  br label %reading\n"
    "reading:\n"
    "  %i = phi i32 [ 0, %entry ], [ %i.next, %reading ]\n"
    "  %r = add i32 %row, %i\n"
    "  %r32 = mul i32 %r, 32\n"
    "  %at = add i32 %r32, %lane\n"
    "  %from = getelementptr float, ptr %in, i32 %at\n"
    "  %x = load float, ptr %from, align 4\n"
    "  %r33 = mul i32 %r, 33\n"
    "  %slot = add i32 %r33, %lane\n"
    "  %there = getelementptr float, ptr addrspace(3) @shared, i32 %slot\n"
    "  store float %x, ptr addrspace(3) %there, align 4\n"
    "  %i.next = add i32 %i, 4\n"
    "  %goes.on = icmp ult i32 %i.next, 32\n"
    "  br i1 %goes.on, label %reading, label %meeting\n"
    "meeting:\n"
    "  call void @llvm.nvvm.barrier0()\n"
    "  br label %writing\n"
    "writing:\n"
    "  %j = phi i32 [ 0, %meeting ], [ %j.next, %writing ]\n"
    "  %c = add i32 %row, %j\n"
    "  %l33 = mul i32 %lane, 33\n"
    "  %from.slot = add i32 %l33, %c\n"
    "  %here = getelementptr float, ptr addrspace(3) @shared, i32 %from.slot\n"
    "  %y = load float, ptr addrspace(3) %here, align 4\n"
    "  %c32 = mul i32 %c, 32\n"
    "  %to = add i32 %c32, %lane\n"
    "  %result = getelementptr float, ptr %out, i32 %to\n"
    "  store float %y, ptr %result, align 4\n"
    "  %j.next = add i32 %j, 4\n"
    "  %again = icmp ult i32 %j.next, 32\n"
    "  br i1 %again, label %writing, label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n";

// Each warp sums 32 floats by shuffles; its first lane stores the sum.
static const char sums[] = DECLARATIONS
    "define void @kernel(ptr %in, ptr %out) {\n"
    "entry:\n"
    "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
    "  %row = mul i32 %block, 32\n"
    "  %at = add i32 %row, %thread\n"
    "  %from = getelementptr float, ptr %in, i32 %at\n"
    "  %first = load float, ptr %from, align 4\n"
    "  br label %halving\n"
    "halving:\n"
    "  %distance = phi i32 [ 16, %entry ], [ %half, %halving ]\n"
    "  %sum = phi float [ %first, %entry ], [ %more, %halving ]\n"
    "  %bits = bitcast float %sum to i32\n"
    "  %pair = call {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32 -1, i32 %bits, i32 %distance, i32 31)\n"
    "  %other.bits = extractvalue {i32, i1} %pair, 0\n"
    "  %other = bitcast i32 %other.bits to float\n"
    "  %more = fadd float %sum, %other\n"
    "  %half = lshr i32 %distance, 1\n"
    "  %goes.on = icmp ne i32 %half, 0\n"
    "  br i1 %goes.on, label %halving, label %storing\n"
    "storing:\n"
    "  %is.first = icmp eq i32 %thread, 0\n"
    "  br i1 %is.first, label %store, label %done\n"
    "store:\n"
    "  %to = getelementptr float, ptr %out, i32 %block\n"
    "  store float %more, ptr %to, align 4\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n";

// What all threads read the last one of them changes behind a barrier, having read it once more.
static const char changes[] = DECLARATIONS
    "@shared = internal addrspace(3) global [1 x float] undef, align 16\n"
    "define void @kernel(ptr %in, ptr %out) {\n"
    "entry:\n"
    "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    "  %is.first = icmp eq i32 %thread, 0\n"
    "  br i1 %is.first, label %begin, label %begun\n"
    "begin:\n"
    "  store float 2.0, ptr addrspace(3) @shared, align 4\n"
    "  br label %begun\n"
    "begun:\n"
    "  call void @llvm.nvvm.barrier0()\n"
    "  %x = load float, ptr addrspace(3) @shared, align 4\n"
    "  call void @llvm.nvvm.barrier0()\n"
    "  %is.last = icmp eq i32 %thread, 63\n"
    "  br i1 %is.last, label %change, label %changed\n"
    "change:\n"
    "  %y = load float, ptr addrspace(3) @shared, align 4\n"
    "  %more = fadd float %y, 5.0\n"
    "  store float %more, ptr addrspace(3) @shared, align 4\n"
    "  br label %changed\n"
    "changed:\n"
    "  call void @llvm.nvvm.barrier0()\n"
    "  %z = load float, ptr addrspace(3) @shared, align 4\n"
    "  %sum = fadd float %x, %z\n"
    "  %to = getelementptr float, ptr %out, i32 %thread\n"
    "  store float %sum, ptr %to, align 4\n"
    "  ret void\n"
    "}\n";

// --- running them

enum { SIDE = 32, SIZE = SIDE * SIDE };

typedef struct trial {
  _Alignas(64) float in[SIZE];
  _Alignas(64) float out[SIZE];
  simulator_traffic traffic;
} trial;

// The text with `what` (null: nothing), which it holds, replaced.
static char *changed(const char *text, const char *what, const char *with) {
  char *made = calloc(1, strlen(text) + (with ? strlen(with) : 0) + 1);
  const char *at = what ? strstr(text, what) : NULL;
  assert_non_null(made);
  if (!what) return strcpy(made, text);
  assert_non_null(at);
  memcpy(made, text, (size_t)(at - text));
  strcat(made, with);
  strcat(made, at + strlen(what));
  return made;
}

static heddle_status try_kernel(const char *ir, int64_t blocks, int64_t threads, int64_t out_bytes, trial *t) {
  simulator *s = simulator_create(48 << 10);
  for (int k = 0; k < SIZE; k++) {
    t->in[k] = (float)k;
    t->out[k] = -1;
  }
  heddle_status status = simulator_add(s, ir, strlen(ir), "kernel");
  if (status_is_ok(status)) {
    const simulator_grid grid = {{blocks, 1, 1}, {threads, 1, 1}};
    status = simulator_launch(s, 0, &grid, 2, (void *[]){t->in, t->out}, (int64_t[]){sizeof t->in, out_bytes});
    t->traffic = simulator_traffic_of(s, 0);
  }
  simulator_destroy(s);
  return status;
}

// The changed kernel has to fail with a message that holds `message`.
static void expect_failure(const char *ir, const char *what, const char *with, int64_t threads, int64_t out_bytes,
                           const char *message) {
  trial t;
  char *broken = changed(ir, what, with);
  heddle_status s = try_kernel(broken, 1, threads, out_bytes, &t);
  free(broken);
  if (status_is_ok(s)) print_error("not noticed: %s\n", message);
  assert_false(status_is_ok(s));
  if (!strstr(heddle_status_message(s), message)) print_error("%s\n", heddle_status_message(s));
  assert_non_null(strstr(heddle_status_message(s), message));
  heddle_status_free(s);
}

static bool is_transposed(const trial *t) {
  for (int r = 0; r < SIDE; r++)
    for (int c = 0; c < SIDE; c++)
      if (t->out[c * SIDE + r] != t->in[r * SIDE + c]) return false;
  return true;
}

// --- tests

static void test_transpose(void **state) {
  (void)state;
  trial t;
  assert_true(status_is_ok(try_kernel(transposes, 1, 128, sizeof t.out, &t)));
  assert_true(is_transposed(&t));
  assert_true(t.traffic.requested == t.traffic.moved && t.traffic.passes == t.traffic.ideal_passes);
  assert_true(t.traffic.requested == (int64_t)(sizeof t.in + sizeof t.out));
  assert_true(t.traffic.local_bytes == 0 && t.traffic.is_watched && t.traffic.launches == 1);
}

static void test_sums(void **state) {
  (void)state;
  trial t;
  assert_true(status_is_ok(try_kernel(sums, SIDE, 32, sizeof t.out, &t)));
  for (int r = 0; r < SIDE; r++) assert_true(t.out[r] == (float)(SIDE * SIDE * r + SIDE * (SIDE - 1) / 2));
}

static void test_changes_of_what_all_have_read(void **state) {
  (void)state;
  trial t;
  assert_true(status_is_ok(try_kernel(changes, 1, 64, sizeof t.out, &t)));
  for (int k = 0; k < 64; k++) assert_true(t.out[k] == 9);
  expect_failure(changes, "  call void @llvm.nvvm.barrier0()\n  %is.last", "  %is.last", 64, SIZE * 4,
                 "writes what another thread reads");
}

static void test_broken_barriers(void **state) {
  (void)state;
  expect_failure(transposes, "  call void @llvm.nvvm.barrier0()\n", "", 128, SIZE * 4,
                 "shared memory that its block has not");
  // The first warp alone would find all it reads: what it misses are the rows of others.
  expect_failure(
      transposes, "br i1 %goes.on, label %reading, label %meeting\nmeeting:\n  call void @llvm.nvvm.barrier0()\n",
      "%low = icmp ult i32 %lane, 16\n  %some = and i1 %low, true\n"
      "  br i1 %goes.on, label %reading, label %asking\nasking:\n  br i1 %some, label %half, label %meeting\n"
      "half:\n  call void @llvm.nvvm.barrier0()\n  br label %meeting\nmeeting:\n",
      128, SIZE * 4, "does not come to a barrier");
  expect_failure(transposes,
                 "br i1 %goes.on, label %reading, label %meeting\nmeeting:\n  call void @llvm.nvvm.barrier0()\n",
                 "%low = icmp ult i32 %row, 2\n  br i1 %goes.on, label %reading, label %asking\nasking:\n"
                 "  br i1 %low, label %half, label %meeting\nhalf:\n  call void @llvm.nvvm.barrier0()\n"
                 "  br label %meeting\nmeeting:\n",
                 128, SIZE * 4, "reads what another thread writes");
  // A warp that ends while others wait.
  expect_failure(transposes, "  br label %reading\n",
                 "  %late = icmp eq i32 %row, 3\n  br i1 %late, label %done, label %reading\n", 128, SIZE * 4,
                 "never reaches");
}

static void test_broken_indices(void **state) {
  (void)state;
  trial t;
  // Swapped: the result is the input, and nothing else is wrong with it.
  char *swapped = changed(transposes, "%l33 = mul i32 %lane, 33\n  %from.slot = add i32 %l33, %c",
                          "%l33 = mul i32 %c, 33\n  %from.slot = add i32 %l33, %lane");
  assert_true(status_is_ok(try_kernel(swapped, 1, 128, sizeof t.out, &t)));
  assert_false(is_transposed(&t));
  free(swapped);
  // All threads store into one row.
  expect_failure(transposes, "%to = add i32 %c32, %lane", "%to = add i32 0, %lane", 128, SIZE * 4,
                 "writes what another thread writes");
  expect_failure(transposes, "ptr addrspace(3) @shared, i32 %slot", "ptr addrspace(3) @shared, i32 %lane", 128,
                 SIZE * 4, "writes what another thread writes");
  // In place: a thread writes what another has yet to read.
  expect_failure(transposes, "  %there = getelementptr float, ptr addrspace(3) @shared, i32 %slot\n",
                 "  %turned.l = mul i32 %lane, 32\n  %turned = add i32 %turned.l, %r\n"
                 "  %in.place = getelementptr float, ptr %in, i32 %turned\n  store float %x, ptr %in.place, align 4\n"
                 "  %there = getelementptr float, ptr addrspace(3) @shared, i32 %slot\n",
                 128, SIZE * 4, "what another thread");
}

static void test_broken_bounds(void **state) {
  (void)state;
  expect_failure(transposes, "%again = icmp ult i32 %j.next, 32", "%again = icmp ule i32 %j.next, 32", 128, SIZE * 4,
                 "shared memory that its block has not written");
  expect_failure(transposes, "%r33 = mul i32 %r, 33", "%r33 = mul i32 %r, 34", 128, SIZE * 4,
                 "of shared memory, which has 4224 bytes");
  expect_failure(transposes, "%goes.on = icmp ult i32 %i.next, 32", "%goes.on = icmp ult i32 %i.next, 33", 128,
                 SIZE * 4, "reads 4 bytes at offset 4096 of argument 0, which has 4096 bytes");
  expect_failure(transposes, NULL, NULL, 128, SIZE * 4 - 4, "writes 4 bytes at offset 4092 of argument 1");
  expect_failure(transposes, "load float, ptr %from, align 4", "load float, ptr %from, align 8", 128, SIZE * 4,
                 "no multiple of 8");
}

static void test_broken_shuffles(void **state) {
  (void)state;
  expect_failure(sums, NULL, NULL, 31, SIZE * 4, "reads lane 31, which has no thread");
  expect_failure(sums, "  br label %halving\n",
                 "  %odd = trunc i32 %thread to i1\n  br i1 %odd, label %done, label %halving\n", 32, SIZE * 4,
                 "lanes that do not");
}

static void test_conflicts_are_counted(void **state) {
  (void)state;
  trial t;
  char *unpadded = changed(transposes, "mul i32 %r, 33", "mul i32 %r, 32"),
       *both = changed(unpadded, "mul i32 %lane, 33", "mul i32 %lane, 32");
  assert_true(status_is_ok(try_kernel(both, 1, 128, sizeof t.out, &t)));
  assert_true(is_transposed(&t));
  // Reading a column without padding takes all lanes to one bank.
  assert_true(t.traffic.ideal_passes == 2 * SIDE && t.traffic.passes == SIDE + SIDE * SIDE);
  free(both);
  free(unpadded);
  // Columns of the input, straight to the output: a sector for each element.
  char *strided =
      changed(transposes, "%at = add i32 %r32, %lane", "%l32 = mul i32 %lane, 32\n  %at = add i32 %l32, %r");
  assert_true(status_is_ok(try_kernel(strided, 1, 128, sizeof t.out, &t)));
  assert_true(t.traffic.moved == (int64_t)(8 * sizeof t.in + sizeof t.out));
  free(strided);
}

static void test_what_is_refused(void **state) {
  (void)state;
  expect_failure("no IR at all", NULL, NULL, 32, SIZE * 4, "no LLVM IR");
  expect_failure(transposes, "@kernel(", "@another(", 32, SIZE * 4, "has no kernel kernel");
  expect_failure(sums, "fadd float", "frobnicate float", 32, SIZE * 4, "no LLVM IR");
  expect_failure(transposes, "  br label %reading\n", "  call void asm \"nop\", \"\"()\n  br label %reading\n", 128,
                 SIZE * 4, "does not execute");
  expect_failure(transposes, NULL, NULL, 2048, SIZE * 4, "a block has 2048 threads");
  expect_failure(transposes, "[1056 x float]", "[20000 x float]", 128, SIZE * 4, "a block shares 80000 bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_transpose),
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_changes_of_what_all_have_read),
      cmocka_unit_test(test_broken_barriers),
      cmocka_unit_test(test_broken_indices),
      cmocka_unit_test(test_broken_bounds),
      cmocka_unit_test(test_broken_shuffles),
      cmocka_unit_test(test_conflicts_are_counted),
      cmocka_unit_test(test_what_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
