// The way of a convolution: each array is brought into canonical order and type if it is not in them (several steps,
// each of which most convolutions do not need), oneDNN or our own ways do the work, and the result goes the way back.
#include "lib/convolution.h"

#include <string.h>

#include "base/pool.h"
#include "lib/convolution_form.h"
#include "lib/element.h"
#include "lib/onednn_forms.h"
#include "lib/permute.h"

// How one array gets from the call to the multiplication, or the result back. Steps that are not needed have no memory.
typedef struct passage {
  dtype type;
  int rank;
  int64_t count;
  int64_t dims[CONVOLUTION_MAX_RANK];     // of the permuted array
  int64_t strides[CONVOLUTION_MAX_RANK];  // of its dims in the array it is made from
  int64_t base;                           // element of that array where index 0 lies
  bool packs, permutes, widens;  // elements share bytes; another order; another type than f32 where f32 is wanted
  bool is_left;                  // as it lies
  int64_t packed_at, permuted_at, widened_at;  // scratch memory after each step
} passage;

typedef enum way {
  WAY_TILES,
  WAY_DIRECT,
  WAY_GRADIENT,
  WAY_LINES,
  WAY_SHALLOW,
  WAY_SPREAD,
  WAY_POINTS,
  WAY_STEPS,
  WAY_ONEDNN
} way;

struct convolution_plan {
  convolution_form form;
  int threads;
  way way;
  convolution_gradient *gradient;  // of these the way's
  convolution_onednn *onednn;
  convolution_spread spread;
  convolution_direct direct;
  convolution_lines lines;
  convolution_shallow shallow;
  convolution_points points;
  gemm_plan tiles;     // or the product of what steps leave
  gemm_matrix matrix;  // the kernel of points, but for its address
  passage input, kernel, result;
  bool widens_bias;
  int64_t bias_at, packed_at, work_at;  // f32 bias, oneDNN's kernel, what the multiplication wants
  int64_t scratch_bytes;
  const void *packed;  // a constant kernel in its final form; null: the call's
  bool has_outside;    // windows reach outside of the input
  bool is_finite;      // the constant kernel is
};

enum { ALIGNMENT = 64, STRIP = 4096 };

static int64_t take(convolution_plan *p, int64_t bytes) {
  const int64_t at = p->scratch_bytes;
  p->scratch_bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return at;
}

// --- planning the passages

static passage passage_of(const lib_array *a) {
  passage s = {.type = a->type, .rank = a->rank, .count = lib_element_count(a)};
  s.packs = element_is_shared(a);
  return s;
}

// `order` says which dim of the array, which has the strides, each dim of the canonical one is; `flips` which of those
// are reversed.
static passage inward(const lib_array *a, const int64_t *strides, const int *order, const bool *flips) {
  passage s = passage_of(a);
  for (int d = 0; d < a->rank; d++) {
    s.dims[d] = a->dims[order[d]];
    s.strides[d] = strides[order[d]];
    if (!flips || !flips[d]) continue;
    s.base += (s.dims[d] - 1) * s.strides[d];
    s.strides[d] = -s.strides[d];
  }
  s.permutes = !convolution_is_dense(s.rank, s.dims, s.strides);
  return s;
}

static passage input_passage(const lib_call *call, const int *order) {
  const lib_array *a = &call->operands[0];
  int64_t strides[CONVOLUTION_MAX_RANK] = {0};
  convolution_dense_strides(a->rank, a->dims, strides);
  return inward(a, strides, order, NULL);
}

static passage kernel_passage(const lib_call *call, const convolution_form *f, const int *order, const bool *flips) {
  passage s = inward(&call->operands[1], f->kernel_strides, order, flips);
  s.base += f->kernel_offset;
  return s;
}

static passage outward(const lib_array *a, const int *order) {
  passage s = passage_of(a);
  int64_t canonical[CONVOLUTION_MAX_RANK] = {0}, strides[CONVOLUTION_MAX_RANK] = {0};
  for (int d = 0; d < a->rank; d++) canonical[d] = a->dims[order[d]];
  convolution_dense_strides(a->rank, canonical, strides);
  for (int d = 0; d < a->rank; d++) {
    s.dims[order[d]] = canonical[d];
    s.strides[order[d]] = strides[d];
  }
  s.permutes = !convolution_is_dense(s.rank, s.dims, s.strides);
  return s;
}

