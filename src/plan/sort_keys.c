#include "plan/sort_keys.h"

#include <math.h>

#include "hlo/literal.h"

// The numbers that programs have for orders.
enum { ORDER_NUMERIC, ORDER_TOTAL, ORDER_LESS };

// More keys than this are left to a compiled comparator; it bounds the depth that is looked at.
enum { MAX_KEYS = 64 };

// Operations between a parameter and its key that are looked at; each may look at what is behind it twice.
enum { MAX_DEPTH = 6 };

// A parameter, perhaps behind operations that make a key of it.
typedef struct side {
  int64_t parameter;
  dtype type;
  bool joins_zeros, joins_nan;  // -0 becomes 0; every NaN becomes one that is positive
  bool is_total;                // bits of a float as integers in total order
} side;

static bool is_constant(const instruction *i, double *value) {
  if (i->opcode != HLO_CONSTANT || !shape_is_scalar(i->shape) || dtype_is_complex(i->shape->dtype)) return false;
  *value = literal_get_double(i->literal, 0);
  return true;
}

static bool is_compare(const instruction *i, comparison_direction direction) {
  return i->opcode == HLO_COMPARE && i->attributes->direction == direction;
}

static bool is_total_order(const instruction *compare) {
  return compare->attributes->compare_type == COMPARISON_TOTAL_ORDER;
}

static bool find_side(const instruction *i, int depth, side *out);

static bool is_same_side(const instruction *x, int depth, const side *wanted) {
  side s;
  return find_side(x, depth, &s) && s.parameter == wanted->parameter && !s.is_total;
}

// select(x = 0, 0, x): also the first x may be any other form of it, whose zeros and NaN are where x's are.
static bool find_joined_zeros(const instruction *i, const instruction *test, int depth, side *out) {
  double zero, other;
  if (!is_compare(test, COMPARE_EQ) || is_total_order(test) || !is_constant(i->operands[1], &zero) || zero != 0 ||
      signbit(zero))
    return false;
  const bool left = is_constant(test->operands[1], &other);
  if (!left && !is_constant(test->operands[0], &other)) return false;
  if (other != 0 || !find_side(i->operands[2], depth, out) || out->is_total) return false;
  out->joins_zeros = true;
  return is_same_side(test->operands[left ? 0 : 1], depth, out);
}

// select(x ≠ x, NaN, x)
static bool find_joined_nan(const instruction *i, const instruction *test, int depth, side *out) {
  double nan;
  if (!is_compare(test, COMPARE_NE) || is_total_order(test) || test->operands[0] != test->operands[1]) return false;
  if (!is_constant(i->operands[1], &nan) || !isnan(nan) || signbit(nan)) return false;
  if (!find_side(i->operands[2], depth, out) || out->is_total) return false;
  out->joins_nan = true;
  return is_same_side(test->operands[0], depth, out);
}

// select(b < 0, b ^ max, b) for the bits b of a float: a comparison of such integers is one of the float in total
// order.
static bool find_total_order(const instruction *i, const instruction *test, int depth, side *out) {
  const instruction *bits = i->operands[2], *flipped = i->operands[1];
  double zero;
  const bool fits = is_compare(test, COMPARE_LT) && test->operands[0] == bits &&
                    is_constant(test->operands[1], &zero) && zero == 0 && flipped->opcode == HLO_XOR &&
                    dtype_is_signed(bits->shape->dtype) &&
                    (bits->opcode == HLO_BITCAST_CONVERT || bits->opcode == HLO_BITCAST);
  if (!fits) return false;
  const int own = flipped->operands[0] == bits ? 0 : 1;
  const instruction *mask = flipped->operands[1 - own];
  const int width = dtypes[bits->shape->dtype].bits;
  if (flipped->operands[own] != bits || mask->opcode != HLO_CONSTANT ||
      literal_get_int(mask->literal, 0) != (int64_t)(((uint64_t)1 << (width - 1)) - 1))
    return false;
  const instruction *from = bits->operands[0];
  if (!dtype_is_float(from->shape->dtype) || dtypes[from->shape->dtype].bits != width || !find_side(from, depth, out))
    return false;
  out->is_total = true;
  return true;
}

