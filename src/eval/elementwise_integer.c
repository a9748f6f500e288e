// Elementwise operations on integers and pred, in 64 bits.
//
// An operand comes extended from its type's width by its sign or by zeros, and the result is cut to that width
// afterwards. So only what looks at the width (shifts, bit counts, mulhi) or at the sign (order, division) has to know
// the type. Arithmetic is done unsigned, where wrapping is defined.
#include "eval/elementwise.h"

static inline int bits_of(const elementwise_call *call) { return dtypes[call->operand].bits; }
static inline bool signed_of(const elementwise_call *call) { return dtype_is_signed(call->operand); }
static inline uint64_t low_bits(int64_t v, int bits) { return (uint64_t)compute_wrap(v, bits, false); }

static inline int64_t add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static inline int64_t subtract(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
static inline int64_t multiply(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
static inline int64_t negate(int64_t x) { return subtract(0, x); }
static inline bool less(bool is_signed, int64_t x, int64_t y) { return is_signed ? x < y : (uint64_t)x < (uint64_t)y; }

static inline int64_t divide(bool is_signed, int64_t x, int64_t y) {
  if (y == 0) return -1;
  if (!is_signed) return (int64_t)((uint64_t)x / (uint64_t)y);
  return y == -1 ? negate(x) : x / y;
}

static inline int64_t modulo(bool is_signed, int64_t x, int64_t y) {
  if (y == 0) return x;
  if (!is_signed) return (int64_t)((uint64_t)x % (uint64_t)y);
  return y == -1 ? 0 : x % y;
}

static inline int64_t shift_left(int bits, int64_t x, int64_t y) {
  uint64_t by = low_bits(y, bits);
  return by < (uint64_t)bits ? (int64_t)((uint64_t)x << by) : 0;
}

static inline int64_t shift_right_logical(int bits, int64_t x, int64_t y) {
  uint64_t by = low_bits(y, bits);
  return by < (uint64_t)bits ? (int64_t)(low_bits(x, bits) >> by) : 0;
}

static inline int64_t shift_right_arithmetic(int bits, int64_t x, int64_t y) {
  uint64_t by = low_bits(y, bits);
  return compute_wrap(x, bits, true) >> (by < (uint64_t)bits ? by : (uint64_t)bits - 1);
}

static inline int64_t leading_zeros(int bits, int64_t x) {
  uint64_t v = low_bits(x, bits);
  return v ? __builtin_clzll(v) - (64 - bits) : bits;
}

static inline int64_t multiply_high(int bits, bool is_signed, int64_t x, int64_t y) {
  if (is_signed) return (int64_t)((__int128)x * y >> bits);
  return (int64_t)((unsigned __int128)(uint64_t)x * (uint64_t)y >> bits);
}

// Square and multiply. A negative exponent means a fraction, which is 0 but for the bases 1 and -1.
static inline int64_t power(bool is_signed, int64_t x, int64_t y) {
  if (is_signed && y < 0) {
    if (x == -1) return y & 1 ? -1 : 1;
    return x == 1;
  }
  int64_t result = 1;
  for (uint64_t rest = (uint64_t)y; rest; rest >>= 1) {
    if (rest & 1) result = multiply(result, x);
    x = multiply(x, x);
  }
  return result;
}

static inline int64_t sign(bool is_signed, int64_t x) {
  if (!is_signed) return x != 0;
  return (x > 0) - (x < 0);
}

// `expression` may use x, the width `bits` and `is_signed`.
#define UNARY(name, expression)                                                                           \
  static void int_##name(const elementwise_call *call, int64_t count, void *out, const void *const *in) { \
    const int64_t *xs = in[0];                                                                            \
    int64_t *results = out;                                                                               \
    const int bits = bits_of(call);                                                                       \
    const bool is_signed = signed_of(call);                                                               \
    (void)bits, (void)is_signed;                                                                          \
    for (int64_t k = 0; k < count; k++) {                                                                 \
      const int64_t x = xs[k];                                                                            \
      results[k] = (expression);                                                                          \
    }                                                                                                     \
  }

#define BINARY(name, expression)                                                                          \
  static void int_##name(const elementwise_call *call, int64_t count, void *out, const void *const *in) { \
    const int64_t *xs = in[0], *ys = in[1];                                                               \
    int64_t *results = out;                                                                               \
    const int bits = bits_of(call);                                                                       \
    const bool is_signed = signed_of(call);                                                               \
    (void)bits, (void)is_signed;                                                                          \
    for (int64_t k = 0; k < count; k++) {                                                                 \
      const int64_t x = xs[k], y = ys[k];                                                                 \
      results[k] = (expression);                                                                          \
    }                                                                                                     \
  }

