// Every step costs what it takes to begin, what it reads and writes, and what it computes, as often as the loops around
// it turn.
#include "supertile/plan_cost.h"

#include "base/int64.h"
#include "lhlo/footprint.h"
#include "supertile/tile_estimate.h"

// Nanoseconds on one core, measured with bench/call_overhead.py, chains of products of 64x64 and 128x128 in f32 and of
// convolutions of 8 to 32 features, and loops over tiles of a few elements: to begin a kernel, one in a loop (which
// runs as a tape, rt/tape.h), a turn, and a call of a library; of a byte that is read or written in a cache near by and
// beyond it; of an operation on an element, of a function like tanh, and of what sorts, transforms and solves; and of a
// multiplication and addition of a product that is computed element by element and of another.
static const double KERNEL_COST = 20, KERNEL_IN_LOOP_COST = 5, TURN_COST = 3;
static const double PRODUCT_CALL_COST = 150, LIBRARY_COST = 500;
static const double NEAR_BYTE_COST = 0.03, FAR_BYTE_COST = 0.1, ELEMENT_COST = 0.05;
static const double MATH_COST = 0.3, LIBRARY_ELEMENT_COST = 4;
static const double ELEMENT_PRODUCT_COST = 0.1, PRODUCT_COST = 0.012;

// What a core's cache near by holds, and how many elements a kernel computes in the time of fewer.
enum { NEAR_BYTES = 1 << 20, LANES = 8 };

enum { UNKNOWN_TURNS = 16 };

// Lines along the last dim count as whole vectors.
static double elements_of(const shape *s) {
  double sum = 0;
  if (shape_is_array(s)) {
    const int64_t last = s->rank > 0 ? s->dims[s->rank - 1] : 1;
    return (double)shape_element_count(s) * (double)int64_round_up(last, LANES) / (double)int64_max(last, 1);
  }
  for (int k = 0; k < s->tuple_size; k++) sum += elements_of(s->elements[k]);
  return sum;
}

static double work_of(const instruction *i, double product_cost) {
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
    case HLO_CONVOLUTION: return elements_of(i->shape) * tile_estimate_work(i) * product_cost;
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW: return elements_of(i->operands[0]->shape) * ELEMENT_COST;
    case HLO_SORT:
    case HLO_TOPK:
    case HLO_FFT:
    case HLO_CHOLESKY:
    case HLO_TRIANGULAR_SOLVE:
    case HLO_CUSTOM_CALL: return elements_of(i->shape) * LIBRARY_ELEMENT_COST;
    default: return elements_of(i->shape) * (hlo_op_has(i->opcode, TRAIT_EXPENSIVE) ? MATH_COST : ELEMENT_COST);
  }
}

static double start_of(const lhlo_op *op, bool is_in_loop) {
  if (op->kind != LHLO_LIBRARY || !op->library) return is_in_loop ? KERNEL_IN_LOOP_COST : KERNEL_COST;
  return op->library->kind == LIBRARY_GEMM ? PRODUCT_CALL_COST : LIBRARY_COST;
}

static double cost_of_step(const lhlo_op *op, bool is_in_loop) {
  if (footprint_is_allocation(op)) return 0;
  const double near = (double)int64_min(op->touched_bytes, NEAR_BYTES), far = (double)op->touched_bytes - near;
  double cost = start_of(op, is_in_loop) + near * NEAR_BYTE_COST + far * FAR_BYTE_COST;
  const instruction *i = op->source;
  if (!i || op->kind == LHLO_COPY) return cost;
  const bool is_plain = op->kind == LHLO_FUSION && op->kernel && op->kernel->hero != HERO_TILES;
  const double product_cost = is_plain ? ELEMENT_PRODUCT_COST : PRODUCT_COST;
  if (i->opcode != HLO_FUSION || i->called_count == 0) return cost + work_of(i, product_cost);
  const instruction_list *all = &i->called[0]->instructions;
  for (int k = 0; k < all->size; k++) cost += work_of(all->data[k], product_cost);
  return cost;
}

static double cost_of_body(const lhlo_body *body, bool is_in_loop) {
  double cost = 0;
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    const double turns = op->kind != LHLO_WHILE ? 1 : op->trip_count >= 0 ? (double)op->trip_count : UNKNOWN_TURNS;
    for (int b = 0; b < op->body_count; b++) {
      const bool is_asked = op->kind != LHLO_WHILE || b == 1 || op->trip_count < 0;
      if (is_asked) cost += turns * (TURN_COST + cost_of_body(&op->bodies[b], is_in_loop || op->kind == LHLO_WHILE));
    }
    if (op->body_count == 0) cost += cost_of_step(op, is_in_loop);
  }
  return cost;
}

double plan_cost_find(const lhlo_program *p) { return cost_of_body(&p->entry, false); }
