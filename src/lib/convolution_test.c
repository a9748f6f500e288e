// Convolutions of random forms against the definition; the same bits for every number of threads.
#include "lib/convolution.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu_level.h"
#include "base/pool.h"
#include "lib/convolution_testing.h"

static bool is_whole(dtype t) { return dtype_is_integer(t); }

// Adds what one kernel position gives to the element at `out` (canonical).
static void add_position(const convolution *c, const int64_t *out, const int64_t *position, double sum[3],
                         uint64_t *whole) {
  const form *f = &c->f;
  const int n = f->spatial;
  const int64_t feature = out[n + 1];
  int64_t in[MAX], k[MAX];
  in[0] = out[0] + feature / (c->output_features / f->batch_groups) * f->batch;
  k[n + 1] = feature;
  for (int d = 0; d < n; d++) {
    const int64_t at = out[d + 1] * f->stride[d] + position[d] * f->window_dilation[d] - f->low[d];
    if (at < 0 || at % f->base_dilation[d] || at / f->base_dilation[d] >= f->input[d]) return;
    in[d + 1] = at / f->base_dilation[d];
    k[d] = f->reversal[d] ? f->size[d] - 1 - position[d] : position[d];
  }
  for (int64_t i = 0; i < f->group_features; i++) {
    in[n + 1] = feature / (c->output_features / f->feature_groups) * f->group_features + i;
    k[n] = i;
    const int64_t x_at = convolution_testing_index_of(&c->operands[0], n + 2, in, f->input_order);
    const int64_t y_at = convolution_testing_index_of(&c->operands[1], n + 2, k, f->kernel_order);
    if (is_whole(c->result.type)) {
      *whole += testing_whole_at(&c->operands[0], x_at) * testing_whole_at(&c->operands[1], y_at);
      continue;
    }
    double x[2], y[2];
    testing_at(&c->operands[0], x_at, x);
    testing_at(&c->operands[1], y_at, y);
    sum[0] += x[0] * y[0] - x[1] * y[1];
    sum[1] += x[0] * y[1] + x[1] * y[0];
    sum[2] += (fabs(x[0]) + fabs(x[1])) * (fabs(y[0]) + fabs(y[1]));
  }
}

static void check_element(const convolution *c, const int64_t *out) {
  const form *f = &c->f;
  const int n = f->spatial;
  double sum[3] = {0, 0, 1e-3}, got[2];
  uint64_t whole = 0;
  int64_t position[3] = {0}, volume = 1;
  for (int d = 0; d < n; d++) volume *= f->size[d];
  if (volume) do
      add_position(c, out, position, sum, &whole);
    while (convolution_testing_next(n, f->size, position));
  const int64_t at = convolution_testing_index_of(&c->result, n + 2, out, f->output_order);
  if (is_whole(c->result.type)) {
    uint64_t wanted = 0;
    const lib_array one = {.type = c->result.type, .data = &wanted};
    work_store(WORK_U64, &whole, &one, 0, 1);
    assert_memory_equal((char *)c->result.data + at * dtypes[one.type].bytes, &wanted, (size_t)dtypes[one.type].bytes);
    return;
  }
  if (f->bias) {
    testing_at(&c->operands[2], out[n + 1], got);
    sum[0] += got[0], sum[1] += got[1], sum[2] += fabs(got[0]);
  }
  if (f->activation && sum[0] < 0) sum[0] = 0;
  testing_at(&c->result, at, got);
  if (!dtype_is_complex(c->result.type)) sum[1] = 0;
  if (!isfinite(sum[0])) {
    if (isnan(sum[0]) ? !isnan(got[0]) : got[0] != sum[0])
      fail_msg("%g, wanted %g (%s)", got[0], sum[0], f->activation ? f->activation : "no activation");
    return;
  }
  const double tolerance = dtypes[c->result.type].bits > 32 && c->result.type != DTYPE_C64 ? 1e-12
                           : dtypes[c->result.type].bits == 16                             ? 8e-3
                                                                                           : 2e-6;
  if (!(fabs(got[0] - sum[0]) <= tolerance * sum[2]) || !(fabs(got[1] - sum[1]) <= tolerance * sum[2]))
    fail_msg("%g %g, wanted %g %g", got[0], got[1], sum[0], sum[1]);
}

