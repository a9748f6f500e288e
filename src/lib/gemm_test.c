// Products of every element type and of awkward shapes against naive loops; the same bits for every number of threads.
#include "lib/gemm.h"
#include "base/cpu_level.h"

#include "lib/testing.h"

typedef struct form {
  int64_t batch, rows, columns, depth;
  int64_t transpose_lhs, transpose_rhs, bias;
  const char *activation;
  int64_t members;   // > 0: of a group; their rows lie side by side
  bool is_constant;  // the right side is the same in every call
} form;

typedef struct product {
  lib_array operands[3], result;
  named_attribute attributes[12];
  int attribute_count;
  int64_t strides[3][3], offsets[2], elements[2];
  lib_call call;
} product;

static void add_strides(product *p, const char *name, const form *f, int number, const lib_array *a) {
  const int64_t columns = a->dims[2], strides[3] = {f->members * columns, columns, a->dims[1] * f->members * columns};
  memcpy(p->strides[number], strides, sizeof strides);
  p->attributes[p->attribute_count++] =
      (named_attribute){.name = name, .kind = NAMED_INTS, .count = 3, .ints = p->strides[number]};
}

static void product_of(arena *a, const form *f, dtype lhs, dtype rhs, dtype result, product *to) {
  product p = {0};
  const int64_t left[3] = {f->batch, f->transpose_lhs ? f->depth : f->rows, f->transpose_lhs ? f->rows : f->depth};
  const int64_t right[3] = {f->batch, f->transpose_rhs ? f->columns : f->depth,
                            f->transpose_rhs ? f->depth : f->columns};
  const int64_t out[3] = {f->batch, f->rows, f->columns};
  p.operands[0] = testing_array(a, lhs, 3, left);
  p.operands[1] = testing_array(a, rhs, 3, right);
  p.operands[2] = testing_array(a, result, 1, &f->columns);
  p.result = testing_array(a, result, 3, out);
  for (int k = 0; k < 3; k++) testing_fill(&p.operands[k], (uint64_t)k + 1);
  p.attributes[0] = testing_int("transpose_lhs", &f->transpose_lhs);
  p.attributes[1] = testing_int("transpose_rhs", &f->transpose_rhs);
  p.attributes[2] = testing_int("bias", &f->bias);
  p.attributes[3] = (named_attribute){.name = "activation", .kind = NAMED_TEXT, .text = f->activation};
  p.attribute_count = f->activation ? 4 : 3;
  *to = p;
  if (f->members == 0) return;
  to->attributes[to->attribute_count++] = testing_int("group", &f->members);
  add_strides(to, "lhs_strides", f, 0, &to->operands[0]);
  add_strides(to, "rhs_strides", f, 1, &to->operands[1]);
  add_strides(to, "result_strides", f, 2, &to->result);
}

static void *aligned(arena *a, size_t bytes) {
  return (void *)(((uintptr_t)arena_alloc(a, bytes + 64) + 63) / 64 * 64);
}

static heddle_status make_plan(const product *p, const form *f, gemm_plan *plan) {
  return f->is_constant ? gemm_plan_make_constant(&p->call, plan) : gemm_plan_make(&p->call, plan);
}

static void multiply(arena *a, product *p, const form *f, int threads) {
  p->call = (lib_call){.operand_count = f->bias ? 3 : 2,
                       .operands = p->operands,
                       .result_count = 1,
                       .results = &p->result,
                       .attribute_count = p->attribute_count,
                       .attributes = p->attributes,
                       .threads = threads};
  gemm_plan plan;
  assert_true(status_is_ok(make_plan(p, f, &plan)));
  p->call.scratch = aligned(a, (size_t)gemm_plan_scratch(&plan, threads));
  memset(p->result.data, 0xee, (size_t)work_array_bytes(p->result.type, false, lib_element_count(&p->result)));
  assert_true(status_is_ok(gemm_plan_execute(&plan, &p->call)));
}

