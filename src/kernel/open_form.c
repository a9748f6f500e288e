// Looked at are the arrays alone, and those operations that count from the end of a dim.
#include "kernel/open_form.h"

// What the open dims of an array are like.
typedef enum open_form {
  OPEN_NONE,
  OPEN_ROWS,          // the outermost one alone
  OPEN_ROWS_OF_ROWS,  // the outermost ones, several
  OPEN_WITHIN,        // others, too
} open_form;

static bool is_open_dim(const module *m, const shape *s, int d) {
  return m->open_from > 0 && s->dims[d] >= m->open_from;
}

int open_form_last_dim(const module *m, const shape *s) {
  int last = s->rank - 1;
  while (last >= 0 && !is_open_dim(m, s, last)) last--;
  return last;
}

static open_form form_of(const module *m, const shape *s) {
  const int last = open_form_last_dim(m, s);
  for (int d = 0; d < last; d++)
    if (!is_open_dim(m, s, d) && s->dims[d] != 1) return OPEN_WITHIN;
  if (last < 0) return OPEN_NONE;
  int open = 0;
  for (int d = 0; d <= last; d++) open += is_open_dim(m, s, d);
  return open == 1 ? OPEN_ROWS : OPEN_ROWS_OF_ROWS;
}

static bool has_open_dim(const module *m, const shape *s, int_list dims) {
  for (int k = 0; k < dims.size; k++)
    if (is_open_dim(m, s, (int)dims.data[k])) return true;
  return false;
}

static bool moves_open_dim(const module *m, const instruction *i) {
  const int_list from = i->attributes->dimensions;
  for (int d = 0; d < from.size; d++)
    if (from.data[d] != d && is_open_dim(m, i->shape, d)) return true;
  return false;
}

static bool has_rows_of_rows(const module *m, const shape *s) { return shape_is_array(s) && form_of(m, s) > OPEN_ROWS; }

// Reductions along open dims have loops over them, a reversal counts from the end, and some operations go by the
// indices of open dims.
static bool counts_open_dim(const instruction *i) {
  const module *m = i->parent->module;
  switch (i->opcode) {
    case HLO_REVERSE:
    case HLO_REDUCE: return has_open_dim(m, i->operands[0]->shape, i->attributes->dimensions);
    case HLO_TRANSPOSE: return moves_open_dim(m, i);
    case HLO_IOTA: return has_rows_of_rows(m, i->shape) && is_open_dim(m, i->shape, (int)i->attributes->iota_dimension);
    // Indices of few bits are below any stand-in, whatever code they are limited by.
    case HLO_GATHER:
    case HLO_SCATTER: return open_form_last_dim(m, i->operands[0]->shape) >= 0;
    case HLO_DYNAMIC_SLICE:
    case HLO_DYNAMIC_UPDATE_SLICE:
    case HLO_CONCATENATE:
    case HLO_PAD:
    case HLO_SLICE:
    case HLO_REDUCE_WINDOW:
    case HLO_CONVOLUTION:
    case HLO_DOT: return has_rows_of_rows(m, i->operands[0]->shape);
    default: return false;
  }
}

typedef struct open_arrays {
  bool have_many;  // open dims that are not rows alone
  bool differ;     // in how many rows there are
  int64_t count;   // of rows; 0: no array is open
} open_arrays;

static void look_at(const module *m, const shape *s, open_arrays *out) {
  for (int e = 0; shape_is_tuple(s) && e < s->tuple_size; e++) look_at(m, s->elements[e], out);
  if (!shape_is_array(s)) return;
  const open_form form = form_of(m, s);
  if (form == OPEN_NONE) return;
  const int64_t count = module_open_count(m, s);
  out->have_many |= form != OPEN_ROWS;
  out->differ |= form == OPEN_WITHIN || (out->count > 0 && out->count != count);
  out->count = count;
}

bool open_form_takes_sizes(const instruction_list *body) {
  open_arrays found = {0};
  bool counts = false;
  for (int k = 0; k < body->size; k++) {
    const instruction *i = body->data[k];
    if (i->parent->module->open_from == 0) return false;
    look_at(i->parent->module, i->shape, &found);
    counts |= counts_open_dim(i);
  }
  if (found.count > 0 && body->data[0]->parent->module->takes_sizes) return true;
  return counts || (found.have_many && found.differ);
}
