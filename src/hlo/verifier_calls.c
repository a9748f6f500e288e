// Called computations: how many an instruction has, and their signatures.
#include "hlo/verifier_rules.h"

// A signature, collected shape by shape.
typedef VEC(const shape *) shape_list;

// Computations that are applied to elements or fused may take and give other floats than the operands are.
static bool fits(const instruction *i, const shape *found, const shape *wanted) {
  const bool is_exact = hlo_op_has(i->opcode, TRAIT_CONTROL);
  return is_exact ? shape_compatible(found, wanted) : shape_compatible_in_floats(found, wanted);
}

static heddle_status wants_parameters(arena *a, const instruction *i, int index, const shape_list *wanted) {
  const computation *c = i->called[index];
  if (c->parameters.size != wanted->size)
    return VERIFY_ERROR(i, "computation '" STR_FMT "' has %d parameters, wanted %d", STR_ARG(c->name),
                        c->parameters.size, wanted->size);
  for (int k = 0; k < wanted->size; k++) {
    const shape *found = c->parameters.data[k]->shape;
    if (!fits(i, found, wanted->data[k]))
      return VERIFY_ERROR(i, "parameter %d of computation '" STR_FMT "' has shape %s, wanted %s", k, STR_ARG(c->name),
                          shape_text(a, found), shape_text(a, wanted->data[k]));
  }
  return status_ok();
}

static heddle_status wants_root(arena *a, const instruction *i, int index, const shape *wanted) {
  const computation *c = i->called[index];
  if (fits(i, c->root->shape, wanted)) return status_ok();
  return VERIFY_ERROR(i, "computation '" STR_FMT "' returns %s, wanted %s", STR_ARG(c->name),
                      shape_text(a, c->root->shape), shape_text(a, wanted));
}

// One shape, or the tuple of several.
static const shape *result_of(arena *a, const shape_list *shapes) {
  return shapes->size == 1 ? shapes->data[0] : shape_tuple(a, shapes->size, shapes->data);
}

static void push_scalars(arena *a, shape_list *list, const instruction *i, int first, int count) {
  for (int k = 0; k < count; k++) vec_push(a, list, shape_scalar(a, i->operands[first + k]->shape->dtype));
}

// reduce, reduce-window, scatter: (accumulators…, values…) -> accumulators, scalars of the types of the first operands.
static heddle_status verify_reducer(arena *a, const instruction *i) {
  int n = i->operand_count / 2;
  shape_list results = {0}, parameters = {0};
  push_scalars(a, &results, i, 0, n);
  push_scalars(a, &parameters, i, 0, n);
  push_scalars(a, &parameters, i, 0, n);
  TRY(wants_parameters(a, i, 0, &parameters));
  const bool is_tuple = n == 1 && shape_is_tuple(i->called[0]->root->shape);
  return wants_root(a, i, 0, is_tuple ? shape_tuple(a, 1, results.data) : result_of(a, &results));
}

// Collectives: two scalars to one, of whatever type: operands are converted to it and back. Two arrays to one are
// combined element by element.
static heddle_status verify_collective(arena *a, const instruction *i) {
  const computation *c = i->called[0];
  if (c->parameters.size != 2)
    return VERIFY_ERROR(i, "computation '" STR_FMT "' has %d parameters, wanted 2", STR_ARG(c->name),
                        c->parameters.size);
  const shape *wanted = c->parameters.data[0]->shape;
  for (int k = 0; k < 2; k++) {
    const shape *found = c->parameters.data[k]->shape;
    if (!shape_is_array(found) || !shape_same_dims(found, wanted))
      return VERIFY_ERROR(i,
                          "parameter %d of computation '" STR_FMT "' has shape %s, wanted a scalar or two like arrays",
                          k, STR_ARG(c->name), shape_text(a, found));
  }
  if (shape_is_array(c->root->shape) && shape_same_dims(c->root->shape, wanted)) return status_ok();
  return VERIFY_ERROR(i, "computation '" STR_FMT "' returns %s, wanted what it takes", STR_ARG(c->name),
                      shape_text(a, c->root->shape));
}

static heddle_status verify_map(arena *a, const instruction *i) {
  shape_list parameters = {0};
  push_scalars(a, &parameters, i, 0, i->operand_count);
  return wants_parameters(a, i, 0, &parameters);
}

