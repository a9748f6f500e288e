// Input to output: which elements of its result an instruction makes from one element of an operand.
#include "index/hlo_indexing_rules.h"

static const shape *operand_shape(const indexing_job *job, int k) {
  return instruction_operand_shape(job->instruction, k);
}

static const shape *output_shape(const indexing_job *job, int k) {
  return hlo_indexing_output_shape(job->instruction, k);
}
static const hlo_attributes *attributes(const indexing_job *job) { return job->instruction->attributes; }

// Scalars that may show anywhere in the result: initial values, padding, starts, clamp's bounds.
static heddle_status reaches_all(indexing_job *job) {
  for (int k = 0; k < job->out->count; ++k) indexing_job_all(job, k, output_shape(job, k));
  return status_ok();
}

static heddle_status elementwise(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  int rank = job->shape->rank;
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i)
    map_builder_result(&b, i < rank ? map_builder_dim(&b, i) : map_builder_range(&b, out->dims[i]));
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status broadcast(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    int at = int_list_find(attributes(job)->dimensions, i);
    map_builder_result(&b, at >= 0 ? map_builder_dim(&b, at) : map_builder_range(&b, out->dims[i]));
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

// Reshape and bitcast are one to one: the other direction's map with the shapes swapped.
static heddle_status relinearize(indexing_job *job) {
  hlo_indexing inputs;
  TRY(hlo_indexing_output_to_input(job->arena, job->instruction, 0, &inputs));
  bool by_layout = hlo_ops[job->instruction->opcode].index_rule == INDEX_RULE_BITCAST;
  operand_map *one = arena_new(job->arena, operand_map);
  one->map = (by_layout ? hlo_indexing_bitcast : hlo_indexing_reshape)(job->arena, job->shape, output_shape(job, 0));
  job->out->operands[0] = (operand_maps){.count = 1, .maps = one};
  return status_ok();
}

static heddle_status transpose(indexing_job *job) {
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < job->shape->rank; ++i)
    map_builder_result(&b, map_builder_dim(&b, attributes(job)->dimensions.data[i]));
  map_builder_finish(&b, 0);
  return status_ok();
}

// Its own inverse.
static heddle_status reverse(indexing_job *job) { return output_to_input_rules[INDEX_RULE_REVERSE](job); }

