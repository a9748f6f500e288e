// The libraries themselves as peers: one product or one convolution under measurement, with nothing of a compiler
// around it. A process that does what lines on standard input say, as bench_kernel does.
//
//   peer_library openblas|onednn product f32|bf16|s8 BATCH M N K [NN|NT|TN|TT [given]]
//   peer_library onednn last|first constant|parameter f32|bf16 N H W C O WINDOW_H WINDOW_W STRIDE DILATION GROUPS
//
//   compile      descriptions, primitive, weights in the form that the library wants:  compile SECONDS
//   run N [M]    best of N runs, or of N times M in a row, divided by M:               run SECONDS cpu=SECONDS
//
// The first line that it prints is `ready`, or `none` where the library has no such operation, or only one that it
// calls a reference. Products give f32 (of integers s32), from row-major arrays, of which T says that one lies the
// other way round, and have their right sides packed beforehand, unless oneDNN is to take them as they are `given`. A
// convolution's features come last, [N, H, W, C], or first, [N, C, H, W]; behind `ready` stand oneDNN's implementation
// and what is reordered in every run (bench/peer_convolution.h). Threads: OMP_NUM_THREADS.
#include <cblas.h>
#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "peer_array.h"
#include "peer_convolution.h"

enum { PRODUCT_SIZES = 4, CONVOLUTION_SIZES = 10 };

typedef struct peer {
  bool is_openblas, is_product;
  bool transpose[2], is_given;  // of products
  dnnl_data_type_t type;
  int64_t sizes[CONVOLUTION_SIZES];
  peer_convolution_form form;
  peer_convolution *convolution;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;
  peer_array source, given, weights, result;  // `given` is the right side as it lies
} peer;

static dnnl_data_type_t result_type(const peer *p) { return p->type == dnnl_s8 ? dnnl_s32 : dnnl_f32; }

// --- the operation in oneDNN's words

static bool describe_product(peer *p) {
  const int64_t *s = p->sizes;
  const dnnl_format_tag_t lie[] = {p->transpose[0] ? dnnl_acb : dnnl_abc, p->transpose[1] ? dnnl_acb : dnnl_abc};
  const dnnl_dims_t left = {s[0], s[1], s[3]}, right = {s[0], s[3], s[2]}, out = {s[0], s[1], s[2]};
  dnnl_memory_desc_t any;
  dnnl_matmul_desc_t d;
  return peer_ok(dnnl_memory_desc_init_by_tag(&p->source.desc, 3, left, p->type, lie[0])) &&
         peer_ok(dnnl_memory_desc_init_by_tag(&p->given.desc, 3, right, p->type, lie[1])) &&
         peer_ok(dnnl_memory_desc_init_by_tag(&any, 3, right, p->type, p->is_given ? lie[1] : dnnl_format_tag_any)) &&
         peer_ok(dnnl_memory_desc_init_by_tag(&p->result.desc, 3, out, result_type(p), dnnl_abc)) &&
         peer_ok(dnnl_matmul_desc_init(&d, &p->source.desc, &any, NULL, &p->result.desc)) &&
         peer_ok(dnnl_primitive_desc_create(&p->desc, &d, NULL, p->engine, NULL));
}

// Makes the arrays, too: what stays the same from one compilation to the next.
static bool prepare(peer *p) {
  if (!peer_ok(dnnl_engine_create(&p->engine, dnnl_cpu, 0)) ||
      !peer_ok(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags)))
    return false;
  if (!p->is_product) {
    p->convolution = p->is_openblas ? NULL : peer_convolution_make(p->engine, p->stream, &p->form);
    return p->convolution;
  }
  const bool is_described = describe_product(p);
  if (p->is_openblas ? p->type != dnnl_f32 : !is_described || !peer_is_fast(p->desc)) return false;
  p->weights.desc = p->is_openblas ? p->given.desc : *dnnl_primitive_desc_query_md(p->desc, dnnl_query_weights_md, 0);
  return peer_array_make(p->engine, &p->source) && peer_array_make(p->engine, &p->given) &&
         peer_array_make(p->engine, &p->weights) && peer_array_make(p->engine, &p->result);
}

// --- lines

static bool pack(peer *p) {
  peer_reorder r;
  const bool all = peer_reorder_make(p->engine, &p->given, &p->weights, &r) && peer_reorder_run(&r, p->stream) &&
                   peer_ok(dnnl_stream_wait(p->stream));
  return (!r.primitive || peer_ok(dnnl_primitive_destroy(r.primitive))) && all;
}

static bool compile(peer *p) {
  const double start = log_seconds();
  if (p->is_product && !p->is_openblas) {
    if (p->primitive && !peer_ok(dnnl_primitive_destroy(p->primitive))) return false;
    if (!peer_ok(dnnl_primitive_create(&p->primitive, p->desc)) || !pack(p)) return false;
  }
  printf("compile %.9f\n", log_seconds() - start);
  return true;
}

