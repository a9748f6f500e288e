// Conversions of narrow floats as lowering builds them against base/float.h, bit for bit: every code, and dense
// samples of f32 and f64 with the neighbourhoods of every tie.
#include <math.h>
#include <string.h>

#include "base/float.h"
#include "target/kernel_testing.h"

enum { LANES = 8 };

typedef struct format {
  const char *name;  // as MLIR spells it
  float_kind kind;
  int bits;
} format;

static const format formats[] = {
    {"bf16", FLOAT_BF16, 16},
    {"f16", FLOAT_F16, 16},
    {"f8E5M2", FLOAT_F8E5M2, 8},
    {"f8E4M3", FLOAT_F8E4M3, 8},
    {"f8E4M3FN", FLOAT_F8E4M3FN, 8},
    {"f8E4M3B11FNUZ", FLOAT_F8E4M3B11FNUZ, 8},
    {"f8E5M2FNUZ", FLOAT_F8E5M2FNUZ, 8},
    {"f8E4M3FNUZ", FLOAT_F8E4M3FNUZ, 8},
};
enum { FORMATS = sizeof formats / sizeof *formats };

typedef void convert(const void *in, void *out);

// One step on LANES elements: from -> to, each seen as integers in memory.
static const char *kernel_text(arena *a, const char *name, const char *op, const char *from, int from_bits,
                               const char *to, int to_bits) {
  const char *format_text =
      "func.func @%s(%%in: !llvm.ptr, %%out: !llvm.ptr) {\n"
      "  %%x = llvm.load %%in {alignment = 1 : i64} : !llvm.ptr -> vector<%dxi%d>\n"
      "  %%v = arith.bitcast %%x : vector<%dxi%d> to vector<%dx%s>\n"
      "  %%r = %s %%v : vector<%dx%s> to vector<%dx%s>\n"
      "  %%y = arith.bitcast %%r : vector<%dx%s> to vector<%dxi%d>\n"
      "  llvm.store %%y, %%out {alignment = 1 : i64} : vector<%dxi%d>, !llvm.ptr\n"
      "  return\n"
      "}\n";
  return arena_printf(a, format_text, name, LANES, from_bits, LANES, from_bits, LANES, from, op, LANES, from, LANES, to,
                      LANES, to, LANES, to_bits, LANES, to_bits);
}

static kernel_testing build(arena *a, const format *f, bool hardware) {
  lower_options options = kernel_testing_options(a, true);
  options.target.has_f16 = options.target.has_f16 && hardware;
  options.target.has_bf16 = options.target.has_bf16 && hardware;
  const char *parts[] = {
      kernel_text(a, "encode", "arith.truncf", "f32", 32, f->name, f->bits),
      kernel_text(a, "encode64", "arith.truncf", "f64", 64, f->name, f->bits),
      kernel_text(a, "decode", "arith.extf", f->name, f->bits, "f32", 32),
  };
  static const char *const passes[] = {"xla-expand-float-ops", NULL};
  return kernel_testing_start(arena_printf(a, "%s%s%s", parts[0], parts[1], parts[2]), passes, &options);
}

static uint32_t read_code(const format *f, const void *codes, int lane) {
  return f->bits == 8 ? ((const uint8_t *)codes)[lane] : ((const uint16_t *)codes)[lane];
}

static void write_code(const format *f, void *codes, int lane, uint32_t code) {
  if (f->bits == 8) ((uint8_t *)codes)[lane] = (uint8_t)code;
  else ((uint16_t *)codes)[lane] = (uint16_t)code;
}

