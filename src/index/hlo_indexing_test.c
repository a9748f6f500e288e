// Every op's maps, in both directions, against what the op means: a plain predicate `reads` per op says whether output
// element `out` needs element `in` of an operand, and all pairs of elements are tried.
#include "index/hlo_indexing.h"

#include "hlo/text.h"
#include "index/map_expect.h"

typedef bool (*reads_fn)(const instruction *i, int operand, const int64_t *out, const int64_t *in);

static const hlo_attributes *attributes(const instruction *i) { return i->attributes; }
static const shape *operand(const instruction *i, int k) { return instruction_operand_shape(i, k); }

static const shape *output(const instruction *i, int o) {
  return shape_is_tuple(i->shape) ? i->shape->elements[o] : i->shape;
}

// ---- Elements as numbers

static void from_linear(const shape *s, int64_t linear, int64_t *index) {
  for (int d = s->rank - 1; d >= 0; --d) {
    index[d] = linear % s->dims[d];
    linear /= s->dims[d];
  }
}

static int64_t to_linear(const shape *s, const int64_t *index) {
  int64_t linear = 0;
  for (int d = 0; d < s->rank; ++d) {
    assert_in_range(index[d], 0, s->dims[d] - 1);
    linear = linear * s->dims[d] + index[d];
  }
  return linear;
}

// What the index operands hold: some values below, within and above the bounds.
static int64_t index_value(int k, const shape *s, const int64_t *index) {
  return (to_linear(s, index) * 5 + k * 3) % 8 - 1;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

static bool in_list(int_list list, int64_t v, int *position) {
  for (*position = 0; *position < list.size; ++*position) {
    if (list.data[*position] == v) return true;
  }
  return false;
}

// ---- What ops mean

static bool same_index(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0; d < operand(i, k)->rank; ++d) {
    if (out[d] != in[d]) return false;
  }
  return true;
}

static bool broadcast_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0; d < operand(i, k)->rank; ++d) {
    if (in[d] != out[attributes(i)->dimensions.data[d]]) return false;
  }
  return true;
}

static bool transpose_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  (void)k;
  for (int d = 0; d < i->shape->rank; ++d) {
    if (out[d] != in[attributes(i)->dimensions.data[d]]) return false;
  }
  return true;
}

static bool reshape_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  return to_linear(i->shape, out) == to_linear(operand(i, k), in);
}

static int64_t physical_position(const shape *s, const int64_t *index) {
  int64_t order[SHAPE_MAX_RANK], position = 0, stride = 1;
  shape_minor_to_major(s, order);
  for (int d = 0; d < s->rank; ++d) {
    position += index[order[d]] * stride;
    stride *= s->dims[order[d]];
  }
  return position;
}

static bool bitcast_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  return physical_position(i->shape, out) == physical_position(operand(i, k), in);
}

static bool reverse_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  (void)k;
  for (int d = 0, p; d < i->shape->rank; ++d) {
    int64_t wanted = in_list(attributes(i)->dimensions, d, &p) ? i->shape->dims[d] - 1 - in[d] : in[d];
    if (out[d] != wanted) return false;
  }
  return true;
}

static bool slice_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  (void)k;
  for (int d = 0; d < i->shape->rank; ++d) {
    slice_dim s = attributes(i)->slice.dims[d];
    if (in[d] != s.start + out[d] * s.stride) return false;
  }
  return true;
}

static bool pad_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0; d < i->shape->rank && k == 0; ++d) {
    padding_dim p = attributes(i)->padding.dims[d];
    if (out[d] != p.low + in[d] * (p.interior + 1)) return false;
  }
  return true;
}

static bool concatenate_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  int64_t dimension = attributes(i)->dimensions.data[0], start = 0;
  for (int before = 0; before < k; ++before) start += operand(i, before)->dims[dimension];
  for (int d = 0; d < i->shape->rank; ++d) {
    if (out[d] != in[d] + (d == dimension ? start : 0)) return false;
  }
  return true;
}

static int64_t start_value(const instruction *i, int first, int d, int64_t upper) {
  bool is_vector = operand(i, first)->rank == 1;
  int64_t component = d;
  int k = is_vector ? first : first + d;
  return clamp(index_value(k, operand(i, k), is_vector ? &component : NULL), 0, upper);
}