// Of an element as it lies in memory.
static int64_t index_of(const form *f, const int64_t at[static 3], int64_t rows, int64_t columns) {
  if (f->members == 0) return (at[0] * rows + at[1]) * columns + at[2];
  return ((at[0] / f->members * rows + at[1]) * f->members + at[0] % f->members) * columns + at[2];
}

static int64_t lhs_index(const form *f, int64_t b, int64_t m, int64_t k) {
  if (f->transpose_lhs) return index_of(f, (int64_t[]){b, k, m}, f->depth, f->rows);
  return index_of(f, (int64_t[]){b, m, k}, f->rows, f->depth);
}

static int64_t rhs_index(const form *f, int64_t b, int64_t k, int64_t n) {
  if (f->transpose_rhs) return index_of(f, (int64_t[]){b, n, k}, f->columns, f->depth);
  return index_of(f, (int64_t[]){b, k, n}, f->depth, f->columns);
}

static int64_t result_index(const form *f, int64_t b, int64_t m, int64_t n) {
  return index_of(f, (int64_t[]){b, m, n}, f->rows, f->columns);
}

static double tolerance_of(dtype t) {
  switch (t) {
    case DTYPE_F64:
    case DTYPE_C128: return 1e-13;
    case DTYPE_F32:
    case DTYPE_C64: return 2e-6;
    case DTYPE_F16: return 1e-3;
    case DTYPE_BF16: return 8e-3;
    default: return 0.13;
  }
}

static void check_real(const product *p, const form *f, int64_t b, int64_t m, int64_t n) {
  double sum[2] = {0, 0}, size = 1e-3, x[2], y[2];
  for (int64_t k = 0; k < f->depth; k++) {
    testing_at(&p->operands[0], lhs_index(f, b, m, k), x);
    testing_at(&p->operands[1], rhs_index(f, b, k, n), y);
    sum[0] += x[0] * y[0] - x[1] * y[1];
    sum[1] += x[0] * y[1] + x[1] * y[0];
    size += (fabs(x[0]) + fabs(x[1])) * (fabs(y[0]) + fabs(y[1]));
  }
  if (f->bias) {
    testing_at(&p->operands[2], n, x);
    sum[0] += x[0], sum[1] += x[1];
    size += fabs(x[0]);
  }
  if (f->activation && f->activation[0] && sum[0] < 0) sum[0] = 0;
  testing_at(&p->result, result_index(f, b, m, n), x);
  const double scale = dtypes[p->result.type].bits <= 16 ? fabs(sum[0]) + 1e-3 : size;
  assert_true(fabs(x[0] - sum[0]) <= tolerance_of(p->result.type) * scale);
  assert_true(fabs(x[1] - sum[1]) <= tolerance_of(p->result.type) * size);
}

static void check_whole(const product *p, const form *f, int64_t b, int64_t m, int64_t n) {
  uint64_t sum = f->bias ? testing_whole_at(&p->operands[2], n) : 0;
  for (int64_t k = 0; k < f->depth; k++)
    sum += testing_whole_at(&p->operands[0], lhs_index(f, b, m, k)) *
           testing_whole_at(&p->operands[1], rhs_index(f, b, k, n));
  uint64_t wanted[2] = {0}, got[2] = {0};
  const lib_array one = {.type = p->result.type, .data = wanted};
  if (p->result.type == DTYPE_PRED) sum = sum != 0;
  work_store(WORK_U64, &sum, &one, 0, 1);
  const int bytes = dtypes[p->result.type].bytes;
  memcpy(got, (char *)p->result.data + result_index(f, b, m, n) * bytes, (size_t)bytes);
  assert_int_equal(got[0], wanted[0]);
}

static void check_form(const form *f, dtype lhs, dtype rhs, dtype result) {
  arena *a = arena_create();
  product p;
  product_of(a, f, lhs, rhs, result, &p);
  multiply(a, &p, f, 1);
  // All elements of small results, some of every row and column of large ones.
  const int64_t step = f->rows * f->columns * f->depth > 10000 ? 11 : 1;
  for (int64_t b = 0; b < f->batch; b++)
    for (int64_t m = 0; m < f->rows; m++)
      for (int64_t n = m % step; n < f->columns; n += step)
        (dtype_is_float(result) || dtype_is_complex(result) ? check_real : check_whole)(&p, f, b, m, n);
  const lib_array first = p.result;
  const size_t bytes = (size_t)work_array_bytes(result, false, lib_element_count(&first));
  p.result = testing_array(a, result, 3, first.dims);
  for (int threads = 2; threads <= 4; threads++) {
    multiply(a, &p, f, threads);
    assert_memory_equal(p.result.data, first.data, bytes);
  }
  arena_destroy(a);
}

