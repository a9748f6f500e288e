// Everything is read off the program, so that nothing has to be counted while it runs.
#include "rt/thunk_work.h"

#include <math.h>

int64_t thunk_work_bytes(const program *p, const program_thunk *t) {
  int64_t bytes = 0;
  for (int i = 0; i < t->read_count; i++) bytes += p->slices[t->reads[i]].bytes;
  for (int i = 0; i < t->write_count; i++) bytes += p->slices[t->writes[i]].bytes;
  return bytes;
}

static double elements(const program_array *a) {
  double count = 1;
  for (int d = 0; d < a->rank; d++) count *= (double)a->dims[d];
  return count;
}

// [B,M,K] by [B,K,N]: each of the lhs' elements meets N of the rhs.
static double gemm_operations(const program_thunk *t) {
  const program_array *result = &t->results[0];
  return result->rank ? 2 * elements(&t->operands[0]) * (double)result->dims[result->rank - 1] : 0;
}

static double convolution_operations(const program_thunk *t) {
  const program_array *kernel = &t->operands[1];
  const int64_t features = kernel->dims[t->convolution.kernel_output_feature];
  return features ? 2 * elements(&t->results[0]) * elements(kernel) / (double)features : 0;
}

static double fft_operations(const program_thunk *t) {
  double length = 1;
  for (int i = 0; i < t->fft.fft_length.count; i++) length *= (double)t->fft.fft_length.data[i];
  const double count = fmax(elements(&t->operands[0]), elements(&t->results[0]));
  return length > 1 ? 5 * count * log2(length) : 0;
}

double thunk_work_operations(const program *p, const program_thunk *t) {
  switch (t->kind) {
    case THUNK_KERNEL: {
      const program_kernel *k = &p->kernels[t->launch.kernel];
      return (double)k->tiles * (double)k->tile_operations;
    }
    case THUNK_GEMM: return gemm_operations(t);
    case THUNK_CONVOLUTION: return convolution_operations(t);
    case THUNK_FFT: return fft_operations(t);
    default: return 0;
  }
}