static heddle_status slice(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    slice_dim s = attributes(job)->slice.dims[i];
    map_builder_result(
        &b, map_builder_exact_quotient(&b, map_builder_add_constant(&b, map_builder_dim(&b, i), -s.start), s.stride,
                                       out->dims[i]));
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status pad(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  if (job->index == 1) return reaches_all(job);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    padding_dim p = attributes(job)->padding.dims[i];
    const affine_expr *at =
        map_builder_add_constant(&b, map_builder_mul(&b, map_builder_dim(&b, i), p.interior + 1), p.low);
    map_builder_require(&b, at, 0, out->dims[i] - 1);  // negative padding cuts elements off
    map_builder_result(&b, at);
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status concatenate(indexing_job *job) {
  int64_t dimension = attributes(job)->dimensions.data[0], start = 0;
  for (int k = 0; k < job->index; ++k) start += operand_shape(job, k)->dims[dimension];
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < job->shape->rank; ++i) {
    map_builder_result(&b, map_builder_add_constant(&b, map_builder_dim(&b, i), i == dimension ? start : 0));
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status dynamic_slice(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  if (job->index > 0) return reaches_all(job);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    const affine_expr *start = map_builder_start(&b, 1, i, job->shape->dims[i] - out->dims[i]);
    const affine_expr *at = map_builder_sub(&b, map_builder_dim(&b, i), start);
    map_builder_require(&b, at, 0, out->dims[i] - 1);
    map_builder_result(&b, at);
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status dynamic_update_slice(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  if (job->index > 1) return reaches_all(job);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    const affine_expr *d = map_builder_dim(&b, i);
    bool is_update = job->index == 1;
    map_builder_result(
        &b, is_update ? map_builder_add(&b, d, map_builder_start(&b, 2, i, out->dims[i] - job->shape->dims[i])) : d);
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

// An index vector's element reaches its whole slice; where an element of the data ends up only the indices know.
static heddle_status gather(indexing_job *job) {
  const shape *out = output_shape(job, 0);
  if (job->index == 0) {
    job->out->operands[0] = (operand_maps){.unknown = true};
    return status_ok();
  }
  window_dims d = window_dims_of_gather(job, out);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    int from = -1;
    for (int j = 0; j < d.indices_rank; ++j) from = d.index_at[j] == i ? j : from;
    map_builder_result(&b, from >= 0 ? map_builder_dim(&b, from) : map_builder_range(&b, out->dims[i]));
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

// Where one element of the updates lands.
static void scatter_update(indexing_job *job, int slot, int indices_operand) {
  const shape *out = output_shape(job, slot), *indices = operand_shape(job, indices_operand);
  const index_dims w = index_dims_of_scatter(attributes(job));
  window_dims d = window_dims_of(job->arena, &w, out->rank, indices->rank, job->shape->rank);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < out->rank; ++i) {
    const affine_expr *at = map_builder_constant(&b, 0);
    if (d.window_at[i] >= 0) at = map_builder_dim(&b, d.window_at[i]);
    if (d.batch_at[i] >= 0) at = map_builder_dim(&b, d.batch_at[i]);
    int k = int_list_find(w.map, i);
    int64_t size = d.window_at[i] >= 0 ? job->shape->dims[d.window_at[i]] : 1;
    if (k >= 0)
      at = map_builder_add(&b, at, map_builder_index_component(&b, &d, indices_operand, k, out->dims[i] - size));
    map_builder_result(&b, at);
  }
  map_builder_finish(&b, slot);
}

static heddle_status scatter(indexing_job *job) {
  int results = job->out->count;
  if (job->index < results) {
    indexing_job_identity(job, job->index);
  } else if (job->index == results) {
    for (int k = 0; k < results; ++k) job->out->operands[k] = (operand_maps){.unknown = true};
  } else {
    scatter_update(job, job->index - results - 1, results);
  }
  return status_ok();
}

static heddle_status reduce(indexing_job *job) {
  if (job->index >= job->instruction->operand_count / 2) return reaches_all(job);
  for (int k = 0; k < job->out->count; ++k) {
    map_builder b = map_builder_begin(job);
    for (int i = 0; i < job->shape->rank; ++i) {
      if (int_list_find(attributes(job)->dimensions, i) < 0) map_builder_result(&b, map_builder_dim(&b, i));
    }
    map_builder_finish(&b, k);
  }
  return status_ok();
}

// The output whose window holds input element d at window position s: o with o * stride + s * dilation - low = d *
// base.
static const affine_expr *window_output(map_builder *b, window_dim w, const affine_expr *d, const affine_expr *s,
                                        int64_t size) {
  const affine_expr *position = map_builder_add_constant(b, map_builder_mul(b, d, w.base_dilation), w.padding_low);
  return map_builder_exact_quotient(b, map_builder_sub(b, position, map_builder_mul(b, s, w.window_dilation)), w.stride,
                                    size);
}

static heddle_status reduce_window(indexing_job *job) {
  if (job->index >= job->instruction->operand_count / 2) return reaches_all(job);
  const window *windows = &attributes(job)->window;
  for (int k = 0; k < job->out->count; ++k) {
    map_builder b = map_builder_begin(job);
    for (int i = 0; i < windows->rank; ++i) {
      const affine_expr *s = map_builder_range(&b, windows->dims[i].size);
      map_builder_result(&b,
                         window_output(&b, windows->dims[i], map_builder_dim(&b, i), s, output_shape(job, k)->dims[i]));
    }
    map_builder_finish(&b, k);
  }
  return status_ok();
}

// Free dims of the other side are ranges.
static heddle_status dot(indexing_job *job) {
  const hlo_attributes *x = attributes(job);
  const shape *out = output_shape(job, 0);
  bool is_lhs = job->index == 0;
  int_list batch = is_lhs ? x->lhs_batch_dims : x->rhs_batch_dims;
  int_list contracting = is_lhs ? x->lhs_contracting_dims : x->rhs_contracting_dims;
  int own_free = job->shape->rank - batch.size - contracting.size;
  int first = is_lhs ? batch.size : out->rank - own_free;
  map_builder b = map_builder_begin(job);
  const affine_expr *own[SHAPE_MAX_RANK] = {0};
  int found = 0;
  for (int i = 0; i < job->shape->rank; ++i) {
    if (int_list_find(batch, i) < 0 && int_list_find(contracting, i) < 0) own[found++] = map_builder_dim(&b, i);
  }
  for (int i = 0; i < out->rank; ++i) {
    if (i < batch.size) map_builder_result(&b, map_builder_dim(&b, batch.data[i]));
    else if (i >= first && i < first + own_free) map_builder_result(&b, own[i - first]);
    else map_builder_result(&b, map_builder_range(&b, out->dims[i]));
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

// An input element reaches, per window position, one place; and all output features of its group.
static heddle_status convolution_input(indexing_job *job) {
  const hlo_attributes *x = attributes(job);
  const convolution_dims *c = &x->dim_labels;
  const shape *out = output_shape(job, 0);
  int64_t group_features = operand_shape(job, 1)->dims[c->kernel_input_feature];
  int64_t groups = x->feature_group_count > 1 ? x->feature_group_count : x->batch_group_count;
  const affine_expr *results[SHAPE_MAX_RANK] = {0};
  map_builder b = map_builder_begin(job);
  const affine_expr *batch = map_builder_dim(&b, c->input_batch), *group = map_builder_constant(&b, 0);
  for (int i = 0; i < c->spatial_rank; ++i) {
    const affine_expr *s = map_builder_range(&b, x->window.dims[i].size);
    results[c->output_spatial[i]] = window_output(&b, x->window.dims[i], map_builder_dim(&b, c->input_spatial[i]), s,
                                                  out->dims[c->output_spatial[i]]);
  }
  if (x->feature_group_count > 1 && group_features > 0) {
    group = affine_floordiv(job->arena, map_builder_dim(&b, c->input_feature), group_features);
  } else if (x->batch_group_count > 1 && out->dims[c->output_batch] > 0) {
    group = affine_floordiv(job->arena, batch, out->dims[c->output_batch]);
    batch = affine_mod(job->arena, batch, out->dims[c->output_batch]);
  }
  int64_t features = out->dims[c->output_feature] / (groups > 1 ? groups : 1);
  results[c->output_feature] =
      map_builder_add(&b, map_builder_mul(&b, group, features), map_builder_range(&b, features));
  results[c->output_batch] = batch;
  for (int i = 0; i < out->rank; ++i) map_builder_result(&b, results[i]);
  map_builder_finish(&b, 0);
  return status_ok();
}

// A kernel element reaches its output feature wherever the window position lies on an input element.
static heddle_status convolution_kernel(indexing_job *job) {
  const hlo_attributes *x = attributes(job);
  const convolution_dims *c = &x->dim_labels;
  const shape *out = output_shape(job, 0), *in = operand_shape(job, 0);
  const affine_expr *results[SHAPE_MAX_RANK] = {0};
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < c->spatial_rank; ++i) {
    window_dim w = x->window.dims[i];
    const affine_expr *k = map_builder_dim(&b, c->kernel_spatial[i]),
                      *o = map_builder_range(&b, out->dims[c->output_spatial[i]]);
    const affine_expr *s = w.reversal ? map_builder_sub(&b, map_builder_constant(&b, w.size - 1), k) : k;
    (void)map_builder_exact_quotient(&b, map_builder_window_position(&b, w, o, s), w.base_dilation,
                                     in->dims[c->input_spatial[i]]);
    results[c->output_spatial[i]] = o;
  }
  results[c->output_batch] = map_builder_range(&b, out->dims[c->output_batch]);
  results[c->output_feature] = map_builder_dim(&b, c->kernel_output_feature);
  for (int i = 0; i < out->rank; ++i) map_builder_result(&b, results[i]);
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status convolution(indexing_job *job) {
  return job->index == 0 ? convolution_input(job) : convolution_kernel(job);
}

static heddle_status tuple(indexing_job *job) {
  indexing_job_identity(job, job->index);
  return status_ok();
}

static heddle_status get_tuple_element(indexing_job *job) {
  job->shape = output_shape(job, 0);
  indexing_job_identity(job, 0);
  return status_ok();
}

const indexing_rule_fn input_to_output_rules[] = {
    [INDEX_RULE_ELEMENTWISE] = elementwise,
    [INDEX_RULE_LEAF] = NULL,  // there is no input to ask about
    [INDEX_RULE_BROADCAST] = broadcast,
    [INDEX_RULE_RESHAPE] = relinearize,
    [INDEX_RULE_BITCAST] = relinearize,
    [INDEX_RULE_TRANSPOSE] = transpose,
    [INDEX_RULE_REVERSE] = reverse,
    [INDEX_RULE_SLICE] = slice,
    [INDEX_RULE_PAD] = pad,
    [INDEX_RULE_CONCATENATE] = concatenate,
    [INDEX_RULE_DYNAMIC_SLICE] = dynamic_slice,
    [INDEX_RULE_DYNAMIC_UPDATE_SLICE] = dynamic_update_slice,
    [INDEX_RULE_GATHER] = gather,
    [INDEX_RULE_SCATTER] = scatter,
    [INDEX_RULE_REDUCE] = reduce,
    [INDEX_RULE_REDUCE_WINDOW] = reduce_window,
    [INDEX_RULE_DOT] = dot,
    [INDEX_RULE_CONVOLUTION] = convolution,
    [INDEX_RULE_TUPLE] = tuple,
    [INDEX_RULE_GET_TUPLE_ELEMENT] = get_tuple_element,
};
