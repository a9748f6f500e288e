// Holds an instruction's attributes: what it says besides opcode, shape and operands.
//
// One plain struct for all opcodes; attributes.def has a row per attribute (text, kind, field), from which the parser,
// the printer, the comparison and the copy work. A field that an opcode does not use is zero. Whether an attribute was
// written is one bit in `present`.
#ifndef HEDDLE_HLO_ATTRIBUTES_H_
#define HEDDLE_HLO_ATTRIBUTES_H_

#include "base/str.h"
#include "hlo/shape.h"

typedef enum hlo_attribute_id {
#define HLO_ATTRIBUTE(id, ...) HLO_ATTRIBUTE_##id,
#include "hlo/attributes.def"
#undef HLO_ATTRIBUTE
  HLO_ATTRIBUTE_COUNT
} hlo_attribute_id;

// How an attribute is written, and the type of its field.
typedef enum hlo_attribute_kind {
  ATTRIBUTE_RAW,             // kept as text in `raws`; no field
  ATTRIBUTE_INT,             // int64_t: 3
  ATTRIBUTE_BOOL,            // bool: true
  ATTRIBUTE_DOUBLE,          // double: 0.001
  ATTRIBUTE_INTS,            // int_list: {0,1}
  ATTRIBUTE_ENUM,            // an enum spelled by `names`: kLoop
  ATTRIBUTE_ALGORITHM,       // algorithm (rng_default) or dot_algorithm (anything else)
  ATTRIBUTE_STRING,          // str: "text"
  ATTRIBUTE_SLICE,           // slice_config: {[0:4], [1:5:2]}
  ATTRIBUTE_PADDING,         // padding_config: 0_1x2_3_1
  ATTRIBUTE_WINDOW,          // window: {size=3x3 stride=2x2 pad=1_1x1_1}
  ATTRIBUTE_DIM_LABELS,      // convolution_dims: b01f_01io->b01f
  ATTRIBUTE_PRECISIONS,      // precision_kind list: {highest,default}
  ATTRIBUTE_GROUPS,          // group_list: {{0,1},{2,3}} or [2,2]<=[4]
  ATTRIBUTE_SHAPES,          // shapes: {f32[2]{0}, f32[3]{0}}
  ATTRIBUTE_LITERAL,         // a shape and a literal, checked, kept as text in `raws`
  ATTRIBUTE_BACKEND_CONFIG,  // str: a string or anything in braces
  ATTRIBUTE_COMPUTATION,     // in instruction.called: %name or an inline { body }
  ATTRIBUTE_COMPUTATIONS,    // in instruction.called: {%a, %b}
  ATTRIBUTE_CONTROL,         // instruction.control_predecessors: {%a, %b}
} hlo_attribute_kind;

typedef struct hlo_attribute_info {
  const char *text;
  hlo_attribute_kind kind;
  size_t offset;             // of the field in hlo_attributes
  const char *const *names;  // ATTRIBUTE_ENUM: by value, null at the end
  int64_t missing;           // ATTRIBUTE_INT, ATTRIBUTE_BOOL: the value when not written
  bool common;               // accepted by every opcode
} hlo_attribute_info;

extern const hlo_attribute_info hlo_attribute_infos[HLO_ATTRIBUTE_COUNT];

typedef struct int_list {
  const int64_t *data;
  int size;
} int_list;

// The first position of the value, or -1.
static inline int int_list_find(int_list list, int64_t value) {
  for (int k = 0; k < list.size; k++)
    if (list.data[k] == value) return k;
  return -1;
}

static inline bool int_list_has(int_list list, int64_t value) { return int_list_find(list, value) >= 0; }

