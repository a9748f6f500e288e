// Form normalization. What is brought to one form:
//   - rng-bit-generator whose result is the numbers alone, and states of other integers than u64;
//   - reductions whose computation returns a tuple of one;
//   - transforms of other lengths than their dims: lines are filled up with zeros or cut, before and behind;
//   - collectives that reduce by a computation of whole arrays, and those whose results are other floats than their
//     operands: what was to be reduced is converted first;
//   - receives that end before a send on their channel, though neither needs the other: the send goes first, since a
//     device that sends to itself, or all that send in a ring, would else wait for ever.
// The interpreter has no rules of its own for these forms: it is given what this pass leaves.
#include "opt/form_normalization.h"

#include "opt/passes.h"
#include "opt/rewrite.h"

// --- random bits

enum { WORD_BITS = 64 };

// A list of integers that is as long as some words.
static bool is_words(const shape *s) {
  return shape_is_array(s) && shape_is_static(s) && s->rank == 1 && dtype_is_integer(s->dtype) &&
         dtypes[s->dtype].bits >= 8 && s->dims[0] > 0 && s->dims[0] * dtypes[s->dtype].bits % WORD_BITS == 0;
}

static bool random_bits_apply(const instruction *i) {
  const shape *state = i->operands[0]->shape;
  return !shape_is_tuple(i->shape) || (is_words(state) && state->dtype != DTYPE_U64);
}

static instruction *cast_bits(const builder *b, instruction *x, dtype to, int rank, const int64_t *dims) {
  return builder_add(b, HLO_BITCAST_CONVERT, shape_array(b->arena, to, rank, dims), 1, &x);
}

static instruction *to_words(const builder *b, instruction *x) {
  const shape *s = x->shape;
  if (!is_words(s) || s->dtype == DTYPE_U64) return x;
  const int64_t parts = WORD_BITS / dtypes[s->dtype].bits, dims[2] = {s->dims[0] / parts, parts};
  return cast_bits(b, parts > 1 ? builder_reshape(b, x, 2, dims) : x, DTYPE_U64, 1, dims);
}

static instruction *from_words(const builder *b, instruction *x, const shape *s) {
  if (!is_words(s) || s->dtype == DTYPE_U64) return x;
  const int64_t parts = WORD_BITS / dtypes[s->dtype].bits, dims[2] = {s->dims[0] / parts, parts};
  x = cast_bits(b, x, s->dtype, parts > 1 ? 2 : 1, dims);
  return parts > 1 ? builder_reshape(b, x, 1, s->dims) : x;
}

static instruction *normalize_random_bits(instruction *i) {
  const builder b = builder_for(i);
  instruction *state = to_words(&b, i->operands[0]);
  const bool is_tuple = shape_is_tuple(i->shape);
  const shape *parts[2] = {state->shape, is_tuple ? i->shape->elements[1] : i->shape};
  instruction *both = rewrite_with(&b, i, shape_tuple(b.arena, 2, parts), &state);
  instruction *numbers = builder_element(&b, both, 1);
  if (!is_tuple) return numbers;
  instruction *next = from_words(&b, builder_element(&b, both, 0), i->operands[0]->shape);
  return builder_tuple(&b, 2, (instruction *[]){next, numbers});
}

// --- reductions to a tuple of one

static bool single_reduction_applies(const instruction *i) {
  return shape_is_tuple(i->shape) && i->shape->tuple_size == 1 && i->operand_count == 2;
}

// The computation's only result, not in a tuple.
static computation *unwrap(const instruction *i) {
  computation *f = i->called[0], *c = module_add_computation(i->parent->module, f->name);
  const builder b = builder_in(c);
  instruction **arguments = arena_array(b.arena, instruction *, f->parameters.size);
  for (int p = 0; p < f->parameters.size; p++)
    arguments[p] = computation_add_parameter(c, p, STR(""), f->parameters.data[p]->shape);
  instruction *call = builder_add(&b, HLO_CALL, f->root->shape, f->parameters.size, arguments);
  attributes_mark(call->attributes, HLO_ATTRIBUTE_TO_APPLY);
  instruction_set_called(call, 1, &f);
  computation_set_root(c, builder_element(&b, call, 0));
  return c;
}

