// The libraries themselves as peers: one product or one convolution under measurement, with nothing of a compiler
// around it. A process that does what lines on standard input say, as bench_kernel does.
//
//   peer_library openblas|onednn product f32|bf16|s8 BATCH M N K
//   peer_library openblas|onednn convolution|planar f32 N H W C O WINDOW STRIDE GROUPS
//
//   compile      descriptions, primitive, weights in the form that the library wants:  compile SECONDS
//   run N        best of N runs:                                                       run SECONDS cpu=SECONDS
//
// The first line that it prints is `ready`, or `none` where the library has no such operation, or only one that it
// calls a reference. Products give f32 (of integers s32), from row-major arrays. Images lie as [N, H, W, C], planar
// ones as [N, C, H, W], and a convolution's result is as large as its input, divided by the stride. Threads:
// OMP_NUM_THREADS.
#include <cblas.h>
#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

enum { PRODUCT_SIZES = 4, CONVOLUTION_SIZES = 8, ALIGNMENT = 64 };

// One array of the operation, as oneDNN describes it.
typedef struct array {
  dnnl_memory_desc_t desc;
  dnnl_memory_t memory;
  void *data;
} array;

typedef struct peer {
  bool is_openblas, is_product, is_planar;
  dnnl_data_type_t type;
  int64_t sizes[CONVOLUTION_SIZES];
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  array source, given, weights, result;  // `given` are the weights as they lie
} peer;

static bool ok(dnnl_status_t s) { return s == dnnl_success; }

static dnnl_data_type_t result_type(const peer *p) { return p->type == dnnl_s8 ? dnnl_s32 : dnnl_f32; }

// --- arrays

// Small numbers, none of them zero or subnormal.
static void fill(void *data, dnnl_data_type_t type, size_t bytes) {
  static const uint16_t bf16[] = {0x3f80, 0xbf00, 0x3e80, 0x3fc0};
  static const float f32[] = {1, -0.5F, 0.25F, 1.5F};
  static const int8_t s8[] = {1, -2, 3, 4};
  for (size_t k = 0; type == dnnl_f32 && k < bytes / sizeof *f32; k++) ((float *)data)[k] = f32[k * 7 / 3 % 4];
  for (size_t k = 0; type == dnnl_bf16 && k < bytes / sizeof *bf16; k++) ((uint16_t *)data)[k] = bf16[k * 7 / 3 % 4];
  for (size_t k = 0; type == dnnl_s8 && k < bytes; k++) ((int8_t *)data)[k] = s8[k * 7 / 3 % 4];
}

static bool make(const peer *p, array *a, dnnl_data_type_t type) {
  const size_t bytes = dnnl_memory_desc_get_size(&a->desc);
  a->data = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
  if (!a->data) return false;
  fill(a->data, type, bytes);
  return ok(dnnl_memory_create(&a->memory, &a->desc, p->engine, a->data));
}

// --- the operation in oneDNN's words

static bool is_reference(const peer *p) {
  const char *name = NULL;
  const bool found = ok(dnnl_primitive_desc_query(p->desc, dnnl_query_impl_info_str, 0, (void *)&name));
  return !found || !name || strncmp(name, "ref", 3) == 0;
}

static bool describe_product(peer *p) {
  const int64_t *s = p->sizes;
  const dnnl_dims_t left = {s[0], s[1], s[3]}, right = {s[0], s[3], s[2]}, out = {s[0], s[1], s[2]};
  dnnl_memory_desc_t any;
  dnnl_matmul_desc_t d;
  return ok(dnnl_memory_desc_init_by_tag(&p->source.desc, 3, left, p->type, dnnl_abc)) &&
         ok(dnnl_memory_desc_init_by_tag(&p->given.desc, 3, right, p->type, dnnl_abc)) &&
         ok(dnnl_memory_desc_init_by_tag(&any, 3, right, p->type, dnnl_format_tag_any)) &&
         ok(dnnl_memory_desc_init_by_tag(&p->result.desc, 3, out, result_type(p), dnnl_abc)) &&
         ok(dnnl_matmul_desc_init(&d, &p->source.desc, &any, NULL, &p->result.desc)) &&
         ok(dnnl_primitive_desc_create(&p->desc, &d, NULL, p->engine, NULL));
}

