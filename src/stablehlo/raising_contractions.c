// Products, windows, gather and scatter, and the library's operations.
#include "hlo/scan_form.h"
#include "stablehlo/raising.h"

static raising_field list_field(const char *name, int_list list) { return (raising_field){.name = name, .list = list}; }
static raising_field number_field(const char *name, int64_t number) {
  return (raising_field){.name = name, .is_number = true, .number = number};
}

// The words HLO has for algorithms of dot, by what StableHLO says of each.
typedef struct algorithm_row {
  const char *word, *lhs, *rhs, *accumulation;
  int64_t primitives;
  bool is_imprecise;
} algorithm_row;
static const algorithm_row algorithms[] = {
    {"dot_any_f8_any_f8_f32", "f8E5M2", "f8E5M2", "f32", 1, false},
    {"dot_any_f8_any_f8_f32_fast_accum", "f8E5M2", "f8E5M2", "f32", 1, true},
    {"dot_f16_f16_f16", "f16", "f16", "f16", 1, false},
    {"dot_f16_f16_f32", "f16", "f16", "f32", 1, false},
    {"dot_bf16_bf16_bf16", "bf16", "bf16", "bf16", 1, false},
    {"dot_bf16_bf16_f32", "bf16", "bf16", "f32", 1, false},
    {"dot_bf16_bf16_f32_x3", "bf16", "bf16", "f32", 3, false},
    {"dot_bf16_bf16_f32_x6", "bf16", "bf16", "f32", 6, false},
    {"dot_bf16_bf16_f32_x9", "bf16", "bf16", "f32", 9, false},
    {"dot_tf32_tf32_f32", "tf32", "tf32", "f32", 1, false},
    {"dot_tf32_tf32_f32_x3", "tf32", "tf32", "f32", 3, false},
    {"dot_f32_f32_f32", "f32", "f32", "f32", 1, false},
    {"dot_f64_f64_f64", "f64", "f64", "f64", 1, false},
};

static heddle_status set_algorithm(raising *r, const instruction *i, ir_operation *op) {
  str word = i->attributes->dot_algorithm;
  if (!word.size) return status_ok();
  for (size_t k = 0; k < sizeof algorithms / sizeof *algorithms; k++) {
    const algorithm_row *row = &algorithms[k];
    if (!str_is(word, row->word)) continue;
    const char *text = arena_printf(
        r->arena,
        "#stablehlo.dot_algorithm<lhs_precision_type = %s, rhs_precision_type = %s, accumulation_type = %s, "
        "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = %d, "
        "allow_imprecise_accumulation = %s>",
        row->lhs, row->rhs, row->accumulation, (int)row->primitives, row->is_imprecise ? "true" : "false");
    const ir_attribute *x = raising_parse_attribute(r, str_from(text));
    if (x) raising_set(r, op, "algorithm", x);
    return status_ok();
  }
  return raising_refuse(i, "there is no algorithm " STR_FMT, STR_ARG(word));
}

heddle_status raise_dot(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const hlo_attributes *x = i->attributes;
  if (i->operand_count != 2) return raising_refuse(i, "it is sparse");
  const raising_field fields[] = {
      list_field("lhs_batching_dimensions", x->lhs_batch_dims),
      list_field("rhs_batching_dimensions", x->rhs_batch_dims),
      list_field("lhs_contracting_dimensions", x->lhs_contracting_dims),
      list_field("rhs_contracting_dimensions", x->rhs_contracting_dims),
  };
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_struct(r, op, "dot_dimension_numbers", "stablehlo.dot", 4, fields);
  raising_set_precision(r, i, op, "stablehlo.precision");
  return set_algorithm(r, i, op);
}

