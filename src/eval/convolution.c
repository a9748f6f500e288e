// convolution, by its definition: for every result element, every kernel position that meets the input, every input
// feature of the group. Sums are kept in the compute type, as for dot.
#include "base/call.h"
#include "base/int64.h"
#include "eval/elementwise.h"
#include "eval/interpreter.h"
#include "eval/reduce_window.h"
#include "eval/strided.h"

// Everything the loops need. Strides are row-major ones of the array in question.
typedef struct convolving {
  const convolution_dims *dims;
  const window *window;
  const shape *input, *kernel, *output;
  int64_t input_strides[SHAPE_MAX_RANK], kernel_strides[SHAPE_MAX_RANK];
  int64_t group_features;     // input features of one feature group
  int64_t outputs_per_group;  // output features of one feature group
  int64_t batches_per_group, outputs_per_batch_group;
  dtype type;                    // of the sums
  const void *inputs, *kernels;  // in the compute type
} convolving;

// sum += Σ input[k·input_step] · kernel[k·kernel_step].
#define DOT(name, compute_type, product)                                                           \
  static void dot_##name(int64_t count, const void *input, int64_t input_step, const void *kernel, \
                         int64_t kernel_step, void *sum) {                                         \
    const compute_type *l = input, *r = kernel;                                                    \
    for (int64_t k = 0; k < count; k++) {                                                          \
      const compute_type x = l[k * input_step], y = r[k * kernel_step];                            \
      *(compute_type *)sum += (product);                                                           \
    }                                                                                              \
  }

DOT(integer, uint64_t, x *y)
DOT(float, double, x *y)
DOT(complex, double complex, compute_product(x, y))

// Adds `count` products of input and kernel elements that lie so far apart.
static void add_products(const convolving *c, int64_t count, int64_t input, int64_t input_step, int64_t kernel,
                         int64_t kernel_step, void *sum) {
  const int size = compute_size(c->type);
  const void *x = (const char *)c->inputs + input * size, *y = (const char *)c->kernels + kernel * size;
  if (dtype_is_float(c->type)) dot_float(count, x, input_step, y, kernel_step, sum);
  else if (dtype_is_complex(c->type)) dot_complex(count, x, input_step, y, kernel_step, sum);
  else dot_integer(count, x, input_step, y, kernel_step, sum);
}

// `count` kernel positions in a line, with all input features of each: the longer of the two is the inner loop.
static void add_line(const convolving *c, int64_t count, int64_t input, int64_t input_step, int64_t kernel,
                     int64_t kernel_step, void *sum) {
  const int64_t features = c->group_features;
  const int64_t feature_step = c->input_strides[c->dims->input_feature];
  const int64_t kernel_feature_step = c->kernel_strides[c->dims->kernel_input_feature];
  for (int64_t f = 0; f < features && features < count; f++)
    add_products(c, count, input + f * feature_step, input_step, kernel + f * kernel_feature_step, kernel_step, sum);
  for (int64_t k = 0; k < count && features >= count; k++)
    add_products(c, features, input + k * input_step, feature_step, kernel + k * kernel_step, kernel_feature_step, sum);
}

static int64_t kernel_position(const window_dim *w, int64_t k) { return w->reversal ? w->size - 1 - k : k; }

// The kernel positions along the last spatial dim: without holes in the input, those inside lie in a row.
static void add_last_dim(const convolving *c, const int64_t *at, int64_t input, int64_t kernel, void *sum) {
  const convolution_dims *d = c->dims;
  const int s = d->spatial_rank - 1;
  const window_dim *w = &c->window->dims[s];
  const int64_t size = c->input->dims[d->input_spatial[s]], position = at[d->output_spatial[s]];
  const int64_t input_step = c->input_strides[d->input_spatial[s]];
  const int64_t kernel_step = c->kernel_strides[d->kernel_spatial[s]] * (w->reversal ? -1 : 1);
  int64_t first = 0, end = w->size;
  if (w->base_dilation == 1) {
    const int64_t origin = position * w->stride - w->padding_low;
    first = int64_max(-origin + w->window_dilation - 1, 0) / w->window_dilation;
    const int64_t inside = int64_max(size - origin + w->window_dilation - 1, 0) / w->window_dilation;
    end = inside < end ? inside : end;
    if (first < end)
      add_line(c, end - first, input + (origin + first * w->window_dilation) * input_step,
               w->window_dilation * input_step,
               kernel + kernel_position(w, first) * c->kernel_strides[d->kernel_spatial[s]], kernel_step, sum);
    return;
  }
  for (int64_t k = first; k < end; k++) {
    const int64_t source = reduce_window_source(w, position, k, size);
    if (source >= 0)
      add_line(c, 1, input + source * input_step, 0,
               kernel + kernel_position(w, k) * c->kernel_strides[d->kernel_spatial[s]], 0, sum);
  }
}

