// Generates random calls, loops, conditionals and tuples.
#include "tools/smith_pool.h"

// A few operations on an array of this shape, appended to `b`: what called computations do.
static instruction *work(smith *s, const builder *b, instruction *x) {
  dtype t = x->shape->dtype;
  for (int64_t k = smith_between(s, 1, 3); k > 0; k--) {
    instruction *one = builder_like(b, x, 1);
    if (t == DTYPE_PRED) x = builder_unary(b, HLO_NOT, x);
    else if (smith_chance(s, 40)) x = builder_binary(b, HLO_ADD, x, one);
    else if (smith_chance(s, 50)) x = builder_binary(b, HLO_MULTIPLY, x, x);
    else x = builder_binary(b, HLO_SUBTRACT, one, x);
  }
  return x;
}

static builder new_computation(smith *s, const char *name) {
  return builder_in(module_add_computation(s->b.computation->module, str_from(name)));
}

static const shape *plain_shape(smith *s, const shape *of) {
  return shape_array(s->arena, of->dtype, of->rank, of->dims);
}

instruction *smith_call(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  if (!x) return NULL;
  const builder b = new_computation(s, "callee");
  const shape *of = plain_shape(s, x->shape);
  instruction *result = work(s, &b, computation_add_parameter(b.computation, 0, STR("x"), of));
  computation_set_root(b.computation, result);
  computation *called = b.computation;
  instruction *i = builder_add(&s->b, HLO_CALL, result->shape, 1, &x);
  instruction_set_called(i, 1, &called);
  return i;
}

static instruction *shuffled(smith *s, const builder *b, instruction *x) {
  int64_t order[SMITH_MAX_RANK];
  for (int k = 0; k < x->shape->rank; k++) order[k] = k;
  smith_shuffle(s, x->shape->rank, order);
  return builder_transpose(b, x, order);
}

// A fusion with a constant inside, whose operand is transposed or bitcast first, with one or two results.
instruction *smith_fusion(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  if (!x) return NULL;
  const builder b = new_computation(s, "fused");
  instruction *p = computation_add_parameter(b.computation, 0, STR("x"), plain_shape(s, x->shape));
  instruction *moved = smith_chance(s, 50) ? smith_bitcast_of(s, &b, p) : shuffled(s, &b, p);
  if (moved) p = moved;
  instruction *constant = smith_constant(s, &b, p->shape->dtype, p->shape->rank, p->shape->dims);
  instruction *result = work(s, &b, p);
  if (constant && p->shape->dtype != DTYPE_PRED) result = builder_binary(&b, HLO_ADD, result, constant);
  const bool is_pair = smith_chance(s, 30);
  if (is_pair) result = builder_tuple(&b, 2, (instruction *[]){result, p});
  computation_set_root(b.computation, result);
  computation *called = b.computation;
  instruction *i = builder_add(&s->b, HLO_FUSION, result->shape, 1, &x);
  instruction_set_called(i, 1, &called);
  i->attributes->kind = FUSION_LOOP;
  attributes_mark(i->attributes, HLO_ATTRIBUTE_KIND);
  return is_pair ? builder_element(&s->b, i, (int)smith_below(s, 2)) : i;
}

// State: a counter and arrays, the arrays one tuple deeper half of the time. The first array is changed in each turn.
// If the loop has rows, the second holds one for each turn, which is read, and the third gets one in each turn.
typedef struct loop_state {
  const shape *shape;
  dtype counter;
  int64_t turns;
  bool is_nested, has_rows, counts_down;
} loop_state;

enum { MOST_ARRAYS = 3 };

static int array_count(const loop_state *l) { return l->has_rows ? MOST_ARRAYS : 1; }

static const shape *rows_shape(smith *s, const loop_state *l, const shape *of) {
  int64_t dims[SMITH_MAX_RANK + 1] = {l->turns};
  for (int d = 0; d < of->rank; d++) dims[d + 1] = of->dims[d];
  return shape_array(s->arena, of->dtype, of->rank + 1, dims);
}

static loop_state make_state(smith *s, const shape *of) {
  static const dtype counters[] = {DTYPE_S32, DTYPE_S32, DTYPE_S64, DTYPE_U8};
  loop_state l = {.counter = counters[smith_below(s, 4)],
                  .turns = smith_between(s, 0, 12),
                  .is_nested = smith_chance(s, 50),
                  .counts_down = smith_chance(s, 30)};
  l.has_rows = l.turns > 0 && of->rank < SMITH_MAX_RANK && smith_chance(s, 50);
  const shape *rows = rows_shape(s, &l, of), *arrays[] = {of, rows, rows};
  const shape *counter = shape_scalar(s->arena, l.counter);
  const shape *nested[] = {counter, shape_tuple(s->arena, array_count(&l), arrays)};
  const shape *flat[] = {counter, of, rows, rows};
  l.shape = l.is_nested ? shape_tuple(s->arena, 2, nested) : shape_tuple(s->arena, 1 + array_count(&l), flat);
  return l;
}