typedef enum comparison_direction {
  COMPARE_EQ,
  COMPARE_NE,
  COMPARE_GE,
  COMPARE_GT,
  COMPARE_LE,
  COMPARE_LT
} comparison_direction;
typedef enum comparison_type {
  COMPARISON_DEFAULT,
  COMPARISON_FLOAT,
  COMPARISON_TOTAL_ORDER,
  COMPARISON_SIGNED,
  COMPARISON_UNSIGNED
} comparison_type;
// What a backend may take the convolution for; the window and the labels say what it computes.
typedef enum convolution_kind {
  CONVOLUTION_UNSET,
  CONVOLUTION_FORWARD,
  CONVOLUTION_DATA_GRADIENT,
  CONVOLUTION_WEIGHT_GRADIENT
} convolution_kind;
// What the numbers in a collective's groups stand for, as written: the values of device_groups_mode, one further on.
typedef enum collective_mode {
  COLLECTIVE_MODE_NOT_WRITTEN,
  COLLECTIVE_MODE_CROSS_REPLICA,
  COLLECTIVE_MODE_CROSS_PARTITION,
  COLLECTIVE_MODE_CROSS_BOTH,
  COLLECTIVE_MODE_FLATTENED
} collective_mode;
typedef enum fusion_kind { FUSION_LOOP, FUSION_INPUT, FUSION_OUTPUT, FUSION_CUSTOM } fusion_kind;
typedef enum fft_type { FFT_FFT, FFT_IFFT, FFT_RFFT, FFT_IRFFT } fft_type;
typedef enum random_distribution { RANDOM_UNIFORM, RANDOM_NORMAL } random_distribution;
typedef enum random_algorithm { RANDOM_DEFAULT, RANDOM_THREE_FRY, RANDOM_PHILOX } random_algorithm;
typedef enum transpose_kind { TRANSPOSE_NO, TRANSPOSE_YES, TRANSPOSE_ADJOINT } transpose_kind;
typedef enum precision_kind {
  PRECISION_DEFAULT,
  PRECISION_HIGH,
  PRECISION_HIGHEST,
  PRECISION_PACKED_NIBBLE
} precision_kind;

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
  int input_rank, kernel_rank, output_rank;  // labels written, `?` (a dimension without a role) included
} convolution_dims;

typedef struct group_list {  // replica_groups, source_target_pairs: a list of lists
  int size;
  int_list *groups;
  str text;  // the iota form `[2,4]<=[8]` keeps its text
} group_list;

typedef struct hlo_attributes {
  uint64_t present[2];  // bit by attribute id

  int_list dimensions;  // broadcast, transpose, reduce, reverse, concatenate, map, sort, …
  int64_t index;        // get-tuple-element; parameter number for parameter
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
  convolution_kind convolution_kind;
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
  bool is_kept;  // of a fusion: it stays as it is (fuse/kept_fusions.h); texts do not say so
  double epsilon;
  int64_t feature_index;
  bool lower, left_side, unit_diagonal, largest;
  transpose_kind transpose_a;
  fft_type fft_type;
  int_list fft_length;
  int64_t k, delta, channel_id, cross_program_prefetch_index;
  random_distribution distribution;
  random_algorithm algorithm;  // rng-bit-generator
  str dot_algorithm;           // dot: e.g. dot_bf16_bf16_f32
  group_list replica_groups, source_target_pairs;
  group_list slice_sizes_of_transfers;  // collective-permute: of each slice that it moves
  collective_mode collective_mode;
  bool use_global_device_ids, constrain_layout, custom_call_has_side_effect, is_host_transfer;
  str custom_call_target;  // unescaped
  str backend_config;      // unescaped string, or JSON text
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

static inline bool attributes_has(const hlo_attributes *x, hlo_attribute_id id) {
  return (x->present[id / 64] >> (id % 64)) & 1;
}
static inline void attributes_mark(hlo_attributes *x, hlo_attribute_id id) {
  x->present[id / 64] |= (uint64_t)1 << (id % 64);
}

// HLO_ATTRIBUTE_COUNT if HLO has no attribute of that name.
hlo_attribute_id hlo_attribute_from_text(str text);

// Whether the field holds what it holds when the attribute is not written (kinds without a field: always true).
bool attributes_is_default(const hlo_attributes *x, hlo_attribute_id id);

hlo_attributes *attributes_create(arena *a);  // defaults set
hlo_attributes *attributes_copy(arena *a, const hlo_attributes *from);
// By value: whether a default was written does not count, nor does metadata. attributes_compare sets *difference to the
// name of the first attribute that differs.
bool attributes_equal(const hlo_attributes *l, const hlo_attributes *r);
bool attributes_compare(const hlo_attributes *l, const hlo_attributes *r, const char **difference);
uint64_t attributes_hash(const hlo_attributes *x);                     // equal for equal attributes
const str *attributes_raw(const hlo_attributes *x, const char *name);  // null if absent
void attributes_add_raw(arena *a, hlo_attributes *x, str name, str text);
void attributes_set_raw(arena *a, hlo_attributes *x, str name, str text);  // adds it, or changes the text that is there

#endif
