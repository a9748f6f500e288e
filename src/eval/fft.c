// fft: every transform is done as complex transforms of one dim after the other, in double, by FFTW. A real transform
// keeps the first half of the last dim; an inverse real one is given the second half, which is the first one mirrored.
#include <complex.h>
#include <fftw3.h>
#include <math.h>

#include "eval/compute.h"
#include "eval/interpreter.h"
#include "lib/external.h"
#include "lib/fft.h"

// `data` seen as [outer, size, inner]: transforms the middle dim in place.
static heddle_status transform_dim(const instruction *i, double complex *data, int64_t outer, int64_t size,
                                   int64_t inner, int sign) {
  if (size > INT32_MAX || inner > INT32_MAX || inner * size > INT32_MAX)
    return interpreter_refuse(i, "transforms of more than 2^31 elements");
  const int n = (int)size, stride = (int)inner, distance = inner == 1 ? n : 1;
  const int64_t many = inner == 1 ? outer : inner, step = inner == 1 ? 1 : outer;
  if (many > INT32_MAX) return interpreter_refuse(i, "more than 2^31 transforms");
  TRY(external_need(EXTERNAL_FFTW));
  fft_lock_planner();
  fftw_plan plan = EXTERNAL(fftw_plan_many_dft)(1, &n, (int)many, data, NULL, stride, distance, data, NULL, stride,
                                                distance, sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
  fft_unlock_planner();
  if (!plan) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no plan for a transform of %d elements", n);
  for (int64_t k = 0; k < step; k++) EXTERNAL(fftw_execute_dft)(plan, data + k * size * inner, data + k * size * inner);
  fft_lock_planner();
  EXTERNAL(fftw_destroy_plan)(plan);
  fft_unlock_planner();
  return status_ok();
}

// The last dims of `s`, one for each length, in place; `lines` has the last dim at its full length.
static heddle_status transform_dims(const instruction *i, double complex *data, const shape *s, int64_t last, int first,
                                    int limit, int sign) {
  for (int d = first; d < limit; d++) {
    int64_t outer = 1, inner = 1;
    for (int k = 0; k < d; k++) outer *= s->dims[k];
    for (int k = d + 1; k < s->rank; k++) inner *= k == s->rank - 1 ? last : s->dims[k];
    TRY(transform_dim(i, data, outer, d == s->rank - 1 ? last : s->dims[d], inner, sign));
  }
  return status_ok();
}

// The operand's lines in complex form, `to_size` elements apart.
static void load_lines(const value *v, int64_t lines, int64_t from_size, int64_t to_size, double complex *to) {
  double reals[COMPUTE_LANES];
  const dtype t = v->shape->dtype;
  for (int64_t line = 0; line < lines; line++) {
    for (int64_t first = 0; first < from_size; first += COMPUTE_LANES) {
      const int64_t lanes = from_size - first < COMPUTE_LANES ? from_size - first : COMPUTE_LANES;
      double complex *at = to + line * to_size + first;
      compute_load(t, v->data, line * from_size + first, lanes, dtype_is_complex(t) ? (void *)at : (void *)reals);
      for (int64_t k = 0; !dtype_is_complex(t) && k < lanes; k++) at[k] = compute_complex(reals[k], 0);
    }
  }
}

// The first elements of each line, scaled, into the result.
static void store_lines(value *v, int64_t lines, int64_t from_size, int64_t to_size, double scale,
                        double complex *from) {
  double reals[COMPUTE_LANES];
  const dtype t = v->shape->dtype;
  for (int64_t line = 0; line < lines; line++) {
    for (int64_t first = 0; first < to_size; first += COMPUTE_LANES) {
      const int64_t lanes = to_size - first < COMPUTE_LANES ? to_size - first : COMPUTE_LANES;
      double complex *at = from + line * from_size + first;
      for (int64_t k = 0; k < lanes; k++) {
        at[k] = compute_complex(creal(at[k]) * scale, cimag(at[k]) * scale);
        reals[k] = creal(at[k]);
      }
      compute_store(t, v->data, line * to_size + first, lanes, dtype_is_complex(t) ? (void *)at : (void *)reals);
    }
  }
}

// A line of a real signal's transform from its first half. What must be real there counts as real.
static void mirror_lines(double complex *data, int64_t lines, int64_t size) {
  for (int64_t line = 0; line < lines; line++) {
    double complex *at = data + line * size;
    at[0] = compute_complex(creal(at[0]), 0);
    for (int64_t k = size / 2 + 1; k < size; k++) at[k] = conj(at[size - k]);
    if (size % 2 == 0) at[size / 2] = compute_complex(creal(at[size / 2]), 0);
  }
}

// Errors of transforms grow with the logarithm of their size. The elements in `data` belong to blocks of one transform
// each.
static void disturb(interpreter *in, const instruction *i, int64_t count, double complex *data) {
  const dtype part = dtype_is_complex(i->shape->dtype) ? dtypes[i->shape->dtype].part : i->shape->dtype;
  int64_t block = 1;
  for (int k = 0; k < i->attributes->fft_length.size; k++) block *= i->attributes->fft_length.data[k];
  for (int64_t k = 0; in->noise.state && k + block <= count; k += block)
    noise_on_line(&in->noise, part == DTYPE_F64 ? DTYPE_C128 : DTYPE_C64, 1 + log2((double)block) / 4, block, data + k);
}

static heddle_status transform(interpreter *in, const instruction *i, const value *operand, int64_t lines,
                               double complex *data, value *result) {
  const hlo_attributes *a = i->attributes;
  const int rank = i->shape->rank, first = rank - a->fft_length.size;
  const int64_t last = a->fft_length.data[a->fft_length.size - 1];
  const bool inverse = a->fft_type == FFT_IFFT || a->fft_type == FFT_IRFFT;
  const int sign = inverse ? FFTW_BACKWARD : FFTW_FORWARD;
  const int64_t from_size = operand->shape->dims[rank - 1], to_size = i->shape->dims[rank - 1];
  double scale = 1;
  for (int k = 0; inverse && k < a->fft_length.size; k++) scale /= (double)a->fft_length.data[k];
  load_lines(operand, lines, from_size, last, data);
  if (a->fft_type == FFT_IRFFT) {
    TRY(transform_dims(i, data, i->shape, last, first, rank - 1, sign));
    mirror_lines(data, lines, last);
    TRY(transform_dims(i, data, i->shape, last, rank - 1, rank, sign));
  } else {
    TRY(transform_dims(i, data, i->shape, last, first, rank, sign));
  }
  disturb(in, i, lines * last, data);
  store_lines(result, lines, last, to_size, scale, data);
  return status_ok();
}

// Whether lines are as long as the transform; others are filled up or cut by form-normalization.
static bool has_whole_lines(const instruction *i, const shape *s) {
  const int_list lengths = i->attributes->fft_length;
  if (i->attributes->fft_type == FFT_RFFT || i->attributes->fft_type == FFT_IRFFT) return true;
  for (int k = 0; k < lengths.size; k++)
    if (s->dims[s->rank - lengths.size + k] != lengths.data[k]) return false;
  return true;
}

heddle_status eval_fft(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (!has_whole_lines(i, operands[0]->shape)) return interpreter_refuse(i, "lengths other than the operand's");
  const int rank = i->shape->rank;
  const int64_t last = i->attributes->fft_length.data[i->attributes->fft_length.size - 1];
  int64_t lines = 1;
  for (int d = 0; d < rank - 1; d++) lines *= i->shape->dims[d];
  const shape lines_shape = {.dtype = DTYPE_C128, .rank = 2, .dims = (int64_t[]){lines, last}};
  value *room, *result;
  TRY(value_create(&in->pool, i->shape, i->where, &result));
  heddle_status status = value_create(&in->pool, &lines_shape, i->where, &room);
  if (status_is_ok(status)) {
    const bool is_empty = shape_element_count(&lines_shape) == 0;
    if (is_empty) memset(result->data, 0, (size_t)shape_byte_size(i->shape));
    else status = transform(in, i, operands[0], lines, room->data, result);
    value_release(room);
  }
  if (status_is_ok(status)) *out = result;
  else value_release(result);
  return status;
}
