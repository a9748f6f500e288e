// Values known while lowering: operands that say shapes are computed with the interpreter from constants, from argument
// values given in the options, and through calls.
#include "eval/evaluate.h"
#include "stablehlo/lowering.h"

enum { FOLD_MAX_ELEMENTS = 1 << 20, FOLD_MAX_STEPS = 1 << 20, FOLD_MAX_BYTES = 1 << 28 };

// In `folded`: this instruction has no value now and never will.
static literal unknown;

typedef VEC(instruction *) fold_stack;

// What decides the value of `i`: one other instruction, whose value it has.
static instruction *alias_of(const instruction *i) {
  if (i->opcode == HLO_CALL && !shape_is_tuple(i->shape)) return i->called[0]->root;
  if (i->opcode != HLO_GET_TUPLE_ELEMENT) return NULL;
  const instruction *from = i->operands[0];
  if (from->opcode == HLO_OPT_BARRIER) from = from->operands[0];
  if (from->opcode == HLO_CALL) from = from->called[0]->root;
  int64_t index = i->attributes->index;
  return from->opcode == HLO_TUPLE && index < from->operand_count ? from->operands[index] : NULL;
}

static bool never_folds(const instruction *i) {
  const unsigned never = TRAIT_SIDE_EFFECT | TRAIT_COLLECTIVE | TRAIT_RANDOM | TRAIT_ASYNC;
  if (hlo_ops[i->opcode].traits & never) return true;
  if (i->opcode == HLO_PARAMETER || i->opcode == HLO_PARTITION_ID || i->opcode == HLO_REPLICA_ID) return true;
  return shape_is_array(i->shape) && (!shape_is_static(i->shape) || shape_element_count(i->shape) > FOLD_MAX_ELEMENTS);
}

static bool is_open(const import_open_sizes *open, const literal *value) {
  if (!shape_is_array(value->shape) || !dtype_is_integer(value->shape->dtype)) return false;
  bool is = false;
  for (int64_t k = 0; k < shape_element_count(value->shape); k++) is |= literal_get_int(value, k) >= open->from;
  return is;
}

static bool is_zero(const literal *value) {
  return shape_is_scalar(value->shape) && dtype_is_integer(value->shape->dtype) && literal_get_int(value, 0) == 0;
}

// Whether a size is below 0 is asked where divisions round towards it, and never is.
static void note_kinks(lowering *l, const instruction *i, literal *const *operands) {
  import_open_sizes *open = l->options ? l->options->open : NULL;
  if (!open || open->has_kinks) return;
  const bool picks = !open->derive && (i->opcode == HLO_MAXIMUM || i->opcode == HLO_MINIMUM || i->opcode == HLO_CLAMP);
  const bool asks = i->opcode == HLO_COMPARE && i->attributes->direction != COMPARE_EQ &&
                    i->attributes->direction != COMPARE_NE && !is_zero(operands[1]);
  if (!picks && !asks) return;
  for (int k = 0; k < i->operand_count; k++) open->has_kinks |= is_open(open, operands[k]);
}

// --- what is derived from sizes

enum { DERIVE_MOST_ELEMENTS = 16 };  // shapes have fewer; arrays that are as large as a stand-in have more

static int64_t element_of(const literal *x, int64_t k) {
  return literal_get_int(x, shape_element_count(x->shape) == 1 ? 0 : k);
}

static bool is_comparison(const instruction *i, comparison_direction direction) {
  return i->opcode == HLO_COMPARE && i->attributes->direction == direction;
}

static bool asks_sign(const lowering *l, const instruction *i, const instruction *of) {
  const literal *zero = i->opcode == HLO_COMPARE ? ptr_map_get(l->folded, i->operands[1]) : NULL;
  return zero && zero != &unknown && is_zero(zero) && i->operands[0] == of;
}

// The remainder in remainder != 0 && (remainder < 0) != (divisor < 0) ? remainder + divisor : remainder, else null.
static const instruction *find_modulo(const lowering *l, const instruction *i) {
  const instruction *remainder = i->opcode == HLO_SELECT ? i->operands[2] : i;
  if (i->opcode != HLO_SELECT || remainder->opcode != HLO_REMAINDER) return NULL;
  const instruction *divisor = remainder->operands[1], *moved = i->operands[1], *both = i->operands[0];
  if (moved->opcode != HLO_ADD || moved->operands[0] != remainder || moved->operands[1] != divisor) return NULL;
  if (both->opcode != HLO_AND || !is_comparison(both->operands[0], COMPARE_NE)) return NULL;
  const instruction *signs = both->operands[0], *rest = both->operands[1];
  const bool fits = is_comparison(rest, COMPARE_NE) && asks_sign(l, rest, remainder) &&
                    is_comparison(signs->operands[0], COMPARE_LT) && asks_sign(l, signs->operands[0], remainder) &&
                    is_comparison(signs->operands[1], COMPARE_LT) && asks_sign(l, signs->operands[1], divisor);
  return fits ? remainder : NULL;
}

static void derive_modulo(lowering *l, const import_open_sizes *open, const instruction *remainder, literal *value) {
  const literal *left = ptr_map_get(l->folded, remainder->operands[0]);
  const literal *right = ptr_map_get(l->folded, remainder->operands[1]);
  for (int64_t k = 0; k < shape_element_count(value->shape); k++) {
    const int64_t x = literal_get_int(left, k), y = literal_get_int(right, k);
    if (y < 1) continue;
    const int64_t is = x % y + (x % y < 0 ? y : 0);
    literal_set_int(value, k, open->derive(open->derive_context, IMPORT_MODULO, x, y, is));
  }
}