static void test_shapes(void **state) {
  (void)state;
  static const form forms[] = {{1, 1, 1, 1},     {1, 3, 5, 7},     {2, 17, 33, 9},    {1, 64, 48, 130},
                               {1, 200, 70, 65}, {1, 1, 300, 500}, {1, 300, 1, 500},  {1, 3, 2, 9000},
                               {1, 40, 512, 70}, {7, 5, 6, 40},    {1, 0, 4, 4},      {1, 4, 0, 4},
                               {1, 4, 5, 0},     {0, 4, 5, 2},     {1, 130, 130, 40}, {1, 37, 41, 2300}};
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
    for (int way = 0; way < 4; way++) {
      form f = forms[k];
      f.transpose_lhs = way & 1;
      f.transpose_rhs = way >> 1;
      check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
      check_form(&f, DTYPE_BF16, DTYPE_BF16, DTYPE_BF16);
      f.bias = 1;
      f.activation = way & 1 ? "relu" : "";
      check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
      check_form(&f, DTYPE_F16, DTYPE_F16, DTYPE_F32);
    }
  }
}

static void test_types(void **state) {
  (void)state;
  static const form forms[] = {
      {2, 9, 11, 13}, {1, 66, 70, 300}, {1, 2, 3, 2500, 1, 0}, {1, 5, 6, 20, 0, 1, 1}, {1, 70, 41, 515, 1, 1}};
  static const dtype triples[][3] = {
      {DTYPE_F64, DTYPE_F64, DTYPE_F64},
      {DTYPE_F32, DTYPE_F32, DTYPE_F64},
      {DTYPE_C64, DTYPE_C64, DTYPE_C64},
      {DTYPE_C128, DTYPE_C128, DTYPE_C128},
      {DTYPE_S8, DTYPE_S8, DTYPE_S32},
      {DTYPE_U8, DTYPE_U8, DTYPE_S32},
      {DTYPE_U8, DTYPE_S8, DTYPE_U32},
      {DTYPE_S8, DTYPE_S8, DTYPE_S8},
      {DTYPE_S4, DTYPE_S4, DTYPE_S32},
      {DTYPE_S16, DTYPE_S16, DTYPE_S32},
      {DTYPE_S16, DTYPE_S16, DTYPE_S64},
      {DTYPE_S8, DTYPE_S16, DTYPE_U16},
      {DTYPE_PRED, DTYPE_S8, DTYPE_S32},
      {DTYPE_S8, DTYPE_S8, DTYPE_S64},
      {DTYPE_U16, DTYPE_U16, DTYPE_U64},
      {DTYPE_S32, DTYPE_S32, DTYPE_S32},
      {DTYPE_U32, DTYPE_U32, DTYPE_U32},
      {DTYPE_S64, DTYPE_S64, DTYPE_S64},
      {DTYPE_U64, DTYPE_U64, DTYPE_U64},
      {DTYPE_S32, DTYPE_S8, DTYPE_S64},
      {DTYPE_S8, DTYPE_S8, DTYPE_F32},
      {DTYPE_BF16, DTYPE_S8, DTYPE_F32},
      {DTYPE_U4, DTYPE_U4, DTYPE_U4},
      {DTYPE_PRED, DTYPE_PRED, DTYPE_PRED},
      {DTYPE_F16, DTYPE_F16, DTYPE_F16},
      {DTYPE_F8E4M3FN, DTYPE_F8E5M2, DTYPE_F32},
      {DTYPE_F8E4M3FN, DTYPE_F8E4M3FN, DTYPE_BF16},
      {DTYPE_S2, DTYPE_S2, DTYPE_S16},
      {DTYPE_F32, DTYPE_F32, DTYPE_BF16},
  };
  for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
    for (size_t t = 0; t < sizeof triples / sizeof triples[0]; t++)
      check_form(&forms[f], triples[t][0], triples[t][1], triples[t][2]);
}

