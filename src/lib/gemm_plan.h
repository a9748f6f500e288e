// What the making of a product's plan and its execution ask of it alike. Internal to gemm.
#ifndef HEDDLE_LIB_GEMM_PLAN_H_
#define HEDDLE_LIB_GEMM_PLAN_H_

#include "base/int64.h"
#include "lib/gemm.h"

// What tiles are multiplied to.
static inline work_type gemm_plan_products(const gemm_plan *p) { return p->work == WORK_S16 ? WORK_U32 : p->work; }

// Of what is streamed, by whole tiles of rows.
static inline void gemm_plan_size(const gemm_plan *p, int64_t rows, int64_t size[static 3]) {
  size[0] = rows;
  size[1] = p->columns;
  size[2] = p->depth;
}

static inline int64_t gemm_plan_tiles(const gemm_plan *p) {
  return p->batch * int64_ceil_div(p->rows, p->tile_rows) * int64_ceil_div(p->columns, p->tile_columns);
}

#endif
