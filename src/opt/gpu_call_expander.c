// GPU call expander: one table from target names to what they compute, and what the expansions share.
//
// Dumps of XLA's GPU compiler hold calls of vendor libraries where the program had dots, convolutions and sorts. What
// is computed follows from the operands and backend_config, so that such a dump runs anywhere. The configuration is
// JSON of XLA's gpu/backend_configs.proto, whose compilers have spelled and nested the fields in several ways.
#include "opt/gpu_call_expander.h"

#include "base/float.h"
#include "hlo/call_attributes.h"
#include "opt/gpu_calls.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

#include <math.h>

static const struct {
  const char *target;
  gpu_call_expand_fn *expand;
} rows[] = {
    {"__cublas$gemm", gpu_matmul_expand},
    {"__cublas$lt$matmul", gpu_matmul_expand},
    {"__cublas$lt$matmul$f8", gpu_matmul_expand_f8},
    {"__cudnn$convForward", gpu_convolution_expand_forward},
    {"__cudnn$convBackwardInput", gpu_convolution_expand_input},
    {"__cudnn$convBackwardFilter", gpu_convolution_expand_filter},
    {"__cudnn$convBiasActivationForward", gpu_convolution_expand_bias_activation},
    {"__cusolver$cholesky", gpu_library_expand_cholesky},
    {"__cub$DeviceRadixSort", gpu_library_expand_sort},
    {"__cub$DeviceRadixSortUnassignedNumpyOrder", gpu_library_expand_sort},
    {"__gpu$TopK", gpu_library_expand_top_k},
    {"__op$block_scaled_dot", gpu_block_expand_dot},
    {"__op$dequantize", gpu_block_expand_dequantize},
    {"__op$quantize", gpu_block_expand_quantize},
};

static gpu_call_expand_fn *expansion_of(const instruction *i) {
  if (i->opcode != HLO_CUSTOM_CALL) return NULL;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (str_is(i->attributes->custom_call_target, rows[k].target)) return rows[k].expand;
  return NULL;
}

static bool is_gpu_call(const instruction *i) { return expansion_of(i) != NULL; }

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  return expansion_of(i)(&b, i);
}

static heddle_status run(pass_context *context, void *unit) { return rewrite_each(context, unit, is_gpu_call, expand); }

bool gpu_call_expander_applies(const module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (is_gpu_call(m->computations.data[c]->instructions.data[k])) return true;
  return false;
}

// --- configurations

str gpu_config_of(const instruction *i, const char *part) {
  str config = i->attributes->backend_config;
  str inner;
  return call_attribute_dictionary(config, part, &inner) ? inner : config;
}

// conv_result_scale as convResultScale.
static const char *camel_case(const builder *b, const char *name) {
  char *out = arena_strdup(b->arena, name, strlen(name)), *to = out;
  for (const char *from = name; *from; from++) {
    bool is_joint = from[0] == '_' && from[1] >= 'a' && from[1] <= 'z';
    *to++ = is_joint ? (char)(*++from - 'a' + 'A') : *from;
  }
  *to = 0;
  return out;
}

str gpu_config_part(const builder *b, str config, const char *name) {
  str inner;
  if (call_attribute_dictionary(config, name, &inner)) return inner;
  return call_attribute_dictionary(config, camel_case(b, name), &inner) ? inner : (str){0};
}

bool gpu_config_number(const builder *b, str config, const char *name, double *to) {
  return call_attribute_number(config, name, to) || call_attribute_number(config, camel_case(b, name), to);
}

bool gpu_config_text(const builder *b, str config, const char *name, str *to) {
  return call_attribute_text(config, name, to) || call_attribute_text(config, camel_case(b, name), to);
}

bool gpu_config_ints(const builder *b, str config, const char *name, int_list *to) {
  *to = (int_list){0};
  const char *other = camel_case(b, name);
  if (call_attribute_ints(b->arena, config, name, &to->size, &to->data)) return true;
  if (call_attribute_ints(b->arena, config, other, &to->size, &to->data)) return true;
  return !call_attribute_is_there(config, name) && !call_attribute_is_there(config, other);
}

// --- results

const shape *gpu_result_shape(const instruction *i, int k) {
  if (!shape_is_tuple(i->shape)) return k == 0 ? i->shape : NULL;
  return k < i->shape->tuple_size ? i->shape->elements[k] : NULL;
}

static bool is_workspace(const shape *s) {
  return shape_is_array(s) && shape_is_static(s) && dtypes[s->dtype].bits == 8 && s->rank == 1;
}

instruction *gpu_result(const builder *b, const instruction *i, int count, instruction *const *parts) {
  for (int k = 0; k < count; k++) {
    const shape *s = gpu_result_shape(i, k);
    if (!s || !parts[k] || !shape_compatible(parts[k]->shape, s)) return NULL;
  }
  if (!shape_is_tuple(i->shape)) return count == 1 ? parts[0] : NULL;
  instruction **all = arena_array(b->arena, instruction *, i->shape->tuple_size);
  for (int k = 0; k < i->shape->tuple_size; k++) {
    const shape *s = i->shape->elements[k];
    if (k >= count && !is_workspace(s)) return NULL;
    all[k] = k < count ? parts[k] : builder_broadcast(b, builder_scalar_int(b, s->dtype, 0), s, 0, NULL);
  }
  return builder_tuple(b, i->shape->tuple_size, all);
}

// --- arithmetic

instruction *gpu_scaled(const builder *b, instruction *x, double by) {
  return by == 1 ? x : builder_binary(b, HLO_MULTIPLY, x, builder_like(b, x, by));
}

static instruction *bounded(const builder *b, instruction *x, double low, double high) {
  return builder_binary(b, HLO_MINIMUM, builder_binary(b, HLO_MAXIMUM, x, builder_like(b, x, low)),
                        builder_like(b, x, high));
}

// Of a float of 8 bits.
static double largest_finite(float_kind kind) {
  double most = 0;
  for (uint32_t bits = 0; bits < 256; bits++) {
    const double value = float_decode(kind, bits);
    if (isfinite(value) && value > most) most = value;
  }
  return most;
}

instruction *gpu_narrowed(const builder *b, instruction *x, dtype to) {
  const dtype_info *info = &dtypes[to];
  bool is_byte = info->bits == 8 && to != DTYPE_PRED;
  if (is_byte && to == DTYPE_S8) x = bounded(b, x, -128, 127);
  if (is_byte && dtype_is_float(to)) {
    const double most = largest_finite(info->narrow);
    x = bounded(b, x, -most, most);
  }
  return builder_convert(b, x, to);
}

instruction *gpu_relu(const builder *b, instruction *x) {
  return builder_binary(b, HLO_MAXIMUM, x, builder_like(b, x, 0));
}

const pass opt_gpu_call_expander = {
    .name = "gpu-call-expander",
    .summary = "calls of GPU libraries become the operations that they replaced",
    .order_reason = "before all passes that simplify or expand what it leaves: dots, convolutions, sorts",
    .use = PASS_NEEDED,
    .run = run,
};