static bool dynamic_slice_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0; d < i->shape->rank && k == 0; ++d) {
    if (in[d] != out[d] + start_value(i, 1, d, operand(i, 0)->dims[d] - i->shape->dims[d])) return false;
  }
  return true;
}

static bool dynamic_update_slice_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0; d < i->shape->rank && k < 2; ++d) {
    int64_t start = k == 0 ? 0 : start_value(i, 2, d, i->shape->dims[d] - operand(i, 1)->dims[d]);
    if (out[d] != in[d] + start) return false;
  }
  return true;
}

// The dims of gather's result that stand for the indices, in order.
static void batch_index(const instruction *i, const int64_t *out, int64_t *batch) {
  for (int d = 0, p; d < i->shape->rank; ++d) {
    if (!in_list(attributes(i)->offset_dims, d, &p)) *batch++ = out[d];
  }
}

// Where in the indices component k for this batch index stands.
static void index_position(const instruction *i, const int64_t *batch, int64_t k, int64_t *position) {
  for (int d = 0; d < operand(i, 1)->rank; ++d) {
    position[d] = d == attributes(i)->index_vector_dim ? k : *batch++;
  }
}

static bool gather_reads_operand(const instruction *i, const int64_t *out, const int64_t *in) {
  const hlo_attributes *x = attributes(i);
  int64_t batch[8] = {0}, position[8] = {0};
  batch_index(i, out, batch);
  int offset = 0, p;
  for (int d = 0; d < operand(i, 0)->rank; ++d) {
    int64_t wanted = 0;
    if (in_list(x->start_index_map, d, &p)) {
      index_position(i, batch, p, position);
      wanted += clamp(index_value(1, operand(i, 1), position), 0, operand(i, 0)->dims[d] - x->slice_sizes.data[d]);
    }
    if (in_list(x->operand_batching_dims, d, &p)) {
      int64_t from = x->start_indices_batching_dims.data[p];
      wanted += batch[from - (from > x->index_vector_dim)];
    } else if (!in_list(x->collapsed_slice_dims, d, &p)) {
      wanted += out[x->offset_dims.data[offset++]];
    }
    if (in[d] != wanted) return false;
  }
  return true;
}

static bool gather_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  if (k == 0) return gather_reads_operand(i, out, in);
  int64_t batch[8] = {0}, position[8] = {0};
  batch_index(i, out, batch);
  index_position(i, batch, 0, position);
  for (int d = 0; d < operand(i, 1)->rank; ++d) {
    if (d != attributes(i)->index_vector_dim && in[d] != position[d]) return false;
  }
  return true;
}

static bool reduce_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0, kept = 0, p; d < operand(i, k)->rank; ++d) {
    if (!in_list(attributes(i)->dimensions, d, &p) && in[d] != out[kept++]) return false;
  }
  return true;
}

// The window position at which output o sees input n, or -1.
static int64_t window_hit(window_dim w, int64_t o, int64_t n) {
  for (int64_t s = 0; s < w.size; ++s) {
    if (o * w.stride + s * w.window_dilation - w.padding_low == n * w.base_dilation) return s;
  }
  return -1;
}

static bool reduce_window_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  for (int d = 0; d < operand(i, k)->rank; ++d) {
    if (window_hit(attributes(i)->window.dims[d], out[d], in[d]) < 0) return false;
  }
  return true;
}

static bool dot_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  const hlo_attributes *x = attributes(i);
  int_list batch = k == 0 ? x->lhs_batch_dims : x->rhs_batch_dims;
  int_list contracting = k == 0 ? x->lhs_contracting_dims : x->rhs_contracting_dims;
  int free = k == 0 ? batch.size : operand(i, 0)->rank - x->lhs_contracting_dims.size;
  for (int d = 0, p; d < operand(i, k)->rank; ++d) {
    if (in_list(contracting, d, &p)) continue;
    if (in[d] != out[in_list(batch, d, &p) ? p : free++]) return false;
  }
  return true;
}