static void place(convolution_plan *p, passage *s, bool wants_f32) {
  if (s->is_left) s->permutes = false;
  s->widens = wants_f32 && s->type != DTYPE_F32 && !s->is_left;
  if (s->packs) s->packed_at = take(p, s->count * dtypes[s->type].bytes);
  if (s->permutes) s->permuted_at = take(p, s->count * dtypes[s->type].bytes);
  if (s->widens) s->widened_at = take(p, s->count * (int64_t)sizeof(float));
}

static void place_all(convolution_plan *p, bool wants_f32) {
  place(p, &p->input, wants_f32);
  place(p, &p->kernel, wants_f32);
  place(p, &p->result, wants_f32);
}

static bool is_f32_or_less(dtype t) { return dtype_is_float(t) && dtypes[t].bits <= 32; }

// Bits of the largest absolute value.
static int magnitude_bits(dtype t) { return dtype_is_signed(t) ? dtypes[t].bits - 1 : dtypes[t].bits; }

// Narrow integers, too, where f32 holds every sum of so few products.
static bool goes_to_f32(const convolution_form *f) {
  enum { EXACT_BITS = 24 };
  if (is_f32_or_less(f->input) && is_f32_or_less(f->kernel)) return is_f32_or_less(f->result);
  if (!dtype_is_integer(f->input) || !dtype_is_integer(f->kernel) || !dtype_is_integer(f->result)) return false;
  const int bits = magnitude_bits(f->input) + magnitude_bits(f->kernel);
  return bits < EXACT_BITS && !f->has_bias && !f->has_relu &&
         convolution_kernel_size(f) * f->group_features <= (int64_t)1 << (EXACT_BITS - bits);
}

static void place_bias(convolution_plan *p, const lib_call *call) {
  p->widens_bias = p->form.has_bias && call->operands[2].type != DTYPE_F32;
  if (p->widens_bias) p->bias_at = take(p, p->form.output_features * (int64_t)sizeof(float));
}

static void plan_passages(const lib_call *call, bool is_flipped, convolution_plan *p) {
  const convolution_form *f = &p->form;
  bool flips[CONVOLUTION_MAX_RANK] = {false};
  for (int d = 0; d < f->spatial_rank; d++) flips[d] = f->dims[d].is_reversed != is_flipped;
  p->input = input_passage(call, f->input_order);
  p->kernel = kernel_passage(call, f, f->kernel_order, flips);
  p->result = outward(&call->results[0], f->output_order);
}

// What is widened is all that lies between the first element and the last.
static bool may_be_left(const lib_call *call, const convolution_form *f) {
  return f->kernel == DTYPE_F32 ||
         convolution_is_dense(call->operands[1].rank, call->operands[1].dims, f->kernel_strides);
}

// oneDNN takes a kernel as it lies, once it is of f32, but for reversals; the strides in the canonical order's dims.
static void leave_kernel(const lib_call *call, const convolution_form *f, passage *s, int64_t *strides) {
  bool is_reversed = false;
  for (int d = 0; d < s->rank; d++) is_reversed = is_reversed || s->strides[d] < 0;
  convolution_dense_strides(s->rank, s->dims, strides);
  if (is_reversed || !may_be_left(call, f)) return;
  for (int d = 0; d < s->rank; d++) strides[d] = f->kernel_strides[f->kernel_order[d]];
  s->permutes = false;
}

static bool plan_gradient(arena *a, const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  int input[CONVOLUTION_MAX_RANK], kernel[CONVOLUTION_MAX_RANK], output[CONVOLUTION_MAX_RANK];
  p->gradient = convolution_gradient_make(a, f);
  if (!p->gradient) return false;
  p->way = WAY_GRADIENT;
  bool flips[CONVOLUTION_MAX_RANK] = {false};
  for (int d = 0; d < f->spatial_rank; d++) flips[d + 1] = f->dims[d].is_reversed;
  convolution_gradient_orders(f, input, kernel, output);
  p->input = input_passage(call, input);
  p->kernel = kernel_passage(call, f, kernel, flips);
  p->result = outward(&call->results[0], output);
  place_all(p, true);
  p->work_at = take(p, convolution_gradient_scratch(p->gradient, call->threads));
  return true;
}