// Sums of the largest products there are, which leave 32 bits, in every way that narrow integers are packed.
static void test_largest(void **state) {
  (void)state;
  arena *a = arena_create();
  static const dtype types[] = {DTYPE_S16, DTYPE_S8, DTYPE_U8};
  for (int way = 0; way < 12; way++) {
    const form f = {1, 7, 35, way < 4 ? 1025 : 3, way & 1, way >> 1 & 1};
    const dtype t = types[way / 4];
    product p;
    product_of(a, &f, t, t, DTYPE_S32, &p);
    for (int k = 0; k < 2; k++) {
      const int64_t count = lib_element_count(&p.operands[k]);
      for (int64_t e = 0; e < count; e++) {
        if (t == DTYPE_S16) ((int16_t *)p.operands[k].data)[e] = INT16_MIN;
        else ((uint8_t *)p.operands[k].data)[e] = t == DTYPE_S8 ? 0x80 : 0xff;
      }
    }
    multiply(a, &p, &f, 2);
    for (int64_t n = 0; n < f.columns; n++) check_whole(&p, &f, 0, n % f.rows, n);
  }
  arena_destroy(a);
}

// Members of the batch side by side, among them rows that fall into the same cache sets and parts of the depth.
static void test_strides(void **state) {
  (void)state;
  static const form forms[] = {{6, 10, 9, 8, .members = 3},   {4, 33, 5, 64, .members = 4},
                               {2, 1, 7, 3000, .members = 1}, {8, 40, 70, 64, .members = 8},
                               {2, 3, 2, 9000, .members = 2}, {12, 1, 16, 16, .members = 2}};
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
    for (int way = 0; way < 4; way++) {
      form f = forms[k];
      f.transpose_lhs = way & 1;
      f.transpose_rhs = way >> 1;
      check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
      check_form(&f, DTYPE_BF16, DTYPE_F32, DTYPE_F32);
      check_form(&f, DTYPE_S8, DTYPE_S8, DTYPE_S32);
      check_form(&f, DTYPE_C64, DTYPE_C64, DTYPE_C64);
    }
  }
}

enum { GAP = 5, FRONT = 11, BEHIND = 3 };

// Moves an operand into a larger array, in which its rows and matrices are apart and begin behind others.
static void embed(arena *a, product *p, int number) {
  static const char *const strides[] = {"lhs_strides", "rhs_strides"}, *const offsets[] = {"lhs_offset", "rhs_offset"};
  static const char *const elements[] = {"lhs_elements", "rhs_elements"};
  lib_array *x = &p->operands[number];
  const int64_t rows = x->dims[0] * x->dims[1], columns = x->dims[2], size = dtypes[x->type].bits / 8;
  const int64_t leading = columns + GAP, made[3] = {leading, x->dims[1] * leading, rows * leading};
  p->offsets[number] = FRONT;
  p->elements[number] = FRONT + rows * leading + BEHIND;
  memcpy(p->strides[number], made, sizeof made);
  char *array = arena_alloc(a, (size_t)(p->elements[number] * size));
  memset(array, 0x77, (size_t)(p->elements[number] * size));
  for (int64_t r = 0; r < rows; r++)
    memcpy(array + (FRONT + r * leading) * size, (char *)x->data + r * columns * size, (size_t)(columns * size));
  x->data = array;
  p->attributes[p->attribute_count++] =
      (named_attribute){.name = strides[number], .kind = NAMED_INTS, .count = 3, .ints = p->strides[number]};
  p->attributes[p->attribute_count++] = testing_int(offsets[number], &p->offsets[number]);
  p->attributes[p->attribute_count++] = testing_int(elements[number], &p->elements[number]);
}

static const dtype f32[2] = {DTYPE_F32, DTYPE_F32};

