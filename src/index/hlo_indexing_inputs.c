// Output to input: what of its operands an instruction needs to make one element of its result.
#include "index/hlo_indexing_rules.h"

static const shape *operand_shape(const indexing_job *job, int k) {
  return instruction_operand_shape(job->instruction, k);
}

static const hlo_attributes *attributes(const indexing_job *job) { return job->instruction->attributes; }

// The scalar maps of operands `from` and up: initial values, starts.
static void scalars_from(indexing_job *job, int from) {
  for (int k = from; k < job->instruction->operand_count; ++k) indexing_job_scalar(job, k);
}

static heddle_status leaf(indexing_job *job) {
  (void)job;
  return status_ok();
}

// A scalar among arrays (clamp's bounds, select's predicate) has no dims to index. Of bitcast-convert the result
// has one dim less (parts joined) or one more (taken apart).
static heddle_status elementwise(indexing_job *job) {
  int rank = job->shape->rank;
  for (int k = 0; k < job->instruction->operand_count; ++k) {
    const shape *s = operand_shape(job, k);
    map_builder b = map_builder_begin(job);
    for (int i = 0; i < s->rank; ++i) {
      map_builder_result(&b, i < rank ? map_builder_dim(&b, i) : map_builder_range(&b, s->dims[i]));
    }
    map_builder_finish(&b, k);
  }
  return status_ok();
}

static heddle_status broadcast(indexing_job *job) {
  int_list dimensions = attributes(job)->dimensions;
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < operand_shape(job, 0)->rank; ++i) map_builder_result(&b, map_builder_dim(&b, dimensions.data[i]));
  map_builder_finish(&b, 0);
  return status_ok();
}

static void use_map(indexing_job *job, const indexing_map *m) {
  operand_map *one = arena_new(job->arena, operand_map);
  one->map = m;
  job->out->operands[0] = (operand_maps){.count = 1, .maps = one};
}

static heddle_status reshape(indexing_job *job) {
  use_map(job, hlo_indexing_reshape(job->arena, job->shape, operand_shape(job, 0)));
  return status_ok();
}

static heddle_status check_bitcast(const instruction *i, const shape *s, const shape *other) {
  bool tiled = s->layout && s->layout->tile_count > 0;
  if (tiled) return status_at(HEDDLE_UNIMPLEMENTED, i->where, "indexing of a bitcast through a tiled layout");
  if (shape_element_count(s) == shape_element_count(other)) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "indexing of a bitcast to elements of another width");
}

static heddle_status bitcast(indexing_job *job) {
  const shape *from = job->shape, *to = operand_shape(job, 0);
  TRY(check_bitcast(job->instruction, from, to));
  TRY(check_bitcast(job->instruction, to, from));
  use_map(job, hlo_indexing_bitcast(job->arena, from, to));
  return status_ok();
}

static heddle_status transpose(indexing_job *job) {
  int_list dimensions = attributes(job)->dimensions;
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < job->shape->rank; ++i) map_builder_result(&b, map_builder_dim(&b, int_list_find(dimensions, i)));
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status reverse(indexing_job *job) {
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < job->shape->rank; ++i) {
    bool is_reversed = int_list_find(attributes(job)->dimensions, i) >= 0;
    const affine_expr *d = map_builder_dim(&b, i);
    map_builder_result(&b, is_reversed ? map_builder_sub(&b, map_builder_constant(&b, job->shape->dims[i] - 1), d) : d);
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status slice(indexing_job *job) {
  const slice_dim *dims = attributes(job)->slice.dims;
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < job->shape->rank; ++i) {
    map_builder_result(
        &b, map_builder_add_constant(&b, map_builder_mul(&b, map_builder_dim(&b, i), dims[i].stride), dims[i].start));
  }
  map_builder_finish(&b, 0);
  return status_ok();
}

static heddle_status pad(indexing_job *job) {
  const shape *in = operand_shape(job, 0);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < in->rank; ++i) {
    padding_dim p = attributes(job)->padding.dims[i];
    map_builder_result(&b, map_builder_exact_quotient(&b, map_builder_add_constant(&b, map_builder_dim(&b, i), -p.low),
                                                      p.interior + 1, in->dims[i]));
  }
  map_builder_finish(&b, 0);
  indexing_job_scalar(job, 1);
  return status_ok();
}

static heddle_status concatenate(indexing_job *job) {
  int64_t dimension = attributes(job)->dimensions.data[0], start = 0;
  for (int k = 0; k < job->instruction->operand_count; ++k) {
    int64_t size = operand_shape(job, k)->dims[dimension];
    map_builder b = map_builder_begin(job);
    for (int i = 0; i < job->shape->rank; ++i) {
      map_builder_result(&b, map_builder_add_constant(&b, map_builder_dim(&b, i), i == dimension ? -start : 0));
    }
    map_builder_require(&b, map_builder_dim(&b, dimension), start, start + size - 1);
    map_builder_finish(&b, k);
    start += size;
  }
  return status_ok();
}

