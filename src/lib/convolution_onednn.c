// oneDNN's convolutions, each part of one (convolution_parts.c) on one thread. oneDNN's implementations are asked in
// its order, and the first that generates code for the convolution itself is taken: the ones over its matrix product
// are no better than convolution_tiles.c, and the reference ones much worse. Since no implementation is lent a second
// thread, none can choose an order of summation by the number of threads.
//
// Input and result stay as they lie, [batch, spatial…, feature]: measured, on one thread blocks of features gain
// nothing over that. Kernels are reordered into blocks of features, for each part of the output features alone. Dilated
// input is oneDNN's deconvolution, of which ours with its padding subtracted from the window's reach is one.
#include <dnnl.h>
#include <stdatomic.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/convolution_form.h"

enum { MAX_SPATIAL = 3, ALIGNMENT = 64, KINDS_MAX = 16, COARSEST = 6 };

// What parts of the same sizes share.
typedef struct part_kind {
  convolution_form form;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  dnnl_memory_desc_t input, packed, bias, result, scratchpad;
} part_kind;

// The kernel's way into blocks, for parts of so many output features.
typedef struct packing {
  int64_t features, bytes;
  dnnl_memory_desc_t from, to;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t reorder;
} packing;

typedef struct part_place {
  int kind;
  int64_t input_at, result_at, feature;
} part_place;

enum { FULL, LAST, PACKINGS };

struct convolution_onednn {
  convolution_form form;
  convolution_cut cut;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  int kind_count;
  part_kind kinds[KINDS_MAX];
  packing packings[PACKINGS];  // of all parts of the features but the last, and of the last
  part_place *parts;
  int64_t kernel_strides[CONVOLUTION_MAX_RANK];
  int64_t scratchpad, share;  // bytes that a thread wants: for oneDNN, and in all
};

static bool ok(dnnl_status_t s) { return s == dnnl_success; }

static int64_t aligned(int64_t bytes) { return int64_ceil_div(bytes, ALIGNMENT) * ALIGNMENT; }

// --- descriptions of the arrays

enum { LEAST_SPATIAL = 2 };  // of which some implementations take no fewer

static int spatial_of(const convolution_form *f) {
  return f->spatial_rank > LEAST_SPATIAL ? f->spatial_rank : LEAST_SPATIAL;
}

// Where oneDNN has our first spatial dim: behind dims of one element, if there are any.
static int lead_of(const convolution_form *f) { return spatial_of(f) - f->spatial_rank; }

// Images by oneDNN's logical dims [batch, feature, spatial…], in the canonical order.
static bool describe_images(const convolution_form *f, bool is_result, dnnl_memory_desc_t *to) {
  dnnl_dims_t dims = {is_result ? f->output_batch : f->input_batch, is_result ? f->output_features : f->input_features,
                      1, 1};
  int64_t *spatial = dims + 2 + lead_of(f);
  for (int d = 0; d < f->spatial_rank; d++) spatial[d] = is_result ? f->dims[d].output : f->dims[d].input;
  const dnnl_format_tag_t tag = spatial_of(f) == LEAST_SPATIAL ? dnnl_nhwc : dnnl_ndhwc;
  return ok(dnnl_memory_desc_init_by_tag(to, spatial_of(f) + 2, dims, dnnl_f32, tag));
}

// The kernel by [group, out, in, spatial…]: with these strides, or in any form for null.
static bool describe_kernel(const convolution_form *f, const int64_t *given, dnnl_memory_desc_t *to) {
  const int64_t outputs = f->output_features / f->feature_groups;
  const int64_t in = given ? given[f->spatial_rank] : 0, out = given ? given[f->spatial_rank + 1] : 0;
  dnnl_dims_t dims, strides;
  int rank = 0;
  if (f->feature_groups > 1) dims[rank] = f->feature_groups, strides[rank++] = outputs * out;
  dims[rank] = outputs, strides[rank++] = out;
  dims[rank] = f->group_features, strides[rank++] = in;
  for (int d = 0; d < lead_of(f); d++) dims[rank] = 1, strides[rank++] = f->group_features * f->output_features;
  for (int d = 0; d < f->spatial_rank; d++) dims[rank] = f->dims[d].kernel, strides[rank++] = given ? given[d] : 0;
  if (!given) return ok(dnnl_memory_desc_init_by_tag(to, rank, dims, dnnl_f32, dnnl_format_tag_any));
  return ok(dnnl_memory_desc_init_by_strides(to, rank, dims, dnnl_f32, strides));
}

