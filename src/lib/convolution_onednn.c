// oneDNN's convolutions, each part of one (convolution_parts.c) on one thread. oneDNN's implementations are asked in
// its order, and the first that generates code for the convolution itself is taken: the ones over its matrix product
// are no better than our own ways, and the reference ones much worse. Since no implementation is lent a second thread,
// none can choose an order of summation by the number of threads.
//
// oneDNN is given [batch, spatial…, feature]: measured, on one thread blocks of features gain nothing over that. Images
// with features first or of narrower types are brought into that form part by part (convolution_images.c). Kernels are
// reordered into blocks of features, for each part of the output features alone. Dilated input is oneDNN's
// deconvolution.
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "lib/onednn_forms.h"

enum { KINDS_MAX = 16, COARSEST = 6, PART_BYTES = 1 << 19 };

// What parts of the same sizes share.
typedef struct part_kind {
  convolution_form form;
  onednn_primitive primitive;
  dnnl_memory_desc_t input, packed, bias, result, scratchpad;
} part_kind;

// The kernel's way into blocks, for parts of so many output features.
typedef struct packing {
  int64_t features, bytes;
  dnnl_memory_desc_t from, to;
  onednn_primitive reorder;
} packing;

typedef struct part_place {
  int kind;
  int64_t input_at, result_at, feature;
} part_place;

enum { FULL, LAST, PACKINGS };

struct convolution_onednn {
  convolution_form form;
  convolution_cut cut;
  onednn_engine engine;
  int kind_count;
  part_kind kinds[KINDS_MAX];
  packing packings[PACKINGS];  // of all parts of the features but the last, and of the last
  part_place *parts;
  convolution_lying input, result;
  int64_t kernel_strides[CONVOLUTION_MAX_RANK];
  int64_t scratchpad, sums, images, share;  // bytes of a thread: oneDNN's, for a part's result, its input, and in all
  bool packs_in_parts;                      // each part has features of its own
  bool brings, takes;                       // parts bring their input, take their result to where it lies
};

const char *convolution_onednn_name(const convolution_onednn *o) { return onednn_name(&o->kinds[0].primitive); }

// --- the primitives

static bool find_implementation(const convolution_onednn *o, part_kind *k, const dnnl_memory_desc_t *kernel) {
  const convolution_form *f = &k->form;
  const dnnl_memory_desc_t *bias = f->has_bias ? &k->bias : NULL;
  onednn_forms_reach w;
  if (!onednn_forms_window(f, &w)) return false;
  if (convolution_is_dilated(f)) {
    dnnl_deconvolution_desc_t d;
    return onednn_ok(EXTERNAL(dnnl_dilated_deconvolution_forward_desc_init)(
               &d, dnnl_forward_inference, dnnl_deconvolution_direct, &k->input, kernel, bias, &k->result, w.strides,
               w.dilates, w.low, w.high)) &&
           onednn_primitive_find(&o->engine, &d, NULL, &k->primitive);
  }
  dnnl_convolution_desc_t d;
  return onednn_ok(EXTERNAL(dnnl_dilated_convolution_forward_desc_init)(
             &d, dnnl_forward_inference, dnnl_convolution_direct, &k->input, kernel, bias, &k->result, w.strides,
             w.dilates, w.low, w.high)) &&
         onednn_primitive_find(&o->engine, &d, NULL, &k->primitive);
}