static void execute(arena *a, convolution *c, int threads, bool is_packed) {
  convolution_plan *plan;
  c->call.threads = threads;
  heddle_status status = convolution_plan_make(a, &c->call, &plan);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  const size_t bytes = (size_t)convolution_plan_scratch(plan);
  char *scratch = aligned_alloc(64, bytes + 64);
  memset(scratch, 0xff, bytes);
  c->call.scratch = scratch;
  char *packed = aligned_alloc(64, (size_t)(convolution_plan_packed_bytes(plan) + 127) / 64 * 64);
  if (is_packed && convolution_plan_packed_bytes(plan))
    assert_true(status_is_ok(convolution_plan_pack(plan, &c->call, packed)));
  memset(c->result.data, 0xee, (size_t)(lib_element_count(&c->result) * dtypes[c->result.type].bytes));
  status = convolution_plan_execute(plan, &c->call);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  free(scratch);
  free(packed);
  convolution_plan_release(plan);
}

static int64_t pick(uint64_t *seed, int64_t low, int64_t high) {
  return low + (int64_t)(testing_next(seed) % (uint64_t)(high - low + 1));
}

// A kernel in the midst of a larger array, of which nothing else may be touched.
typedef struct kernel_part {
  int64_t dims[MAX], strides[MAX], offset, elements;
} kernel_part;

// One or two elements more than the kernel has in some dims, of which every second one is its own in others.
static kernel_part part_of(const lib_array *kernel, uint64_t *seed) {
  kernel_part p = {.elements = 1};
  for (int d = kernel->rank - 1; d >= 0; d--) {
    const int64_t step = pick(seed, 0, 7) ? 1 : 2, front = pick(seed, 0, 1), behind = pick(seed, 0, 1);
    p.dims[d] = front + kernel->dims[d] * step + behind;
    p.strides[d] = p.elements * step;
    p.offset += p.elements * front;
    p.elements *= p.dims[d];
  }
  return p;
}

static void put_kernel(const lib_array *kernel, const kernel_part *p, const lib_array *to) {
  const int bytes = dtypes[kernel->type].bytes;
  int64_t index[MAX] = {0}, from = 0;
  memset(to->data, 0xff, (size_t)(p->elements * bytes));  // NaN, if it is a float
  if (lib_element_count(kernel)) do {
      int64_t at = p->offset;
      for (int d = 0; d < kernel->rank; d++) at += index[d] * p->strides[d];
      memcpy((char *)to->data + at * bytes, (const char *)kernel->data + from++ * bytes, (size_t)bytes);
    } while (convolution_testing_next(kernel->rank, kernel->dims, index));
}

static void add_ints(convolution *c, const char *name, int count, const int64_t *values) {
  c->attributes[c->call.attribute_count++] = convolution_testing_ints(name, count, values);
}

// The same bits from a kernel that lies in a larger array.
static void check_kernel_part(arena *a, const convolution *whole, uint64_t seed) {
  convolution c = *whole;
  const lib_array *kernel = &whole->operands[1];
  const kernel_part p = part_of(kernel, &seed);
  const lib_array array = testing_array(a, kernel->type, 1, &p.elements);
  put_kernel(kernel, &p, &array);
  c.result = testing_array(a, whole->result.type, whole->result.rank, whole->result.dims);
  c.operands[1].data = array.data;
  c.call.operands = c.operands;
  c.call.results = &c.result;
  c.call.attributes = c.attributes;
  add_ints(&c, "kernel_strides", kernel->rank, p.strides);
  add_ints(&c, "kernel_offset", 1, &p.offset);
  add_ints(&c, "kernel_elements", 1, &p.elements);
  for (int packs = 0; packs < 2; packs++) {
    execute(a, &c, 2, packs);
    assert_memory_equal(c.result.data, whole->result.data,
                        (size_t)(lib_element_count(&c.result) * dtypes[c.result.type].bytes));
  }
}

static void check(const form *f, const dtype types[3]) {
  arena *a = arena_create();
  convolution c;
  convolution_testing_build(a, &c, f, types);
  execute(a, &c, 1, false);
  int64_t dims[MAX], out[MAX] = {0};
  const int rank = f->spatial + 2;
  for (int d = 0; d < rank; d++) dims[d] = c.result.dims[f->output_order[d]];
  if (lib_element_count(&c.result)) do
      check_element(&c, out);
    while (convolution_testing_next(rank, dims, out));
  const lib_array first = c.result;
  c.result = testing_array(a, first.type, rank, first.dims);
  for (int threads = 1; threads <= 4; threads++) {
    execute(a, &c, threads, threads == 1);
    assert_memory_equal(c.result.data, first.data, (size_t)(lib_element_count(&first) * dtypes[first.type].bytes));
  }
  for (uint64_t k = 0; k < 3 && dtypes[types[1]].bits >= 8; k++) check_kernel_part(a, &c, k);
  arena_destroy(a);
}

static void shuffle(uint64_t *seed, int rank, int64_t *order) {
  for (int d = 0; d < rank; d++) order[d] = d;
  for (int d = rank - 1; d > 0; d--) {
    const int other = (int)(testing_next(seed) % (uint64_t)(d + 1));
    const int64_t kept = order[d];
    order[d] = order[other];
    order[other] = kept;
  }
}