static instruction *normalize_single_reduction(instruction *i) {
  const builder b = builder_for(i);
  instruction *only = rewrite_with(&b, i, i->shape->elements[0], i->operands);
  computation *f = unwrap(i);
  instruction_set_called(only, 1, &f);
  return builder_tuple(&b, 1, &only);
}

// --- transforms

static bool transform_applies(const instruction *i) {
  const int_list lengths = i->attributes->fft_length;
  const shape *s = i->operands[0]->shape;
  if ((i->attributes->fft_type != FFT_FFT && i->attributes->fft_type != FFT_IFFT) || !shape_is_static(s)) return false;
  for (int k = 0; k < lengths.size; k++)
    if (s->dims[s->rank - lengths.size + k] != lengths.data[k]) return true;
  return false;
}

// The last dims at these sizes: their first elements, or zeros behind all.
static instruction *resize(const builder *b, instruction *x, int count, const int64_t *sizes) {
  const shape *s = x->shape;
  slice_dim kept[SHAPE_MAX_RANK];
  padding_dim more[SHAPE_MAX_RANK] = {0};
  bool is_cut = false, is_filled = false;
  for (int d = 0; d < s->rank; d++) {
    const int64_t size = d < s->rank - count ? s->dims[d] : sizes[d - (s->rank - count)];
    kept[d] = (slice_dim){0, size < s->dims[d] ? size : s->dims[d], 1};
    more[d].high = size > s->dims[d] ? size - s->dims[d] : 0;
    is_cut |= size < s->dims[d];
    is_filled |= size > s->dims[d];
  }
  if (is_cut) x = builder_slice(b, x, kept);
  return is_filled ? builder_pad(b, x, builder_scalar(b, s->dtype, 0), more) : x;
}

static instruction *normalize_transform(instruction *i) {
  const builder b = builder_for(i);
  const int_list lengths = i->attributes->fft_length;
  instruction *x = resize(&b, i->operands[0], lengths.size, lengths.data);
  const shape *s = i->shape;
  return resize(&b, rewrite_with(&b, i, x->shape, &x), lengths.size, s->dims + s->rank - lengths.size);
}

// --- collectives

static const shape *result_of(const instruction *i, int k) {
  return shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
}

static bool result_differs(const instruction *i, int k) {
  const shape *s = result_of(i, k), *operand = i->operands[k]->shape;
  return shape_is_array(s) && s->dtype != operand->dtype && dtype_is_float(s->dtype) && dtype_is_float(operand->dtype);
}

// The operation of a computation that applies it to two arrays, element by element.
static hlo_opcode array_operation(const computation *c) {
  const instruction *root = c->root;
  if (c->parameters.size != 2 || root->operand_count != 2 || !hlo_op_has(root->opcode, TRAIT_ELEMENTWISE) ||
      root->opcode == HLO_COMPARE || !shape_is_array(root->shape) || root->shape->rank == 0)
    return HLO_OPCODE_COUNT;
  for (int k = 0; k < 2; k++)
    if (root->operands[k]->opcode != HLO_PARAMETER || root->operands[k]->shape->dtype != root->shape->dtype)
      return HLO_OPCODE_COUNT;
  const bool is_in_order = root->operands[0] == c->parameters.data[0] && root->operands[1] == c->parameters.data[1];
  const bool is_swapped = root->operands[0] == c->parameters.data[1] && root->operands[1] == c->parameters.data[0];
  return is_in_order || (is_swapped && hlo_op_has(root->opcode, TRAIT_COMMUTES)) ? root->opcode : HLO_OPCODE_COUNT;
}

static bool collective_applies(const instruction *i) {
  if (i->called_count == 1 && array_operation(i->called[0]) != HLO_OPCODE_COUNT) return true;
  if (hlo_op_has(i->opcode, TRAIT_ASYNC) || (shape_is_tuple(i->shape) && i->shape->tuple_size != i->operand_count))
    return false;
  for (int k = 0; k < i->operand_count; k++)
    if (result_differs(i, k)) return true;
  return false;
}