static bool convolution_reads_input(const instruction *i, const int64_t *out, const int64_t *in) {
  const hlo_attributes *x = attributes(i);
  const convolution_dims *c = &x->dim_labels;
  int64_t features = i->shape->dims[c->output_feature];
  int64_t feature_group = out[c->output_feature] / (features / x->feature_group_count);
  int64_t batch_group = out[c->output_feature] / (features / x->batch_group_count);
  int64_t group_features = operand(i, 0)->dims[c->input_feature] / x->feature_group_count;
  int64_t group_batch = operand(i, 0)->dims[c->input_batch] / x->batch_group_count;
  for (int d = 0; d < c->spatial_rank; ++d) {
    if (window_hit(x->window.dims[d], out[c->output_spatial[d]], in[c->input_spatial[d]]) < 0) return false;
  }
  return in[c->input_feature] / group_features == feature_group &&
         in[c->input_batch] == batch_group * group_batch + out[c->output_batch];
}

// True where the window position that uses this kernel element lies on some input element in every dim.
static bool convolution_reads_kernel(const instruction *i, const int64_t *out, const int64_t *in) {
  const hlo_attributes *x = attributes(i);
  const convolution_dims *c = &x->dim_labels;
  for (int d = 0; d < c->spatial_rank; ++d) {
    window_dim w = x->window.dims[d];
    int64_t k = in[c->kernel_spatial[d]], s = w.reversal ? w.size - 1 - k : k;
    bool hit = false;
    for (int64_t n = 0; n < operand(i, 0)->dims[c->input_spatial[d]]; ++n) {
      hit = hit || window_hit(w, out[c->output_spatial[d]], n) == s;
    }
    if (!hit) return false;
  }
  return in[c->kernel_output_feature] == out[c->output_feature];
}

static bool convolution_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  return k == 0 ? convolution_reads_input(i, out, in) : convolution_reads_kernel(i, out, in);
}

// Joined or taken apart: the dims both have agree.
static bool bitcast_convert_reads(const instruction *i, int k, const int64_t *out, const int64_t *in) {
  int rank = i->shape->rank < operand(i, k)->rank ? i->shape->rank : operand(i, k)->rank;
  for (int d = 0; d < rank; ++d) {
    if (out[d] != in[d]) return false;
  }
  return true;
}

// ---- Pairs of elements according to maps

// True if the runtime variables at this point have the values that the index operands hold.
static bool runtime_values_match(const instruction *i, const operand_map *m, const indexing_domain *point) {
  for (int r = 0; r < m->map->rt_count; ++r) {
    int64_t position[SHAPE_MAX_RANK];
    const runtime_value *v = &m->rts[r];
    assert_int_equal(v->map->result_count, operand(i, v->operand)->rank);
    indexing_map_evaluate(v->map, point->dims, point->symbols, position);
    int64_t value = index_value(v->operand, operand(i, v->operand), position);
    interval bounds = m->map->rts[r].bounds;
    if (point->symbols[m->map->range_count + r] != clamp(value, bounds.lower, bounds.upper)) return false;
  }
  return true;
}

// Counts in pairs[from * to_count + to] how often the maps lead from element `from` to element `to`.
static void count_pairs(const instruction *i, const operand_maps *maps, const shape *from, const shape *to,
                        int *pairs) {
  for (int k = 0; k < maps->count; ++k) {
    const indexing_map *m = maps->maps[k].map;
    if (m->is_empty) continue;
    assert_int_equal(m->dim_count, from->rank);
    assert_int_equal(m->result_count, to->rank);
    assert_true(indexing_map_equal(m, indexing_map_simplify(a, m)));
    int64_t results[SHAPE_MAX_RANK];
    indexing_domain *points = indexing_domain_begin(a, m);
    while (indexing_domain_next(points)) {
      if (!runtime_values_match(i, &maps->maps[k], points)) continue;
      indexing_map_evaluate(m, points->dims, points->symbols, results);
      ++pairs[to_linear(from, points->dims) * shape_element_count(to) + to_linear(to, results)];
    }
  }
}

// The maps may name more pairs than there are where hlo_indexing.h says so, and must name each other one once.
static void check_pair(const instruction *i, int k, int pairs, bool reads, bool may_exceed) {
  if (pairs == (reads ? 1 : 0) || (may_exceed && !reads && pairs == 1)) return;
  text line = {0};
  hlo_print_instruction(&line, i, HLO_PRINT_FULL);
  fail_msg("operand %d: %d pairs, %d wanted: %s", k, pairs, reads, text_cstr(&line));
}

