// oneDNN's convolutions, where they are both fast and deterministic: the ones it generates code for (their names have
// a "jit") share only the result's elements out among threads, while those over its matrix product also cut the
// sums, by the number of threads. Those, and what oneDNN lacks, are left to convolution_tiles.c.
//
// Kernels are reordered into blocks of features. Input and result stay as they lie if that is [batch, spatial…,
// feature], unless each of their elements takes part in so many multiplications that having them in blocks too is worth
// the way there and back. Dilated input is oneDNN's deconvolution, of which ours with its padding subtracted from the
// window's reach is one.
#include <dnnl.h>
#include <string.h>

#include "base/pool.h"
#include "lib/convolution_form.h"

struct convolution_onednn {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_desc_t reorder_desc, desc, input_desc, result_desc;
  dnnl_primitive_t reorder, primitive, input_reorder, result_reorder;  // the last two null: as they lie
  dnnl_memory_desc_t input, kernel, packed, bias, result, scratchpad;
  dnnl_memory_desc_t inner_input, inner_result;  // in blocks
  bool has_bias;
};

enum { MAX_SPATIAL = 3, ALIGNMENT = 64, BLOCK = 8, LEAST_WINDOW = 9, LEAST_FEATURES = 32 };

typedef struct making {
  const convolution_form *form;
  const convolution_strides *given;
  convolution_onednn *made;
  bool is_dilated;  // the input is
  int spatial;      // at least 1
  dnnl_dims_t strides, dilates, low, high;
} making;

static bool ok(dnnl_status_t s) { return s == dnnl_success; }

// --- descriptions of the arrays

// Images by oneDNN's logical dims [batch, feature, spatial…], as they lie, as they would lie in the canonical order, or
// as it likes.
typedef enum lying { AS_THEY_LIE, CANONICAL, ANY } lying;

static bool describe_images(const making *m, bool is_result, lying how, dnnl_memory_desc_t *to) {
  static const dnnl_format_tag_t tags[] = {dnnl_format_tag_undef, dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
  const convolution_form *f = m->form;
  const int64_t *given = is_result ? m->given->result : m->given->input;
  const int last = f->spatial_rank + 1, rank = m->spatial + 2;
  dnnl_dims_t dims = {is_result ? f->output_batch : f->input_batch, is_result ? f->output_features : f->input_features,
                      1};
  dnnl_dims_t strides = {given[0], given[last], given[last] * dims[1]};
  int64_t dense = 1;
  bool is_dense = dims[1] == 1 || given[last] == dense;
  dense *= dims[1];
  for (int d = f->spatial_rank - 1; d >= 0; d--) {
    dims[d + 2] = is_result ? f->dims[d].output : f->dims[d].input;
    strides[d + 2] = given[d + 1];
    is_dense = is_dense && (dims[d + 2] == 1 || given[d + 1] == dense);
    dense *= dims[d + 2];
  }
  is_dense = is_dense && (dims[0] == 1 || given[0] == dense);
  if (how == AS_THEY_LIE && !is_dense) return ok(dnnl_memory_desc_init_by_strides(to, rank, dims, dnnl_f32, strides));
  const dnnl_format_tag_t tag = how == ANY ? dnnl_format_tag_any : tags[m->spatial];
  return ok(dnnl_memory_desc_init_by_tag(to, rank, dims, dnnl_f32, tag));
}

// The kernel by [group, out, in, spatial…].
static bool describe_kernel(const making *m, lying how, dnnl_memory_desc_t *to) {
  const convolution_form *f = m->form;
  const int64_t outputs = f->output_features / f->feature_groups;
  const int64_t in = m->given->kernel[f->spatial_rank], out = m->given->kernel[f->spatial_rank + 1];
  dnnl_dims_t dims, strides;
  int rank = 0;
  if (f->feature_groups > 1) dims[rank] = f->feature_groups, strides[rank++] = outputs * out;
  dims[rank] = outputs, strides[rank++] = out;
  dims[rank] = f->group_features, strides[rank++] = in;
  dims[rank] = 1, strides[rank] = f->group_features * f->output_features;  // where there is no spatial dim
  for (int d = 0; d < f->spatial_rank; d++) {
    dims[rank + d] = f->dims[d].kernel;
    strides[rank + d] = m->given->kernel[d];
  }
  rank += m->spatial;
  if (how == ANY) return ok(dnnl_memory_desc_init_by_tag(to, rank, dims, dnnl_f32, dnnl_format_tag_any));
  return ok(dnnl_memory_desc_init_by_strides(to, rank, dims, dnnl_f32, strides));
}

// A deconvolution's window goes the other way.
bool convolution_onednn_flips(const convolution_form *f) {
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].base_dilation > 1) return true;
  return false;
}

