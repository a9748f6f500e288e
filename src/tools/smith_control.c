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

// State: a counter and an array, the array one tuple deeper half of the time.
typedef struct loop_state {
  const shape *shape;
  bool is_nested;
} loop_state;

static loop_state make_state(smith *s, const shape *of) {
  loop_state l = {NULL, smith_chance(s, 50)};
  const shape *inner[] = {of};
  const shape *elements[] = {shape_scalar(s->arena, DTYPE_S32), l.is_nested ? shape_tuple(s->arena, 1, inner) : of};
  l.shape = shape_tuple(s->arena, 2, elements);
  return l;
}

static instruction *pack(const builder *b, const loop_state *l, instruction *counter, instruction *x) {
  instruction *second = l->is_nested ? builder_tuple(b, 1, &x) : x;
  return builder_tuple(b, 2, (instruction *[]){counter, second});
}

static instruction *array_of(const builder *b, const loop_state *l, instruction *state) {
  instruction *second = builder_element(b, state, 1);
  return l->is_nested ? builder_element(b, second, 0) : second;
}

instruction *smith_while(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  if (!x) return NULL;
  const loop_state l = make_state(s, plain_shape(s, x->shape));
  const builder condition = new_computation(s, "condition"), body = new_computation(s, "body");
  instruction *p = computation_add_parameter(condition.computation, 0, STR("state"), l.shape);
  instruction *limit = builder_scalar_int(&condition, DTYPE_S32, smith_below(s, 4));
  instruction *counter = builder_element(&condition, p, 0);
  computation_set_root(condition.computation, builder_compare(&condition, counter, limit, COMPARE_LT));
  p = computation_add_parameter(body.computation, 0, STR("state"), l.shape);
  instruction *one = builder_scalar_int(&body, DTYPE_S32, 1);
  instruction *next = builder_binary(&body, HLO_ADD, builder_element(&body, p, 0), one);
  instruction *changed = work(s, &body, array_of(&body, &l, p));
  computation_set_root(body.computation, pack(&body, &l, next, changed));
  instruction *start = pack(&s->b, &l, builder_scalar_int(&s->b, DTYPE_S32, 0), x);
  instruction *loop = builder_add(&s->b, HLO_WHILE, l.shape, 1, &start);
  computation *called[] = {condition.computation, body.computation};
  instruction_set_called(loop, 2, called);
  return array_of(&s->b, &l, loop);
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
