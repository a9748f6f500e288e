// Integer and float arithmetic of the simulator, a scalar in all lanes at a time.
//
// The loops over lanes have no branches where all lanes are active, so that the C compiler makes vectors of them. f16
// and bf16 are computed in f32 (fma in f64) and rounded once: the sum, product, quotient and root of two such numbers
// are rounded right by that, since f32 has more than twice their bits.
#include "simulate/compute.h"

#include <llvm-c/Core.h>
#include <math.h>
#include <string.h>

#include "base/float.h"

#define LANES(...)                          \
  do {                                      \
    if (active == ~(sim_mask)0) {           \
      for (int l = 0; l < SIM_LANES; l++) { \
        __VA_ARGS__;                        \
      }                                     \
    } else {                                \
      for (int l = 0; l < SIM_LANES; l++)   \
        if (active >> l & 1) {              \
          __VA_ARGS__;                      \
        }                                   \
    }                                       \
  } while (0)

#define COMPUTE(name) \
  static void name(const sim_op *op, sim_mask active, uint64_t *restrict out, const uint64_t *const *in)

// --- floats as bits

static inline float f32_of(uint64_t v) {
  uint32_t bits = (uint32_t)v;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static inline uint64_t f32_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
static inline double f64_of(uint64_t v) {
  double d;
  memcpy(&d, &v, sizeof d);
  return d;
}
static inline uint64_t f64_bits(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}
static inline float f16_of(uint64_t v) { return float_f16_to_f32((uint16_t)v); }
static inline uint64_t f16_bits(float f) { return float_f32_to_f16(f); }
static inline float bf16_of(uint64_t v) { return f32_of(v << 16); }
static inline uint64_t bf16_bits(float f) { return float_f32_to_bf16(f); }

uint64_t compute_encode(sim_class class, double value) {
  switch (class) {
    case SIM_F16: return float_f64_to_f16(value);
    case SIM_BF16: return float_f64_to_bf16(value);
    case SIM_F32: return f32_bits((float)value);
    default: return f64_bits(value);
  }
}

double compute_decode(sim_class class, uint64_t bits) {
  switch (class) {
    case SIM_F16: return (double)f16_of(bits);
    case SIM_BF16: return (double)bf16_of(bits);
    case SIM_F32: return (double)f32_of(bits);
    default: return f64_of(bits);
  }
}

// --- integers

#define INTEGER(name, expression)                  \
  COMPUTE(name) {                                  \
    const int bits = op->type.bits;                \
    const uint64_t mask = compute_mask(bits);      \
    const uint64_t *x = in[0], *y = in[1];         \
    (void)bits;                                    \
    LANES(out[l] = (uint64_t)(expression) & mask); \
  }

INTEGER(int_add, x[l] + y[l])
INTEGER(int_sub, x[l] - y[l])
INTEGER(int_mul, x[l] * y[l])
INTEGER(int_and, x[l] & y[l])
INTEGER(int_or, x[l] | y[l])
INTEGER(int_xor, x[l] ^ y[l])
INTEGER(int_shl, y[l] < 64 ? x[l] << y[l] : 0)
INTEGER(int_lshr, y[l] < 64 ? x[l] >> y[l] : 0)
INTEGER(int_ashr, compute_extended(x[l], bits) >> (y[l] < 63 ? y[l] : 63))
// What the machine gives for a division by zero is not defined; it does not stop.
INTEGER(int_udiv, y[l] ? x[l] / y[l] : mask)
INTEGER(int_urem, y[l] ? x[l] % y[l] : x[l])
static inline int64_t divided(int64_t x, int64_t y) {
  return y == 0 ? -1 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static inline int64_t remaining(int64_t x, int64_t y) { return y == 0 ? x : y == -1 ? 0 : x % y; }
INTEGER(int_sdiv, divided(compute_extended(x[l], bits), compute_extended(y[l], bits)))
INTEGER(int_srem, remaining(compute_extended(x[l], bits), compute_extended(y[l], bits)))
INTEGER(int_umin, x[l] < y[l] ? x[l] : y[l])
INTEGER(int_umax, x[l] > y[l] ? x[l] : y[l])
INTEGER(int_smin, compute_extended(x[l], bits) < compute_extended(y[l], bits) ? x[l] : y[l])
INTEGER(int_smax, compute_extended(x[l], bits) > compute_extended(y[l], bits) ? x[l] : y[l])
INTEGER(int_usub_sat, x[l] > y[l] ? x[l] - y[l] : 0)
INTEGER(int_uadd_sat, x[l] > mask - y[l] ? mask : x[l] + y[l])

static inline uint64_t saturated(__int128 v, int bits) {
  const __int128 most = ((__int128)1 << (bits - 1)) - 1, least = -most - 1;
  return (uint64_t)(v > most ? most : v < least ? least : v);
}
INTEGER(int_sadd_sat, saturated((__int128)compute_extended(x[l], bits) + compute_extended(y[l], bits), bits))
INTEGER(int_ssub_sat, saturated((__int128)compute_extended(x[l], bits) - compute_extended(y[l], bits), bits))

// The result and, a slot behind it, whether it did not fit.
#define OVERFLOWING(name, operation)                                                                     \
  COMPUTE(name) {                                                                                        \
    const int bits = op->type.bits;                                                                      \
    const uint64_t *x = in[0], *y = in[1];                                                               \
    LANES(const __int128 v = operation; const uint64_t r = (uint64_t)v & compute_mask(bits); out[l] = r; \
          out[SIM_LANES + l] = v != DECODED);                                                            \
  }
#define DECODED (__int128)compute_extended(r, bits)
OVERFLOWING(int_sadd_overflow, (__int128)compute_extended(x[l], bits) + compute_extended(y[l], bits))
OVERFLOWING(int_ssub_overflow, (__int128)compute_extended(x[l], bits) - compute_extended(y[l], bits))
OVERFLOWING(int_smul_overflow, (__int128)compute_extended(x[l], bits) * compute_extended(y[l], bits))
#undef DECODED
#define DECODED (__int128)r
OVERFLOWING(int_uadd_overflow, (__int128)x[l] + (__int128)y[l])
OVERFLOWING(int_usub_overflow, (__int128)x[l] - (__int128)y[l])
OVERFLOWING(int_umul_overflow, (__int128)((unsigned __int128)x[l] * y[l]))
#undef DECODED

COMPUTE(int_abs) {
  const int bits = op->type.bits;
  LANES(const int64_t v = compute_extended(in[0][l], bits);
        out[l] = (v < 0 ? 0 - (uint64_t)v : (uint64_t)v) & compute_mask(bits));
}
COMPUTE(int_ctpop) {
  (void)op;
  LANES(out[l] = (uint64_t)__builtin_popcountll(in[0][l]));
}
COMPUTE(int_ctlz) {
  const int bits = op->type.bits;
  LANES(out[l] = in[0][l] ? (uint64_t)(__builtin_clzll(in[0][l]) - (64 - bits)) : (uint64_t)bits);
}
COMPUTE(int_cttz) {
  const int bits = op->type.bits;
  LANES(out[l] = in[0][l] ? (uint64_t)__builtin_ctzll(in[0][l]) : (uint64_t)bits);
}
COMPUTE(int_bswap) {
  const int bits = op->type.bits;
  LANES(out[l] = __builtin_bswap64(in[0][l]) >> (64 - bits));
}
COMPUTE(int_bitreverse) {
  const int bits = op->type.bits;
  LANES(uint64_t v = 0; for (int k = 0; k < bits; k++) v |= (in[0][l] >> k & 1) << (bits - 1 - k); out[l] = v);
}

// The higher (lower) half of two words side by side, shifted.
static inline uint64_t funnel(uint64_t high, uint64_t low, uint64_t by, int bits, bool left) {
  by %= (uint64_t)bits;
  if (by == 0) return left ? high : low;
  if (!left) by = (uint64_t)bits - by;
  return (high << by | low >> ((uint64_t)bits - by)) & compute_mask(bits);
}
COMPUTE(int_fshl) {
  const int bits = op->type.bits;
  LANES(out[l] = funnel(in[0][l], in[1][l], in[2][l], bits, true));
}
COMPUTE(int_fshr) {
  const int bits = op->type.bits;
  LANES(out[l] = funnel(in[0][l], in[1][l], in[2][l], bits, false));
}

static inline bool compared(int predicate, uint64_t x, uint64_t y, int64_t sx, int64_t sy) {
  switch (predicate) {
    case LLVMIntEQ: return x == y;
    case LLVMIntNE: return x != y;
    case LLVMIntUGT: return x > y;
    case LLVMIntUGE: return x >= y;
    case LLVMIntULT: return x < y;
    case LLVMIntULE: return x <= y;
    case LLVMIntSGT: return sx > sy;
    case LLVMIntSGE: return sx >= sy;
    case LLVMIntSLT: return sx < sy;
    default: return sx <= sy;
  }
}
COMPUTE(int_icmp) {
  const int bits = op->type.bits, predicate = op->kind;
  const uint64_t *x = in[0], *y = in[1];
  LANES(out[l] = compared(predicate, x[l], y[l], compute_extended(x[l], bits), compute_extended(y[l], bits)));
}

// Of any class: the slot's bits.
COMPUTE(any_select) {
  (void)op;
  LANES(out[l] = in[0][l] & 1 ? in[1][l] : in[2][l]);
}
COMPUTE(any_copy) {
  (void)op;
  LANES(out[l] = in[0][l]);
}

// --- integers of two words

typedef unsigned __int128 wide;

static inline wide wide_of(const uint64_t *v, int l) { return (wide)v[SIM_LANES + l] << 64 | v[l]; }
static inline wide wide_masked(wide v, int bits) { return bits >= 128 ? v : v & (((wide)1 << bits) - 1); }
static inline __int128 wide_extended(wide v, int bits) { return (__int128)(v << (128 - bits)) >> (128 - bits); }

#define WIDE(name, expression)                                                                          \
  COMPUTE(name) {                                                                                       \
    const int bits = op->type.bits;                                                                     \
    LANES(const wide x = wide_of(in[0], l), y = wide_of(in[1], l);                                      \
          const wide v = wide_masked((wide)(expression), bits); (void)x, (void)y; out[l] = (uint64_t)v; \
          out[SIM_LANES + l] = (uint64_t)(v >> 64));                                                    \
  }
WIDE(wide_add, x + y)
WIDE(wide_sub, x - y)
WIDE(wide_mul, x *y)
WIDE(wide_and, x &y)
WIDE(wide_or, x | y)
WIDE(wide_xor, x ^ y)
WIDE(wide_shl, y < 128 ? x << (int)y : 0)
WIDE(wide_lshr, y < 128 ? x >> (int)y : 0)
WIDE(wide_ashr, wide_extended(x, bits) >> (int)(y < 127 ? y : 127))
WIDE(wide_udiv, y ? x / y : 0)
WIDE(wide_urem, y ? x % y : x)

COMPUTE(wide_icmp) {
  const int bits = op->type.bits;
  LANES(const wide x = wide_of(in[0], l), y = wide_of(in[1], l);
        const __int128 sx = wide_extended(x, bits), sy = wide_extended(y, bits);
        const bool u = x < y, s = sx < sy, e = x == y; const int p = op->kind; out[l] = p == LLVMIntEQ    ? e
                                                                                        : p == LLVMIntNE  ? !e
                                                                                        : p == LLVMIntULT ? u
                                                                                        : p == LLVMIntULE ? u || e
                                                                                        : p == LLVMIntUGT ? !u && !e
                                                                                        : p == LLVMIntUGE ? !u
                                                                                        : p == LLVMIntSLT ? s
                                                                                        : p == LLVMIntSLE ? s || e
                                                                                        : p == LLVMIntSGT ? !s && !e
                                                                                                          : !s);
}

// --- floats

#define FLOATS_OF(suffix, type, decode, encode, fma_of)                                                             \
  COMPUTE(suffix##_add) {                                                                                           \
    (void)op;                                                                                                       \
    LANES(out[l] = encode(decode(in[0][l]) + decode(in[1][l])));                                                    \
  }                                                                                                                 \
  COMPUTE(suffix##_sub) {                                                                                           \
    (void)op;                                                                                                       \
    LANES(out[l] = encode(decode(in[0][l]) - decode(in[1][l])));                                                    \
  }                                                                                                                 \
  COMPUTE(suffix##_mul) {                                                                                           \
    (void)op;                                                                                                       \
    LANES(out[l] = encode(decode(in[0][l]) * decode(in[1][l])));                                                    \
  }                                                                                                                 \
  COMPUTE(suffix##_div) {                                                                                           \
    (void)op;                                                                                                       \
    LANES(out[l] = encode(decode(in[0][l]) / decode(in[1][l])));                                                    \
  }                                                                                                                 \
  COMPUTE(suffix##_fma) {                                                                                           \
    (void)op;                                                                                                       \
    LANES(out[l] = fma_of(in[0][l], in[1][l], in[2][l]));                                                           \
  }                                                                                                                 \
  COMPUTE(suffix##_cmp) {                                                                                           \
    const int p = op->kind;                                                                                         \
    LANES(const type x = decode(in[0][l]), y = decode(in[1][l]); out[l] = float_compared(p, x < y, x == y, x > y)); \
  }

// Each predicate is a set of outcomes: equal 1, greater 2, less 4, unordered 8.
static inline bool float_compared(int predicate, bool less, bool equal, bool greater) {
  const int outcome = equal ? 1 : greater ? 2 : less ? 4 : 8;
  return (predicate & outcome) != 0;
}
static inline uint64_t f32_fma_of(uint64_t x, uint64_t y, uint64_t z) {
  return f32_bits(fmaf(f32_of(x), f32_of(y), f32_of(z)));
}
static inline uint64_t f64_fma_of(uint64_t x, uint64_t y, uint64_t z) {
  return f64_bits(fma(f64_of(x), f64_of(y), f64_of(z)));
}
static inline uint64_t f16_fma_of(uint64_t x, uint64_t y, uint64_t z) {
  return float_f64_to_f16(fma((double)f16_of(x), (double)f16_of(y), (double)f16_of(z)));
}
static inline uint64_t bf16_fma_of(uint64_t x, uint64_t y, uint64_t z) {
  return float_f64_to_bf16(fma((double)bf16_of(x), (double)bf16_of(y), (double)bf16_of(z)));
}
FLOATS_OF(f32, float, f32_of, f32_bits, f32_fma_of)
FLOATS_OF(f64, double, f64_of, f64_bits, f64_fma_of)
FLOATS_OF(f16, float, f16_of, f16_bits, f16_fma_of)
FLOATS_OF(bf16, float, bf16_of, bf16_bits, bf16_fma_of)

// What only changes or asks for the sign.
COMPUTE(float_neg) {
  const uint64_t sign = UINT64_C(1) << (op->type.bits - 1);
  LANES(out[l] = in[0][l] ^ sign);
}
COMPUTE(float_fabs) {
  const uint64_t sign = UINT64_C(1) << (op->type.bits - 1);
  LANES(out[l] = in[0][l] & ~sign);
}
COMPUTE(float_copysign) {
  const uint64_t sign = UINT64_C(1) << (op->type.bits - 1);
  LANES(out[l] = (in[0][l] & ~sign) | (in[1][l] & sign));
}

// What is rare, or costs much anyway: through double, which holds each class exactly. Roots, too, are rounded right:
// double has more than twice the bits of f32 and two.
typedef double (*unary_double)(double x);
static inline void through_double(const sim_op *op, sim_mask active, uint64_t *restrict out, const uint64_t *const *in,
                                  unary_double f) {
  const sim_class class = op->type.class;
  LANES(out[l] = compute_encode(class, f(compute_decode(class, in[0][l]))));
}
#define THROUGH_DOUBLE(name, function) \
  COMPUTE(name) { through_double(op, active, out, in, function); }
static double round_even(double x) { return rint(x); }
THROUGH_DOUBLE(float_sqrt, sqrt)
THROUGH_DOUBLE(float_floor, floor)
THROUGH_DOUBLE(float_ceil, ceil)
THROUGH_DOUBLE(float_trunc, trunc)
THROUGH_DOUBLE(float_rint, round_even)
THROUGH_DOUBLE(float_round, round)

typedef double (*binary_double)(double x, double y);
static inline void through_doubles(const sim_op *op, sim_mask active, uint64_t *restrict out, const uint64_t *const *in,
                                   binary_double f) {
  const sim_class class = op->type.class;
  LANES(out[l] = compute_encode(class, f(compute_decode(class, in[0][l]), compute_decode(class, in[1][l]))));
}
#define THROUGH_DOUBLES(name, function) \
  COMPUTE(name) { through_doubles(op, active, out, in, function); }

// minimum and maximum hand NaN on, minnum and maxnum drop it; -0 is below +0 for all of them.
static double smaller(double x, double y) { return x < y || (x == y && signbit(x)) ? x : y; }
static double larger(double x, double y) { return x > y || (x == y && !signbit(x)) ? x : y; }
static double minimum(double x, double y) { return isnan(x) || isnan(y) ? NAN : smaller(x, y); }
static double maximum(double x, double y) { return isnan(x) || isnan(y) ? NAN : larger(x, y); }
static double minnum(double x, double y) { return isnan(x) ? y : isnan(y) ? x : smaller(x, y); }
static double maxnum(double x, double y) { return isnan(x) ? y : isnan(y) ? x : larger(x, y); }
THROUGH_DOUBLES(float_minimum, minimum)
THROUGH_DOUBLES(float_maximum, maximum)
THROUGH_DOUBLES(float_minnum, minnum)
THROUGH_DOUBLES(float_maxnum, maxnum)
THROUGH_DOUBLES(float_rem, fmod)

COMPUTE(float_ldexp) {
  const sim_class class = op->type.class;
  LANES(out[l] = compute_encode(class, ldexp(compute_decode(class, in[0][l]), (int)(int32_t)in[1][l])));
}

// LLVM's classes, a bit each: signalling and quiet NaN, then from -infinity to +infinity.
static bool is_of_class(double v, sim_scalar type, uint64_t classes) {
  static const double least_normal[] = {
      [SIM_F16] = 0x1p-14, [SIM_BF16] = 0x1p-126, [SIM_F32] = 0x1p-126, [SIM_F64] = 0x1p-1022};
  if (isnan(v)) return (classes & 3) != 0;
  const bool is_negative = signbit(v);
  const double size = fabs(v);
  const int rank = isinf(v) ? 0 : size >= least_normal[type.class] ? 1 : size > 0 ? 2 : 3;
  return classes >> (is_negative ? 2 + rank : 9 - rank) & 1;
}
COMPUTE(float_is_class) { LANES(out[l] = is_of_class(compute_decode(op->type.class, in[0][l]), op->type, in[1][l])); }

// --- conversions, from op->type to op->to

COMPUTE(convert_trunc) {
  const uint64_t mask = compute_mask(op->to.bits);
  LANES(out[l] = in[0][l] & mask);
}
// The part of a wide integer above 64 bits is zero, or the sign.
static void put_high(const sim_op *op, sim_mask active, uint64_t *restrict out, bool is_signed) {
  if (op->to.class != SIM_WIDE || op->type.class == SIM_WIDE) return;
  LANES(out[SIM_LANES + l] = is_signed && (int64_t)out[l] < 0 ? compute_mask(op->to.bits - 64) : 0);
}
COMPUTE(convert_zext) {
  LANES(out[l] = in[0][l]);
  put_high(op, active, out, false);
}
COMPUTE(convert_sext) {
  const int bits = op->type.bits;
  const uint64_t mask = compute_mask(op->to.bits);
  LANES(out[l] = (uint64_t)compute_extended(in[0][l], bits) & mask);
  put_high(op, active, out, true);
}
COMPUTE(convert_float) {
  const sim_class from = op->type.class, to = op->to.class;
  LANES(out[l] = compute_encode(to, compute_decode(from, in[0][l])));
}

// Saturates, and takes NaN for 0, as the machine does.
static uint64_t to_signed(double v, int bits) {
  const double limit = ldexp(1, bits - 1);
  if (isnan(v)) return 0;
  if (v >= limit) return compute_mask(bits) >> 1;
  if (v < -limit) return UINT64_C(1) << (bits - 1);
  return (uint64_t)(int64_t)v & compute_mask(bits);
}
static uint64_t to_unsigned(double v, int bits) {
  if (!(v > 0)) return 0;
  return v >= ldexp(1, bits) ? compute_mask(bits) : (uint64_t)v;
}
COMPUTE(convert_to_signed) { LANES(out[l] = to_signed(compute_decode(op->type.class, in[0][l]), op->to.bits)); }
COMPUTE(convert_to_unsigned) { LANES(out[l] = to_unsigned(compute_decode(op->type.class, in[0][l]), op->to.bits)); }
// An integer becomes f32 in one rounding; narrower floats from integers that double holds, too.
COMPUTE(convert_from_signed) {
  const int bits = op->type.bits;
  if (op->to.class == SIM_F32) LANES(out[l] = f32_bits((float)compute_extended(in[0][l], bits)));
  else LANES(out[l] = compute_encode(op->to.class, (double)compute_extended(in[0][l], bits)));
}
COMPUTE(convert_from_unsigned) {
  if (op->to.class == SIM_F32) LANES(out[l] = f32_bits((float)in[0][l]));
  else LANES(out[l] = compute_encode(op->to.class, (double)in[0][l]));
}

// --- tables

typedef struct computation_row {
  const char *name;
  sim_compute of_ints, of_wides, of_f16, of_bf16, of_f32, of_f64;
} computation_row;

#define INTS(f) .of_ints = (f)
#define BOTH(f) .of_ints = int_##f, .of_wides = wide_##f
#define FLOATS(f) .of_f16 = f16_##f, .of_bf16 = bf16_##f, .of_f32 = f32_##f, .of_f64 = f64_##f
#define ANY_FLOAT(f) .of_f16 = (f), .of_bf16 = (f), .of_f32 = (f), .of_f64 = (f)

static const computation_row instructions[] = {
    {"add", BOTH(add)},
    {"sub", BOTH(sub)},
    {"mul", BOTH(mul)},
    {"and", BOTH(and)},
    {"or", BOTH(or)},
    {"xor", BOTH(xor)},
    {"shl", BOTH(shl)},
    {"lshr", BOTH(lshr)},
    {"ashr", BOTH(ashr)},
    {"udiv", BOTH(udiv)},
    {"urem", BOTH(urem)},
    {"sdiv", INTS(int_sdiv)},
    {"srem", INTS(int_srem)},
    {"icmp", BOTH(icmp)},
    {"fadd", FLOATS(add)},
    {"fsub", FLOATS(sub)},
    {"fmul", FLOATS(mul)},
    {"fdiv", FLOATS(div)},
    {"fcmp", FLOATS(cmp)},
    {"frem", ANY_FLOAT(float_rem)},
    {"fneg", ANY_FLOAT(float_neg)},
    {"trunc", INTS(convert_trunc), .of_wides = convert_trunc},
    {"zext", INTS(convert_zext)},
    {"sext", INTS(convert_sext)},
    {"fptrunc", ANY_FLOAT(convert_float)},
    {"fpext", ANY_FLOAT(convert_float)},
    {"fptosi", ANY_FLOAT(convert_to_signed)},
    {"fptoui", ANY_FLOAT(convert_to_unsigned)},
    {"sitofp", INTS(convert_from_signed)},
    {"uitofp", INTS(convert_from_unsigned)},
    {"ptrtoint", INTS(convert_trunc)},
    {"inttoptr", INTS(any_copy)},
    {"addrspacecast", INTS(any_copy)},
    {"select", INTS(any_select)},
    {"copy", INTS(any_copy)},
};

static const computation_row intrinsics[] = {
    {"fma", FLOATS(fma)},
    {"fmuladd", FLOATS(fma)},
    {"sqrt", ANY_FLOAT(float_sqrt)},
    {"fabs", ANY_FLOAT(float_fabs)},
    {"copysign", ANY_FLOAT(float_copysign)},
    {"floor", ANY_FLOAT(float_floor)},
    {"ceil", ANY_FLOAT(float_ceil)},
    {"trunc", ANY_FLOAT(float_trunc)},
    {"rint", ANY_FLOAT(float_rint)},
    {"nearbyint", ANY_FLOAT(float_rint)},
    {"roundeven", ANY_FLOAT(float_rint)},
    {"round", ANY_FLOAT(float_round)},
    {"minimum", ANY_FLOAT(float_minimum)},
    {"maximum", ANY_FLOAT(float_maximum)},
    {"minnum", ANY_FLOAT(float_minnum)},
    {"maxnum", ANY_FLOAT(float_maxnum)},
    {"ldexp", ANY_FLOAT(float_ldexp)},
    {"is.fpclass", ANY_FLOAT(float_is_class)},
    {"fptosi.sat", ANY_FLOAT(convert_to_signed)},
    {"fptoui.sat", ANY_FLOAT(convert_to_unsigned)},
    {"ctpop", INTS(int_ctpop)},
    {"ctlz", INTS(int_ctlz)},
    {"cttz", INTS(int_cttz)},
    {"bswap", INTS(int_bswap)},
    {"bitreverse", INTS(int_bitreverse)},
    {"fshl", INTS(int_fshl)},
    {"fshr", INTS(int_fshr)},
    {"smin", INTS(int_smin)},
    {"smax", INTS(int_smax)},
    {"umin", INTS(int_umin)},
    {"umax", INTS(int_umax)},
    {"abs", INTS(int_abs)},
    {"uadd.sat", INTS(int_uadd_sat)},
    {"usub.sat", INTS(int_usub_sat)},
    {"sadd.sat", INTS(int_sadd_sat)},
    {"ssub.sat", INTS(int_ssub_sat)},
    {"sadd.with.overflow", INTS(int_sadd_overflow)},
    {"ssub.with.overflow", INTS(int_ssub_overflow)},
    {"smul.with.overflow", INTS(int_smul_overflow)},
    {"uadd.with.overflow", INTS(int_uadd_overflow)},
    {"usub.with.overflow", INTS(int_usub_overflow)},
    {"umul.with.overflow", INTS(int_umul_overflow)},
};

static sim_compute find(const computation_row *rows, size_t count, const char *name, sim_class class) {
  for (size_t k = 0; k < count; k++) {
    const computation_row *r = &rows[k];
    if (strcmp(r->name, name) != 0) continue;
    switch (class) {
      case SIM_INT:
      case SIM_POINTER: return r->of_ints;
      case SIM_WIDE: return r->of_wides;
      case SIM_F16: return r->of_f16;
      case SIM_BF16: return r->of_bf16;
      case SIM_F32: return r->of_f32;
      case SIM_F64: return r->of_f64;
    }
  }
  return NULL;
}

sim_compute compute_find(const char *name, sim_class class) {
  return find(instructions, sizeof instructions / sizeof *instructions, name, class);
}

sim_compute compute_find_intrinsic(const char *name, sim_class class) {
  return find(intrinsics, sizeof intrinsics / sizeof *intrinsics, name, class);
}

// --- atomics

static const char *const atomic_names[] = {
    [LLVMAtomicRMWBinOpAdd] = "add",    [LLVMAtomicRMWBinOpSub] = "sub",   [LLVMAtomicRMWBinOpAnd] = "and",
    [LLVMAtomicRMWBinOpOr] = "or",      [LLVMAtomicRMWBinOpXor] = "xor",   [LLVMAtomicRMWBinOpFAdd] = "fadd",
    [LLVMAtomicRMWBinOpFSub] = "fsub",  [LLVMAtomicRMWBinOpMax] = "smax",  [LLVMAtomicRMWBinOpMin] = "smin",
    [LLVMAtomicRMWBinOpUMax] = "umax",  [LLVMAtomicRMWBinOpUMin] = "umin", [LLVMAtomicRMWBinOpFMax] = "maxnum",
    [LLVMAtomicRMWBinOpFMin] = "minnum"};

bool compute_atomic(int kind, sim_scalar type, uint64_t old, uint64_t operand, uint64_t *out) {
  if (kind == LLVMAtomicRMWBinOpXchg) {
    *out = operand;
    return true;
  }
  const char *name = kind < (int)(sizeof atomic_names / sizeof *atomic_names) ? atomic_names[kind] : NULL;
  sim_compute f = name ? compute_find(name, type.class) : NULL;
  if (!f && name) f = compute_find_intrinsic(name, type.class);
  if (!f) return false;
  const sim_op op = {.type = type};
  const sim_slot x = {old}, y = {operand};
  sim_slot result = {0};
  f(&op, 1, result, (const uint64_t *const[]){x, y});
  *out = result[0];
  return true;
}