static bool describe_convolution(peer *p) {
  const int64_t *s = p->sizes, c = s[3], o = s[4], window = s[5], stride = s[6], groups = s[7];
  const int64_t out_h = (s[1] + stride - 1) / stride, out_w = (s[2] + stride - 1) / stride;
  const int64_t all_h = (out_h - 1) * stride + window - s[1], all_w = (out_w - 1) * stride + window - s[2];
  const int64_t more_h = all_h > 0 ? all_h : 0, more_w = all_w > 0 ? all_w : 0;
  const dnnl_dims_t image = {s[0], c, s[1], s[2]}, out = {s[0], o, out_h, out_w}, strides = {stride, stride};
  const dnnl_dims_t low = {more_h / 2, more_w / 2}, high = {all_h - more_h / 2, all_w - more_w / 2};
  const dnnl_dims_t weights = {groups, o / groups, c / groups, window, window};
  // [H, W, in of a group, out], or planar [out, in of a group, H, W]
  const int64_t area = window * window, inputs = c / groups;
  const dnnl_dims_t minor_out = {o / groups, 1, o, window * inputs * o, inputs * o},
                    minor_w = {o / groups * inputs * area, inputs * area, area, window, 1};
  const int64_t *lie = p->is_planar ? minor_w : minor_out;
  const dnnl_format_tag_t layout = p->is_planar ? dnnl_nchw : dnnl_nhwc;
  const int first = groups > 1 ? 0 : 1;
  dnnl_memory_desc_t any;
  dnnl_convolution_desc_t d;
  return ok(dnnl_memory_desc_init_by_tag(&p->source.desc, 4, image, p->type, layout)) &&
         ok(dnnl_memory_desc_init_by_strides(&p->given.desc, 5 - first, weights + first, p->type, lie + first)) &&
         ok(dnnl_memory_desc_init_by_tag(&any, 5 - first, weights + first, p->type, dnnl_format_tag_any)) &&
         ok(dnnl_memory_desc_init_by_tag(&p->result.desc, 4, out, result_type(p), layout)) &&
         ok(dnnl_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct, &p->source.desc,
                                               &any, NULL, &p->result.desc, strides, low, high)) &&
         ok(dnnl_primitive_desc_create(&p->desc, &d, NULL, p->engine, NULL));
}

// Makes the arrays, too: what stays the same from one compilation to the next.
static bool prepare(peer *p) {
  if (!ok(dnnl_engine_create(&p->engine, dnnl_cpu, 0)) ||
      !ok(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags)))
    return false;
  const bool is_described = p->is_product ? describe_product(p) : describe_convolution(p);
  if (p->is_openblas) {
    if (!p->is_product || p->type != dnnl_f32) return false;
  } else if (!is_described || is_reference(p)) {
    return false;
  }
  p->weights.desc = p->is_openblas ? p->given.desc : *dnnl_primitive_desc_query_md(p->desc, dnnl_query_weights_md, 0);
  return make(p, &p->source, p->type) && make(p, &p->given, p->type) && make(p, &p->weights, p->type) &&
         make(p, &p->result, result_type(p));
}

// --- lines

static bool pack(peer *p) {
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, p->given.memory}, {DNNL_ARG_TO, p->weights.memory}};
  dnnl_primitive_desc_t desc = NULL;
  dnnl_primitive_t reorder = NULL;
  const bool all =
      ok(dnnl_reorder_primitive_desc_create(&desc, &p->given.desc, p->engine, &p->weights.desc, p->engine, NULL)) &&
      ok(dnnl_primitive_create(&reorder, desc)) && ok(dnnl_primitive_execute(reorder, p->stream, 2, arguments)) &&
      ok(dnnl_stream_wait(p->stream));
  return (!reorder || ok(dnnl_primitive_destroy(reorder))) && (!desc || ok(dnnl_primitive_desc_destroy(desc))) && all;
}

