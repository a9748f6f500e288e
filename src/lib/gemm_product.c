// Multiplies one tile of a matrix product on one thread, and chooses the routine for it.
//
// A tile of f32 is multiplied by oneDNN's sgemm, which on one thread beats OpenBLAS for tiles of every shape, most of
// all for single rows. Other floating types are multiplied by OpenBLAS. Integers of 8 bits are multiplied by packed dot
// products (gemm_packed.h), wider ones by gemm_integers.h, since no library multiplies modulo 2^n. Plain loops take
// tiny tiles, because they are done before a library has looked at its arguments, and routines of our own take small
// and thin tiles of f32, because they are done before a library has packed its operands (gemm_small.h, gemm_near.h).
#include "lib/gemm_product.h"

#include <cblas.h>
#include <dnnl.h>

#include "lib/external.h"
#include "lib/gemm_integers.h"
#include "lib/gemm_packed.h"
#include "lib/gemm_small.h"

enum { TINY = 256 };  // multiplications

// Sizes are copied, since the compiler cannot know that they are no sums.
static void plain_f32(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                      const gemm_sums *sums) {
  const int64_t rows = size[0], columns = size[1], depth = size[2];
  const float *l = lhs->data, *r = rhs->data;
  const int64_t l_row = lhs->is_transposed ? 1 : lhs->leading, l_depth = lhs->is_transposed ? lhs->leading : 1;
  const int64_t r_depth = rhs->is_transposed ? 1 : rhs->leading, r_column = rhs->is_transposed ? rhs->leading : 1;
  const int64_t leading = sums->leading;
  const bool adds = sums->adds;
  float *const first = sums->data;
  for (int64_t m = 0; m < rows; m++) {
    float *s = first + m * leading;
    for (int64_t n = 0; n < columns && !adds; n++) s[n] = 0;
    for (int64_t k = 0; k < depth; k++) {
      const float x = l[m * l_row + k * l_depth], *row = r + k * r_depth;
      if (r_column == 1)
        for (int64_t n = 0; n < columns; n++) s[n] += x * row[n];
      else
        for (int64_t n = 0; n < columns; n++) s[n] += x * row[n * r_column];
    }
  }
}

heddle_status gemm_product_need(work_type w, double multiplications) {
  if (w == WORK_F32 && multiplications > TINY) return external_need(EXTERNAL_ONEDNN);
  return w == WORK_F64 || w == WORK_C64 || w == WORK_C128 ? external_need(EXTERNAL_OPENBLAS) : status_ok();
}

static CBLAS_TRANSPOSE transpose_of(const gemm_matrix *m) { return m->is_transposed ? CblasTrans : CblasNoTrans; }

static bool sgemm(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs, const gemm_sums *sums) {
  const char transpose[] = "NT";
  const gemm_small_fn small = gemm_small_product(size, lhs, rhs);
  if (small) {
    small(size, lhs, rhs, sums);
    return true;
  }
  return EXTERNAL(dnnl_sgemm)(transpose[lhs->is_transposed], transpose[rhs->is_transposed], size[0], size[1], size[2],
                              1, lhs->data, lhs->leading, rhs->data, rhs->leading, sums->adds ? 1 : 0, sums->data,
                              sums->leading) == dnnl_success;
}

bool gemm_product(work_type w, const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                  const gemm_sums *sums) {
  const blasint m = (blasint)size[0], n = (blasint)size[1], k = (blasint)size[2];
  const blasint lda = (blasint)lhs->leading, ldb = (blasint)rhs->leading, ldc = (blasint)sums->leading;
  const CBLAS_TRANSPOSE ta = transpose_of(lhs), tb = transpose_of(rhs);
  const float one_c64[2] = {1, 0}, more_c64[2] = {sums->adds ? 1 : 0, 0};
  const double one_c128[2] = {1, 0}, more_c128[2] = {sums->adds ? 1 : 0, 0};
  switch (w) {
    case WORK_F32:
      if (size[0] * size[1] * size[2] > TINY) return sgemm(size, lhs, rhs, sums);
      plain_f32(size, lhs, rhs, sums);
      break;
    case WORK_F64:
      EXTERNAL(cblas_dgemm)(CblasRowMajor, ta, tb, m, n, k, 1, lhs->data, lda, rhs->data, ldb, sums->adds ? 1 : 0,
                            sums->data, ldc);
      break;
    case WORK_C64:
      EXTERNAL(cblas_cgemm)(CblasRowMajor, ta, tb, m, n, k, one_c64, lhs->data, lda, rhs->data, ldb, more_c64,
                            sums->data, ldc);
      break;
    case WORK_C128:
      EXTERNAL(cblas_zgemm)(CblasRowMajor, ta, tb, m, n, k, one_c128, lhs->data, lda, rhs->data, ldb, more_c128,
                            sums->data, ldc);
      break;
    case WORK_U32:
    case WORK_U64: gemm_integers(w, size, lhs, rhs, sums); break;
    case WORK_S16: gemm_packed_product()(size, lhs->data, rhs->data, sums); break;
    case WORK_TYPE_COUNT: return false;
  }
  return true;
}