static heddle_status dynamic_slice(indexing_job *job) {
  const shape *in = operand_shape(job, 0);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < in->rank; ++i) {
    map_builder_result(&b, map_builder_add(&b, map_builder_dim(&b, i),
                                           map_builder_start(&b, 1, i, in->dims[i] - job->shape->dims[i])));
  }
  map_builder_finish(&b, 0);
  if (in->rank > 0 && operand_shape(job, 1)->rank == 1) indexing_job_all(job, 1, operand_shape(job, 1));
  else scalars_from(job, 1);
  return status_ok();
}

static heddle_status dynamic_update_slice(indexing_job *job) {
  const shape *update = operand_shape(job, 1);
  indexing_job_identity(job, 0);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < update->rank; ++i) {
    const affine_expr *start = map_builder_start(&b, 2, i, job->shape->dims[i] - update->dims[i]);
    const affine_expr *inside = map_builder_sub(&b, map_builder_dim(&b, i), start);
    map_builder_require(&b, inside, 0, update->dims[i] - 1);
    map_builder_result(&b, inside);
  }
  map_builder_finish(&b, 1);
  if (update->rank > 0 && operand_shape(job, 2)->rank == 1) indexing_job_all(job, 2, operand_shape(job, 2));
  else scalars_from(job, 2);
  return status_ok();
}

static const affine_expr *gathered_index(map_builder *b, const window_dims *d, int dim) {
  const hlo_attributes *x = attributes(b->job);
  const affine_expr *index = map_builder_constant(b, 0);
  if (d->window_at[dim] >= 0) index = map_builder_dim(b, d->window_at[dim]);
  if (d->batch_at[dim] >= 0) index = map_builder_dim(b, d->batch_at[dim]);
  int k = int_list_find(x->start_index_map, dim);
  if (k < 0) return index;
  int64_t upper = operand_shape(b->job, 0)->dims[dim] - x->slice_sizes.data[dim];
  return map_builder_add(b, index, map_builder_index_component(b, d, 1, k, upper));
}

static heddle_status gather(indexing_job *job) {
  const hlo_attributes *x = attributes(job);
  const shape *in = operand_shape(job, 0), *indices = operand_shape(job, 1);
  window_dims d = window_dims_of_gather(job, job->shape);
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < in->rank; ++i) map_builder_result(&b, gathered_index(&b, &d, i));
  map_builder_finish(&b, 0);
  map_builder c = map_builder_begin(job);
  for (int i = 0; i < indices->rank; ++i) {
    map_builder_result(
        &c, i == x->index_vector_dim ? map_builder_range(&c, indices->dims[i]) : map_builder_dim(&c, d.index_at[i]));
  }
  map_builder_finish(&c, 1);
  return status_ok();
}

// Which updates hit an element depends on the indices.
static heddle_status scatter(indexing_job *job) {
  int results = hlo_indexing_output_count(job->instruction);
  indexing_job_identity(job, job->index);
  job->out->operands[results] = (operand_maps){.unknown = true};
  job->out->operands[results + 1 + job->index] = (operand_maps){.unknown = true};
  return status_ok();
}

static heddle_status reduce(indexing_job *job) {
  int inputs = job->instruction->operand_count / 2;
  for (int k = 0; k < inputs; ++k) {
    const shape *in = operand_shape(job, k);
    map_builder b = map_builder_begin(job);
    int kept = 0;
    for (int i = 0; i < in->rank; ++i) {
      bool is_reduced = int_list_find(attributes(job)->dimensions, i) >= 0;
      map_builder_result(&b, is_reduced ? map_builder_range(&b, in->dims[i]) : map_builder_dim(&b, kept++));
    }
    map_builder_finish(&b, k);
  }
  scalars_from(job, inputs);
  return status_ok();
}

static heddle_status reduce_window(indexing_job *job) {
  int inputs = job->instruction->operand_count / 2;
  const window *windows = &attributes(job)->window;
  for (int k = 0; k < inputs; ++k) {
    map_builder b = map_builder_begin(job);
    for (int i = 0; i < windows->rank; ++i) {
      window_dim w = windows->dims[i];
      const affine_expr *position =
          map_builder_window_position(&b, w, map_builder_dim(&b, i), map_builder_range(&b, w.size));
      map_builder_result(&b, map_builder_exact_quotient(&b, position, w.base_dilation, operand_shape(job, k)->dims[i]));
    }
    map_builder_finish(&b, k);
  }
  scalars_from(job, inputs);
  return status_ok();
}