static form random_form(uint64_t *seed, bool is_plain) {
  form f = {.spatial = (int)pick(seed, is_plain ? 1 : 0, 3), .feature_groups = 1, .batch_groups = 1};
  f.batch = pick(seed, 1, 3);
  f.group_features = pick(seed, 1, is_plain ? 17 : 6);
  f.outputs_per_group = pick(seed, 1, is_plain ? 20 : 5);
  const int64_t kind = pick(seed, 0, 5);
  if (kind == 0) f.feature_groups = pick(seed, 2, 4);
  if (kind == 1 && !is_plain) f.batch_groups = pick(seed, 2, 3);
  if (kind == 2) f.feature_groups = 16, f.group_features = f.outputs_per_group = 1;
  if (kind == 3) f.group_features = f.outputs_per_group = 1;
  if (kind == 4) f.group_features = 16, f.outputs_per_group = pick(seed, 1, 4);
  const int rank = f.spatial + 2;
  for (int d = 0; d < f.spatial; d++) {
    f.input[d] = pick(seed, 1, f.spatial == 3 ? 5 : 9);
    f.size[d] = pick(seed, 1, 3);
    f.stride[d] = pick(seed, 0, 2) ? 1 : 2;
    f.low[d] = pick(seed, is_plain ? 0 : -1, 2);
    f.high[d] = pick(seed, is_plain ? 0 : -1, 2);
    f.window_dilation[d] = pick(seed, 0, 3) ? 1 : 2;
    f.base_dilation[d] = !is_plain && pick(seed, 0, 2) == 0 ? 2 : 1;
    f.reversal[d] = !is_plain && pick(seed, 0, 2) == 0;
  }
  for (int d = 0; d < rank; d++) f.input_order[d] = f.kernel_order[d] = f.output_order[d] = d;
  if (!is_plain) {
    shuffle(seed, rank, f.input_order);
    shuffle(seed, rank, f.kernel_order);
    shuffle(seed, rank, f.output_order);
  }
  f.bias = pick(seed, 0, 1);
  if (pick(seed, 0, 2) == 0) f.activation = "relu";
  return f;
}

static const dtype f32[3] = {DTYPE_F32, DTYPE_F32, DTYPE_F32};

static void test_f32(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int k = 0; k < 120; k++) {
    const form f = random_form(&seed, k % 2);
    check(&f, f32);
  }
}

static void test_types(void **state) {
  (void)state;
  static const dtype types[][3] = {
      {DTYPE_BF16, DTYPE_BF16, DTYPE_BF16}, {DTYPE_F16, DTYPE_F16, DTYPE_F32}, {DTYPE_F64, DTYPE_F64, DTYPE_F64},
      {DTYPE_C64, DTYPE_C64, DTYPE_C64},    {DTYPE_S8, DTYPE_S8, DTYPE_S32},   {DTYPE_S32, DTYPE_S32, DTYPE_S32},
      {DTYPE_S16, DTYPE_S16, DTYPE_S64},    {DTYPE_U8, DTYPE_S8, DTYPE_S32},   {DTYPE_S4, DTYPE_S4, DTYPE_S8}};
  uint64_t seed = 2;
  for (int k = 0; k < 90; k++) {
    form f = random_form(&seed, k % 2);
    const dtype *t = types[k % 9];
    if (is_whole(t[2])) f.bias = 0;
    if (is_whole(t[2]) || dtype_is_complex(t[2])) f.activation = NULL;
    check(&f, t);
  }
}

// Padding and holes have no part in a sum, also where a weight is infinite.
static void test_endless_weights(void **state) {
  (void)state;
  static const dtype types[][3] = {{DTYPE_F32, DTYPE_F32, DTYPE_F32},
                                   {DTYPE_BF16, DTYPE_BF16, DTYPE_BF16},
                                   {DTYPE_F16, DTYPE_F16, DTYPE_F32},
                                   {DTYPE_F64, DTYPE_F64, DTYPE_F64}};
  uint64_t seed = 3;
  for (int k = 0; k < 120; k++) {
    form f = random_form(&seed, k % 2);
    f.is_endless = true;
    check(&f, types[k / 2 % 4]);
  }
}

// What the libraries read beyond the features, and leave out, has no part in a sum either.
static void test_endless_inputs(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int k = 0; k < 120; k++) {
    form f = random_form(&seed, k % 3 != 0);
    f.has_endless_input = true;
    check(&f, f32);
  }
}

