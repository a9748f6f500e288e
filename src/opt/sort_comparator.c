// Sort comparators, read backwards from their root:
//
//   order  = less | or(less, and(equal, order)) | select(equal, order, less)
//   less   = compare(side, side), direction=LT or GT
//   equal  = compare(side, side), direction=EQ, of what `less` compares
//   side   = parameter, perhaps converted to a wider type
//          | select(x != x, nan, select(x == 0, 0, x))             floats with one zero and one NaN
//          | select(bits < 0, 2^(n-1) - 1 - bits, bits)            a float's bits as an integer in total order
#include "opt/sort_comparator.h"

#include <math.h>

// What is compared of a parameter.
typedef struct side {
  int parameter;
  dtype type;            // of the parameter
  bool is_canonical;     // one zero, one NaN
  bool is_bits_ordered;  // compared as integers that are in the floats' total order
} side;

static bool is_constant(const instruction *i, double value) {
  return i->opcode == HLO_CONSTANT && shape_is_scalar(i->shape) && dtype_is_float(i->shape->dtype) &&
         literal_get_double(i->literal, 0) == value;  // NOLINT: exactly
}

static bool is_nan_constant(const instruction *i) {
  if (i->opcode != HLO_CONSTANT || !dtype_is_float(i->shape->dtype)) return false;
  const double value = literal_get_double(i->literal, 0);
  return isnan(value) && !signbit(value);
}

static bool is_comparison(const instruction *i, comparison_direction direction) {
  return i->opcode == HLO_COMPARE && i->attributes->direction == direction;
}

// select(x != x, nan, select(x == 0, 0, x)) -> x; else null
static const instruction *under_canonical(const instruction *i) {
  if (i->opcode != HLO_SELECT || !is_comparison(i->operands[0], COMPARE_NE) || !is_nan_constant(i->operands[1]))
    return NULL;
  const instruction *rest = i->operands[2], *x = i->operands[0]->operands[0];
  if (i->operands[0]->operands[1] != x || i->operands[0]->attributes->compare_type == COMPARISON_TOTAL_ORDER)
    return NULL;
  if (rest->opcode != HLO_SELECT || !is_comparison(rest->operands[0], COMPARE_EQ) || rest->operands[2] != x)
    return NULL;
  const instruction *equal = rest->operands[0];
  const bool is_zero = equal->operands[0] == x ? is_constant(equal->operands[1], 0)
                                               : equal->operands[1] == x && is_constant(equal->operands[0], 0);
  return is_zero && is_constant(rest->operands[1], 0) && !signbit(literal_get_double(rest->operands[1]->literal, 0)) &&
                 equal->attributes->compare_type != COMPARISON_TOTAL_ORDER
             ? x
             : NULL;
}

static bool is_integer_constant(const instruction *i, int64_t value) {
  return i->opcode == HLO_CONSTANT && shape_is_scalar(i->shape) && dtype_is_integer(i->shape->dtype) &&
         literal_get_int(i->literal, 0) == value;
}

// select(bits < 0, largest - bits or largest ^ bits, bits) of bits = bitcast-convert(x) -> x; else null
static const instruction *under_bits(const instruction *i) {
  if (i->opcode != HLO_SELECT || !dtype_is_signed(i->shape->dtype)) return NULL;
  const instruction *test = i->operands[0], *turned = i->operands[1], *bits = i->operands[2];
  const int64_t largest = INT64_MAX >> (64 - dtypes[i->shape->dtype].bits);
  if (!is_comparison(test, COMPARE_LT) || test->operands[0] != bits || !is_integer_constant(test->operands[1], 0))
    return NULL;
  const bool is_turned =
      (turned->opcode == HLO_SUBTRACT && is_integer_constant(turned->operands[0], largest) &&
       turned->operands[1] == bits) ||
      (turned->opcode == HLO_XOR && is_integer_constant(turned->operands[turned->operands[0] == bits], largest) &&
       turned->operands[turned->operands[0] != bits] == bits);
  if (!is_turned || (bits->opcode != HLO_BITCAST_CONVERT && bits->opcode != HLO_BITCAST)) return NULL;
  return dtype_is_float(bits->operands[0]->shape->dtype) ? bits->operands[0] : NULL;
}

