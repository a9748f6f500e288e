// A convolution is made twice, with images as they lie and with images in oneDNN's order of choice and reorders around
// it, and what is faster stays. A result is as large as its input, divided by the stride.
#include "peer_convolution.h"

#include <stdlib.h>

#include "base/log.h"

// One way to make it.
typedef struct way {
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  peer_array source, weights, result;  // as the primitive wants them
  peer_reorder bring_source, bring_weights, take_result;
} way;

enum { AS_THEY_LIE, AS_IT_WANTS, WAYS };

struct peer_convolution {
  peer_convolution_form form;
  dnnl_stream_t stream;
  peer_array source, weights, result;  // as they lie
  way ways[WAYS];
  int best;
};

typedef struct geometry {
  dnnl_dims_t image, result, weights, strides, dilates, low, high;
} geometry;

static void side(int64_t size, int64_t window, const peer_convolution_form *f, int64_t *out, int64_t *low,
                 int64_t *high) {
  *out = (size + f->stride - 1) / f->stride;
  const int64_t all = (*out - 1) * f->stride + (window - 1) * f->dilation + 1 - size;
  *low = all > 0 ? all / 2 : 0;
  *high = all - *low;
}

static geometry geometry_of(const peer_convolution_form *f) {
  geometry g = {
      .image = {f->batch, f->inputs, f->height, f->width},
      .result = {f->batch, f->outputs},
      .weights = {f->groups, f->outputs / f->groups, f->inputs / f->groups, f->window_height, f->window_width},
      .strides = {f->stride, f->stride},
      .dilates = {f->dilation - 1, f->dilation - 1}};
  side(f->height, f->window_height, f, &g.result[2], &g.low[0], &g.high[0]);
  side(f->width, f->window_width, f, &g.result[3], &g.low[1], &g.high[1]);
  return g;
}

static bool describe_arrays(peer_convolution *c, const geometry *g) {
  const peer_convolution_form *f = &c->form;
  const int64_t *w = g->weights, area = w[3] * w[4], o = f->outputs;
  const dnnl_dims_t minor_out = {w[1], 1, o, w[4] * w[2] * o, w[2] * o},
                    minor_w = {w[1] * w[2] * area, w[2] * area, area, w[4], 1};
  const int64_t *lie = f->is_planar ? minor_w : minor_out;
  const dnnl_format_tag_t images = f->is_planar ? dnnl_nchw : dnnl_nhwc;
  const int first = f->groups > 1 ? 0 : 1;
  return peer_ok(dnnl_memory_desc_init_by_tag(&c->source.desc, 4, g->image, f->type, images)) &&
         peer_ok(dnnl_memory_desc_init_by_tag(&c->result.desc, 4, g->result, f->type, images)) &&
         peer_ok(dnnl_memory_desc_init_by_strides(&c->weights.desc, 5 - first, w + first, f->type, lie + first));
}

static bool describe(dnnl_engine_t engine, const peer_convolution *c, const geometry *g, int number, way *to) {
  const dnnl_data_type_t type = c->form.type;
  const int first = c->form.groups > 1 ? 0 : 1;
  dnnl_memory_desc_t source = c->source.desc, result = c->result.desc, weights;
  dnnl_convolution_desc_t d;
  if (number == AS_IT_WANTS &&
      (!peer_ok(dnnl_memory_desc_init_by_tag(&source, 4, g->image, type, dnnl_format_tag_any)) ||
       !peer_ok(dnnl_memory_desc_init_by_tag(&result, 4, g->result, type, dnnl_format_tag_any))))
    return false;
  return peer_ok(dnnl_memory_desc_init_by_tag(&weights, 5 - first, g->weights + first, type, dnnl_format_tag_any)) &&
         peer_ok(dnnl_dilated_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct,
                                                            &source, &weights, NULL, &result, g->strides, g->dilates,
                                                            g->low, g->high)) &&
         peer_ok(dnnl_primitive_desc_create(&to->desc, &d, NULL, engine, NULL)) && peer_is_fast(to->desc);
}

static bool make_way(dnnl_engine_t engine, const peer_convolution *c, const geometry *g, int number, way *to) {
  if (!describe(engine, c, g, number, to) || !peer_ok(dnnl_primitive_create(&to->primitive, to->desc))) return false;
  const dnnl_memory_desc_t *source = dnnl_primitive_desc_query_md(to->desc, dnnl_query_src_md, 0),
                           *weights = dnnl_primitive_desc_query_md(to->desc, dnnl_query_weights_md, 0),
                           *result = dnnl_primitive_desc_query_md(to->desc, dnnl_query_dst_md, 0);
  return peer_array_make_as(engine, source, &c->source, &to->source) &&
         peer_array_make_as(engine, weights, &c->weights, &to->weights) &&
         peer_array_make_as(engine, result, &c->result, &to->result) &&
         peer_reorder_make(engine, &c->source, &to->source, &to->bring_source) &&
         peer_reorder_make(engine, &c->weights, &to->weights, &to->bring_weights) &&
         peer_reorder_make(engine, &to->result, &c->result, &to->take_result) &&
         peer_reorder_run(&to->bring_weights, c->stream) && peer_ok(dnnl_stream_wait(c->stream));
}

static bool run(const peer_convolution *c, const way *w) {
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, w->source.memory}, {DNNL_ARG_WEIGHTS, w->weights.memory}, {DNNL_ARG_DST, w->result.memory}};
  return (c->form.is_constant || peer_reorder_run(&w->bring_weights, c->stream)) &&
         peer_reorder_run(&w->bring_source, c->stream) &&
         peer_ok(dnnl_primitive_execute(w->primitive, c->stream, 3, arguments)) &&
         peer_reorder_run(&w->take_result, c->stream) && peer_ok(dnnl_stream_wait(c->stream));
}

// Seconds of the fastest of a few runs; negative: it fails.
static double trial(const peer_convolution *c, const way *w) {
  enum { RUNS = 5 };
  double best = -1;
  for (int k = 0; k < RUNS; k++) {
    const double start = log_cpu_seconds();
    if (!run(c, w)) return -1;
    const double seconds = log_cpu_seconds() - start;
    if (k == 0 || seconds < best) best = seconds;
  }
  return best;
}

peer_convolution *peer_convolution_make(dnnl_engine_t engine, dnnl_stream_t stream, const peer_convolution_form *form) {
  peer_convolution *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  const geometry g = geometry_of(form);
  double best = -1;
  *c = (peer_convolution){.form = *form, .stream = stream};
  const bool is_there = describe_arrays(c, &g) && peer_array_make(engine, &c->source) &&
                        peer_array_make(engine, &c->weights) && peer_array_make(engine, &c->result);
  for (int k = 0; is_there && k < WAYS; k++) {
    const double seconds = make_way(engine, c, &g, k, &c->ways[k]) ? trial(c, &c->ways[k]) : -1;
    if (seconds < 0 || (best >= 0 && seconds >= best)) continue;
    best = seconds;
    c->best = k;
  }
  if (best >= 0) return c;
  free(c);
  return NULL;
}

const char *peer_convolution_name(const peer_convolution *c) {
  const char *name = "";
  (void)dnnl_primitive_desc_query(c->ways[c->best].desc, dnnl_query_impl_info_str, 0, (void *)&name);
  return name;
}

bool peer_convolution_reorders(const peer_convolution *c) {
  return c->ways[c->best].bring_source.primitive || c->ways[c->best].take_result.primitive;
}

bool peer_convolution_run(const peer_convolution *c) { return run(c, &c->ways[c->best]); }