// Negative padding takes elements away from the input: what is left of one dim, and how many in front of it are not.
static int64_t crop_dim(convolution_dim *w) {
  const int64_t low = w->low < 0 ? int64_ceil_div(-w->low, w->base_dilation) : 0;
  const int64_t high = w->high < 0 ? int64_ceil_div(-w->high, w->base_dilation) : 0;
  w->low += low * w->base_dilation;
  w->high += high * w->base_dilation;
  w->input = int64_max(w->input - low - high, 0);
  return low;
}

// oneDNN has no negative padding in front, and hardly any behind: what it would take away is left out of a copy.
static void crop(convolution_form *f, passage *input) {
  onednn_forms_reach w;
  if (input->packs || onednn_forms_window(f, &w)) return;
  for (int d = 0; d < f->spatial_rank; d++) {
    input->base += crop_dim(&f->dims[d]) * input->strides[d + 1];
    input->permutes |= f->dims[d].input != input->dims[d + 1];
    input->dims[d + 1] = f->dims[d].input;
  }
  input->count = 1;
  for (int d = 0; d < input->rank; d++) input->count *= input->dims[d];
}

static bool plan_onednn(arena *a, const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  int64_t strides[CONVOLUTION_MAX_RANK] = {0};
  plan_passages(call, convolution_is_dilated(f), p);
  leave_kernel(call, f, &p->kernel, strides);
  convolution_form cropped = *f;
  crop(&cropped, &p->input);
  convolution_lying input = convolution_lying_of(&call->operands[0], f->input_order),
                    result = convolution_lying_of(&call->results[0], f->output_order);
  input.is_known &= p->input.count == lib_element_count(&call->operands[0]);
  p->onednn = convolution_onednn_make(a, &cropped, strides, &input, &result);
  if (!p->onednn) return false;
  p->input.is_left = convolution_onednn_brings(p->onednn);
  p->result.is_left = convolution_onednn_takes(p->onednn);
  p->way = WAY_ONEDNN;
  place_all(p, true);
  if (!convolution_onednn_packs_in_parts(p->onednn)) p->packed_at = take(p, convolution_onednn_packed_bytes(p->onednn));
  p->work_at = take(p, convolution_onednn_scratch(p->onednn, call->threads));
  place_bias(p, call);
  return true;
}

static bool plan_spread(const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  if (!convolution_spread_plan(f, &p->spread)) return false;
  p->way = WAY_SPREAD;
  plan_passages(call, false, p);
  int order[CONVOLUTION_MAX_RANK];
  bool flips[CONVOLUTION_MAX_RANK] = {false};
  const int n = f->spatial_rank;
  for (int d = 0; d < n; d++) order[d] = f->kernel_order[d], flips[d] = f->dims[d].is_reversed;
  order[n] = f->kernel_order[n + 1];
  order[n + 1] = f->kernel_order[n];
  p->kernel = kernel_passage(call, f, order, flips);
  place_all(p, true);
  place_bias(p, call);
  p->work_at = take(p, convolution_spread_scratch(&p->spread, call->threads));
  return true;
}

static bool plan_lines(const lib_call *call, convolution_plan *p) {
  if (!convolution_lines_plan(&p->form, &p->lines)) return false;
  p->way = WAY_LINES;
  plan_passages(call, false, p);
  place_all(p, true);
  place_bias(p, call);
  p->work_at = take(p, convolution_lines_scratch(&p->lines, call->threads));
  return true;
}

static bool plan_shallow(const lib_call *call, bool if_it_pays, convolution_plan *p) {
  const convolution_form *f = &p->form;
  const convolution_lying input = convolution_lying_of(&call->operands[0], f->input_order),
                          result = convolution_lying_of(&call->results[0], f->output_order);
  if (if_it_pays && !convolution_shallow_pays(f, &input)) return false;
  if (!convolution_shallow_plan(f, &input, &result, &p->shallow)) return false;
  p->way = WAY_SHALLOW;
  plan_passages(call, false, p);
  if (input.is_planar) {
    int order[CONVOLUTION_MAX_RANK];
    bool flips[CONVOLUTION_MAX_RANK] = {false};
    const int n = f->spatial_rank;
    order[0] = f->kernel_order[n + 1];
    order[1] = f->kernel_order[n];
    for (int d = 0; d < n; d++) order[d + 2] = f->kernel_order[d], flips[d + 2] = f->dims[d].is_reversed;
    p->kernel = kernel_passage(call, f, order, flips);
  }
  p->input.is_left = p->result.is_left = true;
  place_all(p, true);
  place_bias(p, call);
  p->work_at = take(p, convolution_shallow_scratch(f, &p->shallow, call->threads));
  return true;
}

