// The walk over a program in the order in which it runs: instructions become events, control flow is followed inside.
//
// A loop carries each element in one buffer. What its body never changes is the operand itself; everything else is
// copied in before the loop, and copied back from the body's root at the end of each round. Most copies vanish when the
// buffers of both sides turn out to be free to be one (buffer_coalesce.h); loops that would copy much all the same are
// given bodies of two rounds before (loop_alternation.h).
#include "lhlo/buffer_walk.h"

#include "lhlo/forwarding.h"

// --- loops

typedef struct loop_walk {
  const instruction *loop;
  int count;             // leaves that change
  int *leaves;           // which
  leaf_numbers initial;  // of all leaves, before the loop
  leaf_numbers inside;   // parameters of condition and body
  int number;            // in the list of loops
  int *carried;          // by leaf that changes: the value behind the copies at the body's end
} loop_walk;

static void enter_loop(buffer_walker *w, loop_walk *l) {
  vec_push(w->arena, &w->out->loops, (buffer_loop){.parent = w->loop});
  w->loop = l->number = w->out->loops.size - 1;
}

// Values that several rounds read live to the end.
static void leave_loop(buffer_walker *w, const loop_walk *l, int end) {
  buffer_loop *loop = &w->out->loops.data[l->number];
  for (int k = 0; k < loop->through.size; k++) {
    buffer_value *v = &w->out->values.data[loop->through.data[k]];
    if (v->read < end) v->read = end;
  }
  w->loop = loop->parent;
}

static void find_changing(buffer_walker *w, loop_walk *l) {
  const forwarding *body = ptr_map_get(&w->forwarding, l->loop->called[1]);
  l->leaves = arena_array(w->arena, int, body->count);
  for (int k = 0; k < body->count; k++)
    if (body->sources[k] != k) l->leaves[l->count++] = k;
}

// Copies the leaves that change to buffers of their own.
static void copy_in(buffer_walker *w, buffer_frame *f, loop_walk *l) {
  int *from = arena_array(w->arena, int, l->count), *to = arena_array(w->arena, int, l->count);
  for (int k = 0; k < l->count; k++) from[k] = l->initial.numbers[l->leaves[k]];
  buffer_add_copies(w, f->body, l->count, from, to);
  l->inside = (leaf_numbers){l->initial.count, arena_array(w->arena, int, l->initial.count), NULL};
  for (int k = 0; k < l->initial.count; k++) l->inside.numbers[k] = l->initial.numbers[k];
  for (int k = 0; k < l->count; k++) l->inside.numbers[l->leaves[k]] = to[k];
}

// Inside the loop the leaves that change are new values of the same buffers: written anew each round.
static void start_round(buffer_walker *w, loop_walk *l, int event) {
  for (int k = 0; k < l->count; k++) {
    int *value = &l->inside.numbers[l->leaves[k]];
    int inner = buffer_add_value(w, w->out->values.data[*value].shape, event, k);
    buffer_unite(w->out, *value, inner);
    *value = inner;
  }
}

static void read_changing(buffer_walker *w, const loop_walk *l, int event) {
  for (int k = 0; k < l->count; k++) buffer_use(w, l->inside.numbers[l->leaves[k]], event);
}

// A leaf that becomes another one's old value waits aside, so that the copies may run in any order.
static void copy_aside(buffer_walker *w, const loop_walk *l, buffer_body *body, int *sources) {
  int count = 0, *from = arena_array(w->arena, int, l->count), *which = arena_array(w->arena, int, l->count);
  int *to = arena_array(w->arena, int, l->count);
  ptr_map own = {0};
  for (int k = 0; k < l->count; k++)
    ptr_map_put(w->arena, &own, w->out->values.data + l->inside.numbers[l->leaves[k]], w);
  for (int k = 0; k < l->count; k++) {
    if (!ptr_map_has(&own, w->out->values.data + sources[k])) continue;
    which[count] = k;
    from[count++] = sources[k];
  }
  // One after the other: each may take the buffer of a value that is read no more.
  for (int k = 0; k < count; k++) buffer_add_copies(w, body, 1, &from[k], &to[k]);
  for (int k = 0; k < count; k++) sources[which[k]] = to[k];
}

static void end_round(buffer_walker *w, loop_walk *l, buffer_body *body, const leaf_numbers *root) {
  int *sources = arena_array(w->arena, int, l->count);
  for (int k = 0; k < l->count; k++) sources[k] = root->numbers[l->leaves[k]];
  copy_aside(w, l, body, sources);
  l->carried = arena_array(w->arena, int, l->count);
  buffer_add_copies(w, body, l->count, sources, l->carried);
  for (int k = 0; k < l->count; k++) buffer_unite(w->out, l->inside.numbers[l->leaves[k]], l->carried[k]);
}

// What comes out lies where it was carried.
static void finish_loop(buffer_walker *w, const loop_walk *l, buffer_event *loop, leaf_numbers *out) {
  int end;
  buffer_event *mark = buffer_add_event(w, BUFFER_MARK, NULL, &end);
  buffer_set_operands(w, mark, end, l->count, l->carried);
  leave_loop(w, l, end);
  *out = (leaf_numbers){l->initial.count, arena_array(w->arena, int, l->initial.count), NULL};
  for (int k = 0; k < out->count; k++) out->numbers[k] = l->inside.numbers[k];
  for (int k = 0; k < l->count; k++) {
    int value = buffer_add_value(w, w->out->values.data[l->carried[k]].shape, end, k);
    buffer_unite(w->out, value, l->carried[k]);
    out->numbers[l->leaves[k]] = value;
  }
  loop->result_count = out->count;
  loop->results = out->numbers;
  loop->result_shapes = loop->operand_shapes;
}