static void check_operand(const instruction *i, int o, int k, reads_fn reads, bool may_exceed) {
  const shape *out = output(i, o), *in = operand(i, k);
  int64_t out_count = shape_element_count(out), in_count = shape_element_count(in);
  int *forward = arena_array(a, int, out_count *in_count), *back = arena_array(a, int, out_count *in_count);
  hlo_indexing inputs, outputs;
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, o, &inputs)));
  assert_true(status_is_ok(hlo_indexing_input_to_output(a, i, k, &outputs)));
  assert_int_equal(inputs.count, i->operand_count);
  count_pairs(i, &inputs.operands[k], out, in, forward);
  count_pairs(i, &outputs.operands[o], in, out, back);
  for (int64_t p = 0; p < out_count * in_count; ++p) {
    int64_t out_index[SHAPE_MAX_RANK], in_index[SHAPE_MAX_RANK], from = p / in_count, to = p % in_count;
    from_linear(out, from, out_index);
    from_linear(in, to, in_index);
    bool wanted = reads(i, k, out_index, in_index);
    check_pair(i, k, forward[p], wanted, may_exceed);
    if (!outputs.operands[o].unknown) check_pair(i, k, back[to * out_count + from], wanted, may_exceed);
  }
}

static const instruction *root_of(const char *body) {
  module *m = NULL;
  const char *source = arena_printf(a,
                                    "HloModule test\n"
                                    "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }\n"
                                    "add2 { x = f32[] parameter(0) y = s32[] parameter(1) z = f32[] parameter(2) "
                                    "w = s32[] parameter(3) s = f32[] add(x, z) t = s32[] add(y, w) "
                                    "ROOT r = (f32[], s32[]) tuple(s, t) }\n"
                                    "less { x = f32[] parameter(0) y = f32[] parameter(1) "
                                    "ROOT r = pred[] compare(x, y), direction=LT }\n"
                                    "ENTRY main { %s }\n",
                                    body);
  heddle_status status = hlo_parse(a, "test.hlo", str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return m->entry->root;
}

// Checks operands first .. last of the body's root, each against each output.
static void check(const char *body, int first, int last, reads_fn reads) {
  const instruction *i = root_of(body);
  int outputs = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
  bool is_padding = i->opcode == HLO_PAD || i->opcode == HLO_DYNAMIC_UPDATE_SLICE;
  for (int k = first; k <= last; ++k) {
    for (int o = 0; o < outputs; ++o) check_operand(i, o, k, reads, is_padding);
  }
}

// ---- The ops

static void elementwise(void **state) {
  (void)state;
  check("p = f32[3,4] parameter(0) ROOT r = f32[3,4] exponential(p)", 0, 0, same_index);
  check("p = f32[3,1,4] parameter(0) q = f32[3,1,4] parameter(1) ROOT r = f32[3,1,4] multiply(p, q)", 0, 1, same_index);
  check("p = pred[] parameter(0) q = f32[3,4] parameter(1) ROOT r = f32[3,4] select(p, q, q)", 0, 2, same_index);
  check("p = f32[] parameter(0) q = f32[5] parameter(1) ROOT r = f32[5] clamp(p, q, p)", 0, 2, same_index);
  check("p = f32[2,3]{0,1} parameter(0) ROOT r = f32[2,3]{1,0} copy(p)", 0, 0, same_index);
  check("p = f32[] parameter(0) ROOT r = f32[] negate(p)", 0, 0, same_index);
  check("p = f32[3] parameter(0) ROOT r = s8[3,4] bitcast-convert(p)", 0, 0, bitcast_convert_reads);
  check("p = s8[3,4] parameter(0) ROOT r = f32[3] bitcast-convert(p)", 0, 0, bitcast_convert_reads);
}

static void broadcasts(void **state) {
  (void)state;
  check("p = f32[3] parameter(0) ROOT r = f32[2,3,4] broadcast(p), dimensions={1}", 0, 0, broadcast_reads);
  check("p = f32[2,4] parameter(0) ROOT r = f32[2,3,4] broadcast(p), dimensions={0,2}", 0, 0, broadcast_reads);
  check("p = f32[] parameter(0) ROOT r = f32[2,3] broadcast(p), dimensions={}", 0, 0, broadcast_reads);
}

static void reshapes_and_bitcasts(void **state) {
  (void)state;
  check("p = f32[4,6] parameter(0) ROOT r = f32[3,8] reshape(p)", 0, 0, reshape_reads);
  check("p = f32[4,1,6] parameter(0) ROOT r = f32[2,2,3,2,1] reshape(p)", 0, 0, reshape_reads);
  check("p = f32[1,1] parameter(0) ROOT r = f32[] reshape(p)", 0, 0, reshape_reads);
  check("p = f32[4,6]{0,1} parameter(0) ROOT r = f32[3,8]{0,1} bitcast(p)", 0, 0, bitcast_reads);
  check("p = f32[4,6]{0,1} parameter(0) ROOT r = f32[6,4]{1,0} bitcast(p)", 0, 0, bitcast_reads);
  check("p = f32[2,3,4]{1,2,0} parameter(0) ROOT r = f32[12,2]{0,1} bitcast(p)", 0, 0, bitcast_reads);
}

static void index_movers(void **state) {
  (void)state;
  check("p = f32[2,3,4] parameter(0) ROOT r = f32[4,2,3] transpose(p), dimensions={2,0,1}", 0, 0, transpose_reads);
  check("p = f32[2,3,4] parameter(0) ROOT r = f32[2,3,4] reverse(p), dimensions={0,2}", 0, 0, reverse_reads);
  check("p = f32[7,9] parameter(0) ROOT r = f32[3,4] slice(p), slice={[1:6:2], [5:9]}", 0, 0, slice_reads);
  check("p = f32[2,3] parameter(0) q = f32[2,1] parameter(1) ROOT r = f32[2,7] concatenate(p, q, p), dimensions={1}", 0,
        2, concatenate_reads);
}

static void pads(void **state) {
  (void)state;
  check("p = f32[4,3] parameter(0) q = f32[] parameter(1) ROOT r = f32[7,9] pad(p, q), padding=1_2x2_0_2", 0, 1,
        pad_reads);
  check("p = f32[5,6] parameter(0) q = f32[] parameter(1) ROOT r = f32[3,7] pad(p, q), padding=-1_-1x-2_-2_1", 0, 1,
        pad_reads);
}

static void dynamic_slices(void **state) {
  (void)state;
  check(
      "p = f32[5,6] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) "
      "ROOT r = f32[2,6] dynamic-slice(p, i, j), dynamic_slice_sizes={2,6}",
      0, 2, dynamic_slice_reads);
  check(
      "p = f32[5,6] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) u = f32[2,3] parameter(3) "
      "ROOT r = f32[5,6] dynamic-update-slice(p, u, i, j)",
      0, 3, dynamic_update_slice_reads);
}

static void gathers(void **state) {
  (void)state;
  check(
      "p = f32[5,6] parameter(0) i = s32[4,2] parameter(1) ROOT r = f32[4,2,3] gather(p, i), offset_dims={1,2}, "
      "collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,3}",
      0, 1, gather_reads);
  check(
      "p = f32[5,6] parameter(0) i = s32[2,4] parameter(1) ROOT r = f32[3,4] gather(p, i), offset_dims={0}, "
      "collapsed_slice_dims={0}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,3}",
      0, 1, gather_reads);
  check(
      "p = f32[5,6] parameter(0) i = s32[2,2] parameter(1) ROOT r = f32[2,2,6] gather(p, i), offset_dims={2}, "
      "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,6}",
      0, 1, gather_reads);
  check(
      "p = f32[3,5] parameter(0) i = s32[2,3,1] parameter(1) ROOT r = f32[2,3,2] gather(p, i), offset_dims={2}, "
      "collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=2, operand_batching_dims={0}, "
      "start_indices_batching_dims={1}, slice_sizes={1,2}",
      0, 1, gather_reads);
}

static void reductions(void **state) {
  (void)state;
  check(
      "p = f32[2,3,4] parameter(0) z = f32[] parameter(1) "
      "ROOT r = f32[3] reduce(p, z), dimensions={0,2}, to_apply=add",
      0, 1, reduce_reads);
  check(
      "p = f32[2,3] parameter(0) q = s32[2,3] parameter(1) y = f32[] parameter(2) z = s32[] parameter(3) "
      "ROOT r = (f32[2], s32[2]) reduce(p, q, y, z), dimensions={1}, to_apply=add2",
      0, 3, reduce_reads);
  check(
      "p = f32[7] parameter(0) z = f32[] parameter(1) ROOT r = f32[4] reduce-window(p, z), "
      "window={size=3 stride=2 pad=1_1}, to_apply=add",
      0, 0, reduce_window_reads);
  check(
      "p = f32[4,5] parameter(0) z = f32[] parameter(1) ROOT r = f32[5,3] reduce-window(p, z), "
      "window={size=2x2 stride=2x2 pad=3_1x0_2 lhs_dilate=2x1 rhs_dilate=2x2}, to_apply=add",
      0, 0, reduce_window_reads);
}

static void dots(void **state) {
  (void)state;
  check(
      "p = f32[3,4] parameter(0) q = f32[4,5] parameter(1) "
      "ROOT r = f32[3,5] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      0, 1, dot_reads);
  check(
      "p = f32[2,3,4,2] parameter(0) q = f32[4,2,3,3] parameter(1) ROOT r = f32[2,2,3] dot(p, q), "
      "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2,1}, rhs_contracting_dims={0,3}",
      0, 1, dot_reads);
}

static void convolutions(void **state) {
  (void)state;
  check(
      "p = f32[2,5,6,3] parameter(0) q = f32[2,3,3,4] parameter(1) ROOT r = f32[2,4,3,4] convolution(p, q), "
      "window={size=2x3 stride=1x2 pad=0_0x1_1}, dim_labels=b01f_01io->b01f",
      0, 1, convolution_reads);
  check(
      "p = f32[1,4,5] parameter(0) q = f32[6,2,3] parameter(1) ROOT r = f32[1,6,7] convolution(p, q), "
      "window={size=3 pad=1_1 lhs_dilate=2 rhs_dilate=2 rhs_reversal=1}, dim_labels=bf0_oi0->bf0, "
      "feature_group_count=2",
      0, 1, convolution_reads);
  check(
      "p = f32[4,5,2] parameter(0) q = f32[3,2,6] parameter(1) ROOT r = f32[2,3,6] convolution(p, q), "
      "window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2",
      0, 1, convolution_reads);
}

static void tuples_and_leaves(void **state) {
  (void)state;
  hlo_indexing x;
  const instruction *i =
      root_of("p = f32[3] parameter(0) q = s32[2] parameter(1) ROOT r = (f32[3], s32[2]) tuple(p, q)");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 1, &x)));
  assert_int_equal(x.operands[0].count, 0);
  map_expect_text(x.operands[1].maps[0].map, "(d0) -> (d0), domain: d0 in [0, 1]");
  assert_true(status_is_ok(hlo_indexing_input_to_output(a, i, 0, &x)));
  map_expect_text(x.operands[0].maps[0].map, "(d0) -> (d0), domain: d0 in [0, 2]");
  assert_int_equal(x.operands[1].count, 0);
  i = root_of("p = (f32[3], s32[2]) parameter(0) ROOT r = s32[2] get-tuple-element(p), index=1");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  map_expect_text(x.operands[0].maps[0].map, "(d0) -> (d0), domain: d0 in [0, 1]");
  assert_true(
      status_is_ok(hlo_indexing_output_to_input(a, root_of("ROOT r = s32[4] iota(), iota_dimension=0"), 0, &x)));
  assert_int_equal(x.count, 0);
}

