// The rows are an image of one row of positions, the depth its features, the columns the features of the result.
#include "lib/gemm_kept.h"

#include <stdatomic.h>

#include "base/host.h"
#include "base/int64.h"
#include "lib/convolution_form.h"
#include "lib/external.h"

struct gemm_kept {
  convolution_onednn *convolution;  // null: `streamed` has strips
  const gemm_plan *plan;
  gemm_plan streamed;
  int threads;
  atomic_int calls;        // up to the second one, and those at the same time
  atomic_bool has_strips;  // they are packed
  size_t packed_bytes;
  void *packed;
};

// Measured on one thread with AVX2 and AVX-512, right sides from 256x1024 to 768x3072: 5 to 16 rows took 0.4 to 0.9 of
// the time, 32 rows 0.9 to 1.4. Fewer rows are not packed at all (gemm_stream_takes), and small right sides not worth
// the memory.
enum { LEAST_ROWS = 5, MOST_ROWS = 24, LEAST_ELEMENTS = 1 << 17 };

bool gemm_kept_pays(const lib_call *call, const gemm_plan *p) {
  if (gemm_plan_kept_bytes(p) > 0) return p->depth * p->columns >= LEAST_ELEMENTS;
  bool is_plain = p->work == WORK_F32 && p->batch == 1 && !p->transpose_lhs && p->lhs.leading == p->depth &&
                  p->result.leading == p->columns && call->results[0].type == DTYPE_F32;
  for (int k = 0; k < call->operand_count; k++) is_plain &= call->operands[k].type == DTYPE_F32;
  return is_plain && p->rows >= LEAST_ROWS && p->rows <= MOST_ROWS && p->depth * p->columns >= LEAST_ELEMENTS;
}

static convolution_form form_of(const gemm_plan *p) {
  const convolution_dim rows = {
      .input = p->rows, .kernel = 1, .output = p->rows, .stride = 1, .base_dilation = 1, .window_dilation = 1};
  return (convolution_form){.input = DTYPE_F32,
                            .kernel = DTYPE_F32,
                            .result = DTYPE_F32,
                            .spatial_rank = 1,
                            .dims = {rows},
                            .input_batch = 1,
                            .output_batch = 1,
                            .input_features = p->depth,
                            .group_features = p->depth,
                            .output_features = p->columns,
                            .feature_groups = 1,
                            .batch_groups = 1,
                            .has_bias = p->has_bias,
                            .has_relu = p->has_relu,
                            .input_order = {0, 1, 2},
                            .kernel_order = {0, 1, 2},
                            .output_order = {0, 1, 2}};
}

static heddle_status take(gemm_kept *k, int64_t bytes) {
  k->packed_bytes = (size_t)bytes;
  k->packed = host_take_array(k->packed_bytes);
  if (k->packed) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no %zu bytes for a product's right side", k->packed_bytes);
}

static heddle_status make_streamed(arena *a, const gemm_plan *p, int threads, gemm_kept **out) {
  gemm_kept *k = arena_new(a, gemm_kept);
  *k = (gemm_kept){.plan = p, .streamed = *p, .threads = threads};
  TRY(take(k, gemm_plan_kept_bytes(p)));
  k->streamed.kept = k->packed;
  *out = k;
  return status_ok();
}

heddle_status gemm_kept_make(arena *a, const gemm_plan *p, int threads, const void *rhs, gemm_kept **out) {
  *out = NULL;
  if (gemm_plan_kept_bytes(p) > 0) return make_streamed(a, p, threads, out);
  const convolution_form form = form_of(p);
  const int64_t across = p->transpose_rhs ? 1 : p->rhs.leading, along = p->transpose_rhs ? p->rhs.leading : 1;
  const int64_t strides[CONVOLUTION_MAX_RANK] = {p->depth * p->columns, across, along};
  TRY(external_need(EXTERNAL_ONEDNN));
  const convolution_lying left = {DTYPE_F32, false, true, p->depth, p->rows},
                          result = {DTYPE_F32, false, true, p->columns, p->rows};
  convolution_onednn *convolution = convolution_onednn_make(a, &form, strides, &left, &result);
  if (!convolution) return status_ok();
  gemm_kept *k = arena_new(a, gemm_kept);
  *k = (gemm_kept){.convolution = convolution, .plan = p, .threads = threads};
  heddle_status s = take(k, convolution_onednn_packed_bytes(convolution));
  if (status_is_ok(s)) s = convolution_onednn_pack(convolution, threads, (const float *)rhs + p->rhs.offset, k->packed);
  if (status_is_ok(s)) *out = k;
  else gemm_kept_release(k);
  return s;
}

void gemm_kept_release(gemm_kept *k) {
  host_give_array(k->packed, k->packed_bytes);
  if (k->convolution) convolution_onednn_release(k->convolution);
}

int64_t gemm_kept_scratch(const gemm_kept *k) {
  if (k->convolution) return convolution_onednn_scratch(k->convolution, k->threads);
  return int64_max(gemm_plan_scratch(k->plan, k->threads), gemm_plan_scratch(&k->streamed, k->threads));
}

// The second call makes the strips; those beside it do without.
static const gemm_plan *plan_of_call(gemm_kept *k, const lib_call *call) {
  if (atomic_load_explicit(&k->has_strips, memory_order_acquire)) return &k->streamed;
  if (atomic_load(&k->calls) > 1 || atomic_fetch_add(&k->calls, 1) != 1) return k->plan;
  gemm_plan_keep(&k->streamed, call->threads, call->operands[1].data, k->packed);
  atomic_store_explicit(&k->has_strips, true, memory_order_release);
  return &k->streamed;
}

heddle_status gemm_kept_execute(gemm_kept *k, const lib_call *call) {
  if (!k->convolution) return gemm_plan_execute(plan_of_call(k, call), call);
  const gemm_plan *p = k->plan;
  const convolution_onednn_arrays arrays = {
      .input = (const float *)call->operands[0].data + p->lhs.offset,
      .packed = k->packed,
      .bias = p->has_bias ? call->operands[2].data : NULL,
      .result = (float *)call->results[0].data + p->result.offset,
      .scratch = call->scratch,
  };
  return convolution_onednn_execute(k->convolution, call->threads, &arrays);
}
