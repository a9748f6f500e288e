// What an instruction says besides opcode, shape and operands.
//
// One plain struct for all opcodes; attributes.def has a row per attribute (text, kind, field), from which the parser, the
// printer, the comparison and the copy work. A field that an opcode does not use is zero. Whether an attribute was
// written is one bit in `present`.
#ifndef HEDDLE_HLO_ATTRIBUTES_H_
#define HEDDLE_HLO_ATTRIBUTES_H_

#include "base/str.h"
#include "hlo/shape.h"

typedef struct int_list {
  const int64_t *data;
  int size;
} int_list;

typedef enum comparison_direction { COMPARE_EQ, COMPARE_NE, COMPARE_GE, COMPARE_GT, COMPARE_LE, COMPARE_LT } comparison_direction;
typedef enum comparison_type {
  COMPARISON_DEFAULT, COMPARISON_FLOAT, COMPARISON_TOTAL_ORDER, COMPARISON_SIGNED, COMPARISON_UNSIGNED
} comparison_type;
typedef enum fusion_kind { FUSION_LOOP, FUSION_INPUT, FUSION_OUTPUT, FUSION_CUSTOM } fusion_kind;
typedef enum fft_type { FFT_FFT, FFT_IFFT, FFT_RFFT, FFT_IRFFT } fft_type;
typedef enum random_distribution { RANDOM_UNIFORM, RANDOM_NORMAL } random_distribution;
typedef enum random_algorithm { RANDOM_DEFAULT, RANDOM_THREE_FRY, RANDOM_PHILOX } random_algorithm;
typedef enum transpose_kind { TRANSPOSE_NO, TRANSPOSE_YES, TRANSPOSE_ADJOINT } transpose_kind;
typedef enum precision_kind { PRECISION_DEFAULT, PRECISION_HIGH, PRECISION_HIGHEST, PRECISION_PACKED_NIBBLE } precision_kind;

typedef struct window_dim {
  int64_t size, stride, padding_low, padding_high, window_dilation, base_dilation;  // stride and dilations default to 1
  bool reversal;
} window_dim;

typedef struct window {
  int rank;
  window_dim *dims;
} window;

typedef struct padding_dim {
  int64_t low, high, interior;
} padding_dim;

typedef struct padding_config {
  int rank;
  padding_dim *dims;
} padding_config;

typedef struct slice_dim {
  int64_t start, limit, stride;
} slice_dim;

typedef struct slice_config {
  int rank;
  slice_dim *dims;
} slice_config;

typedef struct convolution_dims {
  int spatial_rank;
  int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch, output_feature;
  int64_t *input_spatial, *kernel_spatial, *output_spatial;
} convolution_dims;

typedef struct group_list {  // replica_groups, source_target_pairs: a list of lists
  int size;
  int_list *groups;
  str text;                  // the iota form `[2,4]<=[8]` keeps its text
} group_list;

typedef struct hlo_attributes {
  uint64_t present[2];       // bit by attribute id

  int_list dimensions;       // broadcast, transpose, reduce, reverse, concatenate, map, sort, …
  int64_t index;             // get-tuple-element; parameter number for parameter
  int64_t iota_dimension;
  int64_t inferred_dimension;
  comparison_direction direction;
  comparison_type compare_type;
  int64_t exponent_bits, mantissa_bits;
  slice_config slice;
  padding_config padding;
  int_list dynamic_slice_sizes;
  window window;
  convolution_dims dim_labels;
  int64_t feature_group_count, batch_group_count;  // default 1
  int_list lhs_contracting_dims, rhs_contracting_dims, lhs_batch_dims, rhs_batch_dims;
  int_list lhs_ragged_dims, rhs_group_dims;
  int precision_count;
  precision_kind *operand_precision;
  // gather
  int_list offset_dims, collapsed_slice_dims, start_index_map, slice_sizes, operand_batching_dims,
      start_indices_batching_dims;
  int64_t index_vector_dim;
  bool indices_are_sorted, unique_indices;
  // scatter
  int_list update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims,
      scatter_indices_batching_dims;
  bool is_stable;
  fusion_kind kind;
  double epsilon;
  int64_t feature_index;
  bool lower, left_side, unit_diagonal, largest;
  transpose_kind transpose_a;
  fft_type fft_type;
  int_list fft_length;
  int64_t k, delta, channel_id, cross_program_prefetch_index;
  random_distribution distribution;
  random_algorithm algorithm;   // rng-bit-generator
  str dot_algorithm;            // dot: e.g. dot_bf16_bf16_f32
  group_list replica_groups, source_target_pairs;
  bool use_global_device_ids, constrain_layout, custom_call_has_side_effect, is_host_transfer;
  str custom_call_target;       // unescaped
  str backend_config;           // unescaped string, or JSON text
  bool backend_config_is_json;
  const shape *const *operand_layouts;  // operand_layout_constraints
  int operand_layout_count;
  // Kept as raw text and printed back (value without the name): sharding, metadata, frontend_attributes, statistics,
  // parameter_replication, output_to_operand_aliasing, domain, schedule, api_version, literal, … in textual order.
  int raw_count;
  struct raw_attribute {
    str name;
    str text;
  } *raws;
} hlo_attributes;

hlo_attributes *attributes_create(arena *a);  // defaults set
hlo_attributes *attributes_copy(arena *a, const hlo_attributes *from);
bool attributes_equal(const hlo_attributes *l, const hlo_attributes *r);  // metadata does not count
const str *attributes_raw(const hlo_attributes *x, const char *name);     // null if absent

#endif