static bool create_kind(convolution_onednn *o, part_kind *k, packing *p) {
  const convolution_form *f = &k->form;
  const dnnl_dims_t bias = {f->output_features};
  dnnl_memory_desc_t any;
  if (!onednn_forms_images(f, false, &k->input) || !onednn_forms_images(f, true, &k->result) ||
      !onednn_forms_kernel(f, NULL, &any) ||
      !onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_tag)(&k->bias, 1, bias, dnnl_f32, dnnl_a)) ||
      !find_implementation(o, k, p->features ? &p->to : &any))
    return false;
  const dnnl_memory_desc_t *packed = onednn_primitive_array(&k->primitive, dnnl_query_weights_md);
  const dnnl_memory_desc_t *scratchpad = onednn_primitive_array(&k->primitive, dnnl_query_scratchpad_md);
  if (!packed || !scratchpad) return false;
  k->packed = *packed;
  k->scratchpad = *scratchpad;
  o->scratchpad = int64_max(o->scratchpad, onednn_bytes(scratchpad));
  return true;
}

// Parts of the same features share their packed kernel: the first of them decides its form.
static bool create_packing(convolution_onednn *o, const part_kind *k, packing *p) {
  if (p->features) return true;
  p->features = k->form.output_features;
  p->to = k->packed;
  p->bytes = onednn_bytes(&p->to);
  return onednn_forms_kernel(&k->form, o->kernel_strides, &p->from) &&
         onednn_primitive_reorder(&o->engine, &p->from, &p->to, &p->reorder);
}

// The kind of a part, made if it is the first of it; -1 if there cannot be one.
static int kind_of(convolution_onednn *o, const convolution_form *form) {
  for (int k = 0; k < o->kind_count; k++)
    if (o->kinds[k].form.output_features == form->output_features && convolution_parts_agree(&o->kinds[k].form, form))
      return k;
  if (o->kind_count == KINDS_MAX) return -1;
  part_kind *made = &o->kinds[o->kind_count++];
  packing *p = &o->packings[form->output_features == o->cut.features ? FULL : LAST];
  made->form = *form;
  if (!create_kind(o, made, p) || !create_packing(o, made, p)) return -1;
  return o->kind_count - 1;
}

static bool is_wanted(const convolution_lying *l) { return !l->is_planar && l->type == DTYPE_F32; }

// What a thread needs. Input that several parts of the features read is not brought by each of them.
static void place_shares(convolution_onednn *o) {
  int64_t sums = 0, input = 0;
  o->brings = o->input.is_known && !is_wanted(&o->input) && o->cut.feature_parts == 1;
  o->takes = o->cut.feature_parts > 1 || (o->result.is_known && !is_wanted(&o->result));
  for (int k = 0; k < o->kind_count; k++) {
    const convolution_form *f = &o->kinds[k].form;
    sums = int64_max(sums, convolution_positions(f) * f->output_features);
    input = int64_max(input, convolution_input_positions(f) * f->input_features);
  }
  o->sums = o->takes ? onednn_aligned(sums * (int64_t)sizeof(float)) : 0;
  o->images = o->brings ? onednn_aligned(input * (int64_t)sizeof(float)) : 0;
  o->packs_in_parts = o->cut.feature_parts > 1 && o->cut.feature_parts == convolution_cut_count(&o->cut);
  o->share = o->scratchpad + o->sums + o->images + (o->packs_in_parts ? o->packings[FULL].bytes : 0);
}

static bool create_parts(convolution_onednn *o) {
  for (int64_t k = 0; k < convolution_cut_count(&o->cut); k++) {
    convolution_part part;
    if (!convolution_part_of(&o->form, &o->cut, k, &part)) return false;
    const int kind = kind_of(o, &part.form);
    if (kind < 0) return false;
    o->parts[k] = (part_place){kind, part.input_at, part.result_at, part.feature};
  }
  place_shares(o);
  return true;
}

static void release_parts(convolution_onednn *o) {
  for (int k = 0; k < o->kind_count; k++) onednn_primitive_destroy(&o->kinds[k].primitive);
  for (int k = 0; k < PACKINGS; k++) onednn_primitive_destroy(&o->packings[k].reorder);
  memset(o->kinds, 0, sizeof o->kinds);
  memset(o->packings, 0, sizeof o->packings);
  o->kind_count = 0;
  o->scratchpad = 0;
}

