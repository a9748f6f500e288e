// The values of a program and when they live, before they have memory.
//
// The program is laid out in one line: every instruction that does work is an event, and so are the copies that keep
// control flow and results right and the marks where loops and branches begin and end. Called computations are laid out
// once for each call. A value is one array: written by one event, read by later ones. Values that must lie at one
// place, a buffer in XLA's words, (what a loop carries, what branches yield, what is updated in place) are united from
// the start.
#ifndef HEDDLE_LHLO_BUFFER_VALUES_H_
#define HEDDLE_LHLO_BUFFER_VALUES_H_

#include "lhlo/lhlo.h"

typedef struct buffer_value {
  const shape *shape;  // as written; readers may see the same bytes under another one
  int64_t bytes;
  int written;    // number of the event that writes it
  int result;     // which of that event's results it is
  int read;       // number of the last event that reads it; `written` if none does
  int loop;       // innermost loop around the event that writes it; 0: none
  int through;    // the last loop noted that reads it from outside, or -1
  int buffer;     // union-find link: values of one buffer; see buffer_representative
  bool is_fixed;  // lies in the allocation `kind`, `number`
  lhlo_allocation_kind kind;
  int number;
} buffer_value;

typedef struct buffer_event buffer_event;

typedef struct buffer_body {
  VEC(int) events;  // those that become operations
} buffer_body;

typedef enum buffer_event_kind { BUFFER_OPERATION, BUFFER_COPIES, BUFFER_MARK } buffer_event_kind;

// What a result may take over: the operand at this position.
typedef struct buffer_share {
  int result, operand;
} buffer_share;

struct buffer_event {
  buffer_event_kind kind;
  lhlo_kind operation;        // BUFFER_OPERATION
  const instruction *source;  // may be null for copies
  int loop;                   // innermost around it
  int operand_count;
  int *operands;  // values
  const shape **operand_shapes;
  int result_count;
  int *results;  // values; BUFFER_COPIES: result k is operand k's copy
  const shape **result_shapes;
  int share_count;
  buffer_share *shares;  // by result
  int control;           // value, or -1
  int body_count;
  buffer_body *bodies;
};

typedef struct buffer_loop {
  int parent;        // 0: none
  VEC(int) through;  // values from outside that every round may read
} buffer_loop;

typedef struct buffer_constant {
  const literal *value;
  const shape *shape;
} buffer_constant;

typedef struct buffer_values {
  const module *module;
  int streams;  // of the target
  VEC(buffer_value) values;
  VEC(buffer_event *) events;  // in time order
  VEC(buffer_loop) loops;      // [0] is none
  buffer_body entry;
  int parameter_count;
  const shape **parameters;  // leaves
  int result_count;
  const shape **results;
  int *donated;  // by result: parameter leaf whose memory it takes over, or -1
  VEC(buffer_constant) constants;
} buffer_values;

heddle_status buffer_values_find(arena *a, const module *m, const target_description *target, buffer_values *out);

int buffer_representative(buffer_values *v, int value);  // the value that stands for its buffer
void buffer_unite(buffer_values *v, int left, int right);

#endif
