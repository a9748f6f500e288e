// A tile has so few rows and columns that both of its sides stay in a second-level cache beside oneDNN's packed copy of
// the right one. oneDNN keeps the code that it has made for a shape, so that a primitive is made again in some 20 us.
#include "lib/gemm_bytes.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "base/target.h"
#include "lib/onednn.h"

enum {
  TILE = 256,
  LEAST_TILE = 64,
  SIDE_BYTES = 1 << 19,
  BLOCK = 64,  // of bytes that are turned
  AMX = dnnl_cpu_isa_avx512_core_amx
};

bool gemm_bytes_takes(const int64_t size[static 3]) {
  for (int d = 0; d < 3; d++)
    if (size[d] < TARGET_LEAST_MATRIX || size[d] > INT32_MAX) return false;
  if ((double)size[0] * (double)size[1] * (double)size[2] < TARGET_LEAST_MATRIX_WORK) return false;
  if (cpu_level_now() != CPU_LEVEL_NATIVE || !cpu_level_has_avx512()) return false;
  heddle_status s = external_need(EXTERNAL_ONEDNN);
  const bool is_there = status_is_ok(s);
  heddle_status_free(s);
  return is_there && (EXTERNAL(dnnl_get_effective_cpu_isa)() & AMX) == AMX;
}

void gemm_bytes_tile(const int64_t size[static 3], int64_t tile[static 2]) {
  const int64_t deep = int64_max(LEAST_TILE, SIDE_BYTES / size[2] / LEAST_TILE * LEAST_TILE);
  for (int d = 0; d < 2; d++) tile[d] = int64_min(size[d], int64_min(TILE, deep));
}

typedef struct room {
  int64_t lhs, rhs, sums, all;  // offsets, and the size
} room;

static room room_of(int64_t rows, int64_t columns, int64_t depth) {
  room r = {0};
  r.rhs = onednn_aligned(rows * depth);
  r.sums = r.rhs + onednn_aligned(columns * depth);
  r.all = r.sums + onednn_aligned(rows * columns * (int64_t)sizeof(int32_t));
  return r;
}

int64_t gemm_bytes_room(int64_t rows, int64_t columns, int64_t depth) { return room_of(rows, columns, depth).all; }

static void copy_rows(int64_t rows, int64_t bytes, const char *from, int64_t from_leading, char *to,
                      int64_t to_leading) {
  for (int64_t r = 0; r < rows; r++) memcpy(to + r * to_leading, from + r * from_leading, (size_t)bytes);
}

// to[r, c] = from[c, r]
static void turn_bytes(int64_t rows, int64_t columns, const char *from, int64_t leading, char *to) {
  for (int64_t r = 0; r < rows; r += BLOCK)
    for (int64_t c = 0; c < columns; c += BLOCK)
      for (int64_t k = r; k < int64_min(rows, r + BLOCK); k++)
        for (int64_t j = c; j < int64_min(columns, c + BLOCK); j++) to[k * columns + j] = from[j * leading + k];
}

// A side whose rows, as they lie, follow one another: itself or a copy.
static const char *dense(const gemm_matrix *m, int64_t rows, int64_t columns, char *room) {
  const bool turned = m->is_transposed;
  const int64_t lines = turned ? columns : rows, line = turned ? rows : columns;
  if (m->leading == line) return m->data;
  copy_rows(lines, line, m->data, m->leading, room, line);
  return room;
}

typedef struct product {
  onednn_engine engine;
  dnnl_memory_desc_t lhs, rhs, sums;
  onednn_primitive primitive;
} product;

static bool make(product *p, const int64_t size[static 3], bool turns_rhs) {
  const int64_t rows = size[0], columns = size[1], depth = size[2];
  const dnnl_dims_t lhs = {rows, depth}, rhs = {depth, columns}, sums = {rows, columns};
  const dnnl_format_tag_t right = turns_rhs ? dnnl_ba : dnnl_ab;
  dnnl_matmul_desc_t d;
  return onednn_engine_open(&p->engine) &&
         onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_tag)(&p->lhs, 2, lhs, dnnl_s8, dnnl_ab)) &&
         onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_tag)(&p->rhs, 2, rhs, dnnl_s8, right)) &&
         onednn_ok(EXTERNAL(dnnl_memory_desc_init_by_tag)(&p->sums, 2, sums, dnnl_s32, dnnl_ab)) &&
         onednn_ok(EXTERNAL(dnnl_matmul_desc_init)(&d, &p->lhs, &p->rhs, NULL, &p->sums)) &&
         onednn_primitive_make(&p->engine, &d, &p->primitive);
}

static bool multiply(product *p, const char *lhs, const char *rhs, void *sums) {
  onednn_arguments x = {.engine = &p->engine};
  onednn_arguments_add(&x, DNNL_ARG_SRC, &p->lhs, lhs);
  onednn_arguments_add(&x, DNNL_ARG_WEIGHTS, &p->rhs, rhs);
  onednn_arguments_add(&x, DNNL_ARG_DST, &p->sums, sums);
  return onednn_arguments_run(&x, &p->primitive);
}

bool gemm_bytes_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                        const gemm_sums *sums, void *scratch) {
  const int64_t rows = size[0], columns = size[1], depth = size[2];
  const room r = room_of(rows, columns, depth);
  char *own = scratch;
  const bool is_there = sums->leading == columns;
  const char *left = own + r.lhs, *right = dense(rhs, depth, columns, own + r.rhs);
  if (lhs->is_transposed) turn_bytes(rows, depth, lhs->data, lhs->leading, own + r.lhs);
  else left = dense(lhs, rows, depth, own + r.lhs);
  product p = {0};
  const bool is_done =
      make(&p, size, rhs->is_transposed) && multiply(&p, left, right, is_there ? sums->data : own + r.sums);
  onednn_primitive_destroy(&p.primitive);
  onednn_engine_close(&p.engine);
  const int64_t bytes = sizeof(int32_t);
  if (is_done && !is_there)
    copy_rows(rows, columns * bytes, own + r.sums, columns * bytes, sums->data, sums->leading * bytes);
  return is_done;
}