// Parts whose input and result are brought should stay in a second-level cache until they are taken away again.
static int64_t parts_for_caches(const convolution_onednn *o) {
  const convolution_form *f = &o->form;
  const int64_t elements =
      (o->input.is_known && !is_wanted(&o->input) ? convolution_input_positions(f) * f->input_features : 0) +
      (o->result.is_known && !is_wanted(&o->result) ? convolution_positions(f) * f->output_features : 0);
  return elements * (int64_t)sizeof(float) / PART_BYTES;
}

// Where oneDNN wants the kernel in one form for some parts and in another one for others, larger parts are tried.
static bool make_parts(arena *a, convolution_onednn *o) {
  for (int coarseness = 0; coarseness <= COARSEST; coarseness++) {
    o->cut = convolution_cut_of(&o->form, parts_for_caches(o), coarseness);
    o->parts = arena_array(a, part_place, convolution_cut_count(&o->cut));
    if (create_parts(o)) return true;
    release_parts(o);
    if (convolution_cut_count(&o->cut) == 1) break;
  }
  return false;
}

typedef struct making {
  arena *arena;
  convolution_onednn *made;
  bool has_failed;
} making;

static void make(void *argument, int64_t begin, int64_t end) {
  making *m = argument;
  (void)begin, (void)end;
  m->has_failed = !onednn_engine_open(&m->made->engine) || !make_parts(m->arena, m->made);
}

// What is not known is brought into the form that is wanted by the caller.
static convolution_lying known(const convolution_lying *l) {
  if (l->is_known) return *l;
  return (convolution_lying){.type = DTYPE_F32, .features = l->features, .positions = l->positions};
}

convolution_onednn *convolution_onednn_make(arena *a, const convolution_form *f, const int64_t *kernel_strides,
                                            const convolution_lying *input, const convolution_lying *result) {
  onednn_forms_reach w;
  if (!onednn_forms_take(f) || !onednn_forms_window(f, &w)) return NULL;
  making m = {.arena = a, .made = arena_new(a, convolution_onednn)};
  m.made->form = *f;
  m.made->input = known(input);
  m.made->result = known(result);
  memcpy(m.made->kernel_strides, kernel_strides, sizeof m.made->kernel_strides);
  pool_run(1, 1, make, &m);
  if (!m.has_failed) return m.made;
  convolution_onednn_release(m.made);
  return NULL;
}

void convolution_onednn_release(convolution_onednn *o) {
  release_parts(o);
  onednn_engine_close(&o->engine);
}

bool convolution_onednn_brings(const convolution_onednn *o) { return o->brings; }

bool convolution_onednn_takes(const convolution_onednn *o) { return o->result.is_known; }

int64_t convolution_onednn_scratch(const convolution_onednn *o, int threads) {
  return o->share * convolution_cut_threads(&o->cut, threads);
}

int64_t convolution_onednn_packed_bytes(const convolution_onednn *o) {
  const packing *last = &o->packings[o->packings[LAST].features ? LAST : FULL];
  return (o->cut.feature_parts - 1) * o->packings[FULL].bytes + last->bytes;
}

// --- running

// Brings the features of one part into oneDNN's form. False when it has no memory.
static bool pack_part(const convolution_onednn *o, int64_t number, const float *kernel, char *to) {
  const int64_t feature = number * o->cut.features, features = o->form.output_features - feature;
  const packing *p = &o->packings[features < o->cut.features ? LAST : FULL];
  const float *from = kernel + feature * o->kernel_strides[o->form.spatial_rank + 1];
  return onednn_primitive_bring(&o->engine, &p->reorder, &p->from, from, &p->to, to);
}

typedef struct packing_run {
  const convolution_onednn *o;
  const float *kernel;
  char *packed;
  atomic_bool has_failed;
} packing_run;

