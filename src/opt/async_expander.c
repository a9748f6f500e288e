// Async expander: start, update, done -> the operation itself where the start stood.
//
// What runs at the same time is for the executor to find, which sees what each thunk reads and writes; pairs written in
// the program only hide that. A start becomes a tuple like its own, with the result in the place where the done looks
// for it; updates and dones pass on and pick. The tuples cancel in the tuple simplifier.
#include "opt/passes.h"

#include "hlo/permute_slices.h"
#include "opt/rewrite.h"

// What each start is without its pair.
static hlo_opcode started_as(hlo_opcode start) {
  switch (start) {
    case HLO_ASYNC_START: return HLO_CALL;
    case HLO_COPY_START: return HLO_COPY;
    case HLO_ALL_GATHER_START: return HLO_ALL_GATHER;
    case HLO_ALL_REDUCE_START: return HLO_ALL_REDUCE;
    case HLO_COLLECTIVE_PERMUTE_START: return HLO_COLLECTIVE_PERMUTE;
    default: return HLO_OPCODE_COUNT;
  }
}

// Of which element of the start's tuple the result is, or -1: the start's value is the result.
static int result_place(hlo_opcode start, const shape *s) {
  switch (start) {
    case HLO_COPY_START: return 0;
    case HLO_ALL_REDUCE_START: return -1;
    case HLO_ASYNC_START: return 1;
    default: return shape_is_tuple(s) && s->tuple_size > 1 ? 1 : -1;
  }
}

// Zeros for the contexts, which nobody looks at. Tuples nest at most SHAPE_MAX_NESTING deep.
static instruction *blank(const builder *b, const shape *s) {
  if (!shape_is_tuple(s)) {
    if (!shape_is_array(s)) return builder_add(b, HLO_AFTER_ALL, s, 0, NULL);
    instruction *zero = builder_scalar_int(b, s->dtype, 0);
    return s->rank == 0 ? zero : builder_broadcast(b, zero, s, 0, NULL);
  }
  instruction **elements = arena_array(b->arena, instruction *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) elements[k] = blank(b, s->elements[k]);
  return builder_tuple(b, s->tuple_size, elements);
}

static instruction *expand_start(const builder *b, const instruction *start) {
  const hlo_opcode opcode = started_as(start->opcode);
  const int position = result_place(start->opcode, start->shape);
  const shape *s = position < 0 ? start->shape : start->shape->elements[position];
  instruction *result = builder_add(b, opcode, s, start->operand_count, start->operands);
  if (opcode != HLO_CALL) result->attributes = attributes_copy(b->arena, start->attributes);
  instruction_set_called(result, start->called_count, start->called);
  if (position < 0) return result;
  instruction **elements = arena_array(b->arena, instruction *, start->shape->tuple_size);
  for (int k = 0; k < start->shape->tuple_size; k++) {
    const shape *element = start->shape->elements[k];
    if (k == position) elements[k] = result;
    else if (k > 1) elements[k] = blank(b, element);
    else if (shape_is_tuple(element) && !permute_slices_has(start))
      elements[k] = builder_tuple(b, start->operand_count, start->operands);
    else elements[k] = start->operands[0];
  }
  return builder_tuple(b, start->shape->tuple_size, elements);
}

// The start that a done ends; updates in between have been passed over.
static instruction *expand_done(const builder *b, instruction *done) {
  instruction *started = done->operands[0];
  const bool is_whole =
      done->opcode == HLO_ALL_REDUCE_DONE || !shape_is_tuple(started->shape) || started->shape->tuple_size < 2;
  return is_whole ? started : builder_element(b, started, done->opcode == HLO_COPY_DONE ? 0 : 1);
}

static instruction *expand(instruction *i) {
  const builder b = builder_for(i);
  if (started_as(i->opcode) != HLO_OPCODE_COUNT) return expand_start(&b, i);
  return i->opcode == HLO_ASYNC_UPDATE ? i->operands[0] : expand_done(&b, i);
}

static bool is_asynchronous(const instruction *i) {
  switch (i->opcode) {
    case HLO_ASYNC_START: return i->called_count == 1 && shape_is_tuple(i->shape) && i->shape->tuple_size >= 2;
    case HLO_COPY_START: return shape_is_tuple(i->shape) && i->shape->tuple_size >= 2;
    case HLO_ALL_GATHER_START:
    case HLO_ALL_REDUCE_START:
    case HLO_COLLECTIVE_PERMUTE_START:
    case HLO_ASYNC_UPDATE:
    case HLO_ASYNC_DONE:
    case HLO_COPY_DONE:
    case HLO_ALL_GATHER_DONE:
    case HLO_ALL_REDUCE_DONE:
    case HLO_COLLECTIVE_PERMUTE_DONE: return true;
    default: return false;
  }
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each(context, unit, is_asynchronous, expand);
}

const pass opt_async_expander = {
    .name = "async-expander",
    .summary = "asynchronous pairs become the operations that they start",
    .order_reason =
        "before the collective simplifier, which looks at whole operations, and the call inliner, as a start may call",
    .use = PASS_NEEDED,
    .run = run,
};