// In place.
static instruction *normalize_collective(instruction *i) {
  const builder b = builder_for(i);
  const hlo_opcode op = i->called_count == 1 ? array_operation(i->called[0]) : HLO_OPCODE_COUNT;
  if (op != HLO_OPCODE_COUNT) {
    computation *f = builder_binary_computation(&b, op, i->called[0]->root->shape->dtype);
    instruction_set_called(i, 1, &f);
  }
  for (int k = 0; k < i->operand_count && !hlo_op_has(i->opcode, TRAIT_ASYNC); k++)
    if (result_differs(i, k))
      instruction_set_operand(i, k, builder_convert(&b, i->operands[k], result_of(i, k)->dtype));
  return NULL;
}

// --- messages

static int64_t channel_of(const instruction *i) {
  const bool has_start = i->opcode == HLO_RECV_DONE && i->operands[0]->opcode == HLO_RECV;
  return (has_start ? i->operands[0] : i)->attributes->channel_id;
}

// Whether `i` runs behind `before` in any order.
static bool is_behind(const instruction *i, const instruction *before) {
  arena *scratch = arena_create();
  ptr_map seen = {0};
  VEC(const instruction *) work = {0};
  bool found = false;
  vec_push(scratch, &work, i);
  while (work.size && !found) {
    const instruction *next = vec_pop(&work);
    found = next == before;
    if (ptr_map_has(&seen, next)) continue;
    ptr_map_put(scratch, &seen, next, NULL);
    for (int k = 0; k < next->operand_count; k++) vec_push(scratch, &work, next->operands[k]);
    for (int k = 0; k < next->control_predecessors.size; k++)
      vec_push(scratch, &work, next->control_predecessors.data[k]);
  }
  arena_destroy(scratch);
  return found;
}

// The first send on the channel of `done` that could be before it and need not be; null if there is none.
static instruction *free_send(const instruction *done) {
  const instruction_list *all = &done->parent->instructions;
  if (done->attributes->is_host_transfer) return NULL;
  for (int k = 0; k < all->size; k++) {
    instruction *send = all->data[k];
    if (send->opcode == HLO_SEND && !send->attributes->is_host_transfer && channel_of(send) == channel_of(done) &&
        !is_behind(done, send) && !is_behind(send, done))
      return send;
  }
  return NULL;
}

static bool receive_applies(const instruction *i) { return free_send(i) != NULL; }

// In place.
static instruction *normalize_receive(instruction *i) {
  for (instruction *send; (send = free_send(i));) vec_push(i->parent->module->arena, &i->control_predecessors, send);
  return NULL;
}

// --- the pass

typedef struct form {
  bool (*applies)(const instruction *i);
  instruction *(*normalize)(instruction *i);  // null: it was done in place
} form;

static const form forms[HLO_OPCODE_COUNT] = {
    [HLO_RNG_BIT_GENERATOR] = {random_bits_apply, normalize_random_bits},
    [HLO_REDUCE] = {single_reduction_applies, normalize_single_reduction},
    [HLO_REDUCE_WINDOW] = {single_reduction_applies, normalize_single_reduction},
    [HLO_FFT] = {transform_applies, normalize_transform},
    [HLO_ALL_GATHER] = {collective_applies, normalize_collective},
    [HLO_ALL_REDUCE] = {collective_applies, normalize_collective},
    [HLO_ALL_REDUCE_START] = {collective_applies, normalize_collective},
    [HLO_REDUCE_SCATTER] = {collective_applies, normalize_collective},
    [HLO_RECV_DONE] = {receive_applies, normalize_receive},
};

static bool applies(const instruction *i) {
  const form *f = &forms[i->opcode];
  return f->applies && f->applies(i);
}

bool form_normalization_applies(const module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (applies(m->computations.data[c]->instructions.data[k])) return true;
  return false;
}

static instruction *normalize(instruction *i, void *argument) {
  ((pass_context *)argument)->changed = true;
  return forms[i->opcode].normalize(i);
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each_given(context, unit, applies, normalize, context);
}

const pass opt_form_normalization = {
    .name = "form-normalization",
    .summary = "operations with several forms take the one that all else knows",
    .order_reason = "first, as no other pass knows more than one form of an operation",
    .use = PASS_NEEDED,
    .run = run,
};