static void pack_parts(void *argument, int64_t begin, int64_t end) {
  packing_run *x = argument;
  for (int64_t k = begin; k < end; k++)
    if (!pack_part(x->o, k, x->kernel, x->packed + k * x->o->packings[FULL].bytes)) atomic_store(&x->has_failed, true);
}

bool convolution_onednn_packs_in_parts(const convolution_onednn *o) { return o->packs_in_parts; }

heddle_status convolution_onednn_pack(const convolution_onednn *o, int threads, const float *kernel, void *packed) {
  packing_run x = {.o = o, .kernel = kernel, .packed = packed};
  pool_run(threads, o->cut.feature_parts, pack_parts, &x);
  return onednn_status(atomic_load(&x.has_failed));
}

typedef struct execution {
  const convolution_onednn *o;
  const convolution_onednn_arrays *arrays;
  atomic_bool has_failed;
} execution;

// The part's kernel in oneDNN's form, which lies in the thread's own memory for so long if nobody else needs it.
static const char *packed_part(execution *x, int64_t number, char *own) {
  const convolution_onednn *o = x->o;
  if (x->arrays->packed) return (const char *)x->arrays->packed + number * o->packings[FULL].bytes;
  if (!pack_part(o, number, x->arrays->kernel, own)) atomic_store(&x->has_failed, true);
  return own;
}

// Where the part's input lies in the form that oneDNN wants.
static const float *input_of(const execution *x, const part_place *at, float *own) {
  const convolution_onednn *o = x->o;
  const convolution_form *f = &o->kinds[at->kind].form;
  if (!o->brings) return (const float *)x->arrays->input + at->input_at;
  convolution_images_bring(&o->input, x->arrays->input, at->input_at / f->input_features, f->input_batch,
                           convolution_input_positions(f) / f->input_batch, own);
  return own;
}

static void do_part(execution *x, const part_place *at) {
  const convolution_onednn *o = x->o;
  const part_kind *kind = &o->kinds[at->kind];
  const convolution_form *f = &kind->form;
  char *scratch = (char *)x->arrays->scratch + pool_thread() * o->share;
  char *own_sums = scratch + o->scratchpad, *own_images = own_sums + o->sums;
  float *sums = o->takes ? (float *)(void *)own_sums : (float *)x->arrays->result + at->result_at;
  const int64_t positions = convolution_positions(f);
  onednn_arguments list = {.engine = &o->engine};
  onednn_arguments_add(&list, DNNL_ARG_SRC, &kind->input, input_of(x, at, (float *)(void *)own_images));
  onednn_arguments_add(&list, DNNL_ARG_WEIGHTS, &kind->packed,
                       packed_part(x, at->feature / o->cut.features, own_images + o->images));
  if (f->has_bias) onednn_arguments_add(&list, DNNL_ARG_BIAS, &kind->bias, x->arrays->bias + at->feature);
  onednn_arguments_add(&list, DNNL_ARG_DST, &kind->result, sums);
  onednn_arguments_add(&list, DNNL_ARG_SCRATCHPAD, &kind->scratchpad, scratch);
  if (!onednn_arguments_run(&list, &kind->primitive)) atomic_store(&x->has_failed, true);
  // oneDNN's own takes NaN for zero.
  if (f->has_relu) convolution_images_relu(positions * f->output_features, sums);
  if (!o->takes) return;
  convolution_images_take(&o->result, sums, f->output_features, x->arrays->result,
                          at->result_at / o->form.output_features, at->feature, f->output_batch,
                          positions / f->output_batch);
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  execution *x = argument;
  for (int64_t k = begin; k < end; k++) do_part(x, &x->o->parts[k]);
}

heddle_status convolution_onednn_execute(const convolution_onednn *o, int threads,
                                         const convolution_onednn_arrays *arrays) {
  execution x = {.o = o, .arrays = arrays};
  pool_run(threads, convolution_cut_count(&o->cut), do_parts, &x);
  return onednn_status(atomic_load(&x.has_failed));
}
