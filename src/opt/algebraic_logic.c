// Algebraic rules of predicates, bits and choices.
//
// Comparisons of a value with itself are decided for integers and in total order only: NaN differs from itself.
#include "opt/algebraic_rules.h"
#include "opt/uniform.h"

static bool is_discrete(const instruction *i) {
  return dtype_is_integer(i->shape->dtype) || i->shape->dtype == DTYPE_PRED;
}

// False and true of any type: no bit, and all of them.
static bool is_none(const instruction *i) { return uniform_is_int(i, 0); }
static bool is_all(const instruction *i) { return is_discrete(i) && uniform_is_int(i, -1); }

instruction *algebraic_and(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1];
  (void)b;
  if (x == y || is_all(y) || is_none(x)) return x;
  return is_all(x) || is_none(y) ? y : NULL;
}

instruction *algebraic_or(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1];
  (void)b;
  if (x == y || is_none(y) || is_all(x)) return x;
  return is_none(x) || is_all(y) ? y : NULL;
}

instruction *algebraic_xor(const builder *b, instruction *i) {
  instruction *x = i->operands[0], *y = i->operands[1];
  if (x == y) return builder_like_int(b, i, 0);
  if (is_none(y)) return x;
  if (is_none(x)) return y;
  if (is_all(y)) return builder_unary(b, HLO_NOT, x);
  return is_all(x) ? builder_unary(b, HLO_NOT, y) : NULL;
}

instruction *algebraic_shift(const builder *b, instruction *i) {
  (void)b;
  return is_none(i->operands[1]) || is_none(i->operands[0]) ? i->operands[0] : NULL;
}

// Whether every pair of values is either in the relation or in its opposite.
static bool is_total(const instruction *compare) {
  return is_discrete(compare->operands[0]) || compare->attributes->compare_type == COMPARISON_TOTAL_ORDER;
}

static const comparison_direction opposite[] = {
    [COMPARE_EQ] = COMPARE_NE, [COMPARE_NE] = COMPARE_EQ, [COMPARE_GE] = COMPARE_LT,
    [COMPARE_GT] = COMPARE_LE, [COMPARE_LE] = COMPARE_GT, [COMPARE_LT] = COMPARE_GE,
};

instruction *algebraic_not(const builder *b, instruction *i) {
  instruction *x = i->operands[0];
  if (x->opcode == HLO_NOT) return x->operands[0];
  if (x->opcode != HLO_COMPARE || x->users.size != 1) return NULL;
  const comparison_direction direction = x->attributes->direction;
  if (!is_total(x) && direction != COMPARE_EQ && direction != COMPARE_NE) return NULL;
  instruction *by = builder_compare(b, x->operands[0], x->operands[1], opposite[direction]);
  by->attributes->compare_type = x->attributes->compare_type;
  if (attributes_has(x->attributes, HLO_ATTRIBUTE_TYPE)) attributes_mark(by->attributes, HLO_ATTRIBUTE_TYPE);
  return by;
}

// Whether the integers of `i` are known to lie from *low to *high: places in an iota, of which front ends ask whether
// they are negative.
static bool find_range(const instruction *i, int64_t *low, int64_t *high) {
  if (!dtype_is_integer(i->shape->dtype)) return false;
  for (int depth = 0; depth < 8; depth++) {
    switch (i->opcode) {
      case HLO_IOTA:
        *low = 0;
        *high = i->shape->dims[i->attributes->iota_dimension] - 1;
        // Narrow integers wrap.
        return dtypes[i->shape->dtype].bits >= 64 || *high < (int64_t)1 << (dtypes[i->shape->dtype].bits - 1);
      case HLO_BROADCAST:
      case HLO_RESHAPE:
      case HLO_SLICE:
      case HLO_TRANSPOSE: i = i->operands[0]; break;
      default: return false;
    }
  }
  return false;
}