static instruction *pack(const builder *b, const loop_state *l, instruction *counter, instruction *const *arrays) {
  if (l->is_nested) return builder_tuple(b, 2, (instruction *[]){counter, builder_tuple(b, array_count(l), arrays)});
  instruction *all[1 + MOST_ARRAYS] = {counter};
  for (int k = 0; k < array_count(l); k++) all[1 + k] = arrays[k];
  return builder_tuple(b, 1 + array_count(l), all);
}

static instruction *array_of(const builder *b, const loop_state *l, instruction *state, int number) {
  if (!l->is_nested) return builder_element(b, state, 1 + number);
  return builder_element(b, builder_element(b, state, 1), number);
}

static instruction *combined(const builder *b, instruction *x, instruction *y) {
  return builder_binary(b, x->shape->dtype == DTYPE_PRED ? HLO_XOR : HLO_ADD, x, y);
}

// Operands of a dynamic-slice at the row of this turn, from operand `first` on: the counter, or from the last row on.
static int row_starts(smith *s, const builder *b, const loop_state *l, instruction *counter, int rank,
                      instruction **operands) {
  instruction *last = builder_scalar_int(b, l->counter, l->counts_down ? l->turns : l->turns - 1);
  const bool turns_round = l->counts_down || smith_chance(s, 30);
  operands[0] = turns_round ? builder_binary(b, HLO_SUBTRACT, last, counter) : counter;
  for (int d = 0; d < rank; d++) operands[1 + d] = builder_scalar_int(b, l->counter, 0);
  return 1 + rank;
}

