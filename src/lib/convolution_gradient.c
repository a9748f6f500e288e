// The gradient of a convolution by its kernel: to HLO a convolution whose window is as large as the images, whose
// features are their batch, and whose result has the few positions of a kernel. Almost all of what it does is to sum.
// oneDNN has an operation for it, which takes the images as the convolution itself has them.
//
// It is cut by features of the images and of the result's gradient, and where these are few by the positions summed
// over, images and rows (convolution_parts.c): then each part has sums of its own, which are added up in order. The
// shapes alone decide.
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "lib/onednn_forms.h"

enum {
  FEATURES = 64,     // that parts of the features are multiples of
  LEAST_SUMS = 512,  // products that a part adds to each of its sums, at least
  KINDS_MAX = 16,
  SHAPES = 4,    // of blocks of the kernel: of input features full or the last, of output features full or the last
  STRIP = 4096,  // elements
};

// What parts of the same sizes share.
typedef struct part_kind {
  convolution_form form;
  int shape;
  onednn_primitive primitive;
  dnnl_memory_desc_t input, result, scratchpad;
} part_kind;

// A block of the kernel's gradient in oneDNN's form, and its way to the result.
typedef struct block_shape {
  bool is_there;
  dnnl_memory_desc_t from, to;
  onednn_primitive reorder;
} block_shape;

typedef struct part_place {
  int kind;
  int64_t input_at, result_at;  // in the images and in the result's gradient
  int64_t block;
} part_place;

struct convolution_gradient {
  convolution_form forward;  // the convolution whose kernel it is
  convolution_cut cut;       // of the positions; features are not cut here
  int64_t inputs, outputs;   // features of a block
  int64_t input_parts, output_parts;
  onednn_engine engine;
  int kind_count;
  part_kind kinds[KINDS_MAX];
  block_shape shapes[SHAPES];
  part_place *parts;  // [block, part of the positions]
  int64_t kernel_strides[CONVOLUTION_MAX_RANK];
  int64_t block_bytes;
  int64_t input_slice, result_slice, share;  // bytes of a thread: for slices of the arrays, in all
};

static int64_t blocks_of(const convolution_gradient *g) { return g->input_parts * g->output_parts; }

static int64_t sums_of(const convolution_gradient *g) { return convolution_cut_count(&g->cut); }

// --- the convolution that it belongs to

// False if oneDNN's convolutions have no such window.
static bool forward_dim(const convolution_dim *w, convolution_dim *to) {
  *to = (convolution_dim){.input = w->input,
                          .kernel = w->output,
                          .output = w->kernel,
                          .stride = w->window_dilation,
                          .window_dilation = w->stride,
                          .base_dilation = 1,
                          .low = w->low};
  const int64_t reach = (to->output - 1) * to->stride + (to->kernel - 1) * to->window_dilation + 1;
  to->high = int64_max(reach - w->low - w->input, 0);
  return w->base_dilation == 1;
}

static bool forward_of(const convolution_form *f, convolution_form *to) {
  *to = *f;
  to->input_batch = to->output_batch = f->input_features;
  to->input_features = to->group_features = f->input_batch;
  int64_t window = 1, result = 1;
  for (int d = 0; d < f->spatial_rank; d++) {
    if (!forward_dim(&f->dims[d], &to->dims[d])) return false;
    window *= f->dims[d].kernel;
    result *= f->dims[d].output;
  }
  const bool has_images = f->input_order[0] > f->input_order[f->spatial_rank + 1];
  return window > result && has_images && f->feature_groups == 1 && !f->has_bias && !f->has_relu &&
         onednn_forms_take(to);
}

void convolution_gradient_orders(const convolution_form *f, int *input, int *kernel, int *output) {
  const int n = f->spatial_rank;
  input[0] = f->input_order[n + 1];
  input[n + 1] = f->input_order[0];
  kernel[0] = f->kernel_order[n];
  kernel[n + 1] = f->kernel_order[n + 1];
  output[n] = f->output_order[0];
  output[n + 1] = f->output_order[n + 1];
  for (int d = 0; d < n; d++) {
    input[d + 1] = f->input_order[d + 1];
    kernel[d + 1] = f->kernel_order[d];
    output[d] = f->output_order[d + 1];
  }
}