// Wider floats order as they do.
static bool widens(const instruction *i) {
  if (i->opcode != HLO_CONVERT) return false;
  const dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
  return (from == DTYPE_F16 || from == DTYPE_BF16 || from == DTYPE_F32) && (to == DTYPE_F32 || to == DTYPE_F64) &&
         dtypes[to].bits > dtypes[from].bits;
}

static bool find_side(const instruction *i, int depth, side *out) {
  if (widens(i)) i = i->operands[0];
  if (!shape_is_array(i->shape) || dtype_is_complex(i->shape->dtype)) return false;
  if (i->opcode == HLO_PARAMETER) {
    *out = (side){.parameter = i->attributes->index, .type = i->shape->dtype};
    return true;
  }
  if (i->opcode != HLO_SELECT || depth == 0) return false;
  const instruction *test = i->operands[0];
  return find_joined_zeros(i, test, depth - 1, out) || find_joined_nan(i, test, depth - 1, out) ||
         find_total_order(i, test, depth - 1, out);
}

typedef struct key {
  int64_t operand;
  bool is_descending;
  int order;
} key;

// What order a comparison of two such sides is; -1: none that has a number.
static int order_of(const instruction *compare, const side *s) {
  if (!dtype_is_float(s->type)) return ORDER_NUMERIC;
  if (!s->is_total && !is_total_order(compare)) return ORDER_LESS;
  if (s->joins_zeros && s->joins_nan) return ORDER_NUMERIC;
  return s->joins_zeros || s->joins_nan ? -1 : ORDER_TOTAL;
}

static bool find_key(const instruction *compare, key *out) {
  side left, right;
  if (compare->opcode != HLO_COMPARE || !find_side(compare->operands[0], MAX_DEPTH, &left) ||
      !find_side(compare->operands[1], MAX_DEPTH, &right))
    return false;
  const bool same = left.type == right.type && left.joins_zeros == right.joins_zeros &&
                    left.joins_nan == right.joins_nan && left.is_total == right.is_total;
  if (!same || left.parameter / 2 != right.parameter / 2 || left.parameter == right.parameter) return false;
  const bool is_swapped = left.parameter % 2 == 1;
  *out = (key){.operand = left.parameter / 2,
               .is_descending = (compare->attributes->direction == COMPARE_GT) != is_swapped,
               .order = order_of(compare, &left)};
  return out->order >= 0;
}

static bool find_less(const instruction *i, key *out) {
  return (is_compare(i, COMPARE_LT) || is_compare(i, COMPARE_GT)) && find_key(i, out);
}

// Equal in the same sense in which `less` is less.
static bool is_equality(const instruction *i, const key *less) {
  key equal;
  return is_compare(i, COMPARE_EQ) && find_key(i, &equal) && equal.operand == less->operand &&
         equal.order == less->order;
}

// less or (equal and rest), in either order of operands; returns the rest.
static const instruction *find_next(const instruction *i, key *out) {
  if (i->opcode != HLO_OR) return NULL;
  for (int k = 0; k < 2; k++) {
    const instruction *both = i->operands[1 - k];
    if (both->opcode != HLO_AND || !find_less(i->operands[k], out)) continue;
    for (int j = 0; j < 2; j++)
      if (is_equality(both->operands[j], out)) return both->operands[1 - j];
  }
  return NULL;
}

bool sort_keys_find(arena *a, const computation *comparator, sort_keys *out) {
  *out = (sort_keys){.operands = arena_array(a, int64_t, MAX_KEYS),
                     .descending = arena_array(a, int64_t, MAX_KEYS),
                     .orders = arena_array(a, int64_t, MAX_KEYS)};
  const instruction *rest = comparator->root;
  while (rest && out->count < MAX_KEYS) {
    key k;
    const bool is_last = find_less(rest, &k);
    rest = is_last ? NULL : find_next(rest, &k);
    if (!is_last && !rest) return false;
    out->operands[out->count] = k.operand;
    out->descending[out->count] = k.is_descending;
    out->orders[out->count++] = k.order;
    if (is_last) return true;
  }
  return false;
}
