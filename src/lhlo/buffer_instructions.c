// Says for each instruction what it does with its operands' values.
#include "kernel/in_place.h"
#include "lhlo/buffer_walk.h"

typedef heddle_status (*walk_fn)(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out);

static heddle_status walk_parameter(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  (void)w;
  *out = f->arguments[i->attributes->index];
  return status_ok();
}

static heddle_status walk_constant(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  (void)f;
  return buffer_constant_leaves(w, i, out);
}

static void set_operand_shapes(buffer_walker *w, buffer_event *e, const instruction *i) {
  shape_list shapes = {0};
  for (int k = 0; k < i->operand_count; k++) leaves_of_shape(w->arena, i->operands[k]->shape, &shapes);
  e->operand_shapes = shapes.data;
}

static void add_results_of(buffer_walker *w, buffer_event *e, int event, const instruction *i, leaf_numbers *out) {
  shape_list shapes = {0};
  leaves_of_shape(w->arena, i->shape, &shapes);
  e->result_count = out->count = shapes.size;
  e->result_shapes = shapes.data;
  e->results = out->numbers = arena_array(w->arena, int, shapes.size);
  for (int k = 0; k < shapes.size; k++) e->results[k] = buffer_add_value(w, shapes.data[k], event, k);
}

static buffer_event *add_operation(buffer_walker *w, buffer_frame *f, const instruction *i,
                                   const leaf_numbers *operands, leaf_numbers *out) {
  int event;
  buffer_event *e = buffer_add_event(w, BUFFER_OPERATION, i, &event);
  buffer_set_operands(w, e, event, operands->count, operands->numbers);
  set_operand_shapes(w, e, i);
  add_results_of(w, e, event, i, out);
  vec_push(w->arena, &f->body->events, event);
  return e;
}

static heddle_status walk_library(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  if (library_kind_of(i) == LIBRARY_NONE) {
    return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s " STR_FMT " is neither part of a kernel nor a library's",
                     hlo_op_text(i->opcode), STR_ARG(i->name));
  }
  leaf_numbers operands = leaf_flow_operands(&f->flow, i, 0);
  add_operation(w, f, i, &operands, out)->operation = LHLO_LIBRARY;
  return status_ok();
}

// A result that is the operand, updated: the operand is copied, and the copy is updated in its place.
static heddle_status walk_fusion(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  if (library_kind_of(i) != LIBRARY_NONE) return walk_library(w, f, i, out);
  in_place pairs;
  TRY(in_place_find(w->arena, i, w->target, &pairs));
  leaf_numbers operands = leaf_flow_operands(&f->flow, i, 0);
  for (int k = 0; k < pairs.must_count; k++) {
    int *operand = &operands.numbers[pairs.must[k].operand];
    buffer_add_copies(w, f->body, 1, operand, operand);
  }
  buffer_event *e = add_operation(w, f, i, &operands, out);
  e->operation = LHLO_FUSION;
  for (int k = 0; k < pairs.must_count; k++)
    buffer_unite(w->out, operands.numbers[pairs.must[k].operand], out->numbers[pairs.must[k].result]);
  e->share_count = pairs.may_count;
  e->shares = arena_array(w->arena, buffer_share, pairs.may_count);
  for (int k = 0; k < pairs.may_count; k++) e->shares[k] = (buffer_share){pairs.may[k].result, pairs.may[k].operand};
  return status_ok();
}

static heddle_status walk_copy(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  const leaf_numbers *from = &f->flow.values[i->operands[0]->mark];
  *out = (leaf_numbers){.count = from->count, .numbers = arena_array(w->arena, int, from->count)};
  buffer_add_copies(w, f->body, from->count, from->numbers, out->numbers);
  return status_ok();
}

// What is not named here and not only a name (leaf_flow.h) does work on arrays.
static const walk_fn walks[HLO_OPCODE_COUNT] = {
    [HLO_PARAMETER] = walk_parameter, [HLO_CONSTANT] = walk_constant,  [HLO_COPY] = walk_copy,
    [HLO_FUSION] = walk_fusion,       [HLO_WHILE] = buffer_walk_while, [HLO_CONDITIONAL] = buffer_walk_conditional,
    [HLO_CALL] = buffer_walk_call,
};

heddle_status buffer_walk_computation(buffer_walker *w, const computation *c, const leaf_numbers *arguments,
                                      buffer_body *body, leaf_numbers *root) {
  if (w->depth >= BUFFER_MAX_DEPTH)
    return status_at(HEDDLE_UNIMPLEMENTED, c->where, "control flow nests deeper than %d", BUFFER_MAX_DEPTH);
  if (w->out->events.size > BUFFER_MAX_EVENTS) {
    return status_at(HEDDLE_UNIMPLEMENTED, c->where, "computations called in many places are more than %d operations",
                     BUFFER_MAX_EVENTS);
  }
  const instruction_list *order = ptr_map_get(&w->schedules, c);
  leaf_numbers *values = arena_array(w->arena, leaf_numbers, order->size);
  buffer_frame f = {.arguments = arguments, .flow = {w->arena, values}, .body = body};
  w->depth++;
  for (int k = 0; k < order->size; k++) {
    const instruction *i = order->data[k];
    walk_fn walk = walks[i->opcode] ? walks[i->opcode] : walk_library;
    if (!leaf_flow_name(&f.flow, i, &values[k])) TRY(walk(w, &f, i, &values[k]));
  }
  w->depth--;
  *root = values[c->root->mark];
  return status_ok();
}
