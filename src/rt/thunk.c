// The kinds of thunks by number, and where their slices lie.
#include "rt/thunk.h"

#include "rt/executable.h"
#include "rt/thunk_types.h"

const thunk_type *const thunk_types[PROGRAM_THUNK_KIND_COUNT] = {
    [THUNK_KERNEL] = &thunk_kernel,
    [THUNK_SEQUENCE] = &thunk_sequence,
    [THUNK_CONDITIONAL] = &thunk_conditional,
    [THUNK_WHILE] = &thunk_while,
    [THUNK_FOR] = &thunk_for,
    [THUNK_CALL] = &thunk_call,
    [THUNK_COPY] = &thunk_copy,
    [THUNK_MEMSET] = &thunk_memset,
    [THUNK_CUSTOM_CALL] = &thunk_custom_call,
    [THUNK_GEMM] = &thunk_gemm,
    [THUNK_CONVOLUTION] = &thunk_convolution,
    [THUNK_FFT] = &thunk_fft,
    [THUNK_SORT] = &thunk_sort,
    [THUNK_TOP_K] = &thunk_top_k,
    [THUNK_CONCATENATE] = &thunk_concatenate,
    [THUNK_RANDOM] = &thunk_random,
    [THUNK_COLLECTIVE] = &thunk_collective,
    [THUNK_TRANSFER] = &thunk_transfer,
};

void *thunk_slice(const run_frame *f, int slice) {
  const program_slice *s = &f->executable->program->slices[slice];
  char *base = f->allocations[s->allocation];
  return base ? base + s->offset : NULL;  // null: nothing lies there
}