// A product on two threads, whose sides `sides` (1, 2 or both) lie in larger arrays, has the bits of one on one thread
// whose sides are arrays. `types`: of the sides, and of the result.
static void check_embedded(arena *a, const form *f, const dtype types[static 2], int sides, product *p) {
  product plain;
  product_of(a, f, types[0], types[0], types[1], &plain);
  product_of(a, f, types[0], types[0], types[1], p);
  plain.attribute_count = p->attribute_count = 3;  // without an activation
  for (int side = 0; side < 2; side++)
    if (sides >> side & 1) embed(a, p, side);
  multiply(a, &plain, f, 1);
  multiply(a, p, f, 2);
  const size_t bytes = (size_t)(lib_element_count(&p->result) * dtypes[types[1]].bits / 8);
  assert_memory_equal(p->result.data, plain.result.data, bytes);
}

// Large enough for the instructions of processors that multiply matrices of bytes: sides as they lie and turned, sizes
// that fill no tile, sides within larger arrays, sums that leave 32 bits.
static void test_bytes(void **state) {
  (void)state;
  arena *a = arena_create();
  static const form forms[] = {
      {1, 300, 270, 100}, {2, 70, 513, 129}, {1, 33, 35, 4099}, {3, 128, 96, 512, .members = 3}, {1, 32, 4096, 33}};
  for (int way = 0; way < 5 * 4; way++) {
    form f = forms[way % 5];
    f.transpose_lhs = way / 5 & 1;
    f.transpose_rhs = way / 10 & 1;
    check_form(&f, DTYPE_S8, DTYPE_S8, DTYPE_S32);
    check_form(&f, DTYPE_S8, DTYPE_S8, DTYPE_U32);
    static const dtype types[2] = {DTYPE_S8, DTYPE_S32};
    product p;
    for (int sides = 1; sides < 4 && f.members == 0; sides++) check_embedded(a, &f, types, sides, &p);
  }
  const form f = {1, 40, 34, 140000};  // 2^14 of these are 2^31
  product p;
  product_of(a, &f, DTYPE_S8, DTYPE_S8, DTYPE_S32, &p);
  for (int k = 0; k < 2; k++) memset(p.operands[k].data, 0x80, (size_t)lib_element_count(&p.operands[k]));
  multiply(a, &p, &f, 2);
  for (int64_t n = 0; n < f.columns; n++) check_whole(&p, &f, 0, n % f.rows, n);
  arena_destroy(a);
}

// Operands that are slices of arrays give the same bits as copies of them.
static void test_slices(void **state) {
  (void)state;
  arena *a = arena_create();
  static const form forms[] = {{1, 7, 9, 30}, {3, 40, 50, 64}, {5, 1, 300, 200}, {2, 130, 4, 100}, {1, 2, 2, 2}};
  static const dtype types[][2] = {
      {DTYPE_F32, DTYPE_F32}, {DTYPE_BF16, DTYPE_BF16}, {DTYPE_F64, DTYPE_F64}, {DTYPE_S8, DTYPE_S32}};
  for (int way = 0; way < 5 * 4 * 4 * 3; way++) {
    form f = forms[way % 5];
    f.transpose_lhs = way / 5 & 1;
    f.transpose_rhs = way / 10 & 1;
    product p;
    check_embedded(a, &f, types[way / 20 % 4], way / 80 + 1, &p);
  }
  arena_destroy(a);
}

// Sizes around those of the blocks that small products of f32 are made of, and matrices with a few vectors.
static void test_small(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 2, 5, 6, 7, 12, 32}, columns[] = {1, 7, 8, 9, 16, 17, 31, 32};
  static const int64_t depths[] = {1, 2, 13, 64};
  for (int way = 0; way < 7 * 8 * 4; way++) {
    const form f = {.batch = 1 + way % 3,
                    .rows = rows[way % 7],
                    .columns = columns[way / 7 % 8],
                    .depth = depths[way / 56],
                    .transpose_lhs = way & 1,
                    .transpose_rhs = way >> 1 & 1,
                    .bias = way % 5 == 0};
    check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
    if (way % 4 == 0) check_form(&f, DTYPE_BF16, DTYPE_BF16, DTYPE_F32);
  }
}