// The map of one operand of a dot: batch dims come first in the result, then lhs's free dims, then rhs's.
static void map_of_dot_operand(indexing_job *job, int side, int_list batch, int_list contracting, int first_free) {
  const shape *s = operand_shape(job, side);
  const affine_expr *results[SHAPE_MAX_RANK] = {0};
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < contracting.size; ++i) {
    results[contracting.data[i]] = map_builder_range(&b, s->dims[contracting.data[i]]);
  }
  for (int i = 0; i < s->rank; ++i) {
    int at = int_list_find(batch, i);
    if (int_list_find(contracting, i) >= 0) continue;
    results[i] = map_builder_dim(&b, at >= 0 ? at : first_free++);
  }
  for (int i = 0; i < s->rank; ++i) map_builder_result(&b, results[i]);
  map_builder_finish(&b, side);
}

static heddle_status dot(indexing_job *job) {
  const hlo_attributes *x = attributes(job);
  int batch = x->lhs_batch_dims.size;
  int lhs_free = operand_shape(job, 0)->rank - batch - x->lhs_contracting_dims.size;
  map_of_dot_operand(job, 0, x->lhs_batch_dims, x->lhs_contracting_dims, batch);
  map_of_dot_operand(job, 1, x->rhs_batch_dims, x->rhs_contracting_dims, batch + lhs_free);
  return status_ok();
}

// Both operands of a convolution are walked by the same loop: the same ranges and constraints in both maps.
static void convolution_side(indexing_job *job, int side) {
  const hlo_attributes *x = attributes(job);
  const convolution_dims *c = &x->dim_labels;
  const shape *in = operand_shape(job, 0), *kernel = operand_shape(job, 1);
  const affine_expr *input_index[SHAPE_MAX_RANK] = {0}, *kernel_index[SHAPE_MAX_RANK] = {0};
  map_builder b = map_builder_begin(job);
  for (int i = 0; i < c->spatial_rank; ++i) {
    window_dim w = x->window.dims[i];
    const affine_expr *s = map_builder_range(&b, w.size);
    const affine_expr *position = map_builder_window_position(&b, w, map_builder_dim(&b, c->output_spatial[i]), s);
    input_index[c->input_spatial[i]] =
        map_builder_exact_quotient(&b, position, w.base_dilation, in->dims[c->input_spatial[i]]);
    kernel_index[c->kernel_spatial[i]] = w.reversal ? map_builder_sub(&b, map_builder_constant(&b, w.size - 1), s) : s;
  }
  int64_t group_features = kernel->dims[c->kernel_input_feature];
  const affine_expr *feature = map_builder_range(&b, group_features);
  const affine_expr *out_feature = map_builder_dim(&b, c->output_feature),
                    *out_batch = map_builder_dim(&b, c->output_batch);
  int64_t out_features = job->shape->dims[c->output_feature];
  kernel_index[c->kernel_input_feature] = feature;
  kernel_index[c->kernel_output_feature] = out_feature;
  // Groups are consecutive blocks of output features, each with its block of input features (or of the input's batch).
  if (x->feature_group_count > 1 && out_features > 0) {
    const affine_expr *group = affine_floordiv(job->arena, out_feature, out_features / x->feature_group_count);
    feature = map_builder_add(&b, map_builder_mul(&b, group, group_features), feature);
  }
  if (x->batch_group_count > 1 && out_features > 0) {
    const affine_expr *group = affine_floordiv(job->arena, out_feature, out_features / x->batch_group_count);
    out_batch = map_builder_add(&b, map_builder_mul(&b, group, job->shape->dims[c->output_batch]), out_batch);
  }
  input_index[c->input_feature] = feature;
  input_index[c->input_batch] = out_batch;
  for (int i = 0; i < c->spatial_rank + 2; ++i) map_builder_result(&b, side == 0 ? input_index[i] : kernel_index[i]);
  map_builder_finish(&b, side);
}

static heddle_status convolution(indexing_job *job) {
  convolution_side(job, 0);
  convolution_side(job, 1);
  return status_ok();
}

static heddle_status tuple(indexing_job *job) {
  indexing_job_identity(job, job->index);
  return status_ok();
}

static heddle_status get_tuple_element(indexing_job *job) {
  indexing_job_identity(job, 0);
  return status_ok();
}

const indexing_rule_fn output_to_input_rules[] = {
    [INDEX_RULE_ELEMENTWISE] = elementwise,
    [INDEX_RULE_LEAF] = leaf,
    [INDEX_RULE_BROADCAST] = broadcast,
    [INDEX_RULE_RESHAPE] = reshape,
    [INDEX_RULE_BITCAST] = bitcast,
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
