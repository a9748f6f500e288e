// Thunks of matrix products, convolutions and Fourier transforms, alone and after each other; and that with all these
// libraries in the process there is still one OpenMP runtime, and no thread where all is small.
#include "base/pool.h"
#include "rt/testing.h"

static const float lhs[6] = {1, 2, 3, 4, 5, 6}, rhs[6] = {1, -1, 0, 2, 1, 0}, bias[2] = {0.5F, 100};

static void test_gemm(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    testing_program h = testing_start();
    const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, sizeof lhs),
              weights = testing_constant(&h, rhs, sizeof rhs);
    const int shift = testing_constant(&h, bias, sizeof bias), out = testing_memory(&h, PROGRAM_RESULT, 0, 16);
    const program_array operands[3] = {testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 2, 3}, in),
                                       testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 3, 2}, weights),
                                       testing_array(&h, DTYPE_F32, 1, (int64_t[]){2}, shift)};
    const program_array result = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 2, 2}, out);
    program_thunk *t = testing_library(&h, THUNK_GEMM, 3, operands, 1, &result);
    testing_int(&h, t, "bias", 1);
    testing_text(&h, t, "activation", "relu");
    float found[4];
    const float expected[4] = {4.5F, 103, 10.5F, 106};
    testing_run(&h, testing_sequence(&h, 1, &t), threads, (void *[]){(void *)(uintptr_t)lhs}, (void *[]){found});
    assert_memory_equal(found, expected, sizeof found);
    testing_end(&h);
  }
}

// The left side is columns 1 and 2 of an array of four; an array larger than its slice is refused.
static void test_gemm_of_slice(void **state) {
  (void)state;
  static const float array[8] = {9, 1, 2, 9, 9, 3, 4, 9}, weights[2] = {10, 1};
  for (int64_t elements = 8; elements <= 9; elements++) {
    testing_program h = testing_start();
    const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, sizeof array);
    const int right = testing_constant(&h, weights, sizeof weights), out = testing_memory(&h, PROGRAM_RESULT, 0, 8);
    const program_array operands[2] = {testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 2, 2}, in),
                                       testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 2, 1}, right)};
    const program_array result = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 2, 1}, out);
    program_thunk *t = testing_library(&h, THUNK_GEMM, 2, operands, 1, &result);
    testing_ints(&h, t, "lhs_strides", 3, (int64_t[]){4, 8, 8});
    testing_int(&h, t, "lhs_offset", 1);
    testing_int(&h, t, "lhs_elements", elements);
    if (elements == 8) {
      float found[2];
      testing_run(&h, testing_sequence(&h, 1, &t), 2, (void *[]){(void *)(uintptr_t)array}, (void *[]){found});
      assert_true(found[0] == 12 && found[1] == 34);
    } else {
      executable *e;
      testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 2, &e), HEDDLE_INVALID,
                          "does not fit its slice");
    }
    testing_end(&h);
  }
}

// The right side is a column of an array of three, counted from 4 * place - 6.
static void multiply_column(int place, int64_t offset, const int64_t *start, const char *error) {
  static const float array[6] = {1, 2, 3, 4, 5, 6}, left[2] = {10, 1};
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, sizeof array);
  const int first = testing_constant(&h, left, sizeof left), at = testing_memory(&h, PROGRAM_PARAMETER, 1, 4);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, 4);
  const program_array operands[3] = {testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 1, 2}, first),
                                     testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 2, 1}, in),
                                     testing_array(&h, DTYPE_S32, 0, NULL, at)};
  const program_array result = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 1, 1}, out);
  program_thunk *t = testing_library(&h, THUNK_GEMM, 3, operands, 1, &result);
  testing_ints(&h, t, "rhs_strides", 3, (int64_t[]){3, 6, 6});
  testing_int(&h, t, "rhs_elements", 6);
  if (offset != 0) testing_int(&h, t, "rhs_offset", offset);
  testing_ints(&h, t, "rhs_start", 4, start);
  if (error) {
    executable *e;
    testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 2, &e), HEDDLE_INVALID, error);
  } else {
    float found = 0;
    testing_run(&h, testing_sequence(&h, 1, &t), 2, (void *[]){(void *)(uintptr_t)array, &place}, (void *[]){&found});
    const int column = 4 * place - 6 < 0 ? 0 : 4 * place - 6 > 2 ? 2 : 4 * place - 6;
    assert_true(found == 10 * array[column] + array[3 + column]);
  }
  testing_end(&h);
}

