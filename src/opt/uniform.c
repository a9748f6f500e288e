// Finds arrays whose elements are all the same constant.
#include "opt/uniform.h"

#include <math.h>

const literal *uniform_value(const instruction *i) {
  // Chains of moves are short: the simplifier makes one of them.
  for (int depth = 0; depth < 8; depth++) {
    if (i->opcode == HLO_CONSTANT) {
      bool is_one = shape_is_array(i->shape) && shape_element_count(i->shape) == 1 && !i->literal->is_elided;
      return is_one ? i->literal : NULL;
    }
    if (i->opcode != HLO_BROADCAST && i->opcode != HLO_RESHAPE) return NULL;
    i = i->operands[0];
  }
  return NULL;
}

// The low bits of a value, as literals hold them in their sign-extended or zero-extended form.
static int64_t wrap(dtype t, int64_t value) {
  const int bits = dtypes[t].bits;
  if (t == DTYPE_PRED) return value != 0;
  if (bits == 64) return value;
  const int64_t low = (int64_t)((uint64_t)value & (((uint64_t)1 << bits) - 1));
  return dtype_is_signed(t) && low >> (bits - 1) ? low - ((int64_t)1 << bits) : low;
}

static bool is_discrete(dtype t) { return dtype_is_integer(t) || t == DTYPE_PRED; }

bool uniform_is_int(const instruction *i, int64_t value) {
  const dtype t = i->shape->dtype;
  if (!is_discrete(t)) return false;
  const literal *x = uniform_value(i);
  return x && literal_get_int(x, 0) == wrap(t, value);
}

static bool same(double l, double r) { return l == r && !signbit(l) == !signbit(r); }

bool uniform_is_float(const instruction *i, double value) {
  const dtype t = i->shape->dtype;
  if (!dtype_is_inexact(t)) return false;
  const literal *x = uniform_value(i);
  if (!x) return false;
  if (dtype_is_float(t)) return same(literal_get_double(x, 0), value);
  const double complex z = literal_get_complex(x, 0);
  return same(creal(z), value) && same(cimag(z), value);
}

bool uniform_is(const instruction *i, int64_t value) {
  return is_discrete(i->shape->dtype) ? uniform_is_int(i, value) : uniform_is_float(i, (double)value);
}

// Literals saturate nothing: the lowest value of a signed type is its sign bit alone.
static int64_t lowest_int(dtype t) {
  if (!dtype_is_signed(t)) return 0;
  return (int64_t)((uint64_t)1 << (dtypes[t].bits - 1));
}

bool uniform_is_lowest(const instruction *i) {
  const dtype t = i->shape->dtype;
  if (is_discrete(t)) return uniform_is_int(i, lowest_int(t));
  return dtype_is_float(t) && uniform_is_float(i, -INFINITY);
}

bool uniform_is_highest(const instruction *i) {
  const dtype t = i->shape->dtype;
  if (is_discrete(t)) return uniform_is_int(i, t == DTYPE_PRED ? 1 : ~lowest_int(t));
  return dtype_is_float(t) && uniform_is_float(i, INFINITY);
}

bool uniform_is_neutral(hlo_opcode opcode, const instruction *init) {
  switch (opcode) {
    case HLO_MAXIMUM:
    case HLO_MINIMUM:
    case HLO_AND:
    case HLO_OR: return true;
    case HLO_ADD:
    case HLO_MULTIPLY:
    case HLO_XOR: break;
    default: return false;
  }
  if (init->opcode == HLO_CONVERT && init->operands[0]->opcode == HLO_CONSTANT) init = init->operands[0];
  const literal *constant = uniform_value(init);
  if (!constant || init->shape->dtype == DTYPE_PRED) return false;
  const double complex value = literal_get_complex(constant, 0);
  const double wanted = opcode == HLO_MULTIPLY ? 1 : 0;
  return __real__ value == wanted && __imag__ value == 0;  // NOLINT: exactly
}