heddle_status raise_ragged_dot(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const hlo_attributes *x = i->attributes;
  const raising_field fields[] = {
      list_field("lhs_batching_dimensions", x->lhs_batch_dims),
      list_field("rhs_batching_dimensions", x->rhs_batch_dims),
      list_field("lhs_contracting_dimensions", x->lhs_contracting_dims),
      list_field("rhs_contracting_dimensions", x->rhs_contracting_dims),
      list_field("lhs_ragged_dimensions", x->lhs_ragged_dims),
      list_field("rhs_group_dimensions", x->rhs_group_dims),
  };
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_struct(r, op, "ragged_dot_dimension_numbers", "chlo.ragged_dot", 6, fields);
  raising_set_precision(r, i, op, "chlo.precision");
  return status_ok();
}

// One number of every window dim.
typedef int64_t (*window_part)(const window_dim *d);
static int64_t part_size(const window_dim *d) { return d->size; }
static int64_t part_stride(const window_dim *d) { return d->stride; }
static int64_t part_base_dilation(const window_dim *d) { return d->base_dilation; }
static int64_t part_window_dilation(const window_dim *d) { return d->window_dilation; }

static void set_window_part(raising *r, ir_operation *op, const char *name, const window *w, window_part part) {
  int64_t values[SHAPE_MAX_RANK];
  for (int k = 0; k < w->rank; k++) values[k] = part(&w->dims[k]);
  raising_set_ints(r, op, name, w->rank, values);
}

static heddle_status set_window_padding(raising *r, ir_operation *op, const window *w) {
  int64_t values[2 * SHAPE_MAX_RANK];
  const ir_attribute *x;
  for (int k = 0; k < w->rank; k++) {
    values[2 * k] = w->dims[k].padding_low;
    values[2 * k + 1] = w->dims[k].padding_high;
  }
  TRY(raising_matrix(r, w->rank, 2, values, &x));
  raising_set(r, op, "padding", x);
  return status_ok();
}

static void set_reversal(raising *r, ir_operation *op, const window *w) {
  bool any = false;
  int64_t values[SHAPE_MAX_RANK];
  for (int k = 0; k < w->rank; k++) any |= (values[k] = w->dims[k].reversal) != 0;
  if (!any) return;
  ir_attribute *x = (ir_attribute *)ir_integers_attribute(r->arena, w->rank, values);
  x->type = ir_scalar_type(r->arena, DTYPE_PRED);
  raising_set(r, op, "window_reversal", x);
}

static void set_convolution_dims(raising *r, ir_operation *op, const convolution_dims *d) {
  const raising_field fields[] = {
      number_field("input_batch_dimension", d->input_batch),
      number_field("input_feature_dimension", d->input_feature),
      list_field("input_spatial_dimensions", (int_list){d->input_spatial, d->spatial_rank}),
      number_field("kernel_input_feature_dimension", d->kernel_input_feature),
      number_field("kernel_output_feature_dimension", d->kernel_output_feature),
      list_field("kernel_spatial_dimensions", (int_list){d->kernel_spatial, d->spatial_rank}),
      number_field("output_batch_dimension", d->output_batch),
      number_field("output_feature_dimension", d->output_feature),
      list_field("output_spatial_dimensions", (int_list){d->output_spatial, d->spatial_rank}),
  };
  raising_set_struct(r, op, "dimension_numbers", "stablehlo.conv", 9, fields);
}

heddle_status raise_convolution(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const hlo_attributes *x = i->attributes;
  const convolution_dims *d = &x->dim_labels;
  int rank = d->spatial_rank + 2;
  if (i->operand_count != 2) return raising_refuse(i, "it is sparse");
  if (d->input_rank != rank || d->kernel_rank != rank || d->output_rank != rank)
    return raising_refuse(i, "a dim has no role");
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  set_convolution_dims(r, op, d);
  set_window_part(r, op, "window_strides", &x->window, part_stride);
  TRY(set_window_padding(r, op, &x->window));
  set_window_part(r, op, "lhs_dilation", &x->window, part_base_dilation);
  set_window_part(r, op, "rhs_dilation", &x->window, part_window_dilation);
  set_reversal(r, op, &x->window);
  raising_set_int(r, op, "feature_group_count", x->feature_group_count);
  raising_set_int(r, op, "batch_group_count", x->batch_group_count);
  raising_set_precision(r, i, op, "stablehlo.precision");
  return status_ok();
}