static void scatters(void **state) {
  (void)state;
  hlo_indexing x;
  const char *body =
      "p = f32[5,6] parameter(0) i = s32[4,1] parameter(1) u = f32[4,3] parameter(2) "
      "ROOT r = f32[5,6] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
  const instruction *i = root_of(body);
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  map_expect_text(x.operands[0].maps[0].map, "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 5]");
  assert_true(x.operands[1].unknown && x.operands[2].unknown);
  assert_true(status_is_ok(hlo_indexing_input_to_output(a, i, 2, &x)));
  map_expect_text(x.operands[0].maps[0].map,
                  "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 3], d1 in [0, 2], rt0 in [0, 4]");
  map_expect_text(x.operands[0].maps[0].rts[0].map, "(d0, d1) -> (d0, 0), domain: d0 in [0, 3], d1 in [0, 2]");
  assert_int_equal(x.operands[0].maps[0].rts[0].operand, 1);
}

static void texts_are_as_simple_as_they_can_be(void **state) {
  (void)state;
  hlo_indexing x;
  const instruction *i =
      root_of("p = f32[4,3] parameter(0) q = f32[] parameter(1) ROOT r = f32[9,11] pad(p, q), padding=1_1_1x4_4");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  map_expect_text(
      x.operands[0].maps[0].map,
      "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 8], d1 in [4, 6], (d0 - 1) mod 2 in [0, 0]");
  i = root_of(
      "p = f32[5,6] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) "
      "ROOT r = f32[2,6] dynamic-slice(p, i, j), dynamic_slice_sizes={2,6}");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  map_expect_text(x.operands[0].maps[0].map,
                  "(d0, d1){rt0} -> (d0 + rt0, d1), domain: d0 in [0, 1], d1 in [0, 5], rt0 in [0, 3]");
  i = root_of("p = f32[8,16]{1,0} parameter(0) ROOT r = f32[16,2,4]{0,2,1} bitcast(p)");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  map_expect_text(x.operands[0].maps[0].map,
                  "(d0, d1, d2) -> (d1 * 4 + d2, d0), domain: d0 in [0, 15], d1 in [0, 1], d2 in [0, 3]");
}

