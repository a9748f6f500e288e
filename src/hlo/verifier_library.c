// Operations whose result's shape is given in the text: what operands, attributes and result owe each other. Linear
// algebra, transforms, random numbers, normalisation, tokens, dynamic sizes, asynchronous pairs, messages and
// collectives.
#include "hlo/device_groups.h"
#include "hlo/permute_slices.h"
#include "hlo/verifier_rules.h"

static const shape *operand_shape(const instruction *i, int index) { return i->operands[index]->shape; }

static heddle_status wants_result(arena *a, const instruction *i, const shape *wanted) {
  if (shape_compatible(i->shape, wanted)) return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted %s", shape_text(a, i->shape), shape_text(a, wanted));
}

static heddle_status wants_operand(arena *a, const instruction *i, int index, const shape *wanted) {
  if (shape_compatible(operand_shape(i, index), wanted)) return status_ok();
  return VERIFY_ERROR(i, "operand %d has shape %s, wanted %s", index, shape_text(a, operand_shape(i, index)),
                      shape_text(a, wanted));
}

static heddle_status wants_dim(const instruction *i, const char *name, int64_t dim, int rank) {
  if (dim >= 0 && dim < rank) return status_ok();
  return VERIFY_ERROR(i, "%s is %lld, wanted a dimension below %d", name, (long long)dim, rank);
}

// One dim of operand 0.
static heddle_status wants_one_dim(const instruction *i) {
  int_list dimensions = i->attributes->dimensions;
  if (dimensions.size != 1) return VERIFY_ERROR(i, "dimensions has %d entries, wanted one", dimensions.size);
  return wants_dim(i, "dimensions[0]", dimensions.data[0], operand_shape(i, 0)->rank);
}

static heddle_status verify_cholesky(arena *a, const instruction *i) {
  const shape *s = operand_shape(i, 0);
  if (s->rank >= 2 && s->dims[s->rank - 1] == s->dims[s->rank - 2]) return status_ok();
  return VERIFY_ERROR(i, "operand 0 has shape %s, wanted square matrices", shape_text(a, s));
}

// a is [..., n, n]; b is [..., n, m], or [..., m, n] when a stands on its right. The result has b's shape.
static heddle_status verify_triangular_solve(arena *a, const instruction *i) {
  const shape *l = operand_shape(i, 0), *r = operand_shape(i, 1);
  TRY(verify_cholesky(a, i));
  bool fits = l->rank == r->rank && l->dtype == r->dtype;
  for (int d = 0; fits && d < l->rank - 2; d++) fits = l->dims[d] == r->dims[d];
  fits = fits && r->dims[r->rank - (i->attributes->left_side ? 2 : 1)] == l->dims[l->rank - 1];
  if (!fits)
    return VERIFY_ERROR(i, "operand 1 has shape %s, which does not fit %s on its %s", shape_text(a, r),
                        shape_text(a, l), i->attributes->left_side ? "left" : "right");
  return wants_result(a, i, r);
}

// The length of a transform in the operand and in the result: the half-sized side of a real transform is complex.
static heddle_status verify_fft(arena *a, const instruction *i) {
  const shape *from = operand_shape(i, 0);
  fft_type type = i->attributes->fft_type;
  int_list lengths = i->attributes->fft_length;
  if (lengths.size < 1 || lengths.size > 3 || lengths.size > from->rank)
    return VERIFY_ERROR(i, "fft_length has %d entries, wanted 1 to 3 and at most the operand's rank, %d", lengths.size,
                        from->rank);
  if (dtype_is_complex(from->dtype) != (type != FFT_RFFT))
    return VERIFY_ERROR(i, "operand 0 has shape %s, wanted %s numbers", shape_text(a, from),
                        type == FFT_RFFT ? "real" : "complex");
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, from->dims, (size_t)from->rank * sizeof *dims);
  for (int k = 0; k < lengths.size; k++) {
    int d = from->rank - lengths.size + k;
    bool is_last = k == lengths.size - 1;
    int64_t length = lengths.data[k], half = length / 2 + (length > 0);
    int64_t wanted = is_last && type == FFT_IRFFT ? half : length;
    const bool may_differ = type == FFT_FFT || type == FFT_IFFT;  // lines are then filled up or cut
    if (length < 0 || (from->dims[d] != wanted && !may_differ))
      return VERIFY_ERROR(i, "dimension %d of the operand has size %lld, wanted %lld for an fft_length of %lld", d,
                          (long long)from->dims[d], (long long)wanted, (long long)length);
    if (!may_differ) dims[d] = is_last && type == FFT_RFFT ? half : length;
  }
  dtype t = from->dtype;
  if (type == FFT_RFFT) t = t == DTYPE_F64 ? DTYPE_C128 : DTYPE_C64;
  if (type == FFT_IRFFT) t = dtypes[t].part;
  return wants_result(a, i, shape_array(a, t, from->rank, dims));
}

