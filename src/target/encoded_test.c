// Floats that MLIR lacks: every pattern decoded, numbers around every boundary encoded, as base/float.h has it; and
// kernels against the interpreter.
#include <math.h>

#include "target/hero_testing.h"

#include "base/float.h"

static const dtype types[] = {DTYPE_F4E2M1FN, DTYPE_F6E2M3FN, DTYPE_F6E3M2FN, DTYPE_F8E3M4, DTYPE_F8E8M0FNU};
enum { TYPE_COUNT = sizeof types / sizeof *types, SPREAD = 7 };

static int pattern_count(dtype t) { return 1 << dtypes[t].bits; }

// Converts `count` elements; the buffers are packed as kernels see them.
static void convert(const char *from, const char *to, int count, const void *in, size_t in_bytes, void *out,
                    size_t out_bytes) {
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\n  p = %s[%d] parameter(0)\n  ROOT r = %s[%d] convert(p)\n}\n", from,
              count, to, count);
  hero_testing t = hero_testing_start(text_cstr(&source), 0, NULL);
  memcpy(t.buffers[t.plan->inputs[0].slice], in, in_bytes);
  t.call(t.buffers, 0, t.plan->launch.tiles);
  memcpy(out, t.buffers[t.plan->outputs[0].slice], out_bytes);
  hero_testing_end(&t);
  text_free(&source);
}

static void pack(dtype t, const uint8_t *patterns, int count, uint8_t *out) {
  bool is_packed = dtypes[t].bits == 4;
  for (int i = 0; i < count; i++) {
    if (!is_packed) out[i] = patterns[i];
    else out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | patterns[i] << 4 : patterns[i]);
  }
}

static uint8_t packed_at(dtype t, const uint8_t *packed, int i) {
  return dtypes[t].bits == 4 ? packed[i / 2] >> (i % 2 * 4) & 15 : packed[i];
}

static void test_decoding_all_patterns(void **state) {
  (void)state;
  for (int k = 0; k < TYPE_COUNT; k++) {
    int count = pattern_count(types[k]);
    uint8_t patterns[256], packed[256];
    float found[256];
    for (int i = 0; i < count; i++) patterns[i] = (uint8_t)i;
    pack(types[k], patterns, count, packed);
    convert(dtypes[types[k]].name, "f32", count, packed, (size_t)(count * dtypes[types[k]].bits == 64 ? 8 : count),
            found, sizeof *found * (size_t)count);
    for (int i = 0; i < count; i++) {
      double wanted = float_decode(dtypes[types[k]].narrow, (uint32_t)i);
      if (isnan(wanted) ? !isnan(found[i]) : found[i] != wanted || signbit(found[i]) != signbit((float)wanted))
        fail_msg("%s %d: %a, wanted %a", dtypes[types[k]].name, i, (double)found[i], wanted);
    }
  }
}

// Every finite value, what lies half way to the next, their neighbours in the wide type; both signs; the ends.
static int interesting(dtype t, bool is_double, double *out) {
  int n = 0;
  for (int i = 0; i < pattern_count(t); i++) {
    double x = float_decode(dtypes[t].narrow, (uint32_t)i), y = float_decode(dtypes[t].narrow, (uint32_t)i + 1);
    double centers[] = {x, (x + y) / 2};
    for (int c = 0; c < 2; c++) {
      double v = is_double ? centers[c] : (double)(float)centers[c];
      out[n++] = v;
      out[n++] = is_double ? nextafter(v, INFINITY) : (double)nextafterf((float)v, INFINITY);
      out[n++] = is_double ? nextafter(v, -INFINITY) : (double)nextafterf((float)v, -INFINITY);
    }
    out[n++] = -centers[1];
  }
  const double ends[] = {0.0,  -0.0,  INFINITY, -INFINITY, NAN,      -NAN,
                         1e30, -1e30, 0x1p-149, -0x1p-149, 0x1p-127, 0x1.8p-127};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) out[n++] = ends[i];
  return n;
}