// 1 or 0 if the comparison with a constant is the same for all of the range, else -1.
static int compare_range(comparison_direction direction, int64_t low, int64_t high, int64_t with) {
  switch (direction) {
    case COMPARE_LT: return high < with ? 1 : low >= with ? 0 : -1;
    case COMPARE_LE: return high <= with ? 1 : low > with ? 0 : -1;
    case COMPARE_GT: return low > with ? 1 : high <= with ? 0 : -1;
    case COMPARE_GE: return low >= with ? 1 : high < with ? 0 : -1;
    case COMPARE_EQ: return with < low || with > high ? 0 : -1;
    case COMPARE_NE: return with < low || with > high ? 1 : -1;
  }
  return -1;
}

static instruction *compare_known(const builder *b, instruction *i) {
  int64_t low, high;
  const literal *with = uniform_value(i->operands[1]);
  if (!with || !find_range(i->operands[0], &low, &high)) return NULL;
  const int64_t value = literal_get_int(with, 0);
  if (value < 0 && !dtype_is_signed(with->shape->dtype)) return NULL;  // above 2^63
  const int known = compare_range(i->attributes->direction, low, high, value);
  return known < 0 ? NULL : builder_like_int(b, i, known);
}

// A predicate compared with a constant is itself or its opposite.
static instruction *compare_predicate(const builder *b, instruction *i) {
  const comparison_direction direction = i->attributes->direction;
  if (i->operands[0]->shape->dtype != DTYPE_PRED || !uniform_value(i->operands[1])) return NULL;
  if (direction != COMPARE_EQ && direction != COMPARE_NE) return NULL;
  const bool keeps = (direction == COMPARE_EQ) == uniform_is_int(i->operands[1], 1);
  return keeps ? i->operands[0] : builder_unary(b, HLO_NOT, i->operands[0]);
}

instruction *algebraic_compare(const builder *b, instruction *i) {
  const instruction *x = i->operands[0], *y = i->operands[1];
  const comparison_direction direction = i->attributes->direction;
  if (x == y && is_total(i))
    return builder_like_int(b, i, direction == COMPARE_EQ || direction == COMPARE_GE || direction == COMPARE_LE);
  if (is_discrete(x)) {
    if ((direction == COMPARE_LT && uniform_is_lowest(y)) || (direction == COMPARE_GT && uniform_is_highest(y)))
      return builder_like_int(b, i, 0);
    if ((direction == COMPARE_GE && uniform_is_lowest(y)) || (direction == COMPARE_LE && uniform_is_highest(y)))
      return builder_like_int(b, i, 1);
  }
  instruction *known = compare_known(b, i);
  return known ? known : compare_predicate(b, i);
}

static instruction *select_predicates(const builder *b, instruction *i) {
  instruction *p = i->operands[0], *on_true = i->operands[1], *on_false = i->operands[2];
  if (i->shape->dtype != DTYPE_PRED || p->shape->rank != i->shape->rank) return NULL;
  if (is_all(on_true)) return is_none(on_false) ? p : builder_binary(b, HLO_OR, p, on_false);
  if (is_none(on_false)) return builder_binary(b, HLO_AND, p, on_true);
  return is_none(on_true) && is_all(on_false) ? builder_unary(b, HLO_NOT, p) : NULL;
}

instruction *algebraic_select(const builder *b, instruction *i) {
  instruction *p = i->operands[0], *on_true = i->operands[1], *on_false = i->operands[2];
  if (on_true == on_false || is_all(p)) return on_true;
  if (is_none(p)) return on_false;
  if (p->opcode == HLO_NOT) return builder_select(b, p->operands[0], on_false, on_true);
  return shape_is_array(i->shape) ? select_predicates(b, i) : NULL;
}

instruction *algebraic_clamp(const builder *b, instruction *i) {
  instruction *low = i->operands[0], *x = i->operands[1], *high = i->operands[2];
  (void)b;
  if (is_discrete(i) && uniform_is_lowest(low) && uniform_is_highest(high)) return x;
  return x->opcode == HLO_CLAMP && x->operands[0] == low && x->operands[2] == high ? x : NULL;
}