// The kernel as a matrix [output feature, input feature]: as it lies, if one dim's elements lie side by side, else that
// of a canonical copy.
static void lay_matrix(const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  const int *order = f->kernel_order + f->spatial_rank;
  const int64_t ins = f->input_features, in = f->kernel_strides[order[0]];
  const int64_t outs = f->output_features, out = f->kernel_strides[order[1]];
  const bool has_rows = (in == 1 || ins == 1) && out >= ins && out <= INT32_MAX,
             has_columns = (out == 1 || outs == 1) && in >= outs && in <= INT32_MAX;
  p->matrix = (gemm_matrix){NULL, outs, true};
  if (!may_be_left(call, f) || (!has_rows && !has_columns)) return;
  p->matrix = (gemm_matrix){NULL, has_rows ? out : in, !has_rows};
  p->kernel.permutes = false;
}

static bool plan_points(const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  const convolution_lying input = convolution_lying_of(&call->operands[0], f->input_order),
                          result = convolution_lying_of(&call->results[0], f->output_order);
  if (element_is_shared(&call->operands[1]) || !convolution_points_plan(f, &input, &result, &p->points)) return false;
  p->way = WAY_POINTS;
  plan_passages(call, false, p);
  p->input.is_left = p->result.is_left = true;
  lay_matrix(call, p);
  place_all(p, true);
  place_bias(p, call);
  p->work_at = take(p, convolution_points_scratch(f, &p->points, call->threads));
  return true;
}

// Whether windows of one element each stand on an element of the image, and some elements have none.
static bool steps_over_points(const convolution_form *f) {
  bool steps = false;
  for (int d = 0; d < f->spatial_rank; d++) {
    const convolution_dim *w = &f->dims[d];
    if (w->kernel != 1 || w->low != 0 || w->base_dilation > 1 || (w->output - 1) * w->stride >= w->input) return false;
    steps |= w->stride > 1;
  }
  return steps && f->feature_groups == 1 && f->batch_groups == 1;
}

// Of images with features last a copy of what such windows stand on is a matrix. Measured with AVX2 and AVX-512: 0.6 to
// 0.95 of the time of oneDNN's convolutions, which make that copy themselves, of neither few positions nor many.
static bool steps_pay(const lib_call *call, const convolution_form *f) {
  enum { LEAST_POSITIONS = 128, MOST_POSITIONS = 1024 };
  const convolution_lying input = convolution_lying_of(&call->operands[0], f->input_order);
  return input.is_known && !input.is_planar && f->input == DTYPE_F32 && f->kernel == DTYPE_F32 &&
         f->result == DTYPE_F32 && convolution_positions(f) >= LEAST_POSITIONS &&
         convolution_positions(f) <= MOST_POSITIONS && f->input_features > 0 && steps_over_points(f);
}

static heddle_status plan_steps(const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  const gemm_form form = {.lhs = DTYPE_F32,
                          .rhs = DTYPE_F32,
                          .result = DTYPE_F32,
                          .batch = 1,
                          .rows = convolution_positions(f),
                          .columns = f->output_features,
                          .depth = f->input_features,
                          .right_groups = 1,
                          .has_bias = f->has_bias,
                          .has_relu = f->has_relu};
  p->way = WAY_STEPS;
  plan_passages(call, false, p);
  p->input.count = form.rows * form.depth;
  p->input.permutes = true;
  for (int d = 0; d < f->spatial_rank; d++) {
    p->input.dims[d + 1] = f->dims[d].output;
    p->input.strides[d + 1] *= f->dims[d].stride;
  }
  place_all(p, false);
  TRY(gemm_plan_make_of(&form, &p->tiles));
  p->work_at = take(p, gemm_plan_scratch(&p->tiles, call->threads));
  return status_ok();
}