static void test_decode(void **state) {
  (void)state;
  arena *a = arena_create();
  for (int i = 0; i < 2 * FORMATS; i++) {
    const format *f = &formats[i % FORMATS];
    kernel_testing k = build(a, f, i < FORMATS);
    convert *decode = (convert *)kernel_testing_function(&k, "decode");
    for (uint32_t code = 0; code < 1u << f->bits; code += LANES) {
      uint16_t codes[LANES];
      float got[LANES];
      for (uint32_t lane = 0; lane < LANES; lane++) write_code(f, codes, (int)lane, code + lane);
      decode(codes, got);
      for (uint32_t lane = 0; lane < LANES; lane++) {
        double wanted = float_decode(f->kind, code + lane);
        bool same = isnan(wanted) ? isnan(got[lane]) : got[lane] == wanted && !signbit(got[lane]) == !signbit(wanted);
        if (!same) print_error("%s 0x%x: found %a, wanted %a\n", f->name, code + lane, got[lane], wanted);
        assert_true(same);
      }
    }
    kernel_testing_end(&k);
  }
  arena_destroy(a);
}

// --- encoding

typedef struct encoder {
  const format *f;
  convert *run32, *run64;
  double batch[LANES];
  int count;
} encoder;

static bool is_nan_code(const format *f, uint32_t code) { return isnan(float_decode(f->kind, code)); }

static void compare(const encoder *e, const char *from, double value, uint32_t got) {
  uint32_t wanted = float_encode(e->f->kind, value);
  // Hardware may keep a NaN's payload.
  bool same = got == wanted || (isnan(value) && is_nan_code(e->f, got));
  if (!same) print_error("%s %a -> %s: found 0x%x, wanted 0x%x\n", from, value, e->f->name, got, wanted);
  assert_true(same);
}

static void push(encoder *e, double value) {
  e->batch[e->count++] = value;
  if (e->count < LANES) return;
  float singles[LANES];
  uint16_t codes[LANES];
  for (int i = 0; i < LANES; i++) singles[i] = (float)e->batch[i];
  e->run32(singles, codes);
  for (int i = 0; i < LANES; i++) compare(e, "f32", singles[i], read_code(e->f, codes, i));
  e->run64(e->batch, codes);
  for (int i = 0; i < LANES; i++) compare(e, "f64", e->batch[i], read_code(e->f, codes, i));
  e->count = 0;
}

// Every value of the format, the middles between neighbours, and what lies just beside both in f32 and f64.
static void push_ties(encoder *e) {
  for (uint32_t code = 0; code + 1 < 1u << e->f->bits; code++) {
    double low = float_decode(e->f->kind, code), high = float_decode(e->f->kind, code + 1);
    double middle = isfinite(low) && isfinite(high) ? low + (high - low) / 2 : low;
    double values[] = {low, middle};
    for (int i = 0; i < 2; i++) {
      push(e, values[i]);
      push(e, nextafterf((float)values[i], INFINITY));
      push(e, nextafterf((float)values[i], -INFINITY));
      push(e, nextafter(values[i], INFINITY));
      push(e, nextafter(values[i], -INFINITY));
    }
  }
}

static void push_all_over(encoder *e) {
  enum { STRIDE = 65521 * 3 };
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
    uint32_t pattern = (uint32_t)bits;
    float value;
    memcpy(&value, &pattern, sizeof value);
    push(e, value);
  }
  static const double edges[] = {INFINITY, -INFINITY, NAN,     -NAN,     0x1p-1074, -0x1p-1074, 0x1p-150, 0x1.8p-150,
                                 0x1p200,  -0x1p200,  0x1p128, 0x1p1023, 0x1p-149,  0x1p-140,   448,      464};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) push(e, edges[i]);
}

static void test_encode(void **state) {
  (void)state;
  arena *a = arena_create();
  for (int i = 0; i < 2 * FORMATS; i++) {
    const format *f = &formats[i % FORMATS];
    kernel_testing k = build(a, f, i < FORMATS);
    encoder e = {.f = f};
    e.run32 = (convert *)kernel_testing_function(&k, "encode");
    e.run64 = (convert *)kernel_testing_function(&k, "encode64");
    push_ties(&e);
    push_all_over(&e);
    while (e.count > 0) push(&e, 0);
    kernel_testing_end(&k);
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decode),
      cmocka_unit_test(test_encode),
  };
  return cmocka_run_group_tests_name("target/convert", tests, NULL, NULL);
}