// A window over one dim, in the canonical order, that moves by one.
static form lone_dim(int64_t batch, int64_t features, int64_t outputs, int64_t input, int64_t size) {
  return (form){.spatial = 1,
                .batch = batch,
                .group_features = features,
                .outputs_per_group = outputs,
                .feature_groups = 1,
                .batch_groups = 1,
                .input = {input},
                .size = {size},
                .stride = {1},
                .base_dilation = {1},
                .window_dilation = {1},
                .input_order = {0, 1, 2},
                .kernel_order = {0, 1, 2},
                .output_order = {0, 1, 2}};
}

// A kernel of 3 x 2 x 1 in an array.
static bool takes_part(int rank, const int64_t *strides, int64_t offset, int64_t elements, const int64_t *start) {
  const form f = lone_dim(1, 2, 1, 5, 3);
  arena *a = arena_create();
  convolution c;
  convolution_plan *plan;
  convolution_testing_build(a, &c, &f, f32);
  c.call.threads = 1;
  add_ints(&c, "kernel_strides", rank, strides);
  add_ints(&c, "kernel_offset", 1, &offset);
  add_ints(&c, "kernel_elements", 1, &elements);
  if (start) add_ints(&c, "kernel_start", 4, start);
  heddle_status status = convolution_plan_make(a, &c.call, &plan);
  const bool takes = status_is_ok(status);
  if (takes) convolution_plan_release(plan);
  else assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  heddle_status_free(status);
  arena_destroy(a);
  return takes;
}

// The last element that a run may read has to lie in the array.
static void test_parts_outside(void **state) {
  (void)state;
  static const int64_t strides[3] = {8, 4, 1}, start[4] = {1, 0, 3, 1}, wide[4] = {1, 0, 3, INT64_MAX},
                       backward[4] = {1, 0, -1, 1}, negative[3] = {8, -4, 1}, endless[3] = {INT64_MAX, 4, 1};
  assert_true(takes_part(3, strides, 0, 21, NULL) && takes_part(3, strides, 3, 24, NULL));
  assert_true(takes_part(3, strides, 0, 24, start) && takes_part(3, (int64_t[]){0, 0, 0}, 5, 6, NULL));
  assert_false(takes_part(3, strides, 0, 20, NULL) || takes_part(3, strides, 4, 24, NULL));
  assert_false(takes_part(3, strides, 1, 24, start) || takes_part(3, strides, 0, 24, wide));
  assert_false(takes_part(3, strides, 0, 24, backward) || takes_part(3, negative, 0, 24, NULL));
  assert_false(takes_part(3, endless, 0, 24, NULL) || takes_part(3, endless, 0, INT64_MAX, NULL));
  assert_false(takes_part(3, strides, -1, 24, NULL) || takes_part(2, strides, 0, 24, NULL));
  assert_false(takes_part(3, strides, 0, -24, NULL) || takes_part(3, strides, INT64_MAX, 24, NULL));
}

// What a training step asks for: gradients to the input and to the kernel of a strided convolution.
static void test_gradients(void **state) {
  (void)state;
  form input = {.spatial = 2,
                .batch = 2,
                .group_features = 16,
                .outputs_per_group = 8,
                .feature_groups = 1,
                .batch_groups = 1,
                .input = {7, 7},
                .size = {3, 3},
                .stride = {1, 1},
                .low = {1, 1},
                .high = {2, 2},
                .base_dilation = {2, 2},
                .window_dilation = {1, 1},
                .reversal = {1, 1},
                .input_order = {0, 1, 2, 3},
                .kernel_order = {0, 1, 3, 2},
                .output_order = {0, 1, 2, 3}};
  check(&input, f32);
  form kernel = {.spatial = 2,
                 .batch = 8,
                 .group_features = 2,
                 .outputs_per_group = 16,
                 .feature_groups = 1,
                 .batch_groups = 1,
                 .input = {14, 14},
                 .size = {7, 7},
                 .stride = {1, 1},
                 .low = {0, 0},
                 .high = {1, 1},
                 .base_dilation = {1, 1},
                 .window_dilation = {2, 2},
                 .input_order = {3, 1, 2, 0},
                 .kernel_order = {1, 2, 0, 3},
                 .output_order = {2, 0, 1, 3}};
  check(&kernel, f32);
}