// A deconvolution's window goes the other way.
bool convolution_onednn_flips(const convolution_form *f) {
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].base_dilation > 1) return true;
  return false;
}

typedef struct window {
  dnnl_dims_t strides, dilates, low, high;
} window;

// False for what oneDNN has no parameters for.
static bool describe_window(const convolution_form *f, window *to) {
  const bool is_dilated = convolution_onednn_flips(f);
  *to = (window){.strides = {1, 1, 1}};
  for (int k = 0; k < f->spatial_rank; k++) {
    const convolution_dim *w = &f->dims[k];
    const int64_t reach = (w->kernel - 1) * w->window_dilation;
    const int d = k + lead_of(f);
    if (is_dilated && w->stride > 1) return false;
    to->strides[d] = is_dilated ? w->base_dilation : w->stride;
    to->dilates[d] = w->window_dilation - 1;
    to->low[d] = is_dilated ? reach - w->low : w->low;
    to->high[d] = is_dilated ? reach - w->high : w->high;
    if (to->low[d] < 0 || to->high[d] < 0) return false;
  }
  return true;
}

// --- the primitives

typedef struct operation {
  dnnl_convolution_desc_t forward;
  dnnl_deconvolution_desc_t backward;
} operation;

static bool describe_operation(const part_kind *k, const dnnl_memory_desc_t *kernel, operation *to,
                               const_dnnl_op_desc_t *which) {
  const convolution_form *f = &k->form;
  const dnnl_memory_desc_t *bias = f->has_bias ? &k->bias : NULL;
  window w;
  if (!describe_window(f, &w)) return false;
  if (convolution_onednn_flips(f)) {
    *which = &to->backward;
    return ok(dnnl_dilated_deconvolution_forward_desc_init(&to->backward, dnnl_forward_inference,
                                                           dnnl_deconvolution_direct, &k->input, kernel, bias,
                                                           &k->result, w.strides, w.dilates, w.low, w.high));
  }
  *which = &to->forward;
  return ok(dnnl_dilated_convolution_forward_desc_init(&to->forward, dnnl_forward_inference, dnnl_convolution_direct,
                                                       &k->input, kernel, bias, &k->result, w.strides, w.dilates, w.low,
                                                       w.high));
}

static const char *name_of(const_dnnl_primitive_desc_t desc) {
  const char *name = NULL;
  return ok(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name)) && name ? name : "ref";
}

static bool is_direct(const_dnnl_primitive_desc_t desc) {
  const char *name = name_of(desc);
  return !strstr(name, "ref") && !strstr(name, "gemm");
}

const char *convolution_onednn_name(const convolution_onednn *o) { return name_of(o->kinds[0].desc); }

// The first of oneDNN's implementations that computes the convolution directly.
static bool find_implementation(const convolution_onednn *o, part_kind *k, const dnnl_memory_desc_t *kernel,
                                dnnl_primitive_attr_t attributes) {
  operation op;
  const_dnnl_op_desc_t which;
  dnnl_primitive_desc_iterator_t all = NULL;
  if (!describe_operation(k, kernel, &op, &which) ||
      !ok(dnnl_primitive_desc_iterator_create(&all, which, attributes, o->engine, NULL)))
    return false;
  do {
    dnnl_primitive_desc_t desc = dnnl_primitive_desc_iterator_fetch(all);
    if (desc && is_direct(desc)) k->desc = desc;
    else if (desc && !ok(dnnl_primitive_desc_destroy(desc))) break;
  } while (!k->desc && ok(dnnl_primitive_desc_iterator_next(all)));
  return ok(dnnl_primitive_desc_iterator_destroy(all)) && k->desc;
}

static bool create_attributes(dnnl_primitive_attr_t *attributes) {
  return ok(dnnl_primitive_attr_create(attributes)) &&
         ok(dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user));
}

