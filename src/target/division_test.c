// Divisions of integer vectors (lower/expand_division.c) against C's: all pairs of eight bits, and of wider types all
// pairs of numbers around powers of two and many at random.
#include <string.h>

#include "target/kernel_testing.h"

enum { LANES = 8, BATCH = 4096 };

typedef void kernel(const void *x, const void *y, void *out, int64_t count);

typedef struct operation {
  const char *op;
  bool is_signed, is_remainder;
} operation;

static const operation operations[] = {
    {"divsi", true, false}, {"divui", false, false}, {"remsi", true, true}, {"remui", false, true}};

static const char *kernel_text(arena *a, const operation *o, int bits) {
  const char *type = arena_printf(a, "vector<%dxi%d>", LANES, bits);
  return arena_printf(a,
                      "func.func @kernel(%%x: !llvm.ptr, %%y: !llvm.ptr, %%out: !llvm.ptr, %%count: index) {\n"
                      "  %%zero = arith.constant 0 : index\n"
                      "  %%step = arith.constant %d : index\n"
                      "  scf.for %%i = %%zero to %%count step %%step {\n"
                      "    %%n = arith.index_cast %%i : index to i64\n"
                      "    %%px = llvm.getelementptr %%x[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, i%d\n"
                      "    %%py = llvm.getelementptr %%y[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, i%d\n"
                      "    %%po = llvm.getelementptr %%out[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, i%d\n"
                      "    %%vx = llvm.load %%px {alignment = 1 : i64} : !llvm.ptr -> %s\n"
                      "    %%vy = llvm.load %%py {alignment = 1 : i64} : !llvm.ptr -> %s\n"
                      "    %%r = arith.%s %%vx, %%vy : %s\n"
                      "    llvm.store %%r, %%po {alignment = 1 : i64} : %s, !llvm.ptr\n"
                      "  }\n"
                      "  return\n"
                      "}\n",
                      LANES, bits, bits, bits, type, type, o->op, type, type);
}

typedef struct batch {
  unsigned char x[4 * BATCH], y[4 * BATCH], out[4 * BATCH];
  int count, bits;
  kernel *run;
  const operation *o;
} batch;

static int64_t read(const batch *b, const unsigned char *from, int n) {
  uint64_t v = 0;
  memcpy(&v, from + n * b->bits / 8, (size_t)b->bits / 8);
  return b->o->is_signed ? (int64_t)(v << (64 - b->bits)) >> (64 - b->bits) : (int64_t)v;
}

static void flush(batch *b) {
  b->run(b->x, b->y, b->out, b->count);
  for (int n = 0; n < b->count; n++) {
    const int64_t x = read(b, b->x, n), y = read(b, b->y, n);
    const int64_t wanted = b->o->is_remainder ? x % y : x / y, got = read(b, b->out, n);
    if (got != wanted) fail_msg("%s i%d of %ld and %ld: %ld", b->o->op, b->bits, (long)x, (long)y, (long)got);
  }
  b->count = 0;
}

// Pairs that have a quotient.
static void push(batch *b, uint64_t x, uint64_t y) {
  memcpy(b->x + b->count * b->bits / 8, &x, (size_t)b->bits / 8);
  memcpy(b->y + b->count * b->bits / 8, &y, (size_t)b->bits / 8);
  const int64_t top = read(b, b->x, b->count), bottom = read(b, b->y, b->count);
  if (bottom == 0 || (b->o->is_signed && bottom == -1 && top == INT64_MIN >> (64 - b->bits))) return;
  if (++b->count == BATCH) flush(b);
}

static void push_pairs(batch *b) {
  if (b->bits == 8)
    for (uint64_t k = 0; k < 1 << 16; k++) push(b, k & 255, k >> 8);
  for (int i = 0; i < 5 * 33; i++)
    for (int j = 0; j < 5 * 33; j++)
      push(b, ((uint64_t)1 << i / 5) + (uint64_t)(i % 5) - 2, ((uint64_t)1 << j / 5) + (uint64_t)(j % 5) - 2);
  uint64_t state = 1;
  for (int n = 0; n < 1 << 18; n++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t x = state >> 32;
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t y = state >> (32 + n % 30);
    push(b, x, y);
    push(b, x / (y | 1) * (y | 1) - (uint64_t)(n & 1), y | 1);  // just below a multiple, and one
  }
  while (b->count % LANES) push(b, 1, 1);
  flush(b);
}

static void check(int bits) {
  arena *a = arena_create();
  for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
    const lower_options options = kernel_testing_options(a, false);
    static const char *const passes[] = {"xla-cpu-expand-division", NULL};
    kernel_testing t = kernel_testing_start(kernel_text(a, &operations[k], bits), passes, &options);
    static batch b;
    b = (batch){.bits = bits, .o = &operations[k], .run = (kernel *)kernel_testing_function(&t, "kernel")};
    push_pairs(&b);
    kernel_testing_end(&t);
  }
  arena_destroy(a);
}

static void test_8_bits(void **state) {
  (void)state;
  check(8);
}

static void test_16_bits(void **state) {
  (void)state;
  check(16);
}

static void test_32_bits(void **state) {
  (void)state;
  check(32);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_8_bits), cmocka_unit_test(test_16_bits),
                                     cmocka_unit_test(test_32_bits)};
  return cmocka_run_group_tests_name("target/division", tests, NULL, NULL);
}
