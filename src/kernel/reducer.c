// Telling reducers apart.
//
// A binary one is recognised by its operation. A picking one has too many spellings for that (strict or not, ties by
// index or by order, with or without a rule for NaN, several of that at once), so it is tried out: on all short
// sequences over a few values, combining lanes first and then their results must give what combining in order gives.
// Comparisons and selections see nothing of numbers but their order, so that few values show all there is.
//
// All others are tried out with numbers, once and by whoever sees to it that they may be reordered; the mark says so.
#include "kernel/reducer.h"

#include <math.h>

#include "hlo/combiner.h"
#include "kernel/order_mark.h"
#include "kernel/row_analysis.h"

static bool is_associative(hlo_opcode op) {
  return op == HLO_ADD || op == HLO_MULTIPLY || op == HLO_MINIMUM || op == HLO_MAXIMUM || op == HLO_AND ||
         op == HLO_OR || op == HLO_XOR;
}

static const instruction *result_of(const computation *c, int value) {
  return c->root->opcode == HLO_TUPLE ? c->root->operands[value] : c->root;
}

// --- picking

enum { MAX_PICK_OPERATIONS = 32, SEQUENCE = 4, LANES = 2 };

typedef struct pair {
  double value, index;
} pair;

typedef struct picker {
  instruction_list order;  // of the reducer's instructions
  double *results;         // by position in `order`; predicates are 0 and 1
  const computation *computation;
  int index_value;  // which of the two values is the index
  bool in_chunks;   // as far as tried
} picker;

static double compared(const instruction *i, double x, double y) {
  switch (i->attributes->direction) {
    case COMPARE_EQ: return x == y;
    case COMPARE_NE: return x != y;
    case COMPARE_GE: return x >= y;
    case COMPARE_GT: return x > y;
    case COMPARE_LE: return x <= y;
    default: return x < y;
  }
}

static double computed(const instruction *i, const double *x) {
  switch (i->opcode) {
    case HLO_COMPARE: return compared(i, x[0], x[1]);
    case HLO_SELECT: return x[0] != 0 ? x[1] : x[2];
    case HLO_AND: return x[0] != 0 && x[1] != 0;
    case HLO_OR: return x[0] != 0 || x[1] != 0;
    case HLO_XOR: return (x[0] != 0) != (x[1] != 0);
    case HLO_NOT: return x[0] == 0;
    case HLO_MAXIMUM: return isnan(x[0]) || isnan(x[1]) ? NAN : x[0] > x[1] ? x[0] : x[1];
    case HLO_MINIMUM: return isnan(x[0]) || isnan(x[1]) ? NAN : x[0] < x[1] ? x[0] : x[1];
    default: return x[0];  // a copy
  }
}

// Whether the instruction is among those that see nothing but the order of numbers.
static bool is_pick_operation(const instruction *i) {
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_TUPLE:
    case HLO_SELECT:
    case HLO_COPY: return true;
    case HLO_COMPARE:
      return i->attributes->compare_type != COMPARISON_TOTAL_ORDER &&
             dtypes[i->operands[0]->shape->dtype].class != CLASS_COMPLEX;
    case HLO_AND:
    case HLO_OR:
    case HLO_XOR:
    case HLO_NOT: return i->shape->dtype == DTYPE_PRED;
    case HLO_MAXIMUM:
    case HLO_MINIMUM: return i->shape->dtype != DTYPE_PRED && dtypes[i->shape->dtype].class != CLASS_COMPLEX;
    default: return false;
  }
}

static double value_in(const picker *p, const instruction *i, pair a, pair b) {
  if (i->opcode != HLO_PARAMETER) return p->results[i->mark];
  int64_t number = i->attributes->index;
  pair from = number < 2 ? a : b;
  return number % 2 == p->index_value ? from.index : from.value;
}

static pair pick(picker *p, pair a, pair b) {
  for (int n = 0; n < p->order.size; n++) {
    const instruction *i = p->order.data[n];
    double x[3] = {0};
    if (i->opcode == HLO_PARAMETER || i->opcode == HLO_TUPLE) continue;
    for (int k = 0; k < i->operand_count; k++) x[k] = value_in(p, i->operands[k], a, b);
    p->results[n] = computed(i, x);
  }
  return (pair){value_in(p, result_of(p->computation, 1 - p->index_value), a, b),
                value_in(p, result_of(p->computation, p->index_value), a, b)};
}