// Places outside are held within; an array that ends before the last place is refused.
static void test_gemm_of_moving_slice(void **state) {
  (void)state;
  for (int place = -2; place < 6; place++) multiply_column(place, 0, (int64_t[]){4, -6, 2, 1}, NULL);
  multiply_column(0, 0, (int64_t[]){4, -6, 3, 1}, "lead out of the array");
  multiply_column(0, 0, (int64_t[]){4, -6, 1, 3}, "lead out of the array");
  multiply_column(0, 0, (int64_t[]){4, -6, -1, 1}, "malformed");
  multiply_column(0, 0, (int64_t[]){4, -6, INT64_MAX, 2}, "malformed");
  multiply_column(0, -2, (int64_t[]){4, -6, 2, 1}, "malformed");
  multiply_column(0, 1, (int64_t[]){4, -6, 2, 1}, "lead out of the array");
}

enum { ROWS = 40, DEPTH = 736, COLUMNS = 736 };

// Whole numbers, so that sums are exact in whichever order: the constant right side is packed once, a parameter is not.
static void multiply(bool is_constant, bool is_transposed, int64_t rows, int threads, const float *left,
                     const float *right, const float *shift, float *found) {
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, rows * DEPTH * 4);
  const int weights = is_constant ? testing_constant(&h, right, DEPTH * COLUMNS * 4)
                                  : testing_memory(&h, PROGRAM_PARAMETER, 1, DEPTH * COLUMNS * 4);
  const int bias_at = testing_constant(&h, shift, COLUMNS * 4);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, rows * COLUMNS * 4);
  const program_array operands[3] = {testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, rows, DEPTH}, in),
                                     testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, DEPTH, COLUMNS}, weights),
                                     testing_array(&h, DTYPE_F32, 1, (int64_t[]){COLUMNS}, bias_at)};
  const program_array result = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, rows, COLUMNS}, out);
  program_thunk *t = testing_library(&h, THUNK_GEMM, 3, operands, 1, &result);
  testing_int(&h, t, "bias", 1);
  testing_text(&h, t, "activation", "relu");
  testing_int(&h, t, "transpose_rhs", is_transposed);
  testing_run(&h, testing_sequence(&h, 1, &t), threads, (void *[]){(void *)(uintptr_t)left, (void *)(uintptr_t)right},
              (void *[]){found});
  testing_end(&h);
}

static void test_gemm_of_constant(void **state) {
  (void)state;
  static float left[ROWS * DEPTH], right[DEPTH * COLUMNS], shift[COLUMNS], wanted[ROWS * COLUMNS],
      found[ROWS * COLUMNS];
  for (int k = 0; k < ROWS * DEPTH; k++) left[k] = (float)(k * 7 % 13 - 6);
  for (int k = 0; k < DEPTH * COLUMNS; k++) right[k] = (float)(k * 5 % 11 - 5);
  for (int k = 0; k < COLUMNS; k++) shift[k] = (float)(k % 3);
  for (int threads = 1; threads <= 3; threads++)
    for (int way = 0; way < 4; way++) {
      const int64_t rows = way < 2 ? 7 : ROWS;
      multiply(false, way & 1, rows, threads, left, right, shift, wanted);
      multiply(true, way & 1, rows, threads, left, right, shift, found);
      assert_memory_equal(found, wanted, (size_t)(rows * COLUMNS) * sizeof *found);
    }
}