static heddle_status verify_topk(arena *a, const instruction *i) {
  const shape *from = operand_shape(i, 0);
  int64_t k = i->attributes->k;
  if (!shape_is_array(from) || from->rank == 0)
    return VERIFY_ERROR(i, "operand 0 has shape %s, wanted an array of rank 1 or more", shape_text(a, from));
  if (k < 0 || k > from->dims[from->rank - 1])
    return VERIFY_ERROR(i, "k is %lld, wanted at most the last dimension's size, %lld", (long long)k,
                        (long long)from->dims[from->rank - 1]);
  int64_t dims[SHAPE_MAX_RANK];
  memcpy(dims, from->dims, (size_t)from->rank * sizeof *dims);
  dims[from->rank - 1] = k;
  const shape *pair[2] = {shape_array(a, from->dtype, from->rank, dims), shape_array(a, DTYPE_S32, from->rank, dims)};
  return wants_result(a, i, shape_tuple(a, 2, pair));
}

// Operands 1 to `end` - 1 are vectors with an element for each feature of operand 0.
static heddle_status verify_features(arena *a, const instruction *i, int end, const shape **feature) {
  const shape *from = operand_shape(i, 0);
  TRY(wants_dim(i, "feature_index", i->attributes->feature_index, from->rank));
  *feature = shape_array(a, from->dtype, 1, &from->dims[i->attributes->feature_index]);
  for (int k = 1; k < end; k++) TRY(wants_operand(a, i, k, *feature));
  return status_ok();
}

static heddle_status verify_batch_norm_inference(arena *a, const instruction *i) {
  const shape *feature;
  return verify_features(a, i, 5, &feature);
}

static heddle_status verify_batch_norm_training(arena *a, const instruction *i) {
  const shape *feature;
  TRY(verify_features(a, i, 3, &feature));
  const shape *results[3] = {operand_shape(i, 0), feature, feature};
  return wants_result(a, i, shape_tuple(a, 3, results));
}

static heddle_status verify_batch_norm_grad(arena *a, const instruction *i) {
  const shape *feature;
  TRY(verify_features(a, i, 4, &feature));
  TRY(wants_operand(a, i, 4, operand_shape(i, 0)));
  const shape *results[3] = {operand_shape(i, 0), feature, feature};
  return wants_result(a, i, shape_tuple(a, 3, results));
}

static heddle_status verify_rng(arena *a, const instruction *i) {
  if (!shape_is_array(i->shape))
    return VERIFY_ERROR(i, "found the result's shape %s, wanted an array", shape_text(a, i->shape));
  for (int k = 0; k < i->operand_count; k++) TRY(wants_operand(a, i, k, shape_scalar(a, i->shape->dtype)));
  return status_ok();
}

// The state may be anything, the result the numbers alone: who draws from it says what is too much.
static heddle_status verify_rng_bit_generator(arena *a, const instruction *i) {
  const shape *state = operand_shape(i, 0), *s = i->shape, *numbers = s;
  bool fits = true;
  if (shape_is_tuple(s)) {
    fits = s->tuple_size == 2 && shape_compatible(s->elements[0], state);
    numbers = fits ? s->elements[1] : s;
  }
  if (fits && shape_is_array(numbers) && (dtypes[numbers->dtype].class & CLASS_REAL)) return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted the state and an array of integers or floats",
                      shape_text(a, s));
}