// False for what oneDNN has no parameters for.
static bool describe_window(making *m) {
  m->is_dilated = convolution_onednn_flips(m->form);
  for (int d = 0; d < MAX_SPATIAL; d++) m->strides[d] = 1;
  for (int d = 0; d < m->form->spatial_rank; d++) {
    const convolution_dim *w = &m->form->dims[d];
    m->strides[d] = w->stride;
    m->dilates[d] = w->window_dilation - 1;
    m->low[d] = w->low;
    m->high[d] = w->high;
  }
  for (int d = 0; d < m->form->spatial_rank && m->is_dilated; d++) {
    const convolution_dim *w = &m->form->dims[d];
    const int64_t reach = (w->kernel - 1) * w->window_dilation;
    if (w->stride > 1) return false;
    m->strides[d] = w->base_dilation;
    m->low[d] = reach - w->low;
    m->high[d] = reach - w->high;
  }
  for (int d = 0; d < m->form->spatial_rank; d++)
    if (m->low[d] < 0 || m->high[d] < 0) return false;
  return true;
}

// Each element of a window's features meets all of the others': measured, blocks pay from about here on.
static bool wants_blocks(const convolution_form *f) {
  return f->feature_groups == 1 && f->input_features % BLOCK == 0 && f->output_features % BLOCK == 0 &&
         f->input_features >= LEAST_FEATURES && f->output_features >= LEAST_FEATURES &&
         convolution_kernel_size(f) >= LEAST_WINDOW;
}

// --- the primitives

static bool create_desc(const making *m, const dnnl_memory_desc_t *kernel, dnnl_primitive_attr_t attributes) {
  convolution_onednn *o = m->made;
  const lying how = wants_blocks(m->form) ? ANY : CANONICAL;
  dnnl_memory_desc_t input, result;
  if (!describe_images(m, false, how, &input) || !describe_images(m, true, how, &result)) return false;
  const dnnl_memory_desc_t *bias = o->has_bias ? &o->bias : NULL;
  if (m->is_dilated) {
    dnnl_deconvolution_desc_t d;
    return ok(dnnl_dilated_deconvolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_deconvolution_direct,
                                                           &input, kernel, bias, &result, m->strides, m->dilates,
                                                           m->low, m->high)) &&
           ok(dnnl_primitive_desc_create(&o->desc, &d, attributes, o->engine, NULL));
  }
  dnnl_convolution_desc_t d;
  return ok(dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct, &input,
                                                       kernel, bias, &result, m->strides, m->dilates, m->low,
                                                       m->high)) &&
         ok(dnnl_primitive_desc_create(&o->desc, &d, attributes, o->engine, NULL));
}

static bool create_attributes(dnnl_primitive_attr_t *attributes) {
  return ok(dnnl_primitive_attr_create(attributes)) &&
         ok(dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user));
}

// Whether the way that oneDNN chose is one that gives the same bits on every number of threads.
static bool is_generated(const convolution_onednn *o) {
  const char *name = "";
  if (!ok(dnnl_primitive_desc_query(o->desc, dnnl_query_impl_info_str, 0, (void *)&name))) return false;
  return strstr(name, "jit") && !strstr(name, "gemm") && !strstr(name, "ref");
}

// The way of an array from or to blocks; nothing if it is not in any.
static bool create_way(const convolution_onednn *o, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                       dnnl_primitive_desc_t *desc, dnnl_primitive_t *reorder) {
  if (dnnl_memory_desc_equal(from, to)) return true;
  return ok(dnnl_reorder_primitive_desc_create(desc, from, o->engine, to, o->engine, NULL)) &&
         ok(dnnl_primitive_create(reorder, *desc));
}