// The result element at index `at`.
static void sum_window(const convolving *c, const int64_t *at, void *sum) {
  const convolution_dims *d = c->dims;
  const int64_t feature = at[d->output_feature];
  const int64_t batch = at[d->output_batch] + feature / c->outputs_per_batch_group * c->batches_per_group;
  const int64_t first_feature = feature / c->outputs_per_group * c->group_features;
  const int64_t input_base =
      batch * c->input_strides[d->input_batch] + first_feature * c->input_strides[d->input_feature];
  const int64_t kernel_base = feature * c->kernel_strides[d->kernel_output_feature];
  const int outer = d->spatial_rank - 1;
  if (outer < 0) {
    add_line(c, 1, input_base, 0, kernel_base, 0, sum);
    return;
  }
  int64_t sizes[SHAPE_MAX_RANK], k[SHAPE_MAX_RANK] = {0};
  for (int s = 0; s < outer; s++) sizes[s] = c->kernel->dims[d->kernel_spatial[s]];
  if (strided_is_empty(outer, sizes)) return;
  do {
    int64_t input = input_base, kernel = kernel_base;
    bool inside = true;
    for (int s = 0; s < outer && inside; s++) {
      const window_dim *w = &c->window->dims[s];
      const int64_t source =
          reduce_window_source(w, at[d->output_spatial[s]], k[s], c->input->dims[d->input_spatial[s]]);
      inside = source >= 0;
      input += source * c->input_strides[d->input_spatial[s]];
      kernel += kernel_position(w, k[s]) * c->kernel_strides[d->kernel_spatial[s]];
    }
    if (inside) add_last_dim(c, at, input, kernel, sum);
  } while (strided_next(outer, sizes, k));
}

// Cut short when the call is over, which whoever runs the instruction asks, too.
static void convolve(interpreter *in, const convolving *c, void *result) {
  if (shape_element_count(c->output) == 0) return;
  int64_t at[SHAPE_MAX_RANK] = {0}, number = 0;
  do {
    double complex sum = 0;
    sum_window(c, at, &sum);
    noise_on_rounding(&in->noise, c->output->dtype, 1, &sum);
    compute_store(c->output->dtype, result, number++, 1, &sum);
  } while (strided_next(c->output->rank, c->output->dims, at) && !call_is_over());
}

// The whole array in its compute type.
static heddle_status widen(interpreter *in, const instruction *i, const value *v, int64_t terms, value **out) {
  const dtype t = v->shape->dtype;
  const int64_t count = shape_element_count(v->shape), words = count * (compute_size(t) / 8);
  const shape s = {.dtype = DTYPE_U64, .rank = 1, .dims = &words};
  TRY(value_create(&in->pool, &s, i->where, out));
  compute_load(t, v->data, 0, count, (*out)->data);
  noise_on_factors(&in->noise, t, i->shape->dtype, terms, count, (*out)->data);
  return status_ok();
}

static bool same_class(dtype x, dtype y) {
  const unsigned apart = CLASS_FLOAT | CLASS_COMPLEX;
  return (dtypes[x].class & apart) == (dtypes[y].class & apart);
}

static convolving describe(const instruction *i, const shape *input, const shape *kernel) {
  const hlo_attributes *a = i->attributes;
  convolving c = {.dims = &a->dim_labels, .window = &a->window, .input = input, .kernel = kernel, .output = i->shape};
  const int64_t outputs = kernel->dims[c.dims->kernel_output_feature];
  shape_strides(input, c.input_strides);
  shape_strides(kernel, c.kernel_strides);
  c.type = i->shape->dtype;
  c.group_features = kernel->dims[c.dims->kernel_input_feature];
  c.outputs_per_group = int64_max(outputs / a->feature_group_count, 1);
  c.outputs_per_batch_group = int64_max(outputs / a->batch_group_count, 1);
  c.batches_per_group = input->dims[c.dims->input_batch] / a->batch_group_count;
  return c;
}

heddle_status eval_convolution(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *input = operands[0]->shape, *kernel = operands[1]->shape;
  if (!same_class(input->dtype, i->shape->dtype) || !same_class(kernel->dtype, i->shape->dtype))
    return interpreter_refuse(i, "operands of another class than the result");
  if (i->operand_count != 2) return interpreter_refuse(i, "more than two operands");
  convolving c = describe(i, input, kernel);
  value *inputs = NULL, *kernels = NULL, *result = NULL;
  const int64_t terms = shape_element_count(kernel) / int64_max(kernel->dims[c.dims->kernel_output_feature], 1);
  heddle_status status = widen(in, i, operands[0], terms, &inputs);
  if (status_is_ok(status)) status = widen(in, i, operands[1], terms, &kernels);
  if (status_is_ok(status)) status = value_create(&in->pool, i->shape, i->where, &result);
  if (status_is_ok(status)) {
    c.inputs = inputs->data;
    c.kernels = kernels->data;
    convolve(in, &c, result->data);
    *out = result;
  }
  value_release(inputs);
  value_release(kernels);
  return status;
}
