// What the files of the walk over a program share: buffer_values*.c only.
#ifndef HEDDLE_LHLO_BUFFER_WALK_H_
#define HEDDLE_LHLO_BUFFER_WALK_H_

#include "fuse/leaf_flow.h"
#include "fuse/leaves.h"
#include "lhlo/buffer_values.h"

// Control flow nests at most this deep, so that the C stack is bounded; and what calls repeat is laid out at most to
// this many events.
enum { BUFFER_MAX_DEPTH = 500, BUFFER_MAX_EVENTS = 1 << 18 };

// A computation as laid out for one call.
typedef struct buffer_frame {
  const leaf_numbers *arguments;  // by parameter: values
  leaf_flow flow;                 // values; marks are positions in the schedule
  buffer_body *body;
} buffer_frame;

typedef struct buffer_walker {
  arena *arena;
  const target_description *target;
  buffer_values *out;
  ptr_map forwarding;
  ptr_map schedules;  // computation: instruction_list *
  ptr_map constants;  // hash: first of a chain, plus one
  VEC(int) chains;    // by constant: the next of the same hash, or -1
  VEC(int) constant_values;
  int loop;
  int depth;
} buffer_walker;

// Values.
int buffer_add_value(buffer_walker *w, const shape *s, int written, int result);
void buffer_use(buffer_walker *w, int value, int event);
heddle_status buffer_constant_leaves(buffer_walker *w, const instruction *i, leaf_numbers *out);

// Events. Operands are read by the event.
buffer_event *buffer_add_event(buffer_walker *w, buffer_event_kind kind, const instruction *source, int *number);
void buffer_set_operands(buffer_walker *w, buffer_event *e, int event, int count, const int *values);
// Copies of all `count` values at one time, as new values of the innermost loop. Nothing happens if there are none.
void buffer_add_copies(buffer_walker *w, buffer_body *body, int count, const int *from, int *to);

// Control flow and what it calls.
heddle_status buffer_walk_computation(buffer_walker *w, const computation *c, const leaf_numbers *arguments,
                                      buffer_body *body, leaf_numbers *root);
heddle_status buffer_walk_while(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out);
heddle_status buffer_walk_conditional(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out);
heddle_status buffer_walk_call(buffer_walker *w, buffer_frame *f, const instruction *i, leaf_numbers *out);

#endif
