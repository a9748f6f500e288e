// fft, topk and the batch norms on values whose results are exact.
#include "eval/testing.h"

static void expect(const char *body, const char *expected) {
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\n%s\n}\n", body);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void test_fft(void **state) {
  (void)state;
  const char *x = "x = c64[4] constant({(1,0), (2,0), (3,0), (4,0)})\n";
  text body = {0};
  text_printf(&body, "%sROOT r = c64[4] fft(x), fft_type=FFT, fft_length={4}", x);
  expect(text_cstr(&body), "{(10,0), (-2,2), (-2,0), (-2,-2)}");
  text_free(&body);
  text_printf(&body, "%sROOT r = c64[4] fft(x), fft_type=IFFT, fft_length={4}", x);
  expect(text_cstr(&body), "{(2.5,0), (-0.5,-0.5), (-0.5,0), (-0.5,0.5)}");
  text_free(&body);
  expect(
      "x = c128[2,2] constant({{(1,0), (2,0)}, {(3,0), (4,0)}})\n"
      "ROOT r = c128[2,2] fft(x), fft_type=FFT, fft_length={2,2}",
      "{{(10,0), (-2,0)}, {(-4,0), (0,0)}}");
  expect("x = c64[2,1] constant({{(1,5)}, {(3,0)}})\n ROOT r = c64[2,1] fft(x), fft_type=FFT, fft_length={1}",
         "{{(1,5)}, {(3,0)}}");
}

static void test_real_fft(void **state) {
  (void)state;
  expect(
      "x = f32[2,4] constant({{1, 2, 3, 4}, {1, 1, 1, 1}})\n"
      "ROOT r = c64[2,3] fft(x), fft_type=RFFT, fft_length={4}",
      "{{(10,0), (-2,2), (-2,0)}, {(4,0), (0,0), (0,0)}}");
  expect(
      "x = f64[2,4] constant({{1, 2, 3, 4}, {1, 1, 1, 1}})\n"
      "ROOT r = c128[2,3] fft(x), fft_type=RFFT, fft_length={2,4}",
      "{{(14,0), (-2,2), (-2,0)}, {(6,0), (-2,2), (-2,0)}}");
  // What must be real is taken for real.
  expect("x = c64[3] constant({(10,7), (-2,2), (-2,9)})\n ROOT r = f32[4] fft(x), fft_type=IRFFT, fft_length={4}",
         "{1, 2, 3, 4}");
  expect(
      "x = c64[2,3] constant({{(14,0), (-2,2), (-2,0)}, {(6,0), (-2,2), (-2,0)}})\n"
      "ROOT r = f32[2,4] fft(x), fft_type=IRFFT, fft_length={2,4}",
      "{{1, 2, 3, 4}, {1, 1, 1, 1}}");
  expect("x = c64[1] constant({(3,4)})\n ROOT r = f32[1] fft(x), fft_type=IRFFT, fft_length={1}", "{3}");
  expect("x = c64[2] constant({(3,4), (-1,0)})\n ROOT r = f32[2] fft(x), fft_type=IRFFT, fft_length={2}", "{1, 2}");
}

static void test_empty_fft(void **state) {
  (void)state;
  expect("x = c64[0,4] constant({})\n ROOT r = c64[0,4] fft(x), fft_type=FFT, fft_length={4}", "{}");
  expect("x = f32[2,0] constant({{}, {}})\n ROOT r = c64[2,0] fft(x), fft_type=RFFT, fft_length={0}", "{{}, {}}");
}

static void test_top_k(void **state) {
  (void)state;
  expect(
      "x = s32[2,4] constant({{3, 1, 3, 2}, {-5, 7, 0, 7}})\n"
      "ROOT r = (s32[2,3], s32[2,3]) topk(x), k=3, largest=true",
      "({{3, 3, 2}, {7, 7, 0}}, {{0, 2, 3}, {1, 3, 2}})");
  expect("x = u8[4] constant({3, 200, 3, 2})\n ROOT r = (u8[2], s32[2]) topk(x), k=2, largest=false",
         "({2, 3}, {3, 0})");
  expect("x = f32[3] constant({3, 1, 2})\n ROOT r = (f32[0], s32[0]) topk(x), k=0, largest=true", "({}, {})");
  expect("x = f32[0,3] constant({})\n ROOT r = (f32[0,2], s32[0,2]) topk(x), k=2, largest=true", "({}, {})");
}

static void test_top_k_order(void **state) {
  (void)state;
  expect(
      "x = f32[7] constant({-0, 1, 0, nan, -inf, inf, nan})\n"
      "ROOT r = (f32[7], s32[7]) topk(x), k=7, largest=true",
      "({nan, nan, inf, 1, 0, -0, -inf}, {3, 6, 5, 1, 2, 0, 4})");
  expect("x = bf16[5] constant({-1, nan, -2, 0, -0})\n ROOT r = (bf16[5], s32[5]) topk(x), k=5, largest=false",
         "({-2, -1, -0, 0, nan}, {2, 0, 4, 3, 1})");
  expect("x = f4e2m1fn[3] constant({-1, 2, -2})\n ROOT r = (f4e2m1fn[3], s32[3]) topk(x), k=3, largest=true",
         "({2, -1, -2}, {1, 0, 2})");
}

static void test_batch_norm_inference(void **state) {
  (void)state;
  expect(
      "x = f32[2,2] constant({{1, 2}, {3, 4}})\n s = f32[2] constant({2, 3})\n o = f32[2] constant({1, -1})\n"
      "m = f32[2] constant({1, 3})\n v = f32[2] constant({3, 0})\n"
      "ROOT r = f32[2,2] batch-norm-inference(x, s, o, m, v), epsilon=1, feature_index=1",
      "{{1, -4}, {3, 2}}");
}

static void test_batch_norm_training(void **state) {
  (void)state;
  expect(
      "x = f16[2,1,2] constant({{{1, 10}}, {{3, 14}}})\n s = f16[2] constant({2, 5})\n"
      "o = f16[2] constant({0, 1})\n"
      "ROOT r = (f16[2,1,2], f16[2], f16[2]) batch-norm-training(x, s, o), epsilon=0, feature_index=2",
      "({{{-2, -4}}, {{2, 6}}}, {2, 12}, {1, 4})");
  expect(
      "x = f64[2,2] constant({{1, 3}, {10, 14}})\n s = f64[2] constant({2, 5})\n o = f64[2] constant({0, 1})\n"
      "ROOT r = (f64[2,2], f64[2], f64[2]) batch-norm-training(x, s, o), epsilon=0, feature_index=0",
      "({{-2, 2}, {-4, 6}}, {2, 12}, {1, 4})");
}

static void test_batch_norm_grad(void **state) {
  (void)state;
  expect(
      "x = f32[4,1] constant({{1}, {3}, {1}, {3}})\n s = f32[1] constant({2})\n m = f32[1] constant({2})\n"
      "v = f32[1] constant({1})\n g = f32[4,1] constant({{1}, {2}, {4}, {5}})\n"
      "ROOT r = (f32[4,1], f32[1], f32[1]) batch-norm-grad(x, s, m, v, g), epsilon=0, feature_index=1",
      "({{-3}, {-3}, {3}, {3}}, {2}, {12})");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fft),
      cmocka_unit_test(test_real_fft),
      cmocka_unit_test(test_empty_fft),
      cmocka_unit_test(test_top_k),
      cmocka_unit_test(test_top_k_order),
      cmocka_unit_test(test_batch_norm_inference),
      cmocka_unit_test(test_batch_norm_training),
      cmocka_unit_test(test_batch_norm_grad),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