// --- cutting

// Features of each of so many parts.
static int64_t features_of(int64_t features, int64_t parts) {
  if (parts < 2) return features;
  return int64_ceil_div(int64_ceil_div(features, parts), FEATURES) * FEATURES;
}

static void choose_cut(convolution_gradient *g, int coarseness) {
  const convolution_form *f = &g->forward;
  const int64_t wanted = int64_max(convolution_parts_wanted(f) >> coarseness, 1), depth = convolution_positions(f);
  const int64_t outputs = int64_clamp(1, f->output_features / FEATURES, wanted);
  const int64_t inputs = int64_clamp(1, f->input_features / FEATURES, int64_ceil_div(wanted, outputs));
  g->outputs = features_of(f->output_features, outputs);
  g->inputs = features_of(f->input_features, inputs);
  g->output_parts = int64_ceil_div(f->output_features, g->outputs);
  g->input_parts = int64_ceil_div(f->input_features, g->inputs);
  const int64_t sums = int64_ceil_div(wanted, blocks_of(g));
  g->cut = convolution_cut_positions(f, int64_clamp(1, depth / LEAST_SUMS, sums));
}

// --- the primitives

static bool create_primitive(const convolution_gradient *g, part_kind *k, const dnnl_memory_desc_t *kernel) {
  onednn_forms_reach w;
  dnnl_convolution_desc_t forward, gradient;
  dnnl_primitive_desc_t hint = NULL;
  if (!onednn_forms_window(&k->form, &w) ||
      !onednn_ok(EXTERNAL(dnnl_dilated_convolution_forward_desc_init)(
          &forward, dnnl_forward_training, dnnl_convolution_direct, &k->input, kernel, NULL, &k->result, w.strides,
          w.dilates, w.low, w.high)) ||
      !onednn_ok(EXTERNAL(dnnl_dilated_convolution_backward_weights_desc_init)(&gradient, dnnl_convolution_direct,
                                                                               &k->input, kernel, NULL, &k->result,
                                                                               w.strides, w.dilates, w.low, w.high)) ||
      !onednn_ok(EXTERNAL(dnnl_primitive_desc_create)(&hint, &forward, NULL, g->engine.engine, NULL)))
    return false;
  const bool is_found = onednn_primitive_find(&g->engine, &gradient, hint, &k->primitive);
  return onednn_ok(EXTERNAL(dnnl_primitive_desc_destroy)(hint)) && is_found;
}

static bool create_kind(convolution_gradient *g, part_kind *k) {
  block_shape *b = &g->shapes[k->shape];
  dnnl_memory_desc_t any;
  if (!onednn_forms_images(&k->form, false, &k->input) || !onednn_forms_images(&k->form, true, &k->result) ||
      !onednn_forms_kernel(&k->form, NULL, &any) || !create_primitive(g, k, b->is_there ? &b->from : &any))
    return false;
  const dnnl_memory_desc_t *kernel = onednn_primitive_array(&k->primitive, dnnl_query_diff_weights_md);
  const dnnl_memory_desc_t *scratchpad = onednn_primitive_array(&k->primitive, dnnl_query_scratchpad_md);
  if (!kernel || !scratchpad) return false;
  k->scratchpad = *scratchpad;
  const int64_t input = g->input_parts > 1 ? onednn_bytes(&k->input) : 0;
  const int64_t result = g->output_parts > 1 ? onednn_bytes(&k->result) : 0;
  g->input_slice = int64_max(g->input_slice, input);
  g->result_slice = int64_max(g->result_slice, result);
  g->share = int64_max(g->share, onednn_bytes(scratchpad));
  if (b->is_there) return true;
  b->is_there = true;
  b->from = *kernel;
  g->block_bytes = int64_max(g->block_bytes, onednn_bytes(kernel));
  return onednn_forms_kernel(&k->form, g->kernel_strides, &b->to) &&
         onednn_primitive_reorder(&g->engine, &b->from, &b->to, &b->reorder);
}