heddle_status raise_gather(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const hlo_attributes *x = i->attributes;
  const raising_field fields[] = {
      list_field("offset_dims", x->offset_dims),
      list_field("collapsed_slice_dims", x->collapsed_slice_dims),
      list_field("operand_batching_dims", x->operand_batching_dims),
      list_field("start_indices_batching_dims", x->start_indices_batching_dims),
      list_field("start_index_map", x->start_index_map),
      number_field("index_vector_dim", x->index_vector_dim),
  };
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_struct(r, op, "dimension_numbers", "stablehlo.gather", 6, fields);
  raising_set_list(r, op, "slice_sizes", x->slice_sizes);
  raising_set_bool(r, op, "indices_are_sorted", x->indices_are_sorted);
  return status_ok();
}

// Makes the operation with one region of the called computation.
static heddle_status with_region(raising *r, const instruction *i, raised *const *operands, int region_count,
                                 ir_operation **op, raised **out) {
  TRY(raising_same(r, i, operands, op, out));
  if (i->called_count < region_count) return raising_refuse(i, "it calls no computation");
  (*op)->region_count = region_count;
  (*op)->regions = arena_array(r->arena, ir_region *, region_count);
  for (int k = 0; k < region_count; k++) {
    (*op)->regions[k] = arena_new(r->arena, ir_region);
    (*op)->regions[k]->parent = *op;
    TRY(raising_region(r, (*op)->regions[k], i->called[k], NULL));
  }
  return status_ok();
}

heddle_status raise_scatter(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const hlo_attributes *x = i->attributes;
  const raising_field fields[] = {
      list_field("update_window_dims", x->update_window_dims),
      list_field("inserted_window_dims", x->inserted_window_dims),
      list_field("input_batching_dims", x->input_batching_dims),
      list_field("scatter_indices_batching_dims", x->scatter_indices_batching_dims),
      list_field("scatter_dims_to_operand_dims", x->scatter_dims_to_operand_dims),
      number_field("index_vector_dim", x->index_vector_dim),
  };
  ir_operation *op;
  TRY(with_region(r, i, operands, 1, &op, out));
  raising_set_struct(r, op, "scatter_dimension_numbers", "stablehlo.scatter", 6, fields);
  raising_set_bool(r, op, "indices_are_sorted", x->indices_are_sorted);
  raising_set_bool(r, op, "unique_indices", x->unique_indices);
  return status_ok();
}

heddle_status raise_reduce(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(with_region(r, i, operands, 1, &op, out));
  raising_set_list(r, op, "dimensions", i->attributes->dimensions);
  return status_ok();
}

heddle_status raise_map(raising *r, const instruction *i, raised *const *operands, raised **out) {
  int64_t dims[SHAPE_MAX_RANK];
  ir_operation *op;
  TRY(with_region(r, i, operands, 1, &op, out));
  for (int k = 0; k < i->shape->rank; k++) dims[k] = k;
  raising_set_ints(r, op, "dimensions", i->shape->rank, dims);
  return status_ok();
}

heddle_status raise_sort(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(with_region(r, i, operands, 1, &op, out));
  raising_set_int(r, op, "dimension", i->attributes->dimensions.size ? i->attributes->dimensions.data[0] : 0);
  raising_set_bool(r, op, "is_stable", i->attributes->is_stable);
  return status_ok();
}

heddle_status raise_scan(raising *r, const instruction *i, raised *const *operands, raised **out) {
  scan_form f;
  if (!scan_form_of(i, &f)) return raising_refuse(i, "operands, computation and result that do not fit together");
  const int64_t operand_segments[] = {f.inputs, f.carries}, result_segments[] = {f.outputs, f.carries};
  ir_operation *op;
  TRY(with_region(r, i, operands, 1, &op, out));
  raising_set_int(r, op, "dimension", f.dim);
  if (f.is_reverse) raising_set_bool(r, op, "is_reverse", true);
  if (!f.inputs) raising_set_int(r, op, "scan_dim_size", f.length);
  for (int k = 0; k < 2; k++) {
    ir_attribute *x = (ir_attribute *)ir_integers_attribute(r->arena, 2, k ? result_segments : operand_segments);
    x->type = ir_scalar_type(r->arena, DTYPE_S32);
    raising_set(r, op, k ? "resultSegmentSizes" : "operandSegmentSizes", x);
  }
  return status_ok();
}