static bool create_kind(convolution_onednn *o, part_kind *k, packing *p) {
  const convolution_form *f = &k->form;
  const dnnl_dims_t bias = {f->output_features};
  dnnl_memory_desc_t any;
  if (!describe_images(f, false, &k->input) || !describe_images(f, true, &k->result) ||
      !describe_kernel(f, NULL, &any) || !ok(dnnl_memory_desc_init_by_tag(&k->bias, 1, bias, dnnl_f32, dnnl_a)))
    return false;
  dnnl_primitive_attr_t attributes = NULL;
  const bool is_found =
      create_attributes(&attributes) && find_implementation(o, k, p->features ? &p->to : &any, attributes);
  if (attributes && !ok(dnnl_primitive_attr_destroy(attributes))) return false;
  if (!is_found || !ok(dnnl_primitive_create(&k->primitive, k->desc))) return false;
  const dnnl_memory_desc_t *packed = dnnl_primitive_desc_query_md(k->desc, dnnl_query_weights_md, 0);
  const dnnl_memory_desc_t *scratchpad = dnnl_primitive_desc_query_md(k->desc, dnnl_query_scratchpad_md, 0);
  if (!packed || !scratchpad) return false;
  k->packed = *packed;
  k->scratchpad = *scratchpad;
  o->scratchpad = int64_max(o->scratchpad, aligned((int64_t)dnnl_memory_desc_get_size(scratchpad)));
  return true;
}

// Parts of the same features share their packed kernel: the first of them decides its form.
static bool create_packing(convolution_onednn *o, const part_kind *k, packing *p) {
  if (p->features) return true;
  p->features = k->form.output_features;
  p->to = k->packed;
  p->bytes = aligned((int64_t)dnnl_memory_desc_get_size(&p->to));
  if (!describe_kernel(&k->form, o->kernel_strides, &p->from)) return false;
  if (dnnl_memory_desc_equal(&p->from, &p->to)) return true;
  return ok(dnnl_reorder_primitive_desc_create(&p->desc, &p->from, o->engine, &p->to, o->engine, NULL)) &&
         ok(dnnl_primitive_create(&p->reorder, p->desc));
}

static bool is_same_part(const convolution_form *x, const convolution_form *y) {
  const convolution_dim *a = &x->dims[0], *b = &y->dims[0];  // the only one that is cut
  return x->input_batch == y->input_batch && x->output_features == y->output_features && a->input == b->input &&
         a->output == b->output && a->low == b->low && a->high == b->high;
}

// The kind of a part, made if it is the first of it; -1 if there cannot be one.
static int kind_of(convolution_onednn *o, const convolution_form *form) {
  for (int k = 0; k < o->kind_count; k++)
    if (is_same_part(&o->kinds[k].form, form)) return k;
  if (o->kind_count == KINDS_MAX) return -1;
  part_kind *made = &o->kinds[o->kind_count++];
  packing *p = &o->packings[form->output_features == o->cut.features ? FULL : LAST];
  made->form = *form;
  if (!create_kind(o, made, p) || !create_packing(o, made, p)) return -1;
  return o->kind_count - 1;
}

static bool create_parts(convolution_onednn *o) {
  for (int64_t k = 0; k < convolution_cut_count(&o->cut); k++) {
    convolution_part part;
    if (!convolution_part_of(&o->form, &o->cut, k, &part)) return false;
    const int kind = kind_of(o, &part.form);
    if (kind < 0) return false;
    o->parts[k] = (part_place){kind, part.input_at, part.result_at, part.feature};
  }
  const int64_t images = o->kinds[0].form.output_batch;
  const int64_t sums = o->cut.images * (convolution_positions(&o->kinds[0].form) / images) * o->cut.features;
  o->share = o->scratchpad + (o->cut.feature_parts > 1 ? aligned(sums * (int64_t)sizeof(float)) : 0);
  return true;
}