// The constant left side is packed once, as the right side of the product that is turned round.
static void multiply_by_left(bool is_constant, int way, int threads, const float *left, const float *right,
                             float *found) {
  testing_program h = testing_start();
  const bool turns_left = way & 1, turns_right = way & 2;
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, DEPTH * ROWS * 4);
  const int weights = is_constant ? testing_constant(&h, left, COLUMNS * DEPTH * 4)
                                  : testing_memory(&h, PROGRAM_PARAMETER, 1, COLUMNS * DEPTH * 4);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, COLUMNS * ROWS * 4);
  const int64_t left_dims[2][3] = {{1, COLUMNS, DEPTH}, {1, DEPTH, COLUMNS}},
                right_dims[2][3] = {{1, DEPTH, ROWS}, {1, ROWS, DEPTH}};
  const program_array operands[2] = {testing_array(&h, DTYPE_F32, 3, left_dims[turns_left], weights),
                                     testing_array(&h, DTYPE_F32, 3, right_dims[turns_right], in)};
  const program_array result = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, COLUMNS, ROWS}, out);
  program_thunk *t = testing_library(&h, THUNK_GEMM, 2, operands, 1, &result);
  if (way & 4) testing_text(&h, t, "activation", "relu");
  testing_int(&h, t, "transpose_lhs", turns_left);
  testing_int(&h, t, "transpose_rhs", turns_right);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &t), threads, &e));
  void *parameters[] = {(void *)(uintptr_t)right, (void *)(uintptr_t)left};
  for (int turn = 0; turn < 3; turn++) testing_check(executable_run(e, parameters, (void *[]){found}));
  executable_destroy(e);
  testing_end(&h);
}

static void test_gemm_of_constant_left(void **state) {
  (void)state;
  static float left[COLUMNS * DEPTH], right[DEPTH * ROWS], wanted[COLUMNS * ROWS], found[COLUMNS * ROWS];
  for (int k = 0; k < COLUMNS * DEPTH; k++) left[k] = (float)(k * 5 % 11 - 5);
  for (int k = 0; k < DEPTH * ROWS; k++) right[k] = (float)(k * 7 % 13 - 6);
  for (int way = 0; way < 8; way++)
    for (int threads = 1; threads <= 3; threads++) {
      multiply_by_left(false, way, threads, left, right, wanted);
      multiply_by_left(true, way, threads, left, right, found);
      assert_memory_equal(found, wanted, sizeof found);
    }
}

enum { SIDE = 6, KERNEL = 3, OUT = SIDE - KERNEL + 1 };

// Of images [batch, spatial…, feature] by kernels [spatial…, input feature, output feature].
static program_thunk *convolution_thunk(testing_program *h, int operand_count, const program_array *operands,
                                        const program_array *result) {
  static const int64_t spatial[2] = {1, 2}, window[2] = {0, 1};
  program_thunk *t = testing_library(h, THUNK_CONVOLUTION, operand_count, operands, 1, result);
  testing_int(h, t, "input_batch", 0);
  testing_int(h, t, "input_feature", 3);
  testing_ints(h, t, "input_spatial", 2, spatial);
  testing_ints(h, t, "kernel_spatial", 2, window);
  testing_int(h, t, "kernel_input_feature", 2);
  testing_int(h, t, "kernel_output_feature", 3);
  testing_int(h, t, "output_batch", 0);
  testing_int(h, t, "output_feature", 3);
  testing_ints(h, t, "output_spatial", 2, spatial);
  return t;
}

// An image of one feature under a window of ones; the kernel is a constant or a parameter.
static void convolve(bool is_constant, const float *image, const float *kernel, float *found) {
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, SIDE * SIDE * 4);
  const int weights = is_constant ? testing_constant(&h, kernel, KERNEL * KERNEL * 4)
                                  : testing_memory(&h, PROGRAM_PARAMETER, 1, KERNEL * KERNEL * 4);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, OUT * OUT * 4);
  const program_array operands[2] = {testing_array(&h, DTYPE_F32, 4, (int64_t[]){1, SIDE, SIDE, 1}, in),
                                     testing_array(&h, DTYPE_F32, 4, (int64_t[]){KERNEL, KERNEL, 1, 1}, weights)};
  const program_array result = testing_array(&h, DTYPE_F32, 4, (int64_t[]){1, OUT, OUT, 1}, out);
  program_thunk *t = convolution_thunk(&h, 2, operands, &result);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &t), 2, &e));
  void *parameters[] = {(void *)(uintptr_t)image, (void *)(uintptr_t)kernel};
  for (int turn = 0; turn < 2; turn++) testing_check(executable_run(e, parameters, (void *[]){found}));
  executable_destroy(e);
  testing_end(&h);
}