// The ways for f32 and what becomes it; false if there is none.
static bool plan_f32(arena *a, const lib_call *call, convolution_plan *p) {
  const convolution_form *f = &p->form;
  if (!goes_to_f32(f)) return false;
  if (plan_gradient(a, call, p) || plan_lines(call, p) || plan_shallow(call, true, p)) return true;
  if (convolution_spread_pays(f) && plan_spread(call, p)) return true;
  if (plan_points(call, p)) return true;
  if (plan_onednn(a, call, p) || plan_shallow(call, false, p)) return true;
  return convolution_is_dilated(f) && plan_spread(call, p);
}

static heddle_status plan_own(const lib_call *call, convolution_plan *p) {
  plan_passages(call, false, p);
  place_all(p, false);
  TRY(convolution_tiles_plan(&p->form, &p->tiles));
  if (convolution_direct_plan(&p->form, p->tiles.sums, &p->direct)) p->way = WAY_DIRECT;
  p->work_at = take(p, p->way == WAY_DIRECT ? convolution_direct_scratch(&p->direct, call->threads)
                                            : gemm_plan_scratch(&p->tiles, call->threads));
  return status_ok();
}

heddle_status convolution_plan_make(arena *a, const lib_call *call, convolution_plan **plan) {
  convolution_plan *p = arena_new(a, convolution_plan);
  TRY(convolution_form_of(call, &p->form));
  p->threads = call->threads;
  if (goes_to_f32(&p->form)) TRY(external_need(EXTERNAL_ONEDNN));
  if (steps_pay(call, &p->form)) TRY(plan_steps(call, p));
  else if (!plan_f32(a, call, p)) TRY(plan_own(call, p));
  p->has_outside = p->way != WAY_SPREAD && p->way != WAY_DIRECT && convolution_reaches_outside(&p->form);
  *plan = p;
  return status_ok();
}

void convolution_plan_release(convolution_plan *plan) {
  if (plan->way == WAY_GRADIENT) convolution_gradient_release(plan->gradient);
  if (plan->way == WAY_ONEDNN) convolution_onednn_release(plan->onednn);
}

const char *convolution_plan_way(const convolution_plan *plan) {
  switch (plan->way) {
    case WAY_GRADIENT: return convolution_gradient_name(plan->gradient);
    case WAY_ONEDNN: return convolution_onednn_name(plan->onednn);
    case WAY_LINES: return "lines";
    case WAY_SHALLOW: return "shallow";
    case WAY_SPREAD: return "spread";
    case WAY_POINTS: return "points";
    case WAY_STEPS: return "steps";
    case WAY_DIRECT: return "direct";
    case WAY_TILES: return "tiles";
  }
  return NULL;
}

int64_t convolution_plan_scratch(const convolution_plan *plan) { return plan->scratch_bytes; }

double convolution_plan_work(const convolution_plan *plan) {
  const convolution_form *f = &plan->form;
  return (double)convolution_positions(f) * (double)f->output_features * (double)convolution_kernel_size(f) *
         (double)f->group_features;
}

// --- going through them

typedef struct conversion {
  const lib_array *from, *to;  // one of them f32
} conversion;

static void convert_strips(void *argument, int64_t begin, int64_t end) {
  const conversion *c = argument;
  const int64_t count = lib_element_count(c->from);
  for (int64_t k = begin; k < end; k++) {
    const int64_t first = k * STRIP, many = count - first < STRIP ? count - first : STRIP;
    if (c->to->type == DTYPE_F32) work_load(WORK_F32, c->from, first, many, (float *)c->to->data + first);
    else work_store(WORK_F32, (const float *)c->from->data + first, c->to, first, many);
  }
}

static void convert(int threads, const lib_array *from, const lib_array *to) {
  conversion c = {from, to};
  pool_run(threads, (lib_element_count(from) + STRIP - 1) / STRIP, convert_strips, &c);
}

static lib_array dense_array(dtype type, const int64_t *count, void *data) {
  return (lib_array){.type = type, .rank = 1, .dims = count, .data = data};
}

static void move_elements(const lib_array *from, const lib_array *to) {
  const int64_t count = lib_element_count(from);
  for (int64_t k = 0; k < count; k++) element_move(to, k, from, k);
}