static bool compile(peer *p) {
  const double start = log_seconds();
  if (!p->is_openblas) {
    if (p->primitive && !ok(dnnl_primitive_destroy(p->primitive))) return false;
    if (!ok(dnnl_primitive_create(&p->primitive, p->desc)) || !pack(p)) return false;
  }
  printf("compile %.9f\n", log_seconds() - start);
  return true;
}

static void multiply(const peer *p) {
  const int64_t m = p->sizes[1], n = p->sizes[2], k = p->sizes[3];
  const float *left = p->source.data, *right = p->weights.data;
  for (int64_t b = 0; b < p->sizes[0]; b++)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, left + b * m * k, (int)k,
                right + b * k * n, (int)n, 0, (float *)p->result.data + b * m * n, (int)n);
}

static bool execute(peer *p) {
  if (p->is_openblas) {
    multiply(p);
    return true;
  }
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, p->source.memory}, {DNNL_ARG_WEIGHTS, p->weights.memory}, {DNNL_ARG_DST, p->result.memory}};
  return ok(dnnl_primitive_execute(p->primitive, p->stream, 3, arguments)) && ok(dnnl_stream_wait(p->stream));
}

static bool measure(peer *p, int runs) {
  double best = 0, least = 0;
  for (int i = 0; i < runs; i++) {
    const double start = log_seconds(), busy = log_cpu_seconds();
    if (!execute(p)) return false;
    const double seconds = log_seconds() - start, cpu_seconds = log_cpu_seconds() - busy;
    if (i == 0 || seconds < best) best = seconds;
    if (i == 0 || cpu_seconds < least) least = cpu_seconds;
  }
  printf("run %.9f cpu=%.9f\n", best, least);
  return true;
}

static bool obey(peer *p, const char *line) {
  if (strcmp(line, "compile\n") == 0) return compile(p);
  return strncmp(line, "run ", 4) == 0 && measure(p, atoi(line + 4));
}

static bool read_type(const char *name, dnnl_data_type_t *out) {
  static const char *const names[] = {"f32", "bf16", "s8"};
  static const dnnl_data_type_t types[] = {dnnl_f32, dnnl_bf16, dnnl_s8};
  for (int k = 0; k < 3; k++) {
    if (strcmp(name, names[k]) != 0) continue;
    *out = types[k];
    return true;
  }
  return false;
}

static bool read_arguments(peer *p, int count, char **words) {
  if (count < 4 || !read_type(words[3], &p->type)) return false;
  p->is_openblas = strcmp(words[1], "openblas") == 0;
  p->is_product = strcmp(words[2], "product") == 0;
  p->is_planar = strcmp(words[2], "planar") == 0;
  if (!p->is_openblas && strcmp(words[1], "onednn") != 0) return false;
  if (!p->is_product && !p->is_planar && strcmp(words[2], "convolution") != 0) return false;
  if (!p->is_product && p->type != dnnl_f32) return false;
  if (count != 4 + (p->is_product ? PRODUCT_SIZES : CONVOLUTION_SIZES)) return false;
  for (int k = 4; k < count; k++) {
    p->sizes[k - 4] = strtoll(words[k], NULL, 10);
    if (p->sizes[k - 4] <= 0 || p->sizes[k - 4] > INT32_MAX) return false;
  }
  return true;
}

int main(int argc, char **argv) {
  peer p = {0};
  char line[64];
  if (!read_arguments(&p, argc, argv)) {
    fprintf(stderr,
            "usage: peer_library openblas|onednn product f32|bf16|s8 BATCH M N K\n"
            "       peer_library openblas|onednn convolution|planar f32 N H W C O WINDOW STRIDE GROUPS\n");
    return 2;
  }
  const bool is_there = prepare(&p);
  puts(is_there ? "ready" : "none");
  fflush(stdout);
  while (is_there && fgets(line, sizeof line, stdin)) {
    if (!obey(&p, line)) return 1;
    fflush(stdout);
  }
  return 0;
}