static heddle_status verify_id(arena *a, const instruction *i) {
  return wants_result(a, i, shape_scalar(a, DTYPE_U32));
}

static heddle_status verify_add_dependency(arena *a, const instruction *i) {
  return wants_operand(a, i, 1, shape_token(a));
}

static heddle_status verify_set_dimension_size(arena *a, const instruction *i) {
  if (!shape_is_array(operand_shape(i, 0)))
    return VERIFY_ERROR(i, "operand 0 has shape %s, wanted an array", shape_text(a, operand_shape(i, 0)));
  TRY(wants_one_dim(i));
  TRY(wants_operand(a, i, 1, shape_scalar(a, DTYPE_S32)));
  return wants_result(a, i, operand_shape(i, 0));
}

// The sizes are operands, one scalar for each dim of the result.
static heddle_status verify_dynamic_reshape(arena *a, const instruction *i) {
  if (!shape_is_array(i->shape) || !shape_is_array(operand_shape(i, 0)) ||
      i->shape->dtype != operand_shape(i, 0)->dtype)
    return VERIFY_ERROR(i, "found the result's shape %s, wanted an array of operand 0's type", shape_text(a, i->shape));
  if (i->operand_count - 1 != i->shape->rank)
    return VERIFY_ERROR(i, "found %d sizes, wanted one for each of the result's %d dimensions", i->operand_count - 1,
                        i->shape->rank);
  for (int k = 1; k < i->operand_count; k++)
    if (!shape_is_scalar(operand_shape(i, k)) || !dtype_is_integer(operand_shape(i, k)->dtype))
      return VERIFY_ERROR(i, "operand %d has shape %s, wanted an integer scalar", k,
                          shape_text(a, operand_shape(i, k)));
  return status_ok();
}

// (target, source, context…): what a pair of start and done passes on.
static heddle_status verify_copy_start(arena *a, const instruction *i) {
  const shape *s = i->shape, *from = operand_shape(i, 0);
  if (shape_is_tuple(s) && s->tuple_size >= 2 && shape_compatible(s->elements[0], from) &&
      shape_compatible(s->elements[1], from))
    return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted a tuple that begins with %s twice", shape_text(a, s),
                      shape_text(a, from));
}

static heddle_status wants_operand_element(arena *a, const instruction *i, int element) {
  const shape *from = operand_shape(i, 0);
  if (!shape_is_tuple(from) || from->tuple_size <= element)
    return VERIFY_ERROR(i, "operand 0 has shape %s, wanted the tuple of a start", shape_text(a, from));
  return wants_result(a, i, from->elements[element]);
}

static heddle_status verify_copy_done(arena *a, const instruction *i) { return wants_operand_element(a, i, 0); }
static heddle_status verify_async_done(arena *a, const instruction *i) { return wants_operand_element(a, i, 1); }

// ((operands…), result, context…), the result as the wrapped computation returns it.
static heddle_status verify_async_start(arena *a, const instruction *i) {
  const shape *s = i->shape;
  bool fits = shape_is_tuple(s) && s->tuple_size >= 2 && shape_is_tuple(s->elements[0]) &&
              s->elements[0]->tuple_size == i->operand_count;
  for (int k = 0; fits && k < i->operand_count; k++)
    fits = shape_compatible(s->elements[0]->elements[k], operand_shape(i, k));
  if (fits && i->called_count) fits = shape_compatible(s->elements[1], i->called[0]->root->shape);
  if (fits) return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted a tuple of the operands' tuple, the result, and contexts",
                      shape_text(a, s));
}

static heddle_status verify_async_update(arena *a, const instruction *i) {
  if (i->operand_count != 1) return VERIFY_ERROR(i, "found %d operands, wanted 1", i->operand_count);
  return wants_result(a, i, operand_shape(i, 0));
}

// Collectives that keep shapes: every operand comes back as it is.
static heddle_status verify_same_shapes(arena *a, const instruction *i) {
  if (i->operand_count == 1 && !shape_is_tuple(i->shape)) return wants_result(a, i, operand_shape(i, 0));
  const shape **shapes = arena_array(a, const shape *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) shapes[k] = operand_shape(i, k);
  return wants_result(a, i, shape_tuple(a, i->operand_count, shapes));
}