// Sides that are multiplied as they lie: blocks of rows and panels of columns that are whole and that are not, terms in
// one block and in several, rows that are copied since they lie far apart or fall into the same few cache sets.
static void test_near(void **state) {
  (void)state;
  arena *a = arena_create();
  static const form forms[] = {{1, 13, 32, 384}, {1, 27, 16, 385},  {2, 65, 65, 67},    {1, 100, 100, 100},
                               {1, 512, 33, 90}, {1, 53, 70, 1024}, {1, 40, 1100, 20},  {1, 66, 48, 800},
                               {3, 128, 80, 64}, {1, 16, 16, 4096}, {1, 256, 250, 255}, {1, 1024, 40, 129}};
  for (int way = 0; way < 12 * 4; way++) {
    form f = forms[way % 12];
    f.transpose_lhs = way / 12 & 1;
    f.transpose_rhs = way / 24 & 1;
    f.bias = way % 3 == 0;
    f.activation = way % 2 ? "relu" : "";
    check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
    product p;
    check_embedded(a, &f, f32, way & 1 ? 2 : 1, &p);
  }
  arena_destroy(a);
}

// What is no number or infinite stays in its row and its column, and sums of products that are -0 are +0, as the terms
// are added to 0.
static void test_special(void **state) {
  (void)state;
  arena *a = arena_create();
  for (int way = 0; way < 4 * 3; way++) {
    const int64_t side = way < 4 ? 9 : way < 8 ? 40 : 130;
    const form f = {1, side, side + 3, side + 5, .transpose_lhs = way & 1, .transpose_rhs = way >> 1 & 1};
    product p;
    product_of(a, &f, DTYPE_F32, DTYPE_F32, DTYPE_F32, &p);
    float *lhs = p.operands[0].data, *rhs = p.operands[1].data;
    for (int64_t e = 0; e < f.rows * f.depth; e++) lhs[e] = 1;
    for (int64_t e = 0; e < f.depth * f.columns; e++) rhs[e] = -0.0F;
    lhs[lhs_index(&f, 0, 4, 2)] = NAN;
    rhs[rhs_index(&f, 0, 3, 7)] = INFINITY;
    multiply(a, &p, &f, 1);
    const float *result = p.result.data;
    for (int64_t e = 0; e < f.rows * f.columns; e++) {
      const bool in_row = e / f.columns == 4, in_column = e % f.columns == 7;
      if (in_row) assert_true(isnan(result[e]));
      else if (in_column) assert_true(isinf(result[e]) && result[e] > 0);
      else assert_true(result[e] == 0 && !signbit(result[e]));
    }
  }
  arena_destroy(a);
}

// A right side that was packed beforehand, not looked at again.
static void check_kept(arena *a, product *p, const form *f) {
  const lib_array first = p->result;
  const size_t bytes = (size_t)(lib_element_count(&first) * 4);
  for (int threads = 1; threads <= 3; threads++) {
    gemm_plan plan;
    p->call.threads = threads;
    assert_true(status_is_ok(make_plan(p, f, &plan)));
    if (gemm_plan_kept_bytes(&plan) == 0) return;
    gemm_plan_keep(&plan, threads, p->operands[1].data, aligned(a, (size_t)gemm_plan_kept_bytes(&plan)));
    p->call.scratch = aligned(a, (size_t)gemm_plan_scratch(&plan, threads));
    lib_array operands[3] = {p->operands[0], p->operands[1], p->operands[2]},
              result = testing_array(a, DTYPE_F32, 3, first.dims);
    operands[1].data = NULL;
    lib_call call = p->call;
    call.operands = operands;
    call.results = &result;
    assert_true(status_is_ok(gemm_plan_execute(&plan, &call)));
    assert_memory_equal(result.data, first.data, bytes);
  }
}

