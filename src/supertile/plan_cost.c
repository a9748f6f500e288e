// Every step costs what it takes to begin, what it reads and writes, and what it computes, as often as the loops around
// it turn.
#include "supertile/plan_cost.h"

#include "supertile/tile_estimate.h"

// Nanoseconds: of a thunk and the call behind it, as bench/call_overhead.py and chains of small kernels show; of a byte
// that is read or written; of an operation on one element in a vector, and of a multiplication and addition of a
// product.
static const double STEP_COST = 250, BYTE_COST = 0.1, ELEMENT_COST = 0.1, PRODUCT_COST = 0.05;

enum { UNKNOWN_TURNS = 16 };

static double elements_of(const shape *s) {
  if (shape_is_array(s)) return (double)shape_element_count(s);
  double sum = 0;
  for (int k = 0; k < s->tuple_size; k++) sum += elements_of(s->elements[k]);
  return sum;
}

static double work_of(const instruction *i) {
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_TUPLE:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_BROADCAST:
    case HLO_RESHAPE:
    case HLO_BITCAST:
    case HLO_DYNAMIC_UPDATE_SLICE: return 0;
    case HLO_DOT:
    case HLO_CONVOLUTION: return elements_of(i->shape) * tile_estimate_work(i) * PRODUCT_COST;
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW: return elements_of(i->operands[0]->shape) * ELEMENT_COST;
    default: return elements_of(i->shape) * ELEMENT_COST;
  }
}

static double cost_of_step(const lhlo_op *op) {
  double cost = STEP_COST + (double)op->touched_bytes * BYTE_COST;
  const instruction *i = op->source;
  if (!i || op->kind == LHLO_COPY) return cost;
  if (op->kind != LHLO_FUSION || i->called_count == 0) return cost + work_of(i);
  const instruction_list *all = &i->called[0]->instructions;
  for (int k = 0; k < all->size; k++) cost += work_of(all->data[k]);
  return cost;
}

static double cost_of_body(const lhlo_body *body) {
  double cost = 0;
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    const double turns = op->kind != LHLO_WHILE ? 1 : op->trip_count >= 0 ? (double)op->trip_count : UNKNOWN_TURNS;
    for (int b = 0; b < op->body_count; b++) {
      const bool is_asked = op->kind != LHLO_WHILE || b == 1 || op->trip_count < 0;
      if (is_asked) cost += turns * cost_of_body(&op->bodies[b]);
    }
    if (op->body_count == 0) cost += cost_of_step(op);
  }
  return cost;
}

double plan_cost_find(const lhlo_program *p) { return cost_of_body(&p->entry); }
