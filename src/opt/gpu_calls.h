// What the files that expand custom calls of XLA's GPU compiler share: gpu_*.c only.
#ifndef HEDDLE_OPT_GPU_CALLS_H_
#define HEDDLE_OPT_GPU_CALLS_H_

#include "hlo/builder.h"

// What the call computes, as operations in front of `i`; null if the call does not say enough.
typedef instruction *gpu_call_expand_fn(const builder *b, instruction *i);

// gpu_matmul.c
gpu_call_expand_fn gpu_matmul_expand, gpu_matmul_expand_f8;
// gpu_convolution.c
gpu_call_expand_fn gpu_convolution_expand_forward, gpu_convolution_expand_input, gpu_convolution_expand_filter,
    gpu_convolution_expand_bias_activation;
// gpu_library.c
gpu_call_expand_fn gpu_library_expand_cholesky, gpu_library_expand_sort, gpu_library_expand_top_k;
// gpu_block_scaling.c
gpu_call_expand_fn gpu_block_expand_dot, gpu_block_expand_quantize, gpu_block_expand_dequantize;

// The part of the call's configuration with that name, or all of it where dumps of older compilers have no parts.
str gpu_config_of(const instruction *i, const char *part);
// A dictionary inside it; empty if there is none.
str gpu_config_part(const builder *b, str config, const char *name);
// Fields of it, spelled name_like_this or nameLikeThis; false if there is none.
bool gpu_config_number(const builder *b, str config, const char *name, double *to);
bool gpu_config_text(const builder *b, str config, const char *name, str *to);
// A list that is not written is empty; false if what is written is no list of integers.
bool gpu_config_ints(const builder *b, str config, const char *name, int_list *to);

// Shape k of the results, workspaces included; null if there are not as many.
const shape *gpu_result_shape(const instruction *i, int k);
// The call's result of its parts: a tuple where the call gives one, in which bytes of workspace behind the parts are
// zeros. Null where the parts do not have the call's shapes.
instruction *gpu_result(const builder *b, const instruction *i, int count, instruction *const *parts);

// The type in which products of `t` are summed: 32 bits at least.
static inline dtype gpu_accumulation_type(dtype t) {
  if (dtype_is_complex(t) || dtypes[t].bits >= 32) return t;
  return dtype_is_float(t) ? DTYPE_F32 : DTYPE_S32;
}

// x times a number; x itself where the number is one.
instruction *gpu_scaled(const builder *b, instruction *x, double by);
// What is computed in a wider type goes into its own: into 8-bit types within their bounds.
instruction *gpu_narrowed(const builder *b, instruction *x, dtype to);
instruction *gpu_relu(const builder *b, instruction *x);

#endif