// Some rows by a large right side: blocks, pieces, strips and groups of columns that are whole and that are not,
// sums of parts of the depth, and left sides that are read in blocks.
static void test_streamed(void **state) {
  (void)state;
  arena *a = arena_create();
  static const int64_t rows[] = {5, 13, 24, 37, 64, 96}, columns[] = {192, 255, 700, 1025};
  static const int64_t depths[] = {1400, 769, 256, 3001};
  for (int way = 0; way < 6 * 4 * 4; way++) {
    form f = {1, rows[way % 6], columns[way / 6 % 4], depths[(way + way / 6) % 4]};
    f.transpose_lhs = way / 24 & 1;
    f.transpose_rhs = way / 48 & 1;
    f.bias = way % 3 == 0;
    f.activation = way % 2 ? "relu" : "";
    check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
    product p;
    check_embedded(a, &f, f32, 3, &p);
    check_kept(a, &p, &f);
  }
  arena_destroy(a);
}

// More rows than one tile has, by right sides that are the same in every call.
static void test_constant(void **state) {
  (void)state;
  arena *a = arena_create();
  static const int64_t rows[] = {25, 97, 193, 385}, columns[] = {192, 700}, depths[] = {769, 1100};
  for (int way = 0; way < 4 * 2 * 2; way++) {
    form f = {.batch = 1, .rows = rows[way % 4], .columns = columns[way / 4 % 2], .depth = depths[way / 8]};
    f.transpose_lhs = way / 2 & 1;
    f.transpose_rhs = way / 4 & 1;
    f.bias = way % 3 == 0;
    f.activation = way % 2 ? "relu" : "";
    f.is_constant = true;
    check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
    product p;
    product_of(a, &f, DTYPE_F32, DTYPE_F32, DTYPE_F32, &p);
    multiply(a, &p, &f, 2);
    check_kept(a, &p, &f);
  }
  arena_destroy(a);
}

static void test_thin(void **state) {
  (void)state;
  static const int64_t depths[] = {8, 9, 1023, 1024, 1031, 3001};
  for (int way = 0; way < 6 * 5 * 4; way++) {
    const bool few_rows = way & 1;
    const int64_t few = 1 + way / 2 % 5, many = 40 + way % 3;
    const form f = {.batch = 1 + way % 2,
                    .rows = few_rows ? few : many,
                    .columns = few_rows ? many : few,
                    .depth = depths[way / 20],
                    .transpose_lhs = few_rows && way / 10 % 2,
                    .transpose_rhs = few_rows || way / 10 % 2};
    check_form(&f, DTYPE_F32, DTYPE_F32, DTYPE_F32);
  }
}

// Nibbles of a packed array, the first element in the lower bits.
static void test_packed(void **state) {
  (void)state;
  static const int64_t lhs_dims[3] = {1, 1, 3}, rhs_dims[3] = {1, 3, 1}, out_dims[3] = {1, 1, 1};
  uint8_t lhs[] = {0x2f, 0x07}, rhs[] = {0x83, 0x01};  // -1 2 7, 3 -8 1
  int32_t sum = 0;
  const lib_array operands[2] = {{DTYPE_S4, 3, lhs_dims, lhs, true}, {DTYPE_S4, 3, rhs_dims, rhs, true}};
  const lib_array result = {DTYPE_S32, 3, out_dims, &sum, false};
  lib_call call = {.operand_count = 2, .operands = operands, .result_count = 1, .results = &result, .threads = 1};
  gemm_plan plan;
  assert_true(status_is_ok(gemm_plan_make(&call, &plan)));
  call.scratch = aligned_alloc(64, (size_t)(gemm_plan_scratch(&plan, 1) + 63) / 64 * 64);
  assert_true(status_is_ok(gemm_plan_execute(&plan, &call)));
  free(call.scratch);
  assert_int_equal(sum, -3 - 16 + 7);
}