// What is reduced may come out as other floats.
static heddle_status verify_all_reduce(arena *a, const instruction *i) {
  const shape **shapes = arena_array(a, const shape *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) shapes[k] = operand_shape(i, k);
  const bool is_tuple = i->operand_count > 1 || shape_is_tuple(i->shape);
  const shape *wanted = is_tuple ? shape_tuple(a, i->operand_count, shapes) : shapes[0];
  return shape_compatible_in_floats(i->shape, wanted) ? status_ok() : wants_result(a, i, wanted);
}

// A result of one shape stands for groups of one size.
static heddle_status verify_uniform_groups(const instruction *i) {
  const group_list *groups = &i->attributes->replica_groups;
  for (int k = 1; k < groups->size; k++)
    if (groups->groups[k].size != groups->groups[0].size)
      return VERIFY_ERROR(i, "group %d has %d devices, wanted as many as group 0, %d", k, groups->groups[k].size,
                          groups->groups[0].size);
  return status_ok();
}

static heddle_status verify_all_to_all(arena *a, const instruction *i) {
  TRY(verify_uniform_groups(i));
  return verify_same_shapes(a, i);
}

// By how many times a dim grows or shrinks is the size of a group where groups say it: not where there are none, nor
// where a list of replicas stands for all of their partitions.
static heddle_status verify_factor(const instruction *i, int64_t from, int64_t to) {
  const group_list *groups = &i->attributes->replica_groups;
  const int size = groups->size ? groups->groups[0].size : 0;
  if (size < 2 || device_groups_mode_of(i) == DEVICE_GROUPS_CROSS_BOTH || from <= 0 || to <= 0) return status_ok();
  const bool grows = i->opcode == HLO_ALL_GATHER;
  const int64_t small = grows ? from : to, large = grows ? to : from;
  if ((large + small - 1) / small == size) return status_ok();
  return VERIFY_ERROR(i, "a dimension of %lld becomes one of %lld among %d devices", (long long)from, (long long)to,
                      size);
}

// Collectives that join or split one dim by the number of devices, which the text does not always say.
static heddle_status verify_one_dim_changes(arena *a, const instruction *i) {
  TRY(verify_uniform_groups(i));
  TRY(wants_one_dim(i));
  int64_t dim = i->attributes->dimensions.data[0];
  bool is_tuple = shape_is_tuple(i->shape);
  if (is_tuple ? i->shape->tuple_size != i->operand_count : i->operand_count != 1)
    return VERIFY_ERROR(i, "found %d operands, wanted as many as results", i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    const shape *from = operand_shape(i, k), *to = is_tuple ? i->shape->elements[k] : i->shape;
    bool fits = dtype_same_in_floats(from->dtype, to->dtype) && from->rank == to->rank && dim < to->rank;
    for (int d = 0; fits && d < to->rank; d++) fits = d == dim || from->dims[d] == to->dims[d];
    if (!fits)
      return VERIFY_ERROR(i, "result %d has shape %s, wanted operand %d's %s but for dimension %lld", k,
                          shape_text(a, to), k, shape_text(a, from), (long long)dim);
    TRY(verify_factor(i, from->dims[dim], to->dims[dim]));
  }
  return status_ok();
}

// Of slices, the results are the outputs; else what comes in has the operands' shapes.
static heddle_status verify_collective_permute(arena *a, const instruction *i) {
  permute_slices slices;
  if (!permute_slices_has(i)) return verify_same_shapes(a, i);
  TRY(permute_slices_of(i, &slices));
  return wants_result(a, i, operand_shape(i, 1));
}