static void permute_passage(const passage *s, int threads, const void *from, void *to) {
  const int size = dtypes[s->type].bytes;
  permute(threads, size, s->rank, s->dims, s->strides, (const char *)from + s->base * size, to);
}

// The array as the multiplication wants it.
static const void *bring(const passage *s, const lib_call *call, const lib_array *a) {
  char *scratch = call->scratch;
  const void *data = a->data;
  if (s->packs) {
    const lib_array to = dense_array(s->type, &s->count, scratch + s->packed_at);
    move_elements(a, &to);
    data = to.data;
  }
  if (s->permutes) {
    permute_passage(s, call->threads, data, scratch + s->permuted_at);
    data = scratch + s->permuted_at;
  } else {
    data = (const char *)data + s->base * dtypes[s->type].bytes;
  }
  if (s->widens) {
    const lib_array from = dense_array(s->type, &s->count, (void *)data);
    const lib_array to = dense_array(DTYPE_F32, &s->count, scratch + s->widened_at);
    convert(call->threads, &from, &to);
    data = to.data;
  }
  return data;
}

// Where the multiplication leaves its result.
static void *result_memory(const passage *s, const lib_call *call) {
  char *scratch = call->scratch;
  if (s->widens) return scratch + s->widened_at;
  if (s->permutes) return scratch + s->permuted_at;
  return s->packs ? scratch + s->packed_at : call->results[0].data;
}

static void take_back(const passage *s, const lib_call *call) {
  char *scratch = call->scratch;
  void *bytes = s->packs ? scratch + s->packed_at : call->results[0].data;
  void *canonical = s->permutes ? scratch + s->permuted_at : bytes;
  if (s->widens) {
    const lib_array from = dense_array(DTYPE_F32, &s->count, scratch + s->widened_at);
    const lib_array to = dense_array(s->type, &s->count, canonical);
    convert(call->threads, &from, &to);
  }
  if (s->permutes) permute_passage(s, call->threads, canonical, bytes);
  if (!s->packs) return;
  const lib_array from = dense_array(s->type, &s->count, bytes);
  move_elements(&from, &call->results[0]);
}

static const float *bring_bias(const convolution_plan *p, const lib_call *call) {
  if (!p->form.has_bias) return NULL;
  if (!p->widens_bias) return call->operands[2].data;
  float *to = (float *)(void *)((char *)call->scratch + p->bias_at);
  work_load(WORK_F32, &call->operands[2], 0, p->form.output_features, to);
  return to;
}

// The kernel, or what was made of a constant one.
static const void *bring_kernel(const convolution_plan *p, const lib_call *call) {
  return p->packed ? p->packed : bring(&p->kernel, call, &call->operands[1]);
}

static heddle_status run_onednn(const convolution_plan *p, const lib_call *call) {
  char *scratch = call->scratch;
  const void *packed = p->packed;
  const float *kernel = packed ? NULL : bring(&p->kernel, call, &call->operands[1]);
  if (!packed && !convolution_onednn_packs_in_parts(p->onednn)) {
    packed = scratch + p->packed_at;
    TRY(convolution_onednn_pack(p->onednn, call->threads, kernel, scratch + p->packed_at));
  }
  convolution_onednn_arrays arrays = {.input = bring(&p->input, call, &call->operands[0]),
                                      .packed = packed,
                                      .kernel = kernel,
                                      .bias = bring_bias(p, call),
                                      .result = result_memory(&p->result, call),
                                      .scratch = scratch + p->work_at};
  return convolution_onednn_execute(p->onednn, call->threads, &arrays);
}

static heddle_status run_gradient(const convolution_plan *p, const lib_call *call) {
  const convolution_gradient_arrays arrays = {.input = bring(&p->input, call, &call->operands[0]),
                                              .result = bring(&p->kernel, call, &call->operands[1]),
                                              .kernel = result_memory(&p->result, call),
                                              .scratch = (char *)call->scratch + p->work_at};
  return convolution_gradient_execute(p->gradient, call->threads, &arrays);
}

static convolution_arrays arrays_of(const convolution_plan *p, const lib_call *call) {
  return (convolution_arrays){.input = bring(&p->input, call, &call->operands[0]),
                              .kernel = bring_kernel(p, call),
                              .bias = bring_bias(p, call),
                              .result = result_memory(&p->result, call),
                              .scratch = (char *)call->scratch + p->work_at};
}