heddle_status buffer_walk_while(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  loop_walk l = {.loop = i, .initial = leaf_flow_operands(&f->flow, i, 0)};
  find_changing(w, &l);
  copy_in(w, f, &l);
  int start, asked;
  buffer_event *e = buffer_add_event(w, BUFFER_OPERATION, i, &start);
  e->operation = LHLO_WHILE;
  buffer_set_operands(w, e, start, l.inside.count, l.inside.numbers);
  vec_push(w->arena, &f->body->events, start);
  e->body_count = 2;
  e->bodies = arena_array(w->arena, buffer_body, 2);
  enter_loop(w, &l);
  start_round(w, &l, start);
  leaf_numbers pred, root;
  TRY(buffer_walk_computation(w, i->called[0], &l.inside, &e->bodies[0], &pred));
  buffer_event *mark = buffer_add_event(w, BUFFER_MARK, NULL, &asked);
  buffer_set_operands(w, mark, asked, 1, pred.numbers);
  e->control = pred.numbers[0];
  read_changing(w, &l, asked);
  TRY(buffer_walk_computation(w, i->called[1], &l.inside, &e->bodies[1], &root));
  end_round(w, &l, &e->bodies[1], &root);
  finish_loop(w, &l, e, out);
  return status_ok();
}

// --- branches

// In a branch its arguments are new values of the same buffers, from its beginning on: branches come one after the
// other in time, but only one of them runs. What one reads is not in the way of what another writes there.
static leaf_numbers enter_branch(buffer_walker *w, const leaf_numbers *arguments) {
  int start;
  buffer_add_event(w, BUFFER_MARK, NULL, &start);
  leaf_numbers inside = {arguments->count, arena_array(w->arena, int, arguments->count), NULL};
  for (int k = 0; k < inside.count; k++) {
    const buffer_value *v = &w->out->values.data[arguments->numbers[k]];
    inside.numbers[k] = arguments->numbers[k];
    if (v->is_fixed) continue;
    inside.numbers[k] = buffer_add_value(w, v->shape, start, k);
    buffer_unite(w->out, arguments->numbers[k], inside.numbers[k]);
  }
  return inside;
}

// A branch's results go to the buffers that all branches share.
static void end_branch(buffer_walker *w, buffer_body *body, const leaf_numbers *root, int *joined, bool is_first) {
  int end, *to = arena_array(w->arena, int, root->count);
  buffer_add_copies(w, body, root->count, root->numbers, to);
  buffer_event *mark = buffer_add_event(w, BUFFER_MARK, NULL, &end);
  buffer_set_operands(w, mark, end, root->count, to);
  for (int k = 0; k < root->count; k++) {
    if (is_first) joined[k] = to[k];
    buffer_unite(w->out, joined[k], to[k]);
  }
}

heddle_status buffer_walk_conditional(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  int start, end;
  buffer_event *e = buffer_add_event(w, BUFFER_OPERATION, i, &start);
  e->operation = LHLO_CONDITIONAL;
  e->control = f->flow.values[i->operands[0]->mark].numbers[0];
  buffer_use(w, e->control, start);
  leaf_numbers operands = leaf_flow_operands(&f->flow, i, 1);
  buffer_set_operands(w, e, start, operands.count, operands.numbers);
  vec_push(w->arena, &f->body->events, start);
  e->body_count = i->called_count;
  e->bodies = arena_array(w->arena, buffer_body, i->called_count);
  *out = (leaf_numbers){.count = leaves_count(i->shape)};
  out->numbers = arena_array(w->arena, int, out->count);
  int *joined = arena_array(w->arena, int, out->count);
  for (int k = 0; k < i->called_count; k++) {
    leaf_numbers root, arguments = enter_branch(w, &f->flow.values[i->operands[k + 1]->mark]);
    TRY(buffer_walk_computation(w, i->called[k], &arguments, &e->bodies[k], &root));
    end_branch(w, &e->bodies[k], &root, joined, k == 0);
  }
  buffer_add_event(w, BUFFER_MARK, NULL, &end);
  e->result_count = out->count;
  e->results = out->numbers;
  e->result_shapes = arena_array(w->arena, const shape *, out->count);
  for (int k = 0; k < out->count; k++) {
    e->result_shapes[k] = w->out->values.data[joined[k]].shape;
    out->numbers[k] = buffer_add_value(w, e->result_shapes[k], end, k);
    buffer_unite(w->out, joined[k], out->numbers[k]);
  }
  return status_ok();
}

// --- calls

heddle_status buffer_walk_call(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out) {
  int start;
  buffer_event *e = buffer_add_event(w, BUFFER_OPERATION, i, &start);
  e->operation = LHLO_CALL;
  leaf_numbers operands = leaf_flow_operands(&f->flow, i, 0);
  buffer_set_operands(w, e, start, operands.count, operands.numbers);
  vec_push(w->arena, &f->body->events, start);
  e->body_count = 1;
  e->bodies = arena_array(w->arena, buffer_body, 1);
  leaf_numbers *arguments = arena_array(w->arena, leaf_numbers, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) arguments[k] = f->flow.values[i->operands[k]->mark];
  TRY(buffer_walk_computation(w, i->called[0], arguments, &e->bodies[0], out));
  e->result_count = out->count;
  e->results = out->numbers;
  e->result_shapes = arena_array(w->arena, const shape *, out->count);
  for (int k = 0; k < out->count; k++) e->result_shapes[k] = w->out->values.data[out->numbers[k]].shape;
  return status_ok();
}