// Shapes at which oneDNN cuts its work in other ways.
static void test_large(void **state) {
  (void)state;
  static const int64_t sizes[][5] = {{1, 14, 64, 128, 1}, {2, 28, 32, 32, 3}, {1, 7, 96, 160, 3}, {1, 30, 3, 64, 7}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    const int64_t *s = sizes[k], pad = s[4] / 2;
    const form f = {.spatial = 2,
                    .batch = s[0],
                    .group_features = s[2],
                    .outputs_per_group = s[3],
                    .feature_groups = 1,
                    .batch_groups = 1,
                    .input = {s[1], s[1]},
                    .size = {s[4], s[4]},
                    .stride = {1, 1},
                    .low = {pad, pad},
                    .high = {pad, pad},
                    .base_dilation = {1, 1},
                    .window_dilation = {1, 1},
                    .input_order = {0, 1, 2, 3},
                    .kernel_order = {0, 1, 2, 3},
                    .output_order = {0, 1, 2, 3}};
    arena *a = arena_create();
    convolution c;
    convolution_testing_build(a, &c, &f, f32);
    execute(a, &c, 1, false);
    for (int64_t n = 0; n < 300; n++) {
      int64_t out[MAX] = {n % s[0], n * 7 % s[1], n * 3 % s[1], n * 11 % s[3]};
      check_element(&c, out);
    }
    const lib_array first = c.result;
    c.result = testing_array(a, DTYPE_F32, 4, first.dims);
    for (int threads = 2; threads <= 5; threads++) {
      execute(a, &c, threads, false);
      assert_memory_equal(c.result.data, first.data, (size_t)lib_element_count(&first) * sizeof(float));
    }
    arena_destroy(a);
  }
}

// The forms that networks are made of: none of them is left to the tiles, whatever instructions oneDNN has.
static const struct {
  const char *name;
  int64_t spatial, batch, size, group_features, outputs_per_group, groups, kernel, stride, pad, dilation, base_dilation;
} ordinary[] = {
    {"depthwise", 2, 1, 28, 1, 1, 96, 3, 1, 1, 1, 1},
    {"depthwise, stride 2", 2, 2, 28, 1, 1, 48, 3, 2, 1, 1, 1},
    {"depthwise, odd", 2, 1, 14, 1, 1, 37, 5, 1, 2, 1, 1},
    {"depthwise in one dim", 1, 2, 100, 1, 1, 64, 4, 1, 1, 1, 1},
    {"depthwise, two outputs", 2, 1, 14, 1, 2, 32, 3, 1, 1, 1, 1},
    {"depthwise, three dims", 3, 1, 9, 1, 1, 40, 3, 1, 1, 1, 1},
    {"depthwise, large window", 2, 1, 20, 1, 1, 64, 15, 1, 7, 1, 1},
    {"small groups", 2, 1, 14, 4, 4, 32, 3, 1, 1, 1, 1},
    {"first layer", 2, 1, 56, 3, 32, 1, 3, 2, 1, 1, 1},
    {"first layer, wide", 2, 1, 56, 3, 64, 1, 7, 2, 3, 1, 1},
    {"patches", 2, 1, 64, 3, 96, 1, 16, 16, 0, 1, 1},
    {"3x3", 2, 2, 28, 64, 64, 1, 3, 1, 1, 1, 1},
    {"3x3, many features", 2, 1, 7, 256, 320, 1, 3, 1, 1, 1, 1},
    {"3x3, stride 2", 2, 1, 28, 64, 128, 1, 3, 2, 1, 1, 1},
    {"5x5", 2, 1, 14, 96, 96, 1, 5, 1, 2, 1, 1},
    {"1x1", 2, 3, 20, 40, 72, 1, 1, 1, 0, 1, 1},
    {"1x1, stride 2", 2, 1, 28, 64, 128, 1, 1, 2, 0, 1, 1},
    {"1 in one dim, stride 3", 1, 2, 700, 33, 65, 1, 1, 3, 0, 1, 1},
    {"1x1, steps that leave the end over", 2, 2, 30, 20, 33, 1, 1, 4, 0, 1, 1},
    {"odd features", 2, 2, 14, 37, 53, 1, 3, 1, 1, 1, 1},
    {"dilated", 2, 1, 28, 64, 64, 1, 3, 1, 2, 2, 1},
    {"one dim", 1, 2, 500, 32, 64, 1, 5, 1, 2, 1, 1},
    {"three dims", 3, 1, 10, 16, 32, 1, 3, 1, 1, 1, 1},
    {"signal", 1, 2, 9000, 1, 1, 1, 31, 1, 15, 1, 1},
    {"grey image", 2, 2, 70, 1, 1, 1, 5, 1, 2, 1, 1},
    {"grey image, dilated", 2, 1, 90, 1, 1, 1, 3, 1, 4, 2, 1},
    {"signal to many features", 1, 2, 4000, 1, 40, 1, 10, 5, 3, 1, 1},
    {"signal to many features, long windows", 1, 1, 1500, 1, 33, 1, 40, 4, 0, 1, 1},
    {"two signals, dilated", 1, 3, 900, 2, 17, 1, 19, 1, 9, 3, 1},
    {"picture", 2, 2, 80, 3, 20, 1, 3, 1, 1, 1, 1},
    {"picture, wide", 2, 1, 140, 4, 9, 1, 5, 1, 0, 2, 1},
    {"room", 3, 1, 64, 1, 8, 1, 3, 1, 1, 1, 1},
    {"one output feature", 2, 2, 20, 48, 1, 1, 3, 1, 1, 1, 1},
    {"few output features, dilated input", 2, 1, 14, 32, 3, 1, 4, 1, 2, 1, 2},
    {"cropped", 2, 1, 30, 64, 64, 1, 3, 1, -1, 1, 1},
    {"gradient by the input, stride 2", 2, 1, 14, 64, 32, 1, 3, 1, 1, 1, 2},
};