static heddle_status run_spread(const convolution_plan *p, const lib_call *call) {
  const convolution_arrays arrays = arrays_of(p, call);
  return convolution_spread_execute(&p->form, &p->spread, call->threads, &arrays);
}

static heddle_status run_lines(const convolution_plan *p, const lib_call *call) {
  const convolution_arrays arrays = arrays_of(p, call);
  convolution_lines_execute(&p->form, &p->lines, call->threads, &arrays);
  return status_ok();
}

static heddle_status run_shallow(const convolution_plan *p, const lib_call *call) {
  const convolution_arrays arrays = arrays_of(p, call);
  convolution_shallow_execute(&p->form, &p->shallow, call->threads, &arrays);
  return status_ok();
}

static heddle_status run_points(const convolution_plan *p, const lib_call *call) {
  const convolution_points_arrays arrays = {
      .input = bring(&p->input, call, &call->operands[0]),
      .kernel = {bring_kernel(p, call), p->matrix.leading, p->matrix.is_transposed},
      .bias = bring_bias(p, call),
      .result = result_memory(&p->result, call),
      .scratch = (char *)call->scratch + p->work_at};
  return convolution_points_execute(&p->form, &p->points, call->threads, &arrays);
}

// By a product, the tiles or directly: of the types that the arrays have.
static heddle_status run_own(const convolution_plan *p, const lib_call *call) {
  lib_array operands[3] = {call->operands[0], call->operands[1]}, result = call->results[0];
  if (p->form.has_bias) operands[2] = call->operands[2];
  operands[0].data = (void *)bring(&p->input, call, &call->operands[0]);
  operands[1].data = (void *)bring_kernel(p, call);
  result.data = result_memory(&p->result, call);
  operands[0].is_packed = operands[1].is_packed = result.is_packed = false;
  lib_call inner = *call;
  inner.operands = operands;
  inner.results = &result;
  inner.scratch = (char *)call->scratch + p->work_at;
  if (p->way == WAY_STEPS) return gemm_plan_execute(&p->tiles, &inner);
  if (p->way == WAY_TILES) return convolution_tiles_execute(&p->form, &p->tiles, &inner);
  convolution_direct_execute(&p->form, &p->direct, &inner);
  return status_ok();
}

heddle_status convolution_plan_execute(const convolution_plan *plan, const lib_call *call) {
  if (plan->result.count == 0) return status_ok();
  static heddle_status (*const runs[])(const convolution_plan *, const lib_call *) = {
      [WAY_TILES] = run_own,     [WAY_DIRECT] = run_own,      [WAY_GRADIENT] = run_gradient,
      [WAY_LINES] = run_lines,   [WAY_SHALLOW] = run_shallow, [WAY_SPREAD] = run_spread,
      [WAY_POINTS] = run_points, [WAY_STEPS] = run_own,       [WAY_ONEDNN] = run_onednn};
  TRY(runs[plan->way](plan, call));
  take_back(&plan->result, call);
  if (!plan->has_outside || plan->is_finite || convolution_kernel_is_finite(&plan->form, &call->operands[1]))
    return status_ok();
  return convolution_mend_outside(&plan->form, call);
}

// --- constant kernels

int64_t convolution_plan_packed_bytes(const convolution_plan *plan) {
  if (plan->result.count == 0 || plan->way == WAY_GRADIENT) return 0;
  if (plan->way == WAY_ONEDNN) return convolution_onednn_packed_bytes(plan->onednn);
  const passage *s = &plan->kernel;
  if (!s->packs && !s->permutes && !s->widens) return 0;
  return s->count * (s->widens ? (int64_t)sizeof(float) : dtypes[s->type].bytes);
}

heddle_status convolution_plan_pack(convolution_plan *plan, const lib_call *call, void *memory) {
  const void *kernel = bring(&plan->kernel, call, &call->operands[1]);
  if (plan->way == WAY_ONEDNN) TRY(convolution_onednn_pack(plan->onednn, call->threads, kernel, memory));
  else memcpy(memory, kernel, (size_t)convolution_plan_packed_bytes(plan));
  plan->packed = memory;
  plan->is_finite = convolution_kernel_is_finite(&plan->form, &call->operands[1]);
  return status_ok();
}
