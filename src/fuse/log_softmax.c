// The pattern is followed from the exponential that a product reads back to the scores; the sum and the maximum are
// made anew along the ways that they took through broadcasts and reshapes.
#include "fuse/log_softmax.h"

#include <math.h>

#include "hlo/combiner.h"

typedef struct log_softmax {
  computation *computation;
  instruction *weights;      // the exponential
  instruction *scores;       // of all queries and keys, as is what the softmax makes of them
  instruction *total;        // what is subtracted to divide: the logarithm, in form A plus the maximum, at all keys
  instruction *largest;      // the maximum at all keys
  instruction *exponential;  // scores - largest, made anew
} log_softmax;

// --- values of rows

static bool is_row_move(const instruction *i) {
  return i->opcode == HLO_BROADCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST || i->opcode == HLO_COPY;
}

static instruction *unmoved(instruction *i) {
  while (is_row_move(i)) i = i->operands[0];
  return i;
}

static bool is_number(const instruction *i, double value) {
  while (is_row_move(i)) i = i->operands[0];
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && dtype_is_float(i->shape->dtype) &&
         literal_get_double(i->literal, 0) == value;
}

// select(is-finite(x), x, 0) is x where it matters.
static instruction *unguarded(instruction *i) {
  const bool is_guard = i->opcode == HLO_SELECT && i->operands[0]->opcode == HLO_IS_FINITE &&
                        i->operands[0]->operands[0] == i->operands[1] && is_number(i->operands[2], 0);
  return is_guard ? i->operands[1] : i;
}

// The reduction that a value of rows is, behind moves and guards.
static instruction *reduction_of(instruction *i, hlo_opcode op, double init) {
  instruction *before;
  do {
    before = i;
    i = unguarded(unmoved(i));
  } while (before != i);
  const bool is_one = i->opcode == HLO_REDUCE && i->operand_count == 2 && i->attributes->dimensions.size == 1;
  return is_one && combiner_opcode(i->called[0]) == op && is_number(i->operands[1], init) ? i : NULL;
}

// The sum that a logarithm of rows is of; null if the value is none.
static instruction *logarithm_of(instruction *i) {
  i = unmoved(i);
  if (i->opcode != HLO_LOG) return NULL;
  i = unmoved(i->operands[0]);
  return reduction_of(i->opcode == HLO_ABS ? i->operands[0] : i, HLO_ADD, 0);
}

// --- which row an element takes

enum { REPEATED = -1, UNKNOWN = -2 };

// The dim that dim `d` of `of` is after a reshape: it is told where dims of 1 come and go and nothing else changes.
static int reshaped_dim(const shape *of, const shape *to, int d) {
  int found = UNKNOWN, k = 0;
  for (int i = 0; i < of->rank; i++) {
    if (of->dims[i] == 1) continue;
    while (k < to->rank && to->dims[k] == 1) k++;
    if (k == to->rank || to->dims[k] != of->dims[i]) return UNKNOWN;
    if (i == d) found = k;
    k++;
  }
  return found;
}

// The dim of what is moved that dim `d` of the moved value is.
static int moved_dim(const instruction *move, int d) {
  const instruction *from = move->operands[0];
  if (move->opcode == HLO_BROADCAST) return int_list_find(move->attributes->dimensions, d);
  if (move->opcode == HLO_COPY) return d;
  const bool is_plain = shape_layout_is_default(move->shape) && shape_layout_is_default(from->shape);
  return is_plain ? reshaped_dim(move->shape, from->shape, d) : UNKNOWN;
}

// The dim of the reduction behind it that dim `d` of a value of rows is; of the sum `add` the operand `side` is
// followed (add may be null).
static int row_dim(instruction *i, const instruction *add, int side, int d) {
  while (d >= 0 && i->opcode != HLO_REDUCE) {
    instruction *inner = unguarded(i);
    if (is_row_move(i)) {
      d = moved_dim(i, d);
      i = i->operands[0];
    } else if (i == add) {
      i = add->operands[side];
    } else if (inner != i) {
      i = inner;
    } else {
      return UNKNOWN;
    }
  }
  return d;
}

// Whether the maximum that is one side of `add` is, at all keys, the one that the sum was made with.
static bool is_same_maximum(const log_softmax *s, const instruction *add, int side) {
  for (int d = 0; d < s->scores->shape->rank; d++) {
    const int dim = row_dim(s->total, add, side, d);
    if (s->scores->shape->dims[d] == 1) continue;
    if (dim == UNKNOWN || dim != row_dim(s->largest, NULL, 0, d)) return false;
  }
  return true;
}

// --- the pattern