static void test_convolution(void **state) {
  (void)state;
  float image[SIDE * SIDE], kernel[KERNEL * KERNEL], found[OUT * OUT];
  for (int k = 0; k < SIDE * SIDE; k++) image[k] = (float)k;
  for (int k = 0; k < KERNEL * KERNEL; k++) kernel[k] = 1;
  for (int way = 0; way < 2; way++) {
    memset(found, 0, sizeof found);
    convolve(way, image, kernel, found);
    for (int r = 0; r < OUT; r++)
      for (int c = 0; c < OUT; c++) assert_true(found[r * OUT + c] == (float)(9 * ((r + 1) * SIDE + c + 1)));
  }
}

enum { PARTS = 4 };

// The kernel is one output feature of four, which is counted from 2 * place - 1 if there is a start, else the third.
static void convolve_part(bool is_constant, int place, int64_t elements, const int64_t *start, const char *error) {
  float image[SIDE * SIDE], array[KERNEL * KERNEL * PARTS], found[OUT * OUT];
  for (int k = 0; k < SIDE * SIDE; k++) image[k] = 1;
  for (int k = 0; k < KERNEL * KERNEL * PARTS; k++) array[k] = (float)(k % PARTS + 1);
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, sizeof image);
  const int at = testing_memory(&h, PROGRAM_PARAMETER, 1, sizeof place);
  const int weights =
      is_constant ? testing_constant(&h, array, sizeof array) : testing_memory(&h, PROGRAM_PARAMETER, 2, sizeof array);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, sizeof found);
  const program_array operands[3] = {testing_array(&h, DTYPE_F32, 4, (int64_t[]){1, SIDE, SIDE, 1}, in),
                                     testing_array(&h, DTYPE_F32, 4, (int64_t[]){KERNEL, KERNEL, 1, 1}, weights),
                                     testing_array(&h, DTYPE_S32, 0, NULL, at)};
  const program_array result = testing_array(&h, DTYPE_F32, 4, (int64_t[]){1, OUT, OUT, 1}, out);
  program_thunk *t = convolution_thunk(&h, start ? 3 : 2, operands, &result);
  testing_ints(&h, t, "kernel_strides", 4, (int64_t[]){KERNEL * PARTS, PARTS, PARTS, 1});
  testing_int(&h, t, "kernel_elements", elements);
  if (start) testing_ints(&h, t, "kernel_start", 4, start);
  else testing_int(&h, t, "kernel_offset", 2);
  if (error) {
    executable *e;
    testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 2, &e), HEDDLE_INVALID, error);
  } else {
    testing_run(&h, testing_sequence(&h, 1, &t), 2, (void *[]){image, &place, array}, (void *[]){found});
    const int part = !start ? 2 : 2 * place - 1 < 0 ? 0 : 2 * place - 1 > 3 ? 3 : 2 * place - 1;
    for (int k = 0; k < OUT * OUT; k++) assert_true(found[k] == (float)(9 * (part + 1)));
  }
  testing_end(&h);
}

static void test_convolution_by_part(void **state) {
  (void)state;
  enum { ALL = KERNEL * KERNEL * PARTS };
  static const int64_t start[4] = {2, -1, 3, 1};
  for (int is_constant = 0; is_constant < 2; is_constant++) {
    convolve_part(is_constant, 0, ALL, NULL, NULL);
    convolve_part(is_constant, 0, ALL + 1, NULL, "does not fit its slice");
    for (int place = -1; place < 5; place++) convolve_part(is_constant, place, ALL, start, NULL);
  }
  convolve_part(false, 0, ALL, (int64_t[]){2, -1, 4, 1}, "leads out of its array");
  convolve_part(false, 0, ALL, (int64_t[]){2, -1, -1, 1}, "malformed");
  convolve_part(false, 0, ALL, (int64_t[]){2, -1, INT64_MAX, 2}, "malformed");
}

static void test_convolution_refused(void **state) {
  (void)state;
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 64), out = testing_memory(&h, PROGRAM_RESULT, 0, 64);
  const program_array operands[2] = {testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 4, 1}, in),
                                     testing_array(&h, DTYPE_F32, 3, (int64_t[]){2, 1, 1}, in)};
  const program_array result = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 3, 1}, out);
  program_thunk *t = testing_library(&h, THUNK_CONVOLUTION, 2, operands, 1, &result);
  executable *e;
  testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 2, &e), HEDDLE_INVALID, "dim numbers");
  testing_end(&h);
}