heddle_status raise_reduce_window(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const window *w = &i->attributes->window;
  ir_operation *op;
  TRY(with_region(r, i, operands, 1, &op, out));
  set_window_part(r, op, "window_dimensions", w, part_size);
  set_window_part(r, op, "window_strides", w, part_stride);
  set_window_part(r, op, "base_dilations", w, part_base_dilation);
  set_window_part(r, op, "window_dilations", w, part_window_dilation);
  return set_window_padding(r, op, w);
}

heddle_status raise_select_and_scatter(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const window *w = &i->attributes->window;
  ir_operation *op;
  TRY(with_region(r, i, operands, 2, &op, out));
  set_window_part(r, op, "window_dimensions", w, part_size);
  set_window_part(r, op, "window_strides", w, part_stride);
  return set_window_padding(r, op, w);
}

heddle_status raise_batch_norm(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  ir_attribute *epsilon = ir_attribute_new(r->arena, IR_ATTR_FLOAT);
  epsilon->type = ir_scalar_type(r->arena, DTYPE_F32);
  epsilon->number = (float)i->attributes->epsilon;
  raising_set(r, op, "epsilon", epsilon);
  raising_set_int(r, op, "feature_index", i->attributes->feature_index);
  return status_ok();
}

heddle_status raise_cholesky(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_bool(r, op, "lower", i->attributes->lower);
  return status_ok();
}

