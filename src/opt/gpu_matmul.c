// Calls of cuBLAS: D = epilogue(alpha * op(A) op(B) + beta * C), with scales for operands of 8-bit floats.
//
// Operands are A, B, C where beta is not zero, for 8-bit floats the scales of A and B (older compilers add those of C
// and D), a vector of biases where the epilogue has one, and the scale of an 8-bit result. The product is summed and
// scaled in the accumulation type, as the library does, and rounded once.
#include "opt/gpu_calls.h"

typedef struct matmul {
  const builder *b;
  instruction *call;
  str config;
  double alpha, alpha_imag, beta, has_damax;
  bool has_bias, has_aux, has_relu, has_gelu, has_silu;
  int next;  // operand not yet taken
} matmul;

static bool read_epilogue(matmul *m) {
  static const struct {
    const char *name;
    bool bias, relu, gelu, silu, aux;
  } rows[] = {{.name = "DEFAULT"},
              {.name = "BIAS", .bias = true},
              {.name = "RELU", .relu = true},
              {.name = "BIAS_RELU", .bias = true, .relu = true},
              {.name = "GELU", .gelu = true},
              {.name = "GELU_AUX", .gelu = true, .aux = true},
              {.name = "BIAS_GELU", .bias = true, .gelu = true},
              {.name = "BIAS_GELU_AUX", .bias = true, .gelu = true, .aux = true},
              {.name = "SILU", .silu = true},
              {.name = "BIAS_SILU", .bias = true, .silu = true}};
  str name = STR("DEFAULT");
  gpu_config_text(m->b, m->config, "epilogue", &name);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (!str_is(name, rows[k].name)) continue;
    m->has_bias = rows[k].bias;
    m->has_relu = rows[k].relu;
    m->has_gelu = rows[k].gelu;
    m->has_silu = rows[k].silu;
    m->has_aux = rows[k].aux;
    return true;
  }
  return false;
}

static bool read_config(matmul *m) {
  m->config = gpu_config_of(m->call, "gemm_backend_config");
  if (!gpu_config_number(m->b, m->config, "alpha_real", &m->alpha)) return false;
  gpu_config_number(m->b, m->config, "alpha_imag", &m->alpha_imag);
  gpu_config_number(m->b, m->config, "beta", &m->beta);
  gpu_config_number(m->b, m->config, "damax_output", &m->has_damax);
  return read_epilogue(m);
}

static instruction *take(matmul *m) { return m->next < m->call->operand_count ? m->call->operands[m->next++] : NULL; }

static bool read_dims(matmul *m, hlo_attributes *to) {
  str dims = gpu_config_part(m->b, m->config, "dot_dimension_numbers");
  to->lhs_contracting_dims = to->rhs_contracting_dims = (int_list){0};
  bool fits = dims.size && gpu_config_ints(m->b, dims, "lhs_contracting_dimensions", &to->lhs_contracting_dims) &&
              gpu_config_ints(m->b, dims, "rhs_contracting_dimensions", &to->rhs_contracting_dims) &&
              gpu_config_ints(m->b, dims, "lhs_batch_dimensions", &to->lhs_batch_dims) &&
              gpu_config_ints(m->b, dims, "rhs_batch_dimensions", &to->rhs_batch_dims);
  attributes_mark(to, HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS);
  attributes_mark(to, HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS);
  if (to->lhs_batch_dims.size) attributes_mark(to, HLO_ATTRIBUTE_LHS_BATCH_DIMS);
  if (to->rhs_batch_dims.size) attributes_mark(to, HLO_ATTRIBUTE_RHS_BATCH_DIMS);
  return fits;
}

// The operands as the product takes them: of one type, and none of 8-bit floats.
static instruction *factor(const matmul *m, instruction *x, dtype other, dtype accumulator) {
  bool is_small_float = dtype_is_float(x->shape->dtype) && dtypes[x->shape->dtype].bits < 16;
  return is_small_float || x->shape->dtype != other ? builder_convert(m->b, x, accumulator) : x;
}