static void no_elements_no_points(void **state) {
  (void)state;
  hlo_indexing x;
  const instruction *i = root_of("p = f32[0,3] parameter(0) ROOT r = f32[3,0] transpose(p), dimensions={1,0}");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  assert_true(x.operands[0].maps[0].map->is_empty);
  i = root_of("p = f32[0,3] parameter(0) q = f32[] parameter(1) ROOT r = f32[2,3] pad(p, q), padding=1_1x0_0");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  assert_true(x.operands[0].maps[0].map->is_empty);
  i = root_of("p = f32[0,3] parameter(0) ROOT r = f32[3,0,4] reshape(p)");
  assert_true(status_is_ok(hlo_indexing_output_to_input(a, i, 0, &x)));
  assert_true(x.operands[0].maps[0].map->is_empty);
}

static void ops_without_maps_are_refused(void **state) {
  (void)state;
  hlo_indexing x;
  const instruction *i = root_of("p = f32[8] parameter(0) ROOT r = f32[8] sort(p), dimensions={0}, to_apply=less");
  heddle_status status = hlo_indexing_output_to_input(a, i, 0, &x);
  assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
  assert_string_equal(status_brief(status), "sort has no indexing maps");
  assert_true(status_where(status).line > 0);
  heddle_status_free(status);
}