static int64_t derive_element(const import_open_sizes *open, const instruction *i, literal *const *operands, int64_t k,
                              int64_t value) {
  static const int kinds[HLO_OPCODE_COUNT] = {[HLO_DIVIDE] = 1 + IMPORT_QUOTIENT,
                                              [HLO_REMAINDER] = 1 + IMPORT_REMAINDER,
                                              [HLO_MAXIMUM] = 1 + IMPORT_LARGER,
                                              [HLO_MINIMUM] = 1 + IMPORT_SMALLER};
  const int64_t left = element_of(operands[0], k), right = element_of(operands[1], k);
  if (i->opcode != HLO_CLAMP)
    return open->derive(open->derive_context, (import_derived_kind)(kinds[i->opcode] - 1), left, right, value);
  const int64_t most = element_of(operands[2], k);
  const int64_t above = open->derive(open->derive_context, IMPORT_LARGER, left, right, left > right ? left : right);
  return open->derive(open->derive_context, IMPORT_SMALLER, above, most, above < most ? above : most);
}

static void derive(lowering *l, const instruction *i, literal *const *operands, literal *value) {
  const import_open_sizes *open = l->options ? l->options->open : NULL;
  const bool divides = i->opcode == HLO_DIVIDE || i->opcode == HLO_REMAINDER;
  const bool picks = i->opcode == HLO_MAXIMUM || i->opcode == HLO_MINIMUM || i->opcode == HLO_CLAMP;
  if (!open || !open->derive || !shape_is_array(value->shape) || !dtype_is_integer(value->shape->dtype)) return;
  if (shape_element_count(value->shape) > DERIVE_MOST_ELEMENTS) return;
  const instruction *remainder = find_modulo(l, i);
  if (remainder) derive_modulo(l, open, remainder, value);
  if (!divides && !picks) return;
  for (int64_t k = 0; k < shape_element_count(value->shape); k++)
    literal_set_int(value, k, derive_element(open, i, operands, k, literal_get_int(value, k)));
}

// --- folding

static literal *evaluate(lowering *l, const instruction *i) {
  if (i->opcode == HLO_CONSTANT) return i->literal;
  literal **operands = arena_array(l->arena, literal *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    operands[k] = ptr_map_get(l->folded, i->operands[k]);
    if (operands[k] == &unknown) return &unknown;
  }
  note_kinks(l, i, operands);
  literal *value = NULL;
  eval_options options = {.max_steps = FOLD_MAX_STEPS, .max_bytes = FOLD_MAX_BYTES};
  heddle_status status = eval_instruction(l->arena, i, &options, operands, &value);
  bool is_known = status_is_ok(status);
  heddle_status_free(status);
  if (is_known) derive(l, i, operands, value);
  return is_known ? value : &unknown;
}

// Pushes what must be known first; false if there is nothing.
static bool push_missing(lowering *l, const instruction *i, fold_stack *stack) {
  bool pushed = false;
  for (int k = 0; k < i->operand_count; k++) {
    if (ptr_map_has(l->folded, i->operands[k])) continue;
    vec_push(l->arena, stack, i->operands[k]);
    pushed = true;
  }
  return pushed;
}

// One step for the top of the stack: its value, or more to do before it.
static void step(lowering *l, instruction *i, fold_stack *stack) {
  instruction *alias = alias_of(i);
  if (alias && !ptr_map_has(l->folded, alias)) {
    vec_push(l->arena, stack, alias);
    return;
  }
  literal *value = alias ? ptr_map_get(l->folded, alias) : NULL;
  if (value && value != &unknown) {
    ptr_map_put(l->arena, l->folded, i, value);
    return;
  }
  if (never_folds(i)) {
    ptr_map_put(l->arena, l->folded, i, &unknown);
    return;
  }
  if (!push_missing(l, i, stack)) ptr_map_put(l->arena, l->folded, i, evaluate(l, i));
}

literal *lowering_try_fold(lowering *l, instruction *i) {
  fold_stack stack = {0};
  vec_push(l->arena, &stack, i);
  while (stack.size) {
    instruction *top = vec_last(&stack);
    if (ptr_map_has(l->folded, top)) vec_drop(&stack);
    else step(l, top, &stack);
  }
  literal *value = ptr_map_get(l->folded, i);
  return value == &unknown ? NULL : value;
}

heddle_status lowering_fold(lowering *l, instruction *i, const char *what, literal **out) {
  *out = lowering_try_fold(l, i);
  if (*out) return status_ok();
  return lowering_invalid(l->op,
                          "%s depends on values that are only known when the program runs; "
                          "give the arguments it depends on when the program is read",
                          what);
}

heddle_status lowering_fold_ints(lowering *l, instruction *i, const char *what, const int64_t **values, int *count) {
  literal *value;
  TRY(lowering_fold(l, i, what, &value));
  if (!shape_is_array(value->shape) || !(dtypes[value->shape->dtype].class & (CLASS_INTEGER | CLASS_PRED)))
    return lowering_invalid(l->op, "%s has shape %s, wanted integers", what, shape_text(l->arena, value->shape));
  int64_t size = shape_element_count(value->shape);
  int64_t *copy = arena_array(l->arena, int64_t, size);
  for (int64_t k = 0; k < size; k++) copy[k] = literal_get_int(value, k);
  *values = copy;
  *count = (int)size;
  return status_ok();
}