static void multiply(const peer *p) {
  const int64_t m = p->sizes[1], n = p->sizes[2], k = p->sizes[3];
  const float *left = p->source.data, *right = p->weights.data;
  const CBLAS_TRANSPOSE a = p->transpose[0] ? CblasTrans : CblasNoTrans,
                        b = p->transpose[1] ? CblasTrans : CblasNoTrans;
  const int lda = (int)(p->transpose[0] ? m : k), ldb = (int)(p->transpose[1] ? k : n);
  for (int64_t i = 0; i < p->sizes[0]; i++)
    cblas_sgemm(CblasRowMajor, a, b, (int)m, (int)n, (int)k, 1, left + i * m * k, lda, right + i * k * n, ldb, 0,
                (float *)p->result.data + i * m * n, (int)n);
}

static bool execute(peer *p) {
  if (p->convolution) return peer_convolution_run(p->convolution);
  if (p->is_openblas) {
    multiply(p);
    return true;
  }
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, p->source.memory}, {DNNL_ARG_WEIGHTS, p->weights.memory}, {DNNL_ARG_DST, p->result.memory}};
  return peer_ok(dnnl_primitive_execute(p->primitive, p->stream, 3, arguments)) && peer_ok(dnnl_stream_wait(p->stream));
}

static bool measure(peer *p, const char *counts) {
  char *rest = NULL;
  const long runs = strtol(counts, &rest, 10), wanted = strtol(rest, NULL, 10), repeats = wanted > 1 ? wanted : 1;
  double best = 0, least = 0;
  for (long i = 0; i < runs; i++) {
    const double start = log_seconds(), busy = log_cpu_seconds();
    for (long k = 0; k < repeats; k++)
      if (!execute(p)) return false;
    const double seconds = (log_seconds() - start) / (double)repeats,
                 cpu_seconds = (log_cpu_seconds() - busy) / (double)repeats;
    if (i == 0 || seconds < best) best = seconds;
    if (i == 0 || cpu_seconds < least) least = cpu_seconds;
  }
  printf("run %.9f cpu=%.9f\n", best, least);
  return true;
}

static bool obey(peer *p, const char *line) {
  if (strcmp(line, "compile\n") == 0) return compile(p);
  return strncmp(line, "run ", 4) == 0 && measure(p, line + 4);
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

static bool read_sizes(peer *p, int count, char **words) {
  for (int k = 0; k < count; k++) {
    p->sizes[k] = strtoll(words[k], NULL, 10);
    if (p->sizes[k] <= 0 || p->sizes[k] > INT32_MAX) return false;
  }
  return true;
}

// The words behind a product's sizes.
static bool read_form(peer *p, int count, char **words) {
  if (count == 0) return true;
  for (int k = 0; k < 2; k++) {
    if (strlen(words[0]) != 2 || (words[0][k] != 'N' && words[0][k] != 'T')) return false;
    p->transpose[k] = words[0][k] == 'T';
  }
  p->is_given = count == 2 && strcmp(words[1], "given") == 0;
  return count == 1 || p->is_given;
}

static bool read_arguments(peer *p, int count, char **words) {
  if (count < 4) return false;
  p->is_openblas = strcmp(words[1], "openblas") == 0;
  p->is_product = strcmp(words[2], "product") == 0;
  if (!p->is_openblas && strcmp(words[1], "onednn") != 0) return false;
  const int behind = count - 4 - PRODUCT_SIZES;
  if (p->is_product)
    return behind >= 0 && read_type(words[3], &p->type) && read_sizes(p, PRODUCT_SIZES, words + 4) &&
           read_form(p, behind, words + 4 + PRODUCT_SIZES);
  if (count != 5 + CONVOLUTION_SIZES || !read_type(words[4], &p->type) || p->type == dnnl_s8) return false;
  if (!read_sizes(p, CONVOLUTION_SIZES, words + 5)) return false;
  const int64_t *s = p->sizes;
  p->form = (peer_convolution_form){p->type,
                                    strcmp(words[3], "constant") == 0,
                                    strcmp(words[2], "first") == 0,
                                    s[0],
                                    s[1],
                                    s[2],
                                    s[3],
                                    s[4],
                                    s[5],
                                    s[6],
                                    s[7],
                                    s[8],
                                    s[9]};
  return (p->form.is_planar || strcmp(words[2], "last") == 0) &&
         (p->form.is_constant || strcmp(words[3], "parameter") == 0) && s[3] % s[9] == 0 && s[4] % s[9] == 0;
}

static void print_ready(const peer *p) {
  printf("ready");
  if (p->convolution)
    printf(" %s%s%s", peer_convolution_name(p->convolution), p->form.is_constant ? "" : "+weights",
           peer_convolution_reorders(p->convolution) ? "+images" : "");
  printf("\n");
}

int main(int argc, char **argv) {
  peer p = {0};
  char line[64];
  if (!read_arguments(&p, argc, argv)) {
    fprintf(stderr,
            "usage: peer_library openblas|onednn product f32|bf16|s8 BATCH M N K [NN|NT|TN|TT [given]]\n"
            "       peer_library onednn last|first constant|parameter f32|bf16 N H W C O WINDOW_H WINDOW_W STRIDE "
            "DILATION GROUPS\n");
    return 2;
  }
  const bool is_there = prepare(&p);
  if (is_there) print_ready(&p);
  else puts("none");
  fflush(stdout);
  while (is_there && fgets(line, sizeof line, stdin)) {
    if (!obey(&p, line)) return 1;
    fflush(stdout);
  }
  return 0;
}