// One turn's rows: x with the one that is read, and the array with the one that is written.
static void use_rows(smith *s, const builder *b, const loop_state *l, instruction *counter, instruction **arrays) {
  const shape *of = arrays[0]->shape;
  int64_t dims[SMITH_MAX_RANK + 1] = {1};
  for (int d = 0; d < of->rank; d++) dims[d + 1] = of->dims[d];
  instruction *operands[3 + SMITH_MAX_RANK] = {arrays[1]};
  int count = row_starts(s, b, l, counter, of->rank, operands + 1);
  const shape *row = shape_array(s->arena, of->dtype, of->rank + 1, dims);
  instruction *read = builder_add(b, HLO_DYNAMIC_SLICE, row, 1 + count, operands);
  int64_t *sizes = arena_array(s->arena, int64_t, of->rank + 1);
  for (int d = 0; d <= of->rank; d++) sizes[d] = dims[d];
  read->attributes->dynamic_slice_sizes = (int_list){.data = sizes, .size = of->rank + 1};
  attributes_mark(read->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  arrays[0] = combined(b, arrays[0], builder_reshape(b, read, of->rank, of->dims));
  operands[0] = arrays[2];
  operands[1] = builder_reshape(b, arrays[0], of->rank + 1, dims);
  count = row_starts(s, b, l, counter, of->rank, operands + 2);
  arrays[2] = builder_add(b, HLO_DYNAMIC_UPDATE_SLICE, arrays[2]->shape, 2 + count, operands);
}

static instruction *turned_round(const builder *b, instruction *x) {
  const int64_t first = 0;
  if (x->shape->rank == 0) return x;
  instruction *i = builder_add(b, HLO_REVERSE, x->shape, 1, &x);
  builder_set_dimensions(b, i, 1, &first);
  return i;
}

static computation *loop_condition(smith *s, const loop_state *l) {
  const builder b = new_computation(s, "condition");
  instruction *p = computation_add_parameter(b.computation, 0, STR("state"), l->shape);
  instruction *limit = builder_scalar_int(&b, l->counter, l->counts_down ? 0 : l->turns);
  const comparison_direction direction = l->counts_down ? COMPARE_GT : COMPARE_LT;
  computation_set_root(b.computation, builder_compare(&b, builder_element(&b, p, 0), limit, direction));
  return b.computation;
}

static computation *loop_body(smith *s, const loop_state *l) {
  const builder b = new_computation(s, "body");
  instruction *p = computation_add_parameter(b.computation, 0, STR("state"), l->shape), *arrays[MOST_ARRAYS];
  instruction *counter = builder_element(&b, p, 0), *one = builder_scalar_int(&b, l->counter, 1);
  for (int k = 0; k < array_count(l); k++) arrays[k] = array_of(&b, l, p, k);
  arrays[0] = work(s, &b, arrays[0]);
  if (smith_chance(s, 10)) arrays[0] = turned_round(&b, arrays[0]);
  if (l->has_rows) use_rows(s, &b, l, counter, arrays);
  instruction *next = builder_binary(&b, l->counts_down ? HLO_SUBTRACT : HLO_ADD, counter, one);
  computation_set_root(b.computation, pack(&b, l, next, arrays));
  return b.computation;
}

// Some of the time only the run knows how many turns there are, though no more than l->turns: it is a value of the
// program that the counter begins with.
static instruction *first_count(smith *s, const loop_state *l) {
  const int64_t first = l->counts_down ? l->turns : 0;
  if (!smith_chance(s, 40)) return builder_scalar_int(&s->b, l->counter, first);
  instruction *among[] = {builder_scalar_int(&s->b, l->counter, 0), smith_scalar(s, l->counter),
                          builder_scalar_int(&s->b, l->counter, l->turns)};
  return builder_add(&s->b, HLO_CLAMP, among[0]->shape, 3, among);
}

instruction *smith_while(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  if (!x) return NULL;
  const loop_state l = make_state(s, plain_shape(s, x->shape));
  computation *condition = loop_condition(s, &l), *body = loop_body(s, &l);
  instruction *arrays[MOST_ARRAYS] = {x};
  if (l.has_rows) {
    const shape *rows = rows_shape(s, &l, x->shape);
    int64_t kept[SMITH_MAX_RANK];
    for (int d = 0; d < x->shape->rank; d++) kept[d] = d + 1;
    arrays[1] = builder_broadcast(&s->b, smith_like(s, x->shape->dtype, x), rows, x->shape->rank, kept);
    arrays[2] = builder_broadcast(&s->b, smith_scalar(s, x->shape->dtype), rows, 0, NULL);
  }
  instruction *start = pack(&s->b, &l, first_count(s, &l), arrays);
  instruction *loop = builder_add(&s->b, HLO_WHILE, l.shape, 1, &start);
  computation *called[] = {condition, body};
  instruction_set_called(loop, 2, called);
  return array_of(&s->b, &l, loop, l.has_rows && smith_chance(s, 50) ? 2 : 0);
}

instruction *smith_conditional(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY), *operands[4];
  if (!x) return NULL;
  bool is_two_way = smith_chance(s, 50);
  int count = is_two_way ? 2 : (int)smith_between(s, 1, 3);
  computation *branches[3];
  operands[0] = is_two_way ? smith_scalar(s, DTYPE_PRED) : smith_scalar(s, DTYPE_S32);
  for (int k = 0; k < count; k++) {
    const builder b = new_computation(s, "branch");
    instruction *p = computation_add_parameter(b.computation, 0, STR("x"), plain_shape(s, x->shape));
    computation_set_root(b.computation, work(s, &b, p));
    branches[k] = b.computation;
    operands[k + 1] = k == 0 ? x : smith_like(s, x->shape->dtype, x);
  }
  instruction *i = builder_add(&s->b, HLO_CONDITIONAL, plain_shape(s, x->shape), count + 1, operands);
  instruction_set_called(i, count, branches);
  return i;
}

// A tuple in a tuple, taken apart again, through a call some of the time.
instruction *smith_tuples(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY), *y = smith_any(s, CLASS_ARRAY);
  if (!x || !y) return NULL;
  instruction *inner = builder_tuple(&s->b, 2, (instruction *[]){x, y});
  instruction *outer = builder_tuple(&s->b, 2, (instruction *[]){y, inner});
  if (smith_chance(s, 50)) {
    const builder b = new_computation(s, "pass");
    instruction *p = computation_add_parameter(b.computation, 0, STR("t"), outer->shape);
    instruction *second = builder_element(&b, p, 1), *first = builder_element(&b, p, 0);
    computation_set_root(b.computation, builder_tuple(&b, 2, (instruction *[]){first, second}));
    computation *called = b.computation;
    instruction *i = builder_add(&s->b, HLO_CALL, outer->shape, 1, &outer);
    instruction_set_called(i, 1, &called);
    outer = i;
  }
  if (smith_chance(s, 30)) return builder_element(&s->b, outer, 0);
  return builder_element(&s->b, builder_element(&s->b, outer, 1), (int)smith_below(s, 2));
}

instruction *smith_barrier(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  return x ? builder_add(&s->b, HLO_OPT_BARRIER, plain_shape(s, x->shape), 1, &x) : NULL;
}