// A saved program may name fewer arrays than there should be; what lies behind them is none.
static void test_too_few_arrays(void **state) {
  (void)state;
  static const program_thunk_kind kinds[] = {THUNK_GEMM, THUNK_CONVOLUTION, THUNK_FFT,
                                             THUNK_SORT, THUNK_TOP_K,       THUNK_CONCATENATE};
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    for (int operands = 0; operands < 2; operands++) {
      testing_program h = testing_start();
      const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, 64);
      const program_array array = testing_array(&h, DTYPE_F32, 3, (int64_t[]){1, 4, 4}, in);
      program_thunk *t = testing_library(&h, kinds[kind], operands, &array, 0, NULL);
      t->operands = (program_array[]){array, {.slice = 1 << 24}};
      executable *e;
      testing_check_error(testing_create(&h, testing_sequence(&h, 1, &t), 2, &e), HEDDLE_INVALID, "");
      testing_end(&h);
    }
  }
}

// There and back again, through two thunks.
static void test_fft(void **state) {
  (void)state;
  enum { LINES = 3, SIZE = 5, HALF = SIZE / 2 + 1 };
  testing_program h = testing_start();
  const int in = testing_memory(&h, PROGRAM_PARAMETER, 0, LINES * SIZE * 4);
  const int middle = testing_memory(&h, PROGRAM_TEMPORARY, 0, LINES * HALF * 8);
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, LINES * SIZE * 4);
  const program_array from = testing_array(&h, DTYPE_F32, 2, (int64_t[]){LINES, SIZE}, in);
  const program_array spectrum = testing_array(&h, DTYPE_C64, 2, (int64_t[]){LINES, HALF}, middle);
  const program_array to = testing_array(&h, DTYPE_F32, 2, (int64_t[]){LINES, SIZE}, out);
  program_thunk *thunks[2] = {testing_library(&h, THUNK_FFT, 1, &from, 1, &spectrum),
                              testing_library(&h, THUNK_FFT, 1, &spectrum, 1, &to)};
  for (int k = 0; k < 2; k++) {
    testing_int(&h, thunks[k], "fft_type", 2 + k);
    testing_int(&h, thunks[k], "fft_length", SIZE);
  }
  float given[LINES * SIZE], found[LINES * SIZE] = {0};
  for (int k = 0; k < LINES * SIZE; k++) given[k] = (float)(k * k % 7) - 2;
  testing_run(&h, testing_sequence(&h, 2, thunks), 2, (void *[]){given}, (void *[]){found});
  for (int k = 0; k < LINES * SIZE; k++) assert_true(found[k] - given[k] < 1e-5F && given[k] - found[k] < 1e-5F);
  testing_end(&h);
}

static void test_one_openmp_runtime(void **state) {
  (void)state;
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps) {
    fail_msg("%s", "/proc/self/maps cannot be read");
    return;
  }
  char line[512];
  int gomp = 0, omp = 0, blas = 0;
  while (fgets(line, sizeof line, maps)) {
    gomp += strstr(line, "libgomp") != NULL;
    omp += strstr(line, "libomp") != NULL || strstr(line, "libiomp") != NULL;
    blas += strstr(line, "openblas-pthread") != NULL;
  }
  fclose(maps);
  assert_true(gomp > 0);
  assert_int_equal(omp, 0);
  assert_int_equal(blas, 0);
}

static void test_small_work_starts_no_threads(void **state) {
  (void)state;
  assert_int_equal(pool_started(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gemm),
      cmocka_unit_test(test_gemm_of_slice),
      cmocka_unit_test(test_gemm_of_moving_slice),
      cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_convolution_by_part),
      cmocka_unit_test(test_convolution_refused),
      cmocka_unit_test(test_too_few_arrays),
      cmocka_unit_test(test_fft),
      cmocka_unit_test(test_one_openmp_runtime),
      cmocka_unit_test(test_small_work_starts_no_threads),
      cmocka_unit_test(test_gemm_of_constant),
      cmocka_unit_test(test_gemm_of_constant_left),  // starts threads
  };
  return cmocka_run_group_tests_name("rt/products", tests, NULL, NULL);
}