static void release_parts(convolution_onednn *o) {
  bool all = true;
  for (int k = 0; k < o->kind_count; k++) {
    if (o->kinds[k].primitive) all &= ok(dnnl_primitive_destroy(o->kinds[k].primitive));
    if (o->kinds[k].desc) all &= ok(dnnl_primitive_desc_destroy(o->kinds[k].desc));
  }
  for (int k = 0; k < PACKINGS; k++) {
    if (o->packings[k].reorder) all &= ok(dnnl_primitive_destroy(o->packings[k].reorder));
    if (o->packings[k].desc) all &= ok(dnnl_primitive_desc_destroy(o->packings[k].desc));
  }
  (void)all;  // destroying fails only for null
  memset(o->kinds, 0, sizeof o->kinds);
  memset(o->packings, 0, sizeof o->packings);
  o->kind_count = 0;
  o->scratchpad = 0;
}

typedef struct making {
  arena *arena;
  convolution_onednn *made;  // null when there is no way
} making;

// Where oneDNN wants the kernel in one form for some parts and in another one for others, larger parts are tried.
static void make(void *argument, int64_t begin, int64_t end) {
  making *m = argument;
  convolution_onednn *o = m->made;
  (void)begin, (void)end;
  if (ok(dnnl_engine_create(&o->engine, dnnl_cpu, 0)) &&
      ok(dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags))) {
    for (int coarseness = 0; coarseness <= COARSEST; coarseness++) {
      o->cut = convolution_cut_of(&o->form, coarseness);
      o->parts = arena_array(m->arena, part_place, convolution_cut_count(&o->cut));
      if (create_parts(o)) return;
      release_parts(o);
      if (convolution_cut_count(&o->cut) == 1) break;
    }
  }
  convolution_onednn_release(o);
  m->made = NULL;
}

static bool is_possible(const convolution_form *f) {
  if (f->spatial_rank > MAX_SPATIAL || f->batch_groups > 1) return false;
  if (convolution_positions(f) * f->output_features == 0 || convolution_kernel_size(f) * f->group_features == 0)
    return false;
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].input == 0) return false;
  window w;
  return f->input_batch <= INT32_MAX && f->input_features <= INT32_MAX && describe_window(f, &w);
}

// oneDNN asks OpenMP for the number of threads when it makes a primitive: on the pool, it is one.
convolution_onednn *convolution_onednn_make(arena *a, const convolution_form *f, const int64_t *kernel_strides) {
  if (!is_possible(f)) return NULL;
  making m = {a, arena_new(a, convolution_onednn)};
  m.made->form = *f;
  memcpy(m.made->kernel_strides, kernel_strides, sizeof m.made->kernel_strides);
  pool_run(1, 1, make, &m);
  return m.made;
}

void convolution_onednn_release(convolution_onednn *o) {
  release_parts(o);
  bool all = true;
  if (o->stream) all &= ok(dnnl_stream_destroy(o->stream));
  if (o->engine) all &= ok(dnnl_engine_destroy(o->engine));
  (void)all;  // destroying fails only for null
  o->stream = NULL;
  o->engine = NULL;
}

static int64_t threads_for(const convolution_onednn *o, int threads) {
  return int64_max(int64_min(threads, convolution_cut_count(&o->cut)), 1);
}

int64_t convolution_onednn_scratch(const convolution_onednn *o, int threads) {
  return o->share * threads_for(o, threads);
}

int64_t convolution_onednn_packed_bytes(const convolution_onednn *o) {
  const packing *last = &o->packings[o->packings[LAST].features ? LAST : FULL];
  return (o->cut.feature_parts - 1) * o->packings[FULL].bytes + last->bytes;
}

// --- running

enum { MAX_ARGUMENTS = 5 };

typedef struct argument_list {
  const convolution_onednn *o;
  int count;
  dnnl_exec_arg_t arguments[MAX_ARGUMENTS];
  bool has_failed;
} argument_list;

static void add(argument_list *x, int role, const dnnl_memory_desc_t *desc, const void *data) {
  dnnl_memory_t memory = NULL;
  if (!ok(dnnl_memory_create(&memory, desc, x->o->engine, (void *)data))) x->has_failed = true;
  else x->arguments[x->count++] = (dnnl_exec_arg_t){role, memory};
}