enum { ORDINARY = sizeof ordinary / sizeof ordinary[0] };

static form ordinary_form(size_t k) {
  form f = {.spatial = (int)ordinary[k].spatial,
            .batch = ordinary[k].batch,
            .group_features = ordinary[k].group_features,
            .outputs_per_group = ordinary[k].outputs_per_group,
            .feature_groups = ordinary[k].groups,
            .batch_groups = 1};
  for (int d = 0; d < f.spatial; d++) {
    f.input[d] = ordinary[k].size;
    f.size[d] = ordinary[k].kernel;
    f.stride[d] = ordinary[k].stride;
    f.low[d] = f.high[d] = ordinary[k].pad;
    f.window_dilation[d] = ordinary[k].dilation;
    f.base_dilation[d] = ordinary[k].base_dilation;
  }
  for (int d = 0; d < f.spatial + 2; d++) f.input_order[d] = f.kernel_order[d] = f.output_order[d] = d;
  return f;
}

// Gradients by kernels as frameworks write them: convolutions of the images, whose features are the batch, with the
// gradient of the result.
static const struct {
  int64_t spatial, images, size, features, output_features, kernel, stride, pad, dilation;
} trained[] = {
    {2, 4, 28, 64, 64, 3, 1, 1, 1},  {2, 2, 29, 16, 40, 3, 2, 1, 1}, {2, 3, 32, 3, 32, 5, 1, 2, 1},
    {2, 1, 7, 128, 192, 3, 1, 1, 1}, {2, 8, 9, 37, 53, 3, 1, 0, 1},  {2, 2, 14, 160, 70, 1, 2, 0, 1},
    {1, 4, 300, 32, 64, 5, 1, 2, 1}, {3, 2, 10, 8, 16, 3, 1, 1, 1},
};
enum { TRAINED = sizeof trained / sizeof trained[0] };

static form trained_form(size_t k) {
  const int n = (int)trained[k].spatial;
  form f = {.spatial = n,
            .batch = trained[k].features,
            .group_features = trained[k].images,
            .outputs_per_group = trained[k].output_features,
            .feature_groups = 1,
            .batch_groups = 1,
            .input_order = {n + 1},
            .output_order = {n}};
  f.kernel_order[n + 1] = f.output_order[n + 1] = n + 1;
  for (int d = 0; d < n; d++) {
    const int64_t reach = (trained[k].kernel - 1) * trained[k].dilation + 1;
    f.input[d] = trained[k].size;
    f.size[d] = (trained[k].size + 2 * trained[k].pad - reach) / trained[k].stride + 1;
    f.stride[d] = trained[k].dilation;
    f.window_dilation[d] = trained[k].stride;
    f.base_dilation[d] = 1;
    f.low[d] = trained[k].pad;
    f.high[d] = reach + (f.size[d] - 1) * trained[k].stride - trained[k].size - trained[k].pad;
    f.input_order[d + 1] = f.kernel_order[d] = d + 1;
    f.output_order[d + 1] = d;
  }
  return f;
}

static bool goes_by(const form *f, const char *way) {
  arena *a = arena_create();
  convolution c;
  convolution_plan *plan;
  convolution_testing_build(a, &c, f, f32);
  c.call.threads = 1;
  heddle_status status = convolution_plan_make(a, &c.call, &plan);
  if (!status_is_ok(status)) _exit(100);
  const bool goes = strcmp(convolution_plan_way(plan), way) == 0;
  convolution_plan_release(plan);
  arena_destroy(a);
  return goes;
}

// How many ordinary forms no library implementation takes.
static int count_untaken(const char *instructions) {
  int count = 0;
  for (size_t k = 0; k < ORDINARY; k++) {
    const form f = ordinary_form(k);
    if (!goes_by(&f, "tiles")) continue;
    printf("%s with %s: tiles\n", ordinary[k].name, instructions);
    count++;
  }
  for (size_t k = 0; k < TRAINED; k++) {
    const form f = trained_form(k);
    if (!goes_by(&f, "tiles")) continue;
    printf("gradient %zu with %s: tiles\n", k, instructions);
    count++;
  }
  fflush(stdout);
  return count;
}