static bool create_ways(convolution_onednn *o) {
  const dnnl_memory_desc_t *input = dnnl_primitive_desc_query_md(o->desc, dnnl_query_src_md, 0);
  const dnnl_memory_desc_t *result = dnnl_primitive_desc_query_md(o->desc, dnnl_query_dst_md, 0);
  if (!input || !result) return false;
  o->inner_input = *input;
  o->inner_result = *result;
  return create_way(o, &o->kernel, &o->packed, &o->reorder_desc, &o->reorder) &&
         create_way(o, &o->input, &o->inner_input, &o->input_desc, &o->input_reorder) &&
         create_way(o, &o->inner_result, &o->result, &o->result_desc, &o->result_reorder);
}

static bool create_primitives(making *m) {
  const convolution_form *f = m->form;
  convolution_onednn *o = m->made;
  dnnl_memory_desc_t any;
  dnnl_dims_t bias = {f->output_features};
  if (!describe_images(m, false, AS_THEY_LIE, &o->input) || !describe_images(m, true, AS_THEY_LIE, &o->result) ||
      !describe_kernel(m, AS_THEY_LIE, &o->kernel) || !describe_kernel(m, ANY, &any) ||
      !ok(dnnl_memory_desc_init_by_tag(&o->bias, 1, bias, dnnl_f32, dnnl_a)))
    return false;
  dnnl_primitive_attr_t attributes = NULL;
  const bool has_desc = create_attributes(&attributes) && create_desc(m, &any, attributes);
  if (attributes && !ok(dnnl_primitive_attr_destroy(attributes))) return false;
  if (!has_desc || !is_generated(o)) return false;
  const dnnl_memory_desc_t *packed = dnnl_primitive_desc_query_md(o->desc, dnnl_query_weights_md, 0);
  const dnnl_memory_desc_t *scratchpad = dnnl_primitive_desc_query_md(o->desc, dnnl_query_scratchpad_md, 0);
  if (!packed || !scratchpad) return false;
  o->packed = *packed;
  o->scratchpad = *scratchpad;
  return create_ways(o) && ok(dnnl_primitive_create(&o->primitive, o->desc));
}

static void make(void *argument) {
  making *m = argument;
  convolution_onednn *o = m->made;
  if (ok(dnnl_engine_create(&o->engine, dnnl_cpu, 0)) &&
      ok(dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags)) && create_primitives(m))
    return;
  convolution_onednn_release(o);
  m->made = NULL;
}

convolution_onednn *convolution_onednn_make(arena *a, const convolution_form *f, const convolution_strides *strides,
                                            int threads) {
  making m = {.form = f, .given = strides, .spatial = f->spatial_rank > 1 ? f->spatial_rank : 1};
  if (f->spatial_rank > MAX_SPATIAL || f->batch_groups > 1) return NULL;
  if (convolution_positions(f) * f->output_features == 0 || convolution_kernel_size(f) * f->group_features == 0)
    return NULL;
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].input == 0) return NULL;
  if (f->input_batch > INT32_MAX || f->input_features > INT32_MAX || !describe_window(&m)) return NULL;
  m.made = arena_new(a, convolution_onednn);
  m.made->has_bias = f->has_bias;
  pool_lend(threads, make, &m);
  return m.made;
}

void convolution_onednn_release(convolution_onednn *o) {
  const dnnl_primitive_t primitives[] = {o->primitive, o->reorder, o->input_reorder, o->result_reorder};
  const dnnl_primitive_desc_t descs[] = {o->desc, o->reorder_desc, o->input_desc, o->result_desc};
  bool all = true;
  for (size_t k = 0; k < sizeof primitives / sizeof *primitives; k++) {
    if (primitives[k]) all &= ok(dnnl_primitive_destroy(primitives[k]));
    if (descs[k]) all &= ok(dnnl_primitive_desc_destroy(descs[k]));
  }
  if (o->stream) all &= ok(dnnl_stream_destroy(o->stream));
  if (o->engine) all &= ok(dnnl_engine_destroy(o->engine));
  (void)all;  // destroying fails only for null
  *o = (convolution_onednn){0};
}