static void test_refusals(void **state) {
  (void)state;
  arena *a = arena_create();
  const form f = {1, 2, 3, 4};
  gemm_plan plan;
  product p;
  product_of(a, &f, DTYPE_F32, DTYPE_C64, DTYPE_F32, &p);
  p.call = (lib_call){.operand_count = 2, .operands = p.operands, .result_count = 1, .results = &p.result};
  heddle_status status = gemm_plan_make(&p.call, &plan);
  assert_non_null(strstr(heddle_status_message(status), "c64"));
  heddle_status_free(status);
  product_of(a, &f, DTYPE_F32, DTYPE_F32, DTYPE_F32, &p);
  const int64_t dims[3] = {1, 5, 3};
  p.operands[1] = testing_array(a, DTYPE_F32, 3, dims);
  p.call.operands = p.operands;
  status = gemm_plan_make(&p.call, &plan);
  assert_false(status_is_ok(status));
  heddle_status_free(status);
  arena_destroy(a);
}

// Strides that lead out of an array, have rows overlap, or are no three numbers; groups that the batch is not made of.
static void test_strides_refused(void **state) {
  (void)state;
  arena *a = arena_create();
  const form f = {6, 2, 3, 4, .members = 3};
  product p;
  gemm_plan plan;
  for (int k = 0; k < 7; k++) {
    product_of(a, &f, DTYPE_F32, DTYPE_F32, DTYPE_F32, &p);
    static const int64_t wrong[] = {2, 25, -1, INT64_MAX};
    int64_t group = 4;
    if (k < 4) p.strides[0][k % 3] = wrong[k];
    else if (k == 4) p.attributes[4].count = 2;
    else if (k == 5) p.attributes[3].ints = &group;
    else p.strides[2][1] = 4;
    p.call = (lib_call){.operand_count = 2,
                        .operands = p.operands,
                        .result_count = 1,
                        .results = &p.result,
                        .attribute_count = p.attribute_count,
                        .attributes = p.attributes};
    heddle_status status = gemm_plan_make(&p.call, &plan);
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    heddle_status_free(status);
  }
  arena_destroy(a);
}

// Offsets and counts of elements with which a matrix would lie outside of its array.
static void test_slices_refused(void **state) {
  (void)state;
  arena *a = arena_create();
  const form f = {2, 2, 3, 4};
  product p;
  gemm_plan plan;
  for (int k = 0; k < 6; k++) {
    product_of(a, &f, DTYPE_F32, DTYPE_F32, DTYPE_F32, &p);
    embed(a, &p, k & 1);
    const int64_t wrong[] = {-1, FRONT + GAP + BEHIND + 1, INT64_MAX};
    if (k < 3) p.offsets[k & 1] = wrong[k];
    else p.elements[k & 1] -= k == 3 ? GAP + BEHIND + 1 : k == 4 ? p.elements[0] : p.elements[1] + 1;
    p.call = (lib_call){.operand_count = 2,
                        .operands = p.operands,
                        .result_count = 1,
                        .results = &p.result,
                        .attribute_count = p.attribute_count,
                        .attributes = p.attributes};
    heddle_status status = gemm_plan_make(&p.call, &plan);
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_status_message(status), "out of the array"));
    heddle_status_free(status);
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),          cmocka_unit_test(test_types),    cmocka_unit_test(test_largest),
      cmocka_unit_test(test_packed),          cmocka_unit_test(test_refusals), cmocka_unit_test(test_strides),
      cmocka_unit_test(test_strides_refused), cmocka_unit_test(test_slices),   cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_slices_refused),  cmocka_unit_test(test_small),    cmocka_unit_test(test_thin),
      cmocka_unit_test(test_streamed),        cmocka_unit_test(test_constant), cmocka_unit_test(test_near),
      cmocka_unit_test(test_special),
  };
  const struct CMUnitTest with_avx2[] = {cmocka_unit_test(test_streamed), cmocka_unit_test(test_constant),
                                         cmocka_unit_test(test_small),    cmocka_unit_test(test_thin),
                                         cmocka_unit_test(test_near),     cmocka_unit_test(test_special)};
  const int failed = cmocka_run_group_tests_name("lib/gemm", tests, NULL, NULL);
  cpu_level_limit(CPU_LEVEL_V3);
  return failed + cmocka_run_group_tests_name("lib/gemm with AVX2", with_avx2, NULL, NULL);
}