static bool same_number(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static bool same_pair(pair x, pair y) { return same_number(x.value, y.value) && same_number(x.index, y.index); }

// One sequence: in order, and by lanes of every second element whose results are then ordered by their indices. By
// chunks of neighbours as well, whose results are combined from the initial value on.
static bool lanes_agree(picker *p, const double *values, pair init) {
  pair in_order = init, lanes[LANES] = {init, init}, chunks[LANES] = {init, init};
  for (int n = 0; n < SEQUENCE; n++) {
    pair next = {values[n], n}, *chunk = &chunks[n * LANES / SEQUENCE];
    in_order = pick(p, in_order, next);
    lanes[n % LANES] = pick(p, lanes[n % LANES], next);
    *chunk = pick(p, *chunk, next);
  }
  p->in_chunks &= same_pair(pick(p, pick(p, init, chunks[0]), chunks[1]), in_order);
  bool swaps = lanes[1].index < lanes[0].index;
  return same_pair(pick(p, lanes[swaps], lanes[!swaps]), in_order);
}

static bool is_pick_computation(arena *scratch, picker *p) {
  if (!status_is_ok(computation_post_order(scratch, p->computation, &p->order))) return false;
  if (p->order.size > MAX_PICK_OPERATIONS) return false;
  p->results = arena_array(scratch, double, p->order.size);
  for (int n = 0; n < p->order.size; n++) {
    p->order.data[n]->mark = (uint64_t)n;
    if (!is_pick_operation(p->order.data[n])) return false;
  }
  return true;
}

// Element n of the array is its number along some dim: (n / inner) mod size.
typedef struct counted {
  int64_t inner, size;
} counted;

static bool is_counted(const instruction *x, counted *out) {
  while ((x->opcode == HLO_RESHAPE || x->opcode == HLO_BITCAST || x->opcode == HLO_COPY) && row_analysis_keeps_order(x))
    x = x->operands[0];
  int64_t dim;
  if (x->opcode == HLO_BROADCAST && x->operands[0]->opcode == HLO_IOTA)
    dim = x->attributes->dimensions.data[x->operands[0]->attributes->iota_dimension];
  else if (x->opcode == HLO_IOTA) dim = x->attributes->iota_dimension;
  else return false;
  *out = (counted){1, x->shape->dims[dim]};
  for (int d = (int)dim + 1; d < x->shape->rank; d++) out->inner *= x->shape->dims[d];
  return true;
}

// Whether the index can hold every number, so that numbers grow.
static bool is_wide_enough(const instruction *x, int64_t count) {
  int bits = dtypes[x->shape->dtype].bits - (dtypes[x->shape->dtype].class == CLASS_SIGNED);
  return dtype_is_integer(x->shape->dtype) && (bits >= 62 || count - 1 < (int64_t)1 << bits);
}

// Whether the index grows from element to element of each row.
static bool grows_in_rows(const instruction *x, const instruction *reduce) {
  reduction_space s;
  counted c;
  if (!is_counted(x, &c) || !is_wide_enough(x, c.size) || !reduction_space_of(reduce, &s)) return false;
  int64_t stride = 1, size = 0;
  for (int g = s.group_count - 1; g >= 0; g--) {
    if (s.is_reduced[g] && size > 0) return false;
    if (s.is_reduced[g]) size = s.sizes[g];
    else if (size == 0) stride *= s.sizes[g];
  }
  if (c.inner == 0 || stride * size == 0) return false;  // no elements
  return stride % c.inner == 0 && c.inner * c.size % (stride * size) == 0;
}

bool reducer_knows(const instruction *init) { return init->opcode == HLO_CONSTANT && !init->literal->is_elided; }

static bool all_sequences_agree(picker *p, const double *numbers, int kinds, double start) {
  for (int sequence = 0; sequence < kinds * kinds * kinds * kinds; sequence++) {
    double values[SEQUENCE];
    for (int n = 0, rest = sequence; n < SEQUENCE; n++, rest /= kinds) values[n] = numbers[rest % kinds];
    if (!lanes_agree(p, values, (pair){start, 0})) return false;
  }
  return true;
}

static bool picks(arena *scratch, const instruction *reduce, int index_value, bool *in_chunks) {
  const instruction *index = reduce->operands[index_value], *init = reduce->operands[2 + index_value];
  if (!grows_in_rows(index, reduce)) return false;
  if (!reducer_knows(init) || literal_get_double(init->literal, 0) != 0) return false;
  picker p = {.computation = reduce->called[0], .index_value = index_value, .in_chunks = true};
  if (!is_pick_computation(scratch, &p)) return false;
  bool has_nan = dtype_is_float(reduce->operands[1 - index_value]->shape->dtype);
  const double numbers[] = {-INFINITY, 1, INFINITY, NAN};
  int kinds = has_nan ? 4 : 3;
  const instruction *start = reduce->operands[3 - index_value];
  const bool knows_start = reducer_knows(start);
  for (int k = 0; k < (knows_start ? 1 : kinds); k++)
    if (!all_sequences_agree(&p, numbers, kinds, knows_start ? literal_get_double(start->literal, 0) : numbers[k]))
      return false;
  *in_chunks = p.in_chunks;
  return true;
}

// --- marks

static const char *const marks[] = {[REDUCER_CHUNKS] = "chunks", [REDUCER_FREE] = "any"};

static bool is_marked(const instruction *reduce, reducer_form form) { return order_mark_is(reduce, marks[form]); }

void reducer_mark(instruction *reduce, reducer_form form) { order_mark_set(reduce, marks[form]); }

// --- any reducer

static bool is_all_binary(arena *a, const instruction *reduce, reducer *out) {
  int count = reduce->operand_count / 2;
  hlo_opcode *operations = arena_array(a, hlo_opcode, count);
  for (int k = 0; k < count; k++) {
    operations[k] = combiner_opcode_of_value(reduce->called[0], k, count);
    if (!is_associative(operations[k])) return false;
    if (result_of(reduce->called[0], k)->shape->dtype != reduce->operands[k]->shape->dtype) return false;
  }
  *out = (reducer){.form = REDUCER_BINARY, .operations = operations};
  return true;
}

reducer reducer_of(arena *a, const instruction *reduce) {
  reducer r = {.form = REDUCER_ORDERED};
  if (is_all_binary(a, reduce, &r)) return r;
  if (is_marked(reduce, REDUCER_FREE)) r.form = REDUCER_FREE;
  else if (is_marked(reduce, REDUCER_CHUNKS)) r.form = REDUCER_CHUNKS;
  if (reduce->operand_count != 4) return r;
  const computation *c = reduce->called[0];
  if (c->root->opcode != HLO_TUPLE || c->root->operand_count != 2) return r;
  arena *scratch = arena_create();
  r.index_value = picks(scratch, reduce, 1, &r.in_chunks) ? 1 : 0;
  if (r.index_value == 1 || picks(scratch, reduce, 0, &r.in_chunks)) r.form = REDUCER_PICK;
  arena_destroy(scratch);
  return r;
}