// The comparator takes two scalars of each operand, side by side, and says whether the first go before the second.
static heddle_status verify_sort(arena *a, const instruction *i) {
  shape_list parameters = {0};
  for (int k = 0; k < i->operand_count; k++) {
    push_scalars(a, &parameters, i, k, 1);
    push_scalars(a, &parameters, i, k, 1);
  }
  TRY(wants_parameters(a, i, 0, &parameters));
  return wants_root(a, i, 0, shape_scalar(a, DTYPE_PRED));
}

static heddle_status verify_select_and_scatter(arena *a, const instruction *i) {
  shape_list parameters = {0};
  push_scalars(a, &parameters, i, 0, 1);
  push_scalars(a, &parameters, i, 0, 1);
  TRY(wants_parameters(a, i, 0, &parameters));
  TRY(wants_root(a, i, 0, shape_scalar(a, DTYPE_PRED)));
  TRY(wants_parameters(a, i, 1, &parameters));
  return wants_root(a, i, 1, parameters.data[0]);
}

static heddle_status verify_while(arena *a, const instruction *i) {
  shape_list parameters = {0};
  vec_push(a, &parameters, i->operands[0]->shape);
  TRY(wants_parameters(a, i, 0, &parameters));
  TRY(wants_root(a, i, 0, shape_scalar(a, DTYPE_PRED)));
  TRY(wants_parameters(a, i, 1, &parameters));
  return wants_root(a, i, 1, parameters.data[0]);
}

// Operand 0 chooses: pred between two branches, s32 among any number. Branch k gets operand k + 1.
static heddle_status verify_conditional(arena *a, const instruction *i) {
  const shape *index = i->operands[0]->shape;
  bool is_pred = shape_is_scalar(index) && index->dtype == DTYPE_PRED;
  if (!is_pred && !(shape_is_scalar(index) && index->dtype == DTYPE_S32))
    return VERIFY_ERROR(i, "operand 0 has shape %s, wanted pred[] or s32[]", shape_text(a, index));
  if (is_pred && i->called_count != 2)
    return VERIFY_ERROR(i, "found %d branches, wanted 2 for an operand 0 of pred[]", i->called_count);
  if (i->operand_count != i->called_count + 1)
    return VERIFY_ERROR(i, "found %d operands for %d branches, wanted one for each and one to choose", i->operand_count,
                        i->called_count);
  for (int k = 0; k < i->called_count; k++) {
    shape_list parameters = {0};
    vec_push(a, &parameters, i->operands[k + 1]->shape);
    TRY(wants_parameters(a, i, k, &parameters));
  }
  return status_ok();
}

// call, fusion, async-start: the operands are the parameters.
static heddle_status verify_call(arena *a, const instruction *i) {
  shape_list parameters = {0};
  for (int k = 0; k < i->operand_count; k++) vec_push(a, &parameters, i->operands[k]->shape);
  return i->called_count ? wants_parameters(a, i, 0, &parameters) : status_ok();
}

typedef heddle_status verify_fn(arena *a, const instruction *i);

static verify_fn *const signatures[HLO_OPCODE_COUNT] = {
    [HLO_REDUCE] = verify_reducer,
    [HLO_REDUCE_WINDOW] = verify_reducer,
    [HLO_SCATTER] = verify_reducer,
    [HLO_ALL_REDUCE] = verify_collective,
    [HLO_ALL_REDUCE_START] = verify_collective,
    [HLO_COLLECTIVE_REDUCE] = verify_collective,
    [HLO_REDUCE_SCATTER] = verify_collective,
    [HLO_MAP] = verify_map,
    [HLO_SORT] = verify_sort,
    [HLO_SELECT_AND_SCATTER] = verify_select_and_scatter,
    [HLO_WHILE] = verify_while,
    [HLO_CONDITIONAL] = verify_conditional,
    [HLO_CALL] = verify_call,
    [HLO_ASYNC_START] = verify_call,
    [HLO_FUSION] = verify_call,
};

heddle_status verifier_check_calls(arena *a, const instruction *i) {
  return signatures[i->opcode] ? signatures[i->opcode](a, i) : status_ok();
}