// oneDNN reads once in a process which instructions it may use, so each limit is tried in a process of its own.
static void test_ways(void **state) {
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip();
  static const char *const limits[] = {"DEFAULT", "AVX512_CORE", "AVX2"};
  for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      setenv("ONEDNN_MAX_CPU_ISA", limits[k], 1);
      _exit(count_untaken(limits[k]));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
}

// Some elements against the definition, and all of them on more threads.
static void check_large(const form *f, const dtype types[3], uint64_t seed) {
  arena *a = arena_create();
  convolution c;
  convolution_testing_build(a, &c, f, types);
  execute(a, &c, 1, false);
  const int rank = f->spatial + 2;
  for (int k = 0; k < 150; k++) {
    int64_t out[MAX];
    for (int d = 0; d < rank; d++) out[d] = pick(&seed, 0, c.result.dims[f->output_order[d]] - 1);
    check_element(&c, out);
  }
  const lib_array first = c.result;
  c.result = testing_array(a, first.type, rank, first.dims);
  for (int threads = 2; threads <= 5; threads++) {
    execute(a, &c, threads, threads == 3);
    assert_memory_equal(c.result.data, first.data, (size_t)(lib_element_count(&first) * dtypes[first.type].bytes));
  }
  for (uint64_t k = 0; k < 3; k++) check_kernel_part(a, &c, k);
  arena_destroy(a);
}

// The ordinary forms are so large that they are cut in every way there is.
static void test_cuts(void **state) {
  (void)state;
  for (size_t k = 0; k < ORDINARY; k++) {
    form f = ordinary_form(k);
    f.bias = k % 2;
    f.activation = k % 3 ? "relu" : NULL;
    for (int d = 0; d < f.spatial; d++) f.reversal[d] = k % 4 == 3;
    check_large(&f, f32, k);
  }
}

// Features come first.
static void lie_planar(form *f) {
  for (int d = 0; d < f->spatial; d++) f->input_order[d + 1] = f->output_order[d + 1] = f->kernel_order[d] = d + 2;
  f->input_order[f->spatial + 1] = f->output_order[f->spatial + 1] = f->kernel_order[f->spatial] = 1;
  f->kernel_order[f->spatial + 1] = 0;
}

// Images with features first, and of types that are widened, are brought part by part.
static void test_lying(void **state) {
  (void)state;
  static const dtype types[][3] = {{DTYPE_F32, DTYPE_F32, DTYPE_F32},
                                   {DTYPE_BF16, DTYPE_BF16, DTYPE_BF16},
                                   {DTYPE_F16, DTYPE_F32, DTYPE_F32},
                                   {DTYPE_S8, DTYPE_S8, DTYPE_S32}};
  for (size_t k = 0; k < ORDINARY; k++) {
    form f = ordinary_form(k);
    f.bias = k % 2;
    f.activation = k % 3 ? NULL : "relu";
    for (int d = 0; d < f.spatial; d++) f.reversal[d] = k % 4 == 1;
    check_large(&f, types[1], k);
    lie_planar(&f);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
      f.is_endless = (k + t) % 4 == 0 && types[t][0] != DTYPE_S8;
      if (types[t][0] == DTYPE_S8) f.bias = 0, f.activation = NULL;
      check_large(&f, types[t], k + t);
    }
  }
}

// Images of few features with narrower vectors, too. Windows that reach far beyond a small image are no copies of
// zeros.
static void test_few_features(void **state) {
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip();
  for (size_t k = 0; k < ORDINARY; k++) {
    form f = ordinary_form(k);
    if (f.group_features > 4 || f.outputs_per_group < 8 || f.feature_groups > 1 || f.stride[f.spatial - 1] > 5)
      continue;
    if (f.spatial > 1 && (f.stride[1] > 1 || f.input[0] < 64)) continue;
    lie_planar(&f);
    for (int level = CPU_LEVEL_NATIVE; level <= CPU_LEVEL_V3; level += CPU_LEVEL_V3) {
      cpu_level_limit((cpu_level)level);
      assert_true(goes_by(&f, "shallow"));
      check_large(&f, f32, k);
    }
    cpu_level_limit(CPU_LEVEL_NATIVE);
    f.input[0] = 10, f.size[0] = 2;
    f.window_dilation[0] = f.low[0] = f.high[0] = 1 << 16;
    assert_false(f.spatial == 1 && goes_by(&f, "shallow"));
  }
}

static void test_kernel_gradients(void **state) {
  (void)state;
  static const dtype bf16[3] = {DTYPE_BF16, DTYPE_BF16, DTYPE_BF16};
  for (size_t k = 0; k < TRAINED; k++) {
    form f = trained_form(k);
    check_large(&f, f32, k);
    if (k % 3 == 0) check_large(&f, bf16, k);
    for (int d = 0; d < f.spatial; d++) f.reversal[d] = 1;
    f.is_endless = k % 2;
    f.has_endless_input = !f.is_endless;
    check_large(&f, f32, k);
  }
}