heddle_status raise_triangular_solve(raising *r, const instruction *i, raised *const *operands, raised **out) {
  static const char *const kinds[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_bool(r, op, "left_side", i->attributes->left_side);
  raising_set_bool(r, op, "lower", i->attributes->lower);
  raising_set_bool(r, op, "unit_diagonal", i->attributes->unit_diagonal);
  raising_set_enum(r, op, "transpose_a", "stablehlo.transpose", kinds[i->attributes->transpose_a]);
  return status_ok();
}

heddle_status raise_fft(raising *r, const instruction *i, raised *const *operands, raised **out) {
  static const char *const types[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_enum(r, op, "fft_type", "stablehlo.fft_type", types[i->attributes->fft_type]);
  raising_set_list(r, op, "fft_length", i->attributes->fft_length);
  return status_ok();
}

// The region of a sort whose first operand decides, in the total order, smallest first.
static void write_order(raising *r, ir_operation *sort, dtype t) {
  bool is_float = dtype_is_float(t);
  ir_block *outer = r->block;
  sort->region_count = 1;
  sort->regions = arena_array(r->arena, ir_region *, 1);
  sort->regions[0] = arena_new(r->arena, ir_region);
  sort->regions[0]->parent = sort;
  r->block = ir_add_block(r->arena, sort->regions[0]);
  for (int k = 0; k < 2 * sort->operand_count; k++)
    ir_add_argument(r->arena, r->block, raising_tensor(r, sort->operands[k / 2]->type, 0, NULL));
  const ir_type *predicate = ir_tensor_type(r->arena, 0, NULL, ir_scalar_type(r->arena, DTYPE_PRED));
  ir_operation *compare = raising_add(r, IR_OP_COMPARE, 2, r->block->arguments, 1, &predicate);
  raising_set_enum(r, compare, "comparison_direction", "stablehlo.comparison_direction", "LT");
  raising_set_enum(r, compare, "compare_type", "stablehlo.comparison_type",
                   is_float ? "TOTALORDER" : (dtype_is_signed(t) ? "SIGNED" : "UNSIGNED"));
  raising_add(r, IR_OP_RETURN, 1, compare->results, 0, NULL);
  r->block = outer;
}

// The first `count` elements along `dim`.
static ir_value *front_of(raising *r, ir_value *x, int dim, int64_t count) {
  int64_t start[SHAPE_MAX_RANK] = {0}, limit[SHAPE_MAX_RANK], stride[SHAPE_MAX_RANK];
  for (int k = 0; k < x->type->rank; k++) {
    limit[k] = k == dim ? count : x->type->dims[k];
    stride[k] = 1;
  }
  const ir_type *type = raising_tensor(r, x->type, x->type->rank, limit);
  ir_operation *op = raising_add(r, IR_OP_SLICE, 1, &x, 1, &type);
  raising_set_ints(r, op, "start_indices", x->type->rank, start);
  raising_set_ints(r, op, "limit_indices", x->type->rank, limit);
  raising_set_ints(r, op, "strides", x->type->rank, stride);
  return op->results[0];
}

// The first k of each line after sorting it, smallest first, with the indices the elements came from.
static heddle_status smallest(raising *r, const instruction *i, raised *const *operands, raised **out) {
  const shape *s = i->operands[0]->shape;
  const int last = s->rank - 1;
  ir_value *values[2];
  TRY(raising_operand(i, operands, 0, &values[0]));
  const ir_type *places = ir_tensor_type(r->arena, s->rank, s->dims, ir_scalar_type(r->arena, DTYPE_S32));
  ir_operation *iota = raising_add(r, IR_OP_IOTA, 0, NULL, 1, &places);
  raising_set_int(r, iota, "iota_dimension", last);
  values[1] = iota->results[0];
  ir_operation *sort = raising_add(r, IR_OP_SORT, 2, values, 2, (const ir_type *[]){values[0]->type, places});
  raising_set_int(r, sort, "dimension", last);
  raising_set_bool(r, sort, "is_stable", true);
  write_order(r, sort, s->dtype);
  raised *pair = arena_new(r->arena, raised);
  pair->count = 2;
  pair->elements = arena_array(r->arena, raised *, 2);
  for (int k = 0; k < 2; k++) pair->elements[k] = raised_leaf(r, front_of(r, sort->results[k], last, i->attributes->k));
  *out = pair;
  return status_ok();
}

heddle_status raise_topk(raising *r, const instruction *i, raised *const *operands, raised **out) {
  if (i->operands[0]->shape->rank == 0) return raising_refuse(i, "its operand is a scalar");
  if (!i->attributes->largest) return smallest(r, i, operands, out);
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_int(r, op, "k", i->attributes->k);
  return status_ok();
}

heddle_status raise_rng(raising *r, const instruction *i, raised *const *operands, raised **out) {
  ir_value *values[3];
  const int64_t rank = i->shape->rank;
  literal *dims;
  for (int k = 0; k < 2; k++) TRY(raising_operand(i, operands, k, &values[k]));
  TRY(literal_create(r->arena, shape_array(r->arena, DTYPE_S64, 1, &rank), &dims));
  for (int k = 0; k < rank; k++) literal_set_int(dims, k, i->shape->dims[k]);
  values[2] = raising_constant(r, dims);
  const ir_type *type = ir_type_of_shape(r->arena, i->shape);
  ir_operation *op = raising_add(r, IR_OP_RNG, 3, values, 1, &type);
  raising_set_enum(r, op, "rng_distribution", "stablehlo.rng_distribution",
                   i->attributes->distribution == RANDOM_NORMAL ? "NORMAL" : "UNIFORM");
  *out = raised_leaf(r, op->results[0]);
  return status_ok();
}

heddle_status raise_rng_bit_generator(raising *r, const instruction *i, raised *const *operands, raised **out) {
  static const char *const algorithms_of[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  ir_operation *op;
  TRY(raising_same(r, i, operands, &op, out));
  raising_set_enum(r, op, "rng_algorithm", "stablehlo.rng_algorithm", algorithms_of[i->attributes->algorithm]);
  return status_ok();
}
