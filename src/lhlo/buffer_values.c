// Values and events as they are made, and the program around them: its parameters and results.
#include "lhlo/buffer_values.h"

#include <stdint.h>

#include "lhlo/buffer_walk.h"
#include "lhlo/donation.h"
#include "lhlo/forwarding.h"
#include "lhlo/schedule.h"

// --- buffers

int buffer_representative(buffer_values *v, int value) {
  buffer_value *values = v->values.data;
  while (values[value].buffer != value) {
    values[value].buffer = values[values[value].buffer].buffer;
    value = values[value].buffer;
  }
  return value;
}

void buffer_unite(buffer_values *v, int left, int right) {
  int l = buffer_representative(v, left), r = buffer_representative(v, right);
  if (l < r) {
    v->values.data[r].buffer = l;
  } else {
    v->values.data[l].buffer = r;
  }
}

// --- values

int buffer_add_value(buffer_walker *w, const shape *s, int written, int result) {
  int number = w->out->values.size;
  buffer_value v = {.shape = s,
                    .bytes = kernel_buffer_bytes(s),
                    .written = written,
                    .result = result,
                    .read = written,
                    .loop = w->loop,
                    .through = -1,
                    .buffer = number};
  vec_push(w->arena, &w->out->values, v);
  return number;
}

static int add_fixed(buffer_walker *w, const shape *s, lhlo_allocation_kind kind, int number) {
  int loop = w->loop;
  w->loop = 0;
  int value = buffer_add_value(w, s, 0, number);
  w->loop = loop;
  buffer_value *v = &w->out->values.data[value];
  v->is_fixed = true;
  v->kind = kind;
  v->number = number;
  return value;
}

// A value from outside a loop may be read in every round: it lives until the loop ends.
void buffer_use(buffer_walker *w, int value, int event) {
  buffer_value *v = &w->out->values.data[value];
  if (v->read < event) v->read = event;
  int loop = w->loop;
  if (loop == v->loop) return;
  while (w->out->loops.data[loop].parent != v->loop) loop = w->out->loops.data[loop].parent;
  if (v->through == loop) return;
  v->through = loop;
  vec_push(w->arena, &w->out->loops.data[loop].through, value);
}

// --- constants

static uint64_t literal_hash(const literal *l) {
  size_t size = (size_t)shape_byte_size(l->shape);
  uint64_t h = str_hash((str){l->data, size < 4096 ? size : 4096});
  for (int k = 0; k < l->shape->rank; k++) h = (h ^ (uint64_t)l->shape->dims[k]) * 0x9e3779b97f4a7c15u;
  return (h ^ (uint64_t)l->shape->dtype) * 0x9e3779b97f4a7c15u;
}

static int number_at(const ptr_map *m, uint64_t key) {
  return (int)(intptr_t)ptr_map_get(m, (const void *)(uintptr_t)key) - 1;  // NOLINT(performance-no-int-to-ptr)
}

// Equal constants that lie in memory alike are one value. How they lie is what the instruction says, not the literal.
static int constant_value(buffer_walker *w, const literal *l, const shape *s) {
  uint64_t hash = literal_hash(l);
  int first = number_at(&w->constants, hash);
  for (int k = first; k >= 0; k = w->chains.data[k]) {
    const buffer_constant *known = &w->out->constants.data[k];
    if (literal_identical(known->value, l) && shape_equal(known->shape, s)) return w->constant_values.data[k];
  }
  int number = w->out->constants.size;
  vec_push(w->arena, &w->out->constants, ((buffer_constant){l, s}));
  vec_push(w->arena, &w->chains, first);
  ptr_map_put(w->arena, &w->constants, (const void *)(uintptr_t)hash,  // NOLINT(performance-no-int-to-ptr)
              (void *)((intptr_t)number + 1));                         // NOLINT(performance-no-int-to-ptr)
  int value = add_fixed(w, s, LHLO_CONSTANT, number);
  vec_push(w->arena, &w->constant_values, value);
  return value;
}

static void add_literal_leaves(buffer_walker *w, const literal *l, const shape *s, leaf_numbers *out) {
  if (shape_is_array(s)) out->numbers[out->count++] = constant_value(w, l, s);
  for (int k = 0; k < s->tuple_size; k++) add_literal_leaves(w, l->elements[k], s->elements[k], out);
}

heddle_status buffer_constant_leaves(buffer_walker *w, const instruction *i, leaf_numbers *out) {
  *out = (leaf_numbers){.numbers = arena_array(w->arena, int, leaves_count(i->shape))};
  add_literal_leaves(w, i->literal, i->shape, out);
  return status_ok();
}

// --- events

buffer_event *buffer_add_event(buffer_walker *w, buffer_event_kind kind, const instruction *source, int *number) {
  buffer_event *e = arena_new(w->arena, buffer_event);
  *e = (buffer_event){.kind = kind, .source = source, .loop = w->loop, .control = -1};
  *number = w->out->events.size;
  vec_push(w->arena, &w->out->events, e);
  return e;
}