typedef struct inner_run {
  const convolution_plan *plan;
  const lib_call *call;
} inner_run;

static void execute_inside(void *argument, int64_t begin, int64_t end) {
  const inner_run *r = argument;
  if (begin == 0 && end > 0) assert_true(status_is_ok(convolution_plan_execute(r->plan, r->call)));
}

// Planned for four threads, executed on one of them while the others are busy: small thunks of a program do so.
static void test_fewer_threads(void **state) {
  (void)state;
  uint64_t seed = 4;
  for (int k = 0; k < 12; k++) {
    arena *a = arena_create();
    convolution c;
    const form f = random_form(&seed, k % 3 != 0);
    convolution_testing_build(a, &c, &f, f32);
    execute(a, &c, 4, false);
    const lib_array first = c.result;
    c.result = testing_array(a, DTYPE_F32, first.rank, first.dims);
    convolution_plan *plan;
    assert_true(status_is_ok(convolution_plan_make(a, &c.call, &plan)));
    c.call.scratch = aligned_alloc(64, ((size_t)convolution_plan_scratch(plan) + 127) / 64 * 64);
    c.call.threads = 1;
    inner_run inner = {plan, &c.call};
    pool_run(2, 2, execute_inside, &inner);
    free(c.call.scratch);
    convolution_plan_release(plan);
    assert_memory_equal(c.result.data, first.data, (size_t)lib_element_count(&first) * sizeof(float));
    arena_destroy(a);
  }
}

static void test_empty(void **state) {
  (void)state;
  form f = lone_dim(2, 0, 3, 4, 2);
  check(&f, f32);
  f.group_features = 2;
  f.input[0] = 0;
  f.low[0] = 3;
  check(&f, f32);
  f.low[0] = 0;
  check(&f, f32);
  f.batch = 0;
  check(&f, f32);
}

static void test_refusals(void **state) {
  (void)state;
  static const int64_t strange[3] = {5, 0, -1};
  uint64_t seed = 3;
  arena *a = arena_create();
  // Whatever a list says, a wrong one is an error and never more.
  int errors = 0;
  for (int wrong = 0; wrong < 18; wrong++) {
    convolution c;
    const form f = random_form(&seed, true);
    convolution_testing_build(a, &c, &f, f32);
    c.attributes[wrong].ints = strange;
    c.attributes[wrong].count = wrong % 2 ? 1 : 3;
    c.call.threads = 1;
    convolution_plan *plan;
    heddle_status status = convolution_plan_make(a, &c.call, &plan);
    errors += !status_is_ok(status);
    if (status_is_ok(status)) convolution_plan_release(plan);
    else heddle_status_free(status);
  }
  assert_true(errors >= 12);
  convolution c;
  form f = random_form(&seed, true);
  convolution_testing_build(a, &c, &f, f32);
  c.attributes[0].ints = strange;
  convolution_plan *plan;
  heddle_status status = convolution_plan_make(a, &c.call, &plan);
  assert_false(status_is_ok(status));
  heddle_status_free(status);
  arena_destroy(a);
}

// Arrays without elements may have any other dim.
static void test_endless_dims(void **state) {
  (void)state;
  uint64_t seed = 5;
  arena *a = arena_create();
  for (int k = 0; k < 40; k++) {
    convolution c;
    const form f = random_form(&seed, k % 2);
    convolution_testing_build(a, &c, &f, f32);
    lib_array *of = &c.operands[k / 2 % 2];
    int64_t dims[MAX];
    memcpy(dims, of->dims, sizeof *dims * (size_t)of->rank);
    for (int d = 0; d < of->rank; d++) {
      const int64_t before = dims[d];
      dims[d] = INT64_MAX - k % 3;
      of->dims = dims;
      convolution_plan *plan;
      heddle_status status = convolution_plan_make(a, &c.call, &plan);
      assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
      heddle_status_free(status);
      dims[d] = before;
    }
  }
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ways),           cmocka_unit_test(test_f32),
      cmocka_unit_test(test_types),          cmocka_unit_test(test_endless_weights),
      cmocka_unit_test(test_endless_inputs), cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_large),          cmocka_unit_test(test_cuts),
      cmocka_unit_test(test_lying),          cmocka_unit_test(test_kernel_gradients),
      cmocka_unit_test(test_fewer_threads),  cmocka_unit_test(test_empty),
      cmocka_unit_test(test_refusals),       cmocka_unit_test(test_endless_dims),
      cmocka_unit_test(test_few_features),   cmocka_unit_test(test_parts_outside),
  };
  return cmocka_run_group_tests_name("lib/convolution", tests, NULL, NULL);
}
