// Generates random operations that libraries execute: Fourier transforms, and Cholesky factors of matrices that have
// one.
#include "tools/smith_pool.h"

static bool has_dtype(const smith *s, dtype t) { return (s->options.dtypes >> t) & 1; }

static instruction *transform(smith *s, instruction *x, fft_type type, dtype result, int count, int64_t last) {
  const int rank = x->shape->rank;
  int64_t *lengths = arena_array(s->arena, int64_t, count), dims[SMITH_MAX_RANK];
  for (int k = 0; k < rank; k++) dims[k] = x->shape->dims[k];
  for (int k = 0; k < count; k++) lengths[k] = dims[rank - count + k];
  lengths[count - 1] = last;
  dims[rank - 1] = type == FFT_RFFT ? last / 2 + 1 : last;
  instruction *i = builder_add(&s->b, HLO_FFT, shape_array(s->arena, result, rank, dims), 1, &x);
  i->attributes->fft_type = type;
  i->attributes->fft_length = (int_list){lengths, count};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_FFT_TYPE);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_FFT_LENGTH);
  return i;
}

// Of real numbers, whose transform has half a line, or of complex ones, which may be such a half.
instruction *smith_fft(smith *s) {
  enum { MOST_DIMS = 3 };
  const bool is_real = smith_chance(s, 30);
  instruction *x = smith_any_ranked(s, is_real ? CLASS_FLOAT : CLASS_COMPLEX, 1);
  if (!x || shape_element_count(x->shape) == 0) return NULL;
  const dtype t = x->shape->dtype, part = is_real ? t : dtypes[t].part,
              whole = part == DTYPE_F64 ? DTYPE_C128 : DTYPE_C64;
  if ((part != DTYPE_F32 && part != DTYPE_F64) || !has_dtype(s, part) || !has_dtype(s, whole)) return NULL;
  const int rank = x->shape->rank, count = (int)smith_between(s, 1, rank < MOST_DIMS ? rank : MOST_DIMS);
  const int64_t last = x->shape->dims[rank - 1];
  if (is_real) return transform(s, x, FFT_RFFT, whole, count, last);
  if (last > 1 && smith_chance(s, 30))
    return transform(s, x, FFT_IRFFT, part, count, 2 * (last - 1) + smith_below(s, 2));
  return transform(s, x, smith_chance(s, 50) ? FFT_FFT : FFT_IFFT, t, count, last);
}

// m m^T and more on the diagonal.
instruction *smith_cholesky(smith *s) {
  const dtype t = smith_chance(s, 50) ? DTYPE_F32 : DTYPE_F64;
  const int64_t n = smith_between(s, 1, 5), dims[2] = {n, n};
  if (!has_dtype(s, t) || !smith_fits(s, 2, dims)) return NULL;
  instruction *m = smith_fresh(s, t, 2, dims);
  instruction *product = builder_add(&s->b, HLO_DOT, m->shape, 2, (instruction *[]){m, m});
  int64_t *second = arena_array(s->arena, int64_t, 1);
  second[0] = 1;
  product->attributes->lhs_contracting_dims = product->attributes->rhs_contracting_dims = (int_list){second, 1};
  instruction *row = builder_iota(&s->b, DTYPE_S32, 2, dims, 0), *column = builder_iota(&s->b, DTYPE_S32, 2, dims, 1);
  instruction *is_diagonal = builder_compare(&s->b, row, column, COMPARE_EQ);
  instruction *more = builder_select(&s->b, is_diagonal, builder_like(&s->b, m, 64), builder_like(&s->b, m, 0));
  instruction *sum = builder_binary(&s->b, HLO_ADD, builder_infer(&s->b, product), more);
  instruction *i = builder_add(&s->b, HLO_CHOLESKY, m->shape, 1, &sum);
  i->attributes->lower = smith_chance(s, 50);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_LOWER);
  return i;
}