UNARY(abs, is_signed &&x < 0 ? negate(x) : x)
UNARY(negate, negate(x))
UNARY(not, call->operand == DTYPE_PRED ? x == 0 : ~x)
UNARY(sign, sign(is_signed, x))
UNARY(popcnt, __builtin_popcountll(low_bits(x, bits)))
UNARY(clz, leading_zeros(bits, x))
BINARY(add, add(x, y))
BINARY(subtract, subtract(x, y))
BINARY(multiply, multiply(x, y))
BINARY(mulhi, multiply_high(bits, is_signed, x, y))
BINARY(divide, divide(is_signed, x, y))
BINARY(remainder, modulo(is_signed, x, y))
BINARY(power, power(is_signed, x, y))
BINARY(maximum, less(is_signed, x, y) ? y : x)
BINARY(minimum, less(is_signed, y, x) ? y : x)
BINARY(and, x &y)
BINARY(or, x | y)
BINARY(xor, x ^ y)
BINARY(shift_left, shift_left(bits, x, y))
BINARY(shift_right_logical, shift_right_logical(bits, x, y))
BINARY(shift_right_arithmetic, shift_right_arithmetic(bits, x, y))
BINARY(equal, x == y)
BINARY(not_equal, x != y)
BINARY(less, less(is_signed, x, y))
BINARY(less_or_equal, !less(is_signed, y, x))
BINARY(greater, less(is_signed, y, x))
BINARY(greater_or_equal, !less(is_signed, x, y))

static void int_compare(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  static const elementwise_kernel by_direction[] = {
      [COMPARE_EQ] = int_equal,   [COMPARE_NE] = int_not_equal,     [COMPARE_GE] = int_greater_or_equal,
      [COMPARE_GT] = int_greater, [COMPARE_LE] = int_less_or_equal, [COMPARE_LT] = int_less,
  };
  by_direction[call->instruction->attributes->direction](call, count, out, in);
}

static void int_clamp(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  const int64_t *lows = in[0], *xs = in[1], *highs = in[2];
  int64_t *results = out;
  const bool is_signed = signed_of(call);
  for (int64_t k = 0; k < count; k++) {
    int64_t raised = less(is_signed, lows[k], xs[k]) ? xs[k] : lows[k];
    results[k] = less(is_signed, raised, highs[k]) ? raised : highs[k];
  }
}

// The first operand is the predicate; the others have the result's type, of any class.
static void pred_select(const elementwise_call *call, int64_t count, void *out, const void *const *in) {
  const int64_t *conditions = in[0];
  const size_t size = (size_t)compute_size(call->result);
  for (int64_t k = 0; k < count; k++) {
    const char *from = in[conditions[k] ? 1 : 2];
    memcpy((char *)out + (size_t)k * size, from + (size_t)k * size, size);
  }
}

const elementwise_kernel elementwise_integer[HLO_OPCODE_COUNT] = {
    [HLO_ABS] = int_abs,
    [HLO_ADD] = int_add,
    [HLO_AND] = int_and,
    [HLO_CLAMP] = int_clamp,
    [HLO_COMPARE] = int_compare,
    [HLO_CONVERT] = elementwise_convert_integer,
    [HLO_COUNT_LEADING_ZEROS] = int_clz,
    [HLO_DIVIDE] = int_divide,
    [HLO_MAXIMUM] = int_maximum,
    [HLO_MINIMUM] = int_minimum,
    [HLO_MULHI] = int_mulhi,
    [HLO_MULTIPLY] = int_multiply,
    [HLO_NEGATE] = int_negate,
    [HLO_NOT] = int_not,
    [HLO_OR] = int_or,
    [HLO_POPCNT] = int_popcnt,
    [HLO_POWER] = int_power,
    [HLO_REMAINDER] = int_remainder,
    [HLO_SELECT] = pred_select,
    [HLO_SHIFT_LEFT] = int_shift_left,
    [HLO_SHIFT_RIGHT_ARITHMETIC] = int_shift_right_arithmetic,
    [HLO_SHIFT_RIGHT_LOGICAL] = int_shift_right_logical,
    [HLO_SIGN] = int_sign,
    [HLO_SUBTRACT] = int_subtract,
    [HLO_XOR] = int_xor,
};