// Of slices: (inputs, outputs, contexts).
static heddle_status verify_collective_permute_start(arena *a, const instruction *i) {
  permute_slices slices;
  if (!permute_slices_has(i)) return status_ok();
  TRY(permute_slices_of(i, &slices));
  if (!shape_is_tuple(i->shape) || i->shape->tuple_size < 2)
    return VERIFY_ERROR(i, "found the result's shape %s, wanted a tuple of inputs and outputs",
                        shape_text(a, i->shape));
  for (int k = 0; k < 2; k++)
    if (!shape_compatible(i->shape->elements[k], operand_shape(i, k)))
      return VERIFY_ERROR(i, "element %d of the result has shape %s, wanted %s", k,
                          shape_text(a, i->shape->elements[k]), shape_text(a, operand_shape(i, k)));
  return status_ok();
}

static bool is_u32(const shape *s) { return shape_is_scalar(s) && s->dtype == DTYPE_U32; }

// A message that is under way: (value, u32[] context, token).
static bool is_message(const shape *s) {
  return shape_is_tuple(s) && s->tuple_size == 3 && is_u32(s->elements[1]) && s->elements[2]->dtype == DTYPE_TOKEN;
}

static heddle_status verify_send(arena *a, const instruction *i) {
  if (is_message(i->shape) && shape_compatible(i->shape->elements[0], operand_shape(i, 0))) return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted (%s, u32[], token[])", shape_text(a, i->shape),
                      shape_text(a, operand_shape(i, 0)));
}

static heddle_status verify_recv(arena *a, const instruction *i) {
  if (is_message(i->shape)) return status_ok();
  return VERIFY_ERROR(i, "found the result's shape %s, wanted a value, u32[] and a token", shape_text(a, i->shape));
}

static heddle_status verify_recv_done(arena *a, const instruction *i) {
  const shape *message = operand_shape(i, 0);
  if (!is_message(message))
    return VERIFY_ERROR(i, "operand 0 has shape %s, wanted a value, u32[] and a token", shape_text(a, message));
  const shape *elements[] = {message->elements[0], message->elements[2]};
  return wants_result(a, i, shape_tuple(a, 2, elements));
}

typedef heddle_status verify_fn(arena *a, const instruction *i);

static verify_fn *const library[HLO_OPCODE_COUNT] = {
    [HLO_CHOLESKY] = verify_cholesky,
    [HLO_TRIANGULAR_SOLVE] = verify_triangular_solve,
    [HLO_FFT] = verify_fft,
    [HLO_TOPK] = verify_topk,
    [HLO_BATCH_NORM_INFERENCE] = verify_batch_norm_inference,
    [HLO_BATCH_NORM_TRAINING] = verify_batch_norm_training,
    [HLO_BATCH_NORM_GRAD] = verify_batch_norm_grad,
    [HLO_RNG] = verify_rng,
    [HLO_RNG_BIT_GENERATOR] = verify_rng_bit_generator,
    [HLO_PARTITION_ID] = verify_id,
    [HLO_REPLICA_ID] = verify_id,
    [HLO_ADD_DEPENDENCY] = verify_add_dependency,
    [HLO_SET_DIMENSION_SIZE] = verify_set_dimension_size,
    [HLO_DYNAMIC_RESHAPE] = verify_dynamic_reshape,
    [HLO_COPY_START] = verify_copy_start,
    [HLO_COPY_DONE] = verify_copy_done,
    [HLO_ASYNC_START] = verify_async_start,
    [HLO_ASYNC_UPDATE] = verify_async_update,
    [HLO_ASYNC_DONE] = verify_async_done,
    [HLO_ALL_REDUCE] = verify_all_reduce,
    [HLO_ALL_TO_ALL] = verify_all_to_all,
    [HLO_COLLECTIVE_BROADCAST] = verify_same_shapes,
    [HLO_COLLECTIVE_PERMUTE] = verify_collective_permute,
    [HLO_COLLECTIVE_PERMUTE_START] = verify_collective_permute_start,
    [HLO_SEND] = verify_send,
    [HLO_RECV] = verify_recv,
    [HLO_RECV_DONE] = verify_recv_done,
    [HLO_ALL_GATHER] = verify_one_dim_changes,
    [HLO_REDUCE_SCATTER] = verify_one_dim_changes,
};

heddle_status verifier_check_library_op(arena *a, const instruction *i) {
  return library[i->opcode] ? library[i->opcode](a, i) : status_ok();
}