// Shape inference takes the shapes of dots and convolutions with sparse operands as given, so no dim can be relied on.
static void sparse_operands_are_refused(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "p = s8[6,16] parameter(0) q = s8[16,5] parameter(1) ROOT r = s32[6,5] dot(p, q, q)",
      "p = f32[2,3,4] parameter(0) q = f32[3,5,1] parameter(1) ROOT r = f32[7] convolution(p, q, q), window={size=1}, "
      "dim_labels=bf0_io0->bf0"};
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    hlo_indexing x;
    const instruction *i = root_of(bodies[k]);
    heddle_status status = hlo_indexing_output_to_input(a, i, 0, &x);
    assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
    assert_non_null(strstr(status_brief(status), "of sparse operands has no indexing maps"));
    heddle_status_free(status);
    status = hlo_indexing_input_to_output(a, i, 1, &x);
    assert_int_equal(heddle_status_code(status), HEDDLE_UNIMPLEMENTED);
    heddle_status_free(status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elementwise),
      cmocka_unit_test(broadcasts),
      cmocka_unit_test(reshapes_and_bitcasts),
      cmocka_unit_test(index_movers),
      cmocka_unit_test(pads),
      cmocka_unit_test(dynamic_slices),
      cmocka_unit_test(gathers),
      cmocka_unit_test(reductions),
      cmocka_unit_test(dots),
      cmocka_unit_test(convolutions),
      cmocka_unit_test(tuples_and_leaves),
      cmocka_unit_test(scatters),
      cmocka_unit_test(texts_are_as_simple_as_they_can_be),
      cmocka_unit_test(no_elements_no_points),
      cmocka_unit_test(ops_without_maps_are_refused),
      cmocka_unit_test(sparse_operands_are_refused),
  };
  return cmocka_run_group_tests(tests, map_expect_set_up, map_expect_tear_down);
}