// Scratch memory: oneDNN's own, then input and result in blocks.
static int64_t bytes_of(const dnnl_memory_desc_t *desc, bool is_there) {
  const int64_t bytes = is_there ? (int64_t)dnnl_memory_desc_get_size(desc) : 0;
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t input_at(const convolution_onednn *o) { return bytes_of(&o->scratchpad, true); }

static int64_t result_at(const convolution_onednn *o) {
  return input_at(o) + bytes_of(&o->inner_input, o->input_reorder);
}

int64_t convolution_onednn_scratch(const convolution_onednn *o) {
  return result_at(o) + bytes_of(&o->inner_result, o->result_reorder);
}

int64_t convolution_onednn_packed_bytes(const convolution_onednn *o) {
  return (int64_t)dnnl_memory_desc_get_size(&o->packed);
}

// --- running

enum { MAX_ARGUMENTS = 5 };

typedef struct execution {
  const convolution_onednn *o;
  dnnl_primitive_t primitive;
  int count;
  dnnl_exec_arg_t arguments[MAX_ARGUMENTS];
  bool has_failed;
} execution;

static void add(execution *x, int role, const dnnl_memory_desc_t *desc, const void *data) {
  dnnl_memory_t memory = NULL;
  if (!ok(dnnl_memory_create(&memory, desc, x->o->engine, (void *)data))) x->has_failed = true;
  else x->arguments[x->count++] = (dnnl_exec_arg_t){role, memory};
}

static void execute(void *argument) {
  execution *x = argument;
  x->has_failed |= !ok(dnnl_primitive_execute(x->primitive, x->o->stream, x->count, x->arguments)) ||
                   !ok(dnnl_stream_wait(x->o->stream));
}

static heddle_status finish(execution *x, int threads) {
  if (!x->has_failed) pool_lend(threads, execute, x);
  for (int k = 0; k < x->count; k++) x->has_failed |= !ok(dnnl_memory_destroy(x->arguments[k].memory));
  if (x->has_failed) return status_error(HEDDLE_OUT_OF_MEMORY, "oneDNN could not do a convolution");
  return status_ok();
}

static heddle_status bring_over(const convolution_onednn *o, int threads, dnnl_primitive_t reorder,
                                const dnnl_memory_desc_t *descs[2], const void *from, void *to) {
  execution x = {.o = o, .primitive = reorder};
  add(&x, DNNL_ARG_FROM, descs[0], from);
  add(&x, DNNL_ARG_TO, descs[1], to);
  return finish(&x, threads);
}

heddle_status convolution_onednn_pack(const convolution_onednn *o, int threads, const float *kernel, void *packed) {
  const dnnl_memory_desc_t *descs[2] = {&o->kernel, &o->packed};
  if (o->reorder) return bring_over(o, threads, o->reorder, descs, kernel, packed);
  memcpy(packed, kernel, (size_t)convolution_onednn_packed_bytes(o));
  return status_ok();
}

heddle_status convolution_onednn_execute(const convolution_onednn *o, int threads,
                                         const convolution_onednn_arrays *arrays) {
  char *scratch = arrays->scratch;
  const void *input = arrays->input;
  void *result = o->result_reorder ? scratch + result_at(o) : (void *)arrays->result;
  if (o->input_reorder) {
    const dnnl_memory_desc_t *descs[2] = {&o->input, &o->inner_input};
    TRY(bring_over(o, threads, o->input_reorder, descs, input, scratch + input_at(o)));
    input = scratch + input_at(o);
  }
  execution x = {.o = o, .primitive = o->primitive};
  add(&x, DNNL_ARG_SRC, &o->inner_input, input);
  add(&x, DNNL_ARG_WEIGHTS, &o->packed, arrays->packed);
  if (o->has_bias) add(&x, DNNL_ARG_BIAS, &o->bias, arrays->bias);
  add(&x, DNNL_ARG_DST, &o->inner_result, result);
  add(&x, DNNL_ARG_SCRATCHPAD, &o->scratchpad, scratch);
  TRY(finish(&x, threads));
  if (!o->result_reorder) return status_ok();
  const dnnl_memory_desc_t *descs[2] = {&o->inner_result, &o->result};
  return bring_over(o, threads, o->result_reorder, descs, result, arrays->result);
}