static instruction *product(matmul *m) {
  instruction *x = take(m), *y = take(m);
  if (!y || !shape_is_array(x->shape) || !shape_is_array(y->shape)) return NULL;
  const dtype accumulator = gpu_accumulation_type(x->shape->dtype);
  instruction *operands[] = {factor(m, x, y->shape->dtype, accumulator), factor(m, y, x->shape->dtype, accumulator)};
  instruction *dot = builder_add(m->b, HLO_DOT, shape_scalar(m->b->arena, accumulator), 2, operands);
  if (!read_dims(m, dot->attributes)) return NULL;
  return builder_infer(m->b, dot);
}

// alpha and the scales are real but for complex products.
static instruction *times_alpha(const matmul *m, instruction *x) {
  if (!dtype_is_complex(x->shape->dtype)) return m->alpha_imag == 0 ? gpu_scaled(m->b, x, m->alpha) : NULL;
  if (m->alpha_imag == 0 && m->alpha == 1) return x;
  const dtype part = dtypes[x->shape->dtype].part;
  instruction *alpha = builder_binary(m->b, HLO_COMPLEX, builder_scalar(m->b, part, m->alpha),
                                      builder_scalar(m->b, part, m->alpha_imag));
  return builder_binary(m->b, HLO_MULTIPLY, x, builder_broadcast(m->b, alpha, x->shape, 0, NULL));
}

// x times a scalar operand of the call.
static instruction *times_scale(const matmul *m, instruction *x, instruction *scale) {
  if (!scale || !shape_is_array(scale->shape) || scale->shape->rank != 0) return NULL;
  scale = builder_convert(m->b, scale, x->shape->dtype);
  return builder_binary(m->b, HLO_MULTIPLY, x, builder_broadcast(m->b, scale, x->shape, 0, NULL));
}

static instruction *plus_matrix(const matmul *m, instruction *x, instruction *c) {
  if (!c || !shape_is_array(c->shape) || !shape_same_dims(c->shape, x->shape)) return NULL;
  return builder_binary(m->b, HLO_ADD, x, gpu_scaled(m->b, builder_convert(m->b, c, x->shape->dtype), m->beta));
}

// The vector lies along the result's most minor dims.
static instruction *plus_bias(const matmul *m, instruction *x, instruction *bias) {
  const shape *out = gpu_result_shape(m->call, 0);
  if (!bias || !shape_is_array(bias->shape) || bias->shape->rank > out->rank) return NULL;
  int64_t from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK], dimensions[SHAPE_MAX_RANK];
  shape_minor_to_major(bias->shape, from);
  shape_minor_to_major(out, to);
  for (int k = 0; k < bias->shape->rank; k++) {
    dimensions[from[k]] = to[k];
    if (bias->shape->dims[from[k]] != out->dims[to[k]]) return NULL;
  }
  for (int k = 1; k < bias->shape->rank; k++)
    if (dimensions[k] <= dimensions[k - 1]) return NULL;
  bias = builder_convert(m->b, bias, x->shape->dtype);
  return builder_binary(m->b, HLO_ADD, x, builder_broadcast(m->b, bias, x->shape, bias->shape->rank, dimensions));
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the library's GELU.
static instruction *gelu(const builder *b, instruction *x) {
  instruction *cube = builder_binary(b, HLO_MULTIPLY, builder_binary(b, HLO_MULTIPLY, x, x), x);
  instruction *inner = builder_binary(b, HLO_ADD, x, gpu_scaled(b, cube, 0.044715));
  instruction *bend = builder_unary(b, HLO_TANH, gpu_scaled(b, inner, 0.79788456080286535588));
  return builder_binary(b, HLO_MULTIPLY, gpu_scaled(b, x, 0.5),
                        builder_binary(b, HLO_ADD, bend, builder_like(b, x, 1)));
}

static instruction *activated(const matmul *m, instruction *x) {
  if (m->has_relu) return gpu_relu(m->b, x);
  if (m->has_gelu) return gelu(m->b, x);
  if (m->has_silu) return builder_binary(m->b, HLO_MULTIPLY, x, builder_unary(m->b, HLO_LOGISTIC, x));
  return x;
}