// Whether a conversion keeps every value, and with it the order.
static bool widens(dtype from, dtype to) {
  if (dtype_is_integer(from) && dtype_is_integer(to))
    return dtype_is_signed(from) == dtype_is_signed(to) && dtypes[to].bits >= dtypes[from].bits;
  if (!dtype_is_float(from) || !dtype_is_float(to)) return false;
  return to == DTYPE_F64 || (to == DTYPE_F32 && from != DTYPE_F64);
}

static bool read_side(const instruction *i, side *out) {
  *out = (side){0};
  const instruction *x = under_bits(i);
  if (x) {
    out->is_bits_ordered = true;
    i = x;
  }
  x = under_canonical(i);
  if (x) {
    out->is_canonical = true;
    i = x;
  }
  // A NaN's bits may change on the way.
  while (i->opcode == HLO_CONVERT && widens(i->operands[0]->shape->dtype, i->shape->dtype) &&
         (out->is_canonical || !out->is_bits_ordered))
    i = i->operands[0];
  if (i->opcode != HLO_PARAMETER || !shape_is_scalar(i->shape)) return false;
  out->parameter = (int)i->attributes->index;
  out->type = i->shape->dtype;
  return true;
}

// Both sides the same of lhs and rhs; `*is_swapped` if rhs stands first.
static bool read_sides(const instruction *compare, side *out, bool *is_swapped) {
  side other;
  if (compare->opcode != HLO_COMPARE || !read_side(compare->operands[0], out) ||
      !read_side(compare->operands[1], &other))
    return false;
  *is_swapped = out->parameter % 2 == 1;
  return out->parameter / 2 == other.parameter / 2 && out->parameter != other.parameter && out->type == other.type &&
         out->is_canonical == other.is_canonical && out->is_bits_ordered == other.is_bits_ordered;
}

static bool order_of(const instruction *compare, const side *s, sort_order *order) {
  const bool is_total = s->is_bits_ordered || compare->attributes->compare_type == COMPARISON_TOTAL_ORDER;
  if (!dtype_is_float(s->type)) {
    *order = SORT_NUMERIC;
    return !dtype_is_complex(s->type) && !s->is_canonical;
  }
  *order = !is_total ? SORT_LESS : s->is_canonical ? SORT_NUMERIC : SORT_TOTAL;
  const bool is_converted = compare->operands[0]->shape->dtype != s->type && !s->is_bits_ordered;
  return !(*order == SORT_TOTAL && is_converted);
}

static bool read_less(const instruction *compare, sort_comparator_key *key) {
  side s;
  bool is_swapped;
  if (!read_sides(compare, &s, &is_swapped) || !order_of(compare, &s, &key->order)) return false;
  if (compare->attributes->direction != COMPARE_LT && compare->attributes->direction != COMPARE_GT) return false;
  key->operand = s.parameter / 2;
  key->is_descending = (compare->attributes->direction == COMPARE_GT) != is_swapped;
  return true;
}

// Whether it holds just where neither side comes first.
static bool reads_equal(const instruction *compare, const sort_comparator_key *key) {
  side s;
  bool is_swapped;
  sort_order order;
  return read_sides(compare, &s, &is_swapped) && compare->attributes->direction == COMPARE_EQ &&
         order_of(compare, &s, &order) && s.parameter / 2 == key->operand && order == key->order;
}

// Splits or(less, and(equal, rest)), in any order of the operands, or select(equal, rest, less).
static bool split(const instruction *i, sort_comparator_key *key, const instruction **rest) {
  if (i->opcode == HLO_SELECT) {
    *rest = i->operands[1];
    return read_less(i->operands[2], key) && reads_equal(i->operands[0], key);
  }
  if (i->opcode != HLO_OR) return false;
  for (int k = 0; k < 2; k++) {
    const instruction *both = i->operands[1 - k];
    if (both->opcode != HLO_AND || !read_less(i->operands[k], key)) continue;
    for (int j = 0; j < 2; j++) {
      *rest = both->operands[1 - j];
      if (reads_equal(both->operands[j], key)) return true;
    }
  }
  return false;
}

bool sort_comparator_read(const computation *c, sort_comparator *out) {
  const instruction *order = c->root;
  *out = (sort_comparator){0};
  while (out->count < SORT_COMPARATOR_KEYS_MAX) {
    sort_comparator_key *key = &out->keys[out->count++];
    if (read_less(order, key)) return true;
    if (!split(order, key, &order)) return false;
  }
  return false;
}