// False when oneDNN has no memory.
static bool finish(argument_list *x, dnnl_primitive_t primitive) {
  if (!x->has_failed)
    x->has_failed = !ok(dnnl_primitive_execute(primitive, x->o->stream, x->count, x->arguments)) ||
                    !ok(dnnl_stream_wait(x->o->stream));
  for (int k = 0; k < x->count; k++) x->has_failed |= !ok(dnnl_memory_destroy(x->arguments[k].memory));
  return !x->has_failed;
}

static heddle_status status_of(bool has_failed) {
  if (!has_failed) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "oneDNN could not do a convolution");
}

typedef struct packing_run {
  const convolution_onednn *o;
  const float *kernel;
  char *packed;
  atomic_bool has_failed;
} packing_run;

static void pack_parts(void *argument, int64_t begin, int64_t end) {
  packing_run *x = argument;
  const convolution_onednn *o = x->o;
  for (int64_t k = begin; k < end; k++) {
    const int64_t feature = k * o->cut.features, features = o->form.output_features - feature;
    const packing *p = &o->packings[features < o->cut.features ? LAST : FULL];
    const float *from = x->kernel + feature * o->kernel_strides[o->form.spatial_rank + 1];
    char *to = x->packed + k * o->packings[FULL].bytes;
    argument_list list = {.o = o};
    if (!p->reorder) {
      memcpy(to, from, dnnl_memory_desc_get_size(&p->to));
      continue;
    }
    add(&list, DNNL_ARG_FROM, &p->from, from);
    add(&list, DNNL_ARG_TO, &p->to, to);
    if (!finish(&list, p->reorder)) atomic_store(&x->has_failed, true);
  }
}

heddle_status convolution_onednn_pack(const convolution_onednn *o, int threads, const float *kernel, void *packed) {
  packing_run x = {.o = o, .kernel = kernel, .packed = packed};
  pool_run(threads, o->cut.feature_parts, pack_parts, &x);
  return status_of(atomic_load(&x.has_failed));
}

// oneDNN's own takes NaN for zero.
static void relu(int64_t count, float *x) {
  for (int64_t k = 0; k < count; k++) x[k] = x[k] < 0 ? 0 : x[k];
}

typedef struct execution {
  const convolution_onednn *o;
  const convolution_onednn_arrays *arrays;
  int64_t threads;
  atomic_bool has_failed;
} execution;

static void do_part(execution *x, const part_place *at) {
  const convolution_onednn *o = x->o;
  const part_kind *kind = &o->kinds[at->kind];
  const convolution_form *f = &kind->form;
  char *scratch = (char *)x->arrays->scratch + (x->threads > 1 ? pool_thread() : 0) * o->share;
  const bool is_apart = o->cut.feature_parts > 1;
  float *result = x->arrays->result + at->result_at;
  float *sums = is_apart ? (float *)(void *)(scratch + o->scratchpad) : result;
  const int64_t positions = convolution_positions(f), features = f->output_features;
  argument_list list = {.o = o};
  add(&list, DNNL_ARG_SRC, &kind->input, x->arrays->input + at->input_at);
  add(&list, DNNL_ARG_WEIGHTS, &kind->packed,
      (const char *)x->arrays->packed + at->feature / o->cut.features * o->packings[FULL].bytes);
  if (f->has_bias) add(&list, DNNL_ARG_BIAS, &kind->bias, x->arrays->bias + at->feature);
  add(&list, DNNL_ARG_DST, &kind->result, sums);
  add(&list, DNNL_ARG_SCRATCHPAD, &kind->scratchpad, scratch);
  if (!finish(&list, kind->primitive)) atomic_store(&x->has_failed, true);
  if (f->has_relu) relu(positions * features, sums);
  for (int64_t k = 0; is_apart && k < positions; k++)
    memcpy(result + k * o->form.output_features, sums + k * features, (size_t)features * sizeof(float));
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  execution *x = argument;
  for (int64_t k = begin; k < end; k++) do_part(x, &x->o->parts[k]);
}

heddle_status convolution_onednn_execute(const convolution_onednn *o, int threads,
                                         const convolution_onednn_arrays *arrays) {
  execution x = {.o = o, .arrays = arrays, .threads = threads_for(o, threads)};
  pool_run((int)x.threads, convolution_cut_count(&o->cut), do_parts, &x);
  return status_of(atomic_load(&x.has_failed));
}