static void test_encoding(void **state) {
  (void)state;
  for (int k = 0; k < TYPE_COUNT; k++) {
    static double wide[256 * SPREAD + 16];
    static float narrow[256 * SPREAD + 16];
    static uint8_t found[256 * SPREAD + 16];
    for (int is_double = 0; is_double < 2; is_double++) {
      int n = interesting(types[k], is_double, wide);
      for (int i = 0; i < n; i++) narrow[i] = (float)wide[i];
      size_t bytes = dtypes[types[k]].bits == 4 ? (size_t)(n + 1) / 2 : (size_t)n;
      if (is_double) convert("f64", dtypes[types[k]].name, n, wide, sizeof *wide * (size_t)n, found, bytes);
      else convert("f32", dtypes[types[k]].name, n, narrow, sizeof *narrow * (size_t)n, found, bytes);
      for (int i = 0; i < n; i++) {
        uint32_t wanted = float_encode(dtypes[types[k]].narrow, is_double ? wide[i] : (double)narrow[i]);
        if (packed_at(types[k], found, i) != wanted)
          fail_msg("%s of %a: %d, wanted %d", dtypes[types[k]].name, wide[i], packed_at(types[k], found, i),
                   (int)wanted);
      }
    }
  }
}

static void test_kernels(void **state) {
  (void)state;
  for (int k = 0; k < TYPE_COUNT; k++) {
    const char *name = dtypes[types[k]].name;
    text source = {0};
    const char *program =
        "HloModule m\nadd {\n  x = $[] parameter(0)\n  y = $[] parameter(1)\n  ROOT r = $[] add(x, y)\n}\n"
        "ENTRY e {\n  p = $[40,34] parameter(0)\n  q = $[40,34] parameter(1)\n  i = s32[40,34] parameter(2)\n"
        "  a = $[40,34] add(p, q)\n  m = $[40,34] multiply(a, q)\n  c = $[40,34] convert(i)\n"
        "  l = pred[40,34] compare(m, c), direction=LT\n  s = $[40,34] select(l, m, c)\n  one = $[] constant(1)\n"
        "  b = $[40,34] broadcast(one), dimensions={}\n  x = $[40,34] maximum(s, b)\n"
        "  o = $[40,34] iota(), iota_dimension=1\n  w = $[40,34] minimum(x, o)\n  z = f16[40,34] convert(w)\n"
        "  ROOT t = ($[40,34], $[40,34], f16[40,34]) tuple(s, w, z)\n}\n";
    for (const char *p = program; *p; p++) {
      if (*p == '$') text_puts(&source, name);
      else text_putc(&source, *p);
    }
    hero_testing_run(text_cstr(&source), HERO_LOOP, 0, NULL, NULL);
    text_free(&source);
  }
}

// Accumulators of narrow floats are wide elsewhere; here the reducer itself rounds.
static void test_reductions(void **state) {
  (void)state;
  for (int k = 0; k < TYPE_COUNT; k++) {
    const char *t = dtypes[types[k]].name;
    text source = {0};
    text_printf(
        &source,
        "HloModule m\nmax {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  ROOT r = %s[] maximum(x, y)\n}\n"
        "ENTRY e {\n  p = %s[40,34] parameter(0)\n  c = %s[] constant(1)\n"
        "  ROOT r = %s[40] reduce(p, c), dimensions={1}, to_apply=max\n}\n",
        t, t, t, t, t, t);
    hero_testing tested = hero_testing_start(text_cstr(&source), 0, NULL);
    hero_testing_check(&tested, text_cstr(&source), NULL);
    hero_testing_end(&tested);
    text_free(&source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decoding_all_patterns),
      cmocka_unit_test(test_encoding),
      cmocka_unit_test(test_kernels),
      cmocka_unit_test(test_reductions),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
