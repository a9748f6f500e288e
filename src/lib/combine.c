// A plain loop for each operation and work type, which compilers vectorize, and a table of them by opcode. Narrow types
// are combined in the work type that holds them, so their rounding or wrapping happens where they are stored; signed
// integers have loops of their own only where order matters.
#include "lib/combine.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define COMBINE(name, type, expression)                           \
  static void name(void *into, const void *from, int64_t count) { \
    type *restrict l = into;                                      \
    const type *restrict r = from;                                \
    for (int64_t i = 0; i < count; i++) {                         \
      const type x = l[i], y = r[i];                              \
      l[i] = expression;                                          \
    }                                                             \
  }
#define ADD_AND_MULTIPLY(suffix, type) \
  COMBINE(add_##suffix, type, x + y)   \
  COMBINE(multiply_##suffix, type, x *y)

ADD_AND_MULTIPLY(f32, float)
ADD_AND_MULTIPLY(f64, double)
ADD_AND_MULTIPLY(c64, float complex)
ADD_AND_MULTIPLY(c128, double complex)
ADD_AND_MULTIPLY(u32, uint32_t)
ADD_AND_MULTIPLY(u64, uint64_t)

// NaN wins; +0 is above -0.
COMBINE(maximum_f32, float, isnan(x) || isnan(y) ? x + y : x > y || (x == y && !signbit(x)) ? x : y)
COMBINE(minimum_f32, float, isnan(x) || isnan(y) ? x + y : x < y || (x == y && signbit(x)) ? x : y)
COMBINE(maximum_f64, double, isnan(x) || isnan(y) ? x + y : x > y || (x == y && !signbit(x)) ? x : y)
COMBINE(minimum_f64, double, isnan(x) || isnan(y) ? x + y : x < y || (x == y && signbit(x)) ? x : y)
COMBINE(maximum_u32, uint32_t, x > y ? x : y)
COMBINE(minimum_u32, uint32_t, x < y ? x : y)
COMBINE(maximum_u64, uint64_t, x > y ? x : y)
COMBINE(minimum_u64, uint64_t, x < y ? x : y)
COMBINE(maximum_s32, int32_t, x > y ? x : y)
COMBINE(minimum_s32, int32_t, x < y ? x : y)
COMBINE(maximum_s64, int64_t, x > y ? x : y)
COMBINE(minimum_s64, int64_t, x < y ? x : y)
COMBINE(and_u32, uint32_t, x &y)
COMBINE(and_u64, uint64_t, x &y)
COMBINE(or_u32, uint32_t, x | y)
COMBINE(or_u64, uint64_t, x | y)
COMBINE(xor_u32, uint32_t, x ^ y)
COMBINE(xor_u64, uint64_t, x ^ y)

typedef struct row {
  const char *opcode;
  combine_fn fns[WORK_TYPE_COUNT];
  combine_fn signed_fns[2];  // of 32 and 64 bits, where they differ
} row;

static const row rows[] = {
    {"add", {add_f32, add_f64, add_c64, add_c128, add_u32, add_u64}, {0}},
    {"multiply", {multiply_f32, multiply_f64, multiply_c64, multiply_c128, multiply_u32, multiply_u64}, {0}},
    {"maximum", {maximum_f32, maximum_f64, NULL, NULL, maximum_u32, maximum_u64}, {maximum_s32, maximum_s64}},
    {"minimum", {minimum_f32, minimum_f64, NULL, NULL, minimum_u32, minimum_u64}, {minimum_s32, minimum_s64}},
    {"and", {[WORK_U32] = and_u32, [WORK_U64] = and_u64}, {0}},
    {"or", {[WORK_U32] = or_u32, [WORK_U64] = or_u64}, {0}},
    {"xor", {[WORK_U32] = xor_u32, [WORK_U64] = xor_u64}, {0}},
};

static work_type work_type_of(dtype t) {
  const dtype_info *info = &dtypes[t];
  if (info->class == CLASS_COMPLEX) return t == DTYPE_C64 ? WORK_C64 : WORK_C128;
  if (info->class == CLASS_FLOAT) return t == DTYPE_F64 ? WORK_F64 : WORK_F32;
  return info->bits == 64 ? WORK_U64 : WORK_U32;
}

combine_fn combine_find(const char *opcode, dtype t, work_type *w) {
  *w = work_type_of(t);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (strcmp(rows[k].opcode, opcode) != 0) continue;
    const bool is_signed = dtype_is_signed(t) && rows[k].signed_fns[0];
    return is_signed ? rows[k].signed_fns[*w == WORK_U64] : rows[k].fns[*w];
  }
  return NULL;
}