// The kind of a part, made if it is the first of it; -1 if there cannot be one.
static int kind_of(convolution_gradient *g, const convolution_form *form, int shape) {
  for (int k = 0; k < g->kind_count; k++)
    if (g->kinds[k].shape == shape && convolution_parts_agree(&g->kinds[k].form, form)) return k;
  if (g->kind_count == KINDS_MAX) return -1;
  part_kind *made = &g->kinds[g->kind_count++];
  made->form = *form;
  made->shape = shape;
  return create_kind(g, made) ? g->kind_count - 1 : -1;
}

static int64_t input_feature(const convolution_gradient *g, int64_t block) {
  return block / g->output_parts * g->inputs;
}

static int64_t output_feature(const convolution_gradient *g, int64_t block) {
  return block % g->output_parts * g->outputs;
}

static bool create_parts(convolution_gradient *g) {
  const int64_t sums = sums_of(g);
  for (int64_t k = 0; k < blocks_of(g) * sums; k++) {
    const int64_t block = k / sums, input = input_feature(g, block), output = output_feature(g, block);
    convolution_part part;
    if (!convolution_part_of(&g->forward, &g->cut, k % sums, &part)) return false;
    convolution_form *f = &part.form;
    f->input_features = f->group_features = int64_min(g->inputs, f->input_features - input);
    f->output_features = int64_min(g->outputs, f->output_features - output);
    const int kind = kind_of(g, f, 2 * (f->input_features < g->inputs) + (f->output_features < g->outputs));
    if (kind < 0) return false;
    g->parts[k] = (part_place){kind, part.input_at + input, part.result_at + output, block};
  }
  g->share += g->input_slice + g->result_slice;
  return true;
}

static void release_parts(convolution_gradient *g) {
  for (int k = 0; k < g->kind_count; k++) onednn_primitive_destroy(&g->kinds[k].primitive);
  for (int k = 0; k < SHAPES; k++) onednn_primitive_destroy(&g->shapes[k].reorder);
  memset(g->kinds, 0, sizeof g->kinds);
  memset(g->shapes, 0, sizeof g->shapes);
  g->kind_count = 0;
  g->block_bytes = g->input_slice = g->result_slice = g->share = 0;
}

// Where oneDNN wants the sums in one form for some parts and in another one for others, larger parts are tried.
static bool make_parts(arena *a, convolution_gradient *g) {
  enum { COARSEST = 6 };
  for (int coarseness = 0; coarseness <= COARSEST; coarseness++) {
    choose_cut(g, coarseness);
    g->parts = arena_array(a, part_place, blocks_of(g) * sums_of(g));
    if (create_parts(g)) return true;
    release_parts(g);
    if (blocks_of(g) * sums_of(g) == 1) break;
  }
  return false;
}

typedef struct making {
  arena *arena;
  convolution_gradient *made;
  bool has_failed;
} making;

static void make(void *argument, int64_t begin, int64_t end) {
  making *m = argument;
  (void)begin, (void)end;
  m->has_failed = !onednn_engine_open(&m->made->engine) || !make_parts(m->arena, m->made);
}

convolution_gradient *convolution_gradient_make(arena *a, const convolution_form *f) {
  convolution_form forward;
  if (!forward_of(f, &forward)) return NULL;
  making m = {.arena = a, .made = arena_new(a, convolution_gradient)};
  m.made->forward = forward;
  const int n = f->spatial_rank;
  m.made->kernel_strides[n + 1] = 1;
  m.made->kernel_strides[n] = forward.output_features;
  int64_t stride = forward.output_features * forward.input_features;
  for (int d = n - 1; d >= 0; d--) {
    m.made->kernel_strides[d] = stride;
    stride *= forward.dims[d].kernel;
  }
  pool_run(1, 1, make, &m);
  if (!m.has_failed) return m.made;
  convolution_gradient_release(m.made);
  return NULL;
}

void convolution_gradient_release(convolution_gradient *g) {
  release_parts(g);
  onednn_engine_close(&g->engine);
}

const char *convolution_gradient_name(const convolution_gradient *g) { return onednn_name(&g->kinds[0].primitive); }

static int64_t threads_for(const convolution_gradient *g, int threads) {
  return int64_max(int64_min(threads, blocks_of(g) * sums_of(g)), 1);
}

// The sums, then what each thread wants.
int64_t convolution_gradient_scratch(const convolution_gradient *g, int threads) {
  return g->block_bytes * blocks_of(g) * sums_of(g) + g->share * threads_for(g, threads);
}