bool log_softmax_is_for_product(const instruction *i) {
  while (i->users.size == 1 && i->parent->root != i) {
    i = i->users.data[0];
    if (i->opcode == HLO_DOT) return true;
    if (i->opcode != HLO_TRANSPOSE && i->opcode != HLO_CONVERT && !is_row_move(i)) return false;
  }
  return false;
}

// Whether the sum is that of exp(scores - largest), and the maximum that of the scores, along the same dim.
static bool has_sum(log_softmax *s, const instruction *sum) {
  if (!sum || sum->operands[0]->opcode != HLO_EXPONENTIAL) return false;
  const instruction *shifted = sum->operands[0]->operands[0];
  if (shifted->opcode != HLO_SUBTRACT || shifted->operands[0] != s->scores) return false;
  s->largest = shifted->operands[1];
  const instruction *maximum = reduction_of(s->largest, HLO_MAXIMUM, -INFINITY);
  return maximum && maximum->operands[0] == s->scores &&
         maximum->attributes->dimensions.data[0] == sum->attributes->dimensions.data[0];
}

// scores - (log(sum) + maximum)
static bool match_total(log_softmax *s, instruction *difference) {
  instruction *add = unmoved(difference->operands[1]);
  s->scores = difference->operands[0];
  s->total = difference->operands[1];
  if (add->opcode != HLO_ADD) return false;
  for (int side = 0; side < 2; side++) {
    if (!has_sum(s, logarithm_of(add->operands[side]))) continue;
    return reduction_of(add->operands[1 - side], HLO_MAXIMUM, -INFINITY) ==
               reduction_of(s->largest, HLO_MAXIMUM, -INFINITY) &&
           is_same_maximum(s, add, 1 - side);
  }
  return false;
}

// (scores - maximum) - log(sum)
static bool match_shifted(log_softmax *s, instruction *difference) {
  const instruction *shifted = difference->operands[0];
  if (shifted->opcode != HLO_SUBTRACT) return false;
  s->scores = shifted->operands[0];
  s->total = difference->operands[1];
  return has_sum(s, logarithm_of(s->total)) && s->largest == shifted->operands[1];
}

// Of narrow floats the rounding of a logarithm is much of it, and the program's to decide.
static bool match(log_softmax *s) {
  instruction *difference = s->weights->operands[0];
  return dtypes[difference->shape->dtype].bits >= 32 && difference->opcode == HLO_SUBTRACT &&
         (match_total(s, difference) || match_shifted(s, difference));
}

// --- the quotient

static instruction *add(const log_softmax *s, hlo_opcode op, int count, instruction **operands) {
  instruction *made = computation_add(s->computation, op, (str){0}, s->scores->shape, count, operands);
  made->where = s->weights->where;
  return made;
}

static instruction *moved(const log_softmax *s, instruction *move, instruction *from) {
  return computation_add_copy(s->computation, move, &from);
}

// The maximum at all keys, without a guard.
static instruction *build_largest(const log_softmax *s, instruction *i) {
  if (is_row_move(i)) return moved(s, i, build_largest(s, i->operands[0]));
  instruction *inner = unguarded(i);
  return inner == i ? i : build_largest(s, inner);
}

// The sum at all keys, from what leads to its logarithm.
static instruction *build_sum(const log_softmax *s, instruction *i) {
  if (is_row_move(i)) return moved(s, i, build_sum(s, i->operands[0]));
  if (i->opcode == HLO_ADD) return build_sum(s, i->operands[logarithm_of(i->operands[0]) ? 0 : 1]);
  if (i->opcode == HLO_LOG || i->opcode == HLO_ABS) return build_sum(s, i->operands[0]);
  return computation_add_copy(s->computation, i, (instruction *[]){s->exponential, i->operands[1]});
}

static void divide(log_softmax *s) {
  instruction *shifted = add(s, HLO_SUBTRACT, 2, (instruction *[]){s->scores, build_largest(s, s->largest)});
  s->exponential = add(s, HLO_EXPONENTIAL, 1, &shifted);
  instruction *weights = add(s, HLO_DIVIDE, 2, (instruction *[]){s->exponential, build_sum(s, s->total)});
  instruction_replace_uses(s->weights, weights);
}

bool log_softmax_run(computation *c, const target_description *target) {
  bool any = false;
  if (target->codegen != CODEGEN_CHOSEN && target->codegen != CODEGEN_TILES) return false;
  for (int k = 0, count = c->instructions.size; k < count; k++) {
    log_softmax s = {.computation = c, .weights = c->instructions.data[k]};
    if (s.weights->opcode != HLO_EXPONENTIAL || !log_softmax_is_for_product(s.weights) || !match(&s)) continue;
    divide(&s);
    any = true;
  }
  return any;
}