// Integers are scaled as floats unless nothing scales them.
static instruction *scalable(const matmul *m, instruction *x) {
  const shape *out = gpu_result_shape(m->call, 0);
  bool is_whole = m->alpha == 1 && (m->beta == 0 || m->beta == 1) && out && dtype_is_integer(out->dtype);
  return dtype_is_integer(x->shape->dtype) && !is_whole ? builder_convert(m->b, x, DTYPE_F32) : x;
}

// The largest absolute value, a second result of f32[].
static instruction *largest(const matmul *m, instruction *x) {
  int64_t all[SHAPE_MAX_RANK];
  for (int k = 0; k < x->shape->rank; k++) all[k] = k;
  computation *most = builder_binary_computation(m->b, HLO_MAXIMUM, x->shape->dtype);
  return builder_reduce(m->b, builder_unary(m->b, HLO_ABS, x), builder_scalar(m->b, x->shape->dtype, 0), x->shape->rank,
                        all, most);
}

// What follows the scaled product: the operands that are left are the bias and `scales`, of which the last is D's.
static instruction *finish(matmul *m, instruction *x, instruction *scale) {
  const shape *out = gpu_result_shape(m->call, 0), *aux = gpu_result_shape(m->call, 1);
  instruction *parts[3];
  int count = 1;
  if (!x || !out || !shape_is_array(out)) return NULL;
  if (m->has_aux) {
    if (!aux || !shape_is_array(aux)) return NULL;
    parts[count++] = builder_convert(m->b, x, aux->dtype);
  }
  x = activated(m, x);
  if (m->has_damax != 0) parts[count++] = largest(m, x);
  if (scale && !(x = times_scale(m, x, scale))) return NULL;
  parts[0] = gpu_narrowed(m->b, x, out->dtype);
  return gpu_result(m->b, m->call, count, parts);
}

instruction *gpu_matmul_expand(const builder *b, instruction *i) {
  matmul m = {.b = b, .call = i};
  if (!read_config(&m)) return NULL;
  instruction *x = product(&m);
  if (!x || !(x = times_alpha(&m, scalable(&m, x)))) return NULL;
  if (m.beta != 0) x = plus_matrix(&m, x, take(&m));
  if (x && m.has_bias) x = plus_bias(&m, x, take(&m));
  return m.next == i->operand_count ? finish(&m, x, NULL) : NULL;
}

// The vector of biases among the operands that are left; the scales move together.
static instruction *take_bias(matmul *m, instruction **scales, int *count) {
  instruction *bias = NULL;
  while (m->next < m->call->operand_count) {
    instruction *x = take(m);
    if (m->has_bias && !bias && shape_is_array(x->shape) && x->shape->rank > 0) bias = x;
    else if (*count < 2) scales[(*count)++] = x;
    else return NULL;
  }
  return bias;
}

instruction *gpu_matmul_expand_f8(const builder *b, instruction *i) {
  matmul m = {.b = b, .call = i};
  instruction *scales[2], *c = NULL;
  int count = 0;
  if (!read_config(&m)) return NULL;
  instruction *x = product(&m);
  if (x && m.beta != 0 && !(c = take(&m))) return NULL;
  for (int k = 0; k < 2 && x; k++) x = times_scale(&m, x, take(&m));
  if (!x || !(x = times_alpha(&m, x))) return NULL;
  instruction *bias = take_bias(&m, scales, &count);
  if (m.next != i->operand_count || (m.has_bias && !bias)) return NULL;
  if (c && count == 2) {
    c = builder_convert(b, c, x->shape->dtype);
    if (!(c = times_scale(&m, c, scales[0]))) return NULL;
  }
  if (c) x = plus_matrix(&m, x, c);
  if (x && bias) x = plus_bias(&m, x, bias);
  return finish(&m, x, count ? scales[count - 1] : NULL);
}