// --- running

typedef struct execution {
  const convolution_gradient *g;
  const convolution_gradient_arrays *arrays;
  atomic_bool has_failed;
} execution;

static char *sums_at(const execution *x, int64_t part) { return (char *)x->arrays->scratch + part * x->g->block_bytes; }

// Some features of each position, or the array itself if it has no more.
static const float *slice(const float *from, int64_t all, int64_t features, int64_t positions, char *to) {
  if (features == all) return from;
  for (int64_t k = 0; k < positions; k++)
    memcpy(to + k * features * (int64_t)sizeof(float), from + k * all, (size_t)features * sizeof(float));
  return (const float *)(const void *)to;
}

static void do_part(execution *x, int64_t number) {
  const convolution_gradient *g = x->g;
  const part_place *at = &g->parts[number];
  const part_kind *k = &g->kinds[at->kind];
  const convolution_form *f = &k->form;
  char *own = sums_at(x, blocks_of(g) * sums_of(g)) + pool_thread() * g->share;
  const float *input = slice(x->arrays->input + at->input_at, g->forward.input_features, f->input_features,
                             convolution_input_positions(f), own);
  const float *result = slice(x->arrays->result + at->result_at, g->forward.output_features, f->output_features,
                              convolution_positions(f), own + g->input_slice);
  onednn_arguments list = {.engine = &g->engine};
  onednn_arguments_add(&list, DNNL_ARG_SRC, &k->input, input);
  onednn_arguments_add(&list, DNNL_ARG_DIFF_DST, &k->result, result);
  onednn_arguments_add(&list, DNNL_ARG_DIFF_WEIGHTS, &g->shapes[k->shape].from, sums_at(x, number));
  onednn_arguments_add(&list, DNNL_ARG_SCRATCHPAD, &k->scratchpad, own + g->input_slice + g->result_slice);
  if (!onednn_arguments_run(&list, &k->primitive)) atomic_store(&x->has_failed, true);
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) do_part(argument, k);
}

static int64_t strips_of(const convolution_gradient *g) {
  return int64_ceil_div(g->block_bytes / (int64_t)sizeof(float), STRIP);
}

// Adds up the sums of a block's parts in their order, in the first ones.
static void add_strips(void *argument, int64_t begin, int64_t end) {
  const execution *x = argument;
  const int64_t parts = sums_of(x->g), strips = strips_of(x->g), all = x->g->block_bytes / (int64_t)sizeof(float);
  for (int64_t k = begin; k < end; k++) {
    const int64_t first = k % strips * STRIP, count = int64_min(STRIP, all - first), block = k / strips;
    float *to = (float *)(void *)sums_at(x, block * parts) + first;
    for (int64_t part = 1; part < parts; part++) {
      const float *from = (const float *)(const void *)sums_at(x, block * parts + part) + first;
      convolution_images_add(count, from, to);
    }
  }
}

static void put_blocks(void *argument, int64_t begin, int64_t end) {
  execution *x = argument;
  const convolution_gradient *g = x->g;
  const int n = g->forward.spatial_rank;
  for (int64_t k = begin; k < end; k++) {
    const block_shape *b = &g->shapes[g->kinds[g->parts[k * sums_of(g)].kind].shape];
    float *to = x->arrays->kernel + input_feature(g, k) * g->kernel_strides[n] + output_feature(g, k);
    const char *from = sums_at(x, k * sums_of(g));
    if (!onednn_primitive_bring(&g->engine, &b->reorder, &b->from, from, &b->to, to))
      atomic_store(&x->has_failed, true);
  }
}

heddle_status convolution_gradient_execute(const convolution_gradient *g, int threads,
                                           const convolution_gradient_arrays *arrays) {
  execution x = {.g = g, .arrays = arrays};
  const int count = (int)threads_for(g, threads);
  pool_run(count, blocks_of(g) * sums_of(g), do_parts, &x);
  if (sums_of(g) > 1) pool_run(count, blocks_of(g) * strips_of(g), add_strips, &x);
  pool_run(count, blocks_of(g), put_blocks, &x);
  return onednn_status(atomic_load(&x.has_failed));
}
