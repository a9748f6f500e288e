// What the tests of convolutions share: forms, and the calls of these with arrays of pseudo-random elements.
#ifndef HEDDLE_LIB_CONVOLUTION_TESTING_H_
#define HEDDLE_LIB_CONVOLUTION_TESTING_H_

#include "lib/testing.h"

enum { MAX = 5 };

typedef struct form {
  int spatial;
  int64_t batch, group_features, outputs_per_group, feature_groups, batch_groups;
  int64_t input[3], size[3], stride[3], low[3], high[3], base_dilation[3], window_dilation[3], reversal[3];
  int64_t input_order[MAX], kernel_order[MAX], output_order[MAX];  // canonical dim -> dim of the array
  int64_t bias;
  const char *activation;
  bool is_endless;         // infinities and NaN among the weights
  bool has_endless_input;  // among the input's elements
} form;

typedef struct convolution {
  form f;
  int64_t output[3], output_features;
  lib_array operands[3], result;
  named_attribute attributes[24];  // room for four more
  lib_call call;
} convolution;

static inline int64_t convolution_testing_dilated(int64_t size, int64_t dilation) {
  return size ? (size - 1) * dilation + 1 : 0;
}

static inline lib_array convolution_testing_array_of(arena *a, dtype t, int rank, const int64_t *canonical,
                                                     const int64_t *order) {
  int64_t dims[MAX];
  for (int d = 0; d < rank; d++) dims[order[d]] = canonical[d];
  return testing_array(a, t, rank, dims);
}

static inline named_attribute convolution_testing_ints(const char *name, int count, const int64_t *values) {
  return (named_attribute){.name = name, .kind = NAMED_INTS, .count = count, .ints = values};
}

static inline void convolution_testing_fill_attributes(convolution *c) {
  form *f = &c->f;
  const int n = f->spatial;
  const named_attribute all[] = {convolution_testing_ints("input_batch", 1, f->input_order),
                                 convolution_testing_ints("input_spatial", n, f->input_order + 1),
                                 convolution_testing_ints("input_feature", 1, f->input_order + n + 1),
                                 convolution_testing_ints("kernel_spatial", n, f->kernel_order),
                                 convolution_testing_ints("kernel_input_feature", 1, f->kernel_order + n),
                                 convolution_testing_ints("kernel_output_feature", 1, f->kernel_order + n + 1),
                                 convolution_testing_ints("output_batch", 1, f->output_order),
                                 convolution_testing_ints("output_spatial", n, f->output_order + 1),
                                 convolution_testing_ints("output_feature", 1, f->output_order + n + 1),
                                 convolution_testing_ints("size", n, f->size),
                                 convolution_testing_ints("stride", n, f->stride),
                                 convolution_testing_ints("padding_low", n, f->low),
                                 convolution_testing_ints("padding_high", n, f->high),
                                 convolution_testing_ints("base_dilation", n, f->base_dilation),
                                 convolution_testing_ints("window_dilation", n, f->window_dilation),
                                 convolution_testing_ints("window_reversal", n, f->reversal),
                                 convolution_testing_ints("feature_group_count", 1, &f->feature_groups),
                                 convolution_testing_ints("batch_group_count", 1, &f->batch_groups),
                                 convolution_testing_ints("bias", 1, &f->bias),
                                 {.name = "activation", .kind = NAMED_TEXT, .text = f->activation}};
  memcpy(c->attributes, all, sizeof all);
  c->call = (lib_call){.operand_count = f->bias ? 3 : 2,
                       .operands = c->operands,
                       .result_count = 1,
                       .results = &c->result,
                       .attribute_count = f->activation ? 20 : 19,
                       .attributes = c->attributes};
}

static inline void convolution_testing_build(arena *a, convolution *c, const form *f, const dtype types[3]) {
  c->f = *f;
  const int n = f->spatial, rank = n + 2;
  int64_t input[MAX], kernel[MAX], output[MAX];
  c->output_features = f->outputs_per_group * f->feature_groups * f->batch_groups;
  input[0] = f->batch * f->batch_groups;
  input[n + 1] = f->group_features * f->feature_groups;
  kernel[n] = f->group_features;
  kernel[n + 1] = output[n + 1] = c->output_features;
  output[0] = f->batch;
  for (int d = 0; d < n; d++) {
    const int64_t base = convolution_testing_dilated(f->input[d], f->base_dilation[d]) + f->low[d] + f->high[d];
    const int64_t reach = convolution_testing_dilated(f->size[d], f->window_dilation[d]);
    input[d + 1] = f->input[d];
    kernel[d] = f->size[d];
    output[d + 1] = c->output[d] = base < reach || base < 0 ? 0 : (base - reach) / f->stride[d] + 1;
  }
  c->operands[0] = convolution_testing_array_of(a, types[0], rank, input, f->input_order);
  c->operands[1] = convolution_testing_array_of(a, types[1], rank, kernel, f->kernel_order);
  c->operands[2] = testing_array(a, types[2], 1, &c->output_features);
  c->result = convolution_testing_array_of(a, types[2], rank, output, f->output_order);
  for (int k = 0; k < 3; k++) testing_fill(&c->operands[k], (uint64_t)k + 7);
  const double endless[] = {INFINITY, NAN, -INFINITY};
  for (int which = 0; which < 2; which++) {
    const lib_array *to = &c->operands[which];
    const int64_t count = lib_element_count(to);
    for (int64_t k = 0; k < 3 && (which ? f->is_endless : f->has_endless_input); k++)
      work_store(WORK_F64, &endless[k], to, k * 7 % count, 1);
  }
  convolution_testing_fill_attributes(c);
}

static inline int64_t convolution_testing_index_of(const lib_array *a, int rank, const int64_t *canonical,
                                                   const int64_t *order) {
  int64_t index[MAX], at = 0;
  for (int d = 0; d < rank; d++) index[order[d]] = canonical[d];
  for (int d = 0; d < rank; d++) at = at * a->dims[d] + index[d];
  return at;
}

static inline bool convolution_testing_next(int n, const int64_t *dims, int64_t *index) {
  for (int d = n - 1; d >= 0; d--) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}

#endif