void buffer_set_operands(buffer_walker *w, buffer_event *e, int event, int count, const int *values) {
  e->operand_count = count;
  e->operands = arena_array(w->arena, int, count);
  e->operand_shapes = arena_array(w->arena, const shape *, count);
  for (int k = 0; k < count; k++) {
    e->operands[k] = values[k];
    e->operand_shapes[k] = w->out->values.data[values[k]].shape;
    buffer_use(w, values[k], event);
  }
}

void buffer_add_copies(buffer_walker *w, buffer_body *body, int count, const int *from, int *to) {
  if (count == 0) return;
  int number;
  buffer_event *e = buffer_add_event(w, BUFFER_COPIES, NULL, &number);
  buffer_set_operands(w, e, number, count, from);
  e->result_count = count;
  e->results = arena_array(w->arena, int, count);
  e->result_shapes = e->operand_shapes;
  for (int k = 0; k < count; k++)
    e->results[k] = to[k] = buffer_add_value(w, w->out->values.data[from[k]].shape, number, k);
  vec_push(w->arena, &body->events, number);
}

// --- the program

static void add_parameters(buffer_walker *w, const computation *entry, leaf_numbers *arguments) {
  shape_list shapes = {0};
  for (int k = 0; k < entry->parameters.size; k++) {
    const shape *s = entry->parameters.data[k]->shape;
    int first = shapes.size;
    leaves_of_shape(w->arena, s, &shapes);
    arguments[k] = (leaf_numbers){.count = shapes.size - first};
    arguments[k].numbers = arena_array(w->arena, int, arguments[k].count);
    for (int j = 0; j < arguments[k].count; j++)
      arguments[k].numbers[j] = add_fixed(w, shapes.data[first + j], LHLO_PARAMETER, first + j);
  }
  w->out->parameter_count = shapes.size;
  w->out->parameters = shapes.data;
}

// A donated parameter's bytes lie in the result that takes its memory over: all reads go there, so that whoever looks
// at slices alone sees the order that matters.
static void share_donated(buffer_walker *w) {
  for (int k = 0; k < w->out->result_count; k++) {
    if (w->out->donated[k] < 0) continue;
    buffer_value *v = &w->out->values.data[w->out->donated[k]];
    v->kind = LHLO_RESULT;
    v->number = k;
  }
}

static bool lies_in_result(const buffer_value *v) { return v->is_fixed && v->kind == LHLO_RESULT; }

// The results of the entry, all copied at one time. What lies in the memory of another result goes aside first.
static void add_results(buffer_walker *w, const leaf_numbers *root) {
  buffer_values *out = w->out;
  int count = 0, *from = arena_array(w->arena, int, root->count), *moved = arena_array(w->arena, int, root->count);
  int *sources = arena_array(w->arena, int, root->count), *to = arena_array(w->arena, int, root->count);
  for (int k = 0; k < root->count; k++) {
    const buffer_value *v = &out->values.data[root->numbers[k]];
    sources[k] = root->numbers[k];
    if (lies_in_result(v) && v->number != k) from[count] = root->numbers[k], moved[count++] = k;
  }
  buffer_add_copies(w, &out->entry, count, from, to);
  for (int k = 0; k < count; k++) sources[moved[k]] = to[k];
  buffer_add_copies(w, &out->entry, root->count, sources, to);
  for (int k = 0; k < root->count; k++) {
    buffer_value *v = &out->values.data[to[k]];
    v->shape = out->results[k];
    v->is_fixed = true;
    v->kind = LHLO_RESULT;
    v->number = k;
    if (out->donated[k] >= 0) buffer_unite(out, to[k], out->donated[k]);
  }
  int end;
  buffer_event *last = buffer_add_event(w, BUFFER_MARK, NULL, &end);
  buffer_set_operands(w, last, end, root->count, to);
}

static heddle_status walk_entry(buffer_walker *w) {
  buffer_values *out = w->out;
  const computation *entry = out->module->entry;
  int start;
  buffer_add_event(w, BUFFER_MARK, NULL, &start);
  leaf_numbers *arguments = arena_array(w->arena, leaf_numbers, entry->parameters.size);
  add_parameters(w, entry, arguments);
  shape_list results = {0};
  leaves_of_shape(w->arena, entry->root->shape, &results);
  out->result_count = results.size;
  out->results = results.data;
  TRY(donation_find(w->arena, out->module, &out->donated));
  share_donated(w);
  leaf_numbers root;
  TRY(buffer_walk_computation(w, entry, arguments, &out->entry, &root));
  add_results(w, &root);
  return status_ok();
}

heddle_status buffer_values_find(arena *a, const module *m, const target_description *target, buffer_values *out) {
  *out = (buffer_values){.module = m, .streams = target->streams};
  vec_push(a, &out->loops, (buffer_loop){0});
  buffer_walker w = {.arena = a, .target = target, .out = out};
  TRY(forwarding_find(a, m, &w.forwarding));
  TRY(schedule_module(a, m, &w.schedules));
  return walk_entry(&w);
}
