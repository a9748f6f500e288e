// Permute-slices expander: a collective-permute that moves slices (hlo/permute_slices.h) in terms of one that moves
// whole arrays.
//
//   permute(in, out, a, b) -> dynamic-update-slice(out, select(arrived, permute(dynamic-slice(in, a)), old), b),
//                             old = dynamic-slice(out, b)
//
// Whether anything has arrived is a scalar that goes the same way: who is sent nothing gets zeros, which is false.
// Pairs of which a device is the source or the target several times are permutes of their own, one after the other.
#include "opt/passes.h"

#include "hlo/permute_slices.h"
#include "opt/rewrite.h"

typedef struct expansion {
  const builder *b;
  instruction *permute;
  permute_slices form;
} expansion;

static instruction *buffer_of(const expansion *e, permute_operand operand, int buffer) {
  instruction *all = e->permute->operands[operand];
  return e->form.has_tuple_of_buffers ? builder_element(e->b, all, buffer) : all;
}

// Start `n` of the buffer, behind the operands that stand at the front of `operands`; returns their number.
static int add_start(const expansion *e, permute_operand operand, int buffer, int n, int count,
                     instruction **operands) {
  instruction *starts = buffer_of(e, operand, buffer);
  if (e->form.has_lists_of_starts) starts = builder_element(e->b, starts, n);
  for (int d = 0; d < starts->shape->tuple_size; d++) operands[count + d] = builder_element(e->b, starts, d);
  return count + starts->shape->tuple_size;
}

// Slice `n` of an array that is buffer `buffer` of an operand.
static instruction *slice_of(const expansion *e, instruction *x, permute_operand operand, int buffer, int n) {
  const int_list sizes = permute_slices_sizes(&e->form, e->permute, buffer, n);
  const shape *s = shape_array(e->b->arena, x->shape->dtype, sizes.size, sizes.data);
  instruction *operands[1 + SHAPE_MAX_RANK] = {x};
  const int count = add_start(e, operand, buffer, n, 1, operands);
  instruction *slice = builder_add(e->b, HLO_DYNAMIC_SLICE, s, count, operands);
  slice->attributes->dynamic_slice_sizes = (int_list){(int64_t *)s->dims, s->rank};
  attributes_mark(slice->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return slice;
}

// The array with what has arrived in its slice `n`.
static instruction *update(const expansion *e, instruction *x, instruction *sent, instruction *has_arrived, int buffer,
                           int n) {
  instruction *old = slice_of(e, x, PERMUTE_OUTPUT_STARTS, buffer, n);
  instruction *all = builder_broadcast(e->b, has_arrived, old->shape, 0, NULL);
  instruction *operands[2 + SHAPE_MAX_RANK] = {x, builder_select(e->b, all, sent, old)};
  const int count = add_start(e, PERMUTE_OUTPUT_STARTS, buffer, n, 2, operands);
  return builder_add(e->b, HLO_DYNAMIC_UPDATE_SLICE, x->shape, count, operands);
}

// The pairs that send slice `sent` and receive slice `received`.
static group_list pairs_of(const expansion *e, int sent, int received) {
  const group_list *all = &e->permute->attributes->source_target_pairs;
  group_list some = {.groups = arena_array(e->b->arena, int_list, all->size)};
  for (int k = 0; k < all->size; k++)
    if (permute_slices_number(e->permute, k, 0) == sent && permute_slices_number(e->permute, k, 1) == received)
      some.groups[some.size++] = all->groups[k];
  return some;
}

// A permute of whole arrays between these pairs.
static instruction *permute_whole(const expansion *e, group_list pairs, int count, instruction **arrays) {
  const shape **shapes = arena_array(e->b->arena, const shape *, count);
  for (int k = 0; k < count; k++) shapes[k] = arrays[k]->shape;
  instruction *whole =
      builder_add(e->b, HLO_COLLECTIVE_PERMUTE, shape_tuple(e->b->arena, count, shapes), count, arrays);
  whole->attributes->source_target_pairs = pairs;
  attributes_mark(whole->attributes, HLO_ATTRIBUTE_SOURCE_TARGET_PAIRS);
  if (attributes_has(e->permute->attributes, HLO_ATTRIBUTE_CHANNEL_ID)) {
    whole->attributes->channel_id = e->permute->attributes->channel_id;
    attributes_mark(whole->attributes, HLO_ATTRIBUTE_CHANNEL_ID);
  }
  return whole;
}

static void move_slices(const expansion *e, int sent, int received, instruction **results) {
  const group_list pairs = pairs_of(e, sent, received);
  const int buffers = e->form.buffers;
  if (pairs.size == 0) return;
  instruction **arrays = arena_array(e->b->arena, instruction *, buffers + 1);
  for (int k = 0; k < buffers; k++)
    arrays[k] = slice_of(e, buffer_of(e, PERMUTE_INPUT, k), PERMUTE_INPUT_STARTS, k, sent);
  arrays[buffers] = builder_scalar_int(e->b, DTYPE_PRED, 1);
  instruction *whole = permute_whole(e, pairs, buffers + 1, arrays);
  instruction *has_arrived = builder_element(e->b, whole, buffers);
  for (int k = 0; k < buffers; k++)
    results[k] = update(e, results[k], builder_element(e->b, whole, k), has_arrived, k, received);
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  expansion e = {.b = &b, .permute = i};
  heddle_status s = permute_slices_of(i, &e.form);
  const bool fits = status_is_ok(s);
  heddle_status_free(s);
  if (!fits) return NULL;
  instruction **results = arena_array(b.arena, instruction *, e.form.buffers);
  for (int k = 0; k < e.form.buffers; k++) results[k] = buffer_of(&e, PERMUTE_OUTPUT, k);
  for (int received = 0; received < e.form.slices; received++)
    for (int sent = 0; sent < e.form.slices; sent++) move_slices(&e, sent, received, results);
  return e.form.has_tuple_of_buffers ? builder_tuple(&b, e.form.buffers, results) : results[0];
}

static bool moves_slices(const instruction *i) { return i->opcode == HLO_COLLECTIVE_PERMUTE && permute_slices_has(i); }

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, moves_slices, expand);
}

const pass opt_permute_slices_expander = {
    .name = "permute-slices-expander",
    .summary = "collective-permutes of slices become slices, collective-permutes of arrays and updates",
    .order_reason =
        "behind the async expander, which makes them of pairs, and before the collective simplifier, which drops "
        "what one device sends itself",
    .use = PASS_NEEDED,
    .run = run,
};
