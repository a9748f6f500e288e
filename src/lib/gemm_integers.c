// A panel of the right side's columns, as wide as two vectors, is brought into a dense block that stays in the nearest
// cache, a part of the depth at a time; a few rows' sums of it are kept in registers while that part is walked.
#include "lib/gemm_integers.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"

enum {
  VECTOR_BYTES = 32,  // without AVX two registers
  ROWS = 4,           // of a block of sums
  DEPTH = 256         // of a panel
};

typedef struct product {
  int64_t rows, columns, depth;
  const void *lhs, *rhs;
  int64_t lhs_row, lhs_depth, rhs_depth, rhs_column;
  void *sums;
  int64_t leading;
  bool adds;
} product;

// `count` rows, a constant of each caller, of a panel whose first `width` columns there are.
#define INTEGERS(name, type, target)                                                                                   \
  typedef type name##_lanes __attribute__((vector_size(VECTOR_BYTES), may_alias));                                     \
  enum { name##_LANES = VECTOR_BYTES / sizeof(type), name##_PANEL = 2 * name##_LANES };                                \
  target static inline                                                                                                 \
      __attribute__((always_inline)) void name##_rows(int count, const product *p, int64_t depth, const type *lhs,     \
                                                      const type *panel, bool adds, int64_t width, type *sums) {       \
    name##_lanes low[ROWS], high[ROWS];                                                                                \
    type row[name##_PANEL];                                                                                            \
    const size_t bytes = (size_t)width * sizeof(type);                                                                 \
    const int64_t lhs_row = p->lhs_row, lhs_depth = p->lhs_depth;                                                      \
    for (int r = 0; r < count; r++) {                                                                                  \
      memset(row, 0, sizeof row);                                                                                      \
      if (adds) memcpy(row, sums + r * p->leading, bytes);                                                             \
      memcpy(&low[r], row, VECTOR_BYTES);                                                                              \
      memcpy(&high[r], row + name##_LANES, VECTOR_BYTES);                                                              \
    }                                                                                                                  \
    for (int64_t k = 0; k < depth; k++) {                                                                              \
      const name##_lanes *columns = (const name##_lanes *)(const void *)(panel + k * name##_PANEL);                    \
      _Pragma("GCC unroll 4") for (int r = 0; r < count; r++) {                                                        \
        const type x = lhs[r * lhs_row + k * lhs_depth];                                                               \
        low[r] += x * columns[0];                                                                                      \
        high[r] += x * columns[1];                                                                                     \
      }                                                                                                                \
    }                                                                                                                  \
    for (int r = 0; r < count; r++) {                                                                                  \
      memcpy(row, &low[r], VECTOR_BYTES);                                                                              \
      memcpy(row + name##_LANES, &high[r], VECTOR_BYTES);                                                              \
      memcpy(sums + r * p->leading, row, bytes);                                                                       \
    }                                                                                                                  \
  }                                                                                                                    \
  target static void name##_panel(const product *p, int64_t from, int64_t depth, const type *panel, int64_t column,    \
                                  int64_t width) {                                                                     \
    const bool adds = p->adds || from > 0;                                                                             \
    for (int64_t r = 0; r < p->rows; r += ROWS) {                                                                      \
      const type *lhs = (const type *)p->lhs + r * p->lhs_row + from * p->lhs_depth;                                   \
      type *sums = (type *)p->sums + r * p->leading + column;                                                          \
      switch (int64_min(ROWS, p->rows - r)) {                                                                          \
        case 1: name##_rows(1, p, depth, lhs, panel, adds, width, sums); break;                                        \
        case 2: name##_rows(2, p, depth, lhs, panel, adds, width, sums); break;                                        \
        case 3: name##_rows(3, p, depth, lhs, panel, adds, width, sums); break;                                        \
        default: name##_rows(ROWS, p, depth, lhs, panel, adds, width, sums);                                           \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name##_pack(const product *p, int64_t from, int64_t depth, int64_t column, int64_t width, type *panel) { \
    const type *rhs = (const type *)p->rhs + from * p->rhs_depth + column * p->rhs_column;                             \
    if (width < name##_PANEL) memset(panel, 0, (size_t)depth *name##_PANEL * sizeof(type));                            \
    if (p->rhs_column == 1)                                                                                            \
      for (int64_t k = 0; k < depth; k++)                                                                              \
        memcpy(panel + k * name##_PANEL, rhs + k * p->rhs_depth, (size_t)width * sizeof(type));                        \
    else                                                                                                               \
      for (int64_t k = 0; k < depth; k++)                                                                              \
        for (int64_t c = 0; c < width; c++) panel[k * name##_PANEL + c] = rhs[k * p->rhs_depth + c * p->rhs_column];   \
  }                                                                                                                    \
  target static void name(const product *p) {                                                                          \
    _Alignas(64) type panel[DEPTH * name##_PANEL];                                                                     \
    for (int64_t column = 0; column < p->columns; column += name##_PANEL)                                              \
      for (int64_t from = 0; from == 0 || from < p->depth; from += DEPTH) {                                            \
        const int64_t depth = int64_min(DEPTH, p->depth - from);                                                       \
        const int64_t width = int64_min(name##_PANEL, p->columns - column);                                            \
        name##_pack(p, from, depth, column, width, panel);                                                             \
        name##_panel(p, from, depth, panel, column, width);                                                            \
      }                                                                                                                \
  }

INTEGERS(plain_u32, uint32_t, )
INTEGERS(plain_u64, uint64_t, )

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
INTEGERS(avx2_u32, uint32_t, AVX2)
INTEGERS(avx2_u64, uint64_t, AVX2)

static void multiply(work_type w, const product *p) {
  if (cpu_level_has_avx2()) (w == WORK_U32 ? avx2_u32 : avx2_u64)(p);
  else (w == WORK_U32 ? plain_u32 : plain_u64)(p);
}
#else
static void multiply(work_type w, const product *p) { (w == WORK_U32 ? plain_u32 : plain_u64)(p); }
#endif

void gemm_integers(work_type w, const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                   const gemm_sums *sums) {
  const product p = {.rows = size[0],
                     .columns = size[1],
                     .depth = size[2],
                     .lhs = lhs->data,
                     .rhs = rhs->data,
                     .lhs_row = lhs->is_transposed ? 1 : lhs->leading,
                     .lhs_depth = lhs->is_transposed ? lhs->leading : 1,
                     .rhs_depth = rhs->is_transposed ? 1 : rhs->leading,
                     .rhs_column = rhs->is_transposed ? rhs->leading : 1,
                     .sums = sums->data,
                     .leading = sums->leading,
                     .adds = sums->adds};
  multiply(w, &p);
}
