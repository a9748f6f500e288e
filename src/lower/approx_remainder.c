// The remainder of floats, exactly, for machines without a C library: what LLVM makes of one for NVIDIA's GPUs is wrong
// as soon as the quotient has more bits than a float.
//
// As in a division on paper, multiples d of the divisor are subtracted, here by 2^k with a quotient below 2^52 at a
// time: all remainders are multiples of d's last place and smaller than d, so that they are numbers, and one fused
// multiply-add finds them. A rounded quotient is one too large at most. Where a quotient overflows, the divisor is
// small enough for a larger power.
//
// Without a fused multiply-add quotients are below 2^24, and the multiple is taken apart: the products with its upper
// and its lower bits are numbers, and so is what each leaves.
#include <math.h>

#include "lower/approx.h"

#define QUOTIENT_BITS 50
#define UNFUSED_QUOTIENT_BITS 23
#define UPPER_HALF 0xfffffffff8000000u  // sign, exponent and 25 bits behind the first
#define EXPONENT 0x7ff0000000000000u
#define LARGE_POWER 0x1p700

// The divisor, times a power of two if the quotient is infinite without.
static MlirValue raise(approx *a, MlirValue rest, MlirValue divisor) {
  MlirValue is_over = approx_compare(a, "oeq", approx_div(a, rest, divisor), approx_f64(a, INFINITY));
  return ir_select(a->b, is_over, approx_mul(a, divisor, approx_f64(a, LARGE_POWER)), divisor);
}

// rest - quotient * multiple
static MlirValue minus_product(approx *a, MlirValue rest, MlirValue quotient, MlirValue multiple) {
  MlirValue minus = approx_negate(a, quotient);
  if (a->fma) return approx_fma(a, minus, multiple, rest);
  MlirValue upper = approx_float(a, approx_int(a, "andi", approx_bits(a, multiple), approx_i64(a, UPPER_HALF)));
  MlirValue lower = approx_sub(a, multiple, upper);
  return approx_add(a, approx_add(a, rest, approx_mul(a, minus, upper)), approx_mul(a, minus, lower));
}

// One step of the division; rest >= divisor > 0.
static MlirValue subtract_multiple(approx *a, MlirValue rest, MlirValue divisor) {
  const uint64_t bits = a->fma ? QUOTIENT_BITS : UNFUSED_QUOTIENT_BITS;
  MlirValue raised = raise(a, rest, raise(a, rest, divisor)), one = approx_f64(a, 1);
  MlirValue field = approx_int(a, "andi", approx_bits(a, approx_div(a, rest, raised)), approx_i64(a, EXPONENT));
  MlirValue lowered = approx_int(a, "subi", field, approx_i64(a, bits << 52));
  MlirValue power = approx_float(a, lowered);
  // Quotients of few bits, the usual ones, are subtracted whole.
  power = ir_select(a->b, approx_compare(a, "ogt", power, one), power, one);
  MlirValue multiple = approx_mul(a, raised, power);
  MlirValue quotient = ir_unary(a->b, "math.floor", approx_div(a, rest, multiple));
  MlirValue next = minus_product(a, rest, quotient, multiple);
  MlirValue is_below = approx_compare(a, "olt", next, approx_f64(a, 0));
  return ir_select(a->b, is_below, approx_add(a, next, multiple), next);
}

static MlirBlock append_block(ir_builder *b, MlirRegion region, MlirType argument) {
  MlirBlock block = mlirBlockCreate(1, &argument, &b->location);
  mlirRegionAppendOwnedBlock(region, block);
  return block;
}

// size mod divisor, both positive and finite in every lane that counts.
static MlirValue divide(approx *a, MlirValue size, MlirValue divisor) {
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock before = append_block(a->b, regions[0], a->f64), after = append_block(a->b, regions[1], a->f64);
  MlirOperation loop = ir_build(a->b, (ir_op_state){.name = "scf.while",
                                                    .operand_count = 1,
                                                    .operands = &size,
                                                    .result_count = 1,
                                                    .results = &a->f64,
                                                    .region_count = 2,
                                                    .regions = regions});
  approx inner = *a;
  ir_builder question = ir_builder_at_end(a->b->context, before, a->b->arena);
  inner.b = &question;
  MlirValue rest = mlirBlockGetArgument(before, 0);
  MlirValue goes_on = approx_any_lane(&inner, approx_compare(&inner, "oge", rest, divisor));
  ir_build(&question,
           (ir_op_state){.name = "scf.condition", .operand_count = 2, .operands = (MlirValue[]){goes_on, rest}});

  ir_builder step = ir_builder_at_end(a->b->context, after, a->b->arena);
  inner.b = &step;
  rest = mlirBlockGetArgument(after, 0);
  MlirValue is_larger = approx_compare(&inner, "oge", rest, divisor);
  MlirValue next = ir_select(&step, is_larger, subtract_multiple(&inner, rest, divisor), rest);
  ir_yield(&step, 1, &next);
  return ir_result(loop, 0);
}

MlirValue approx_remainder(approx *a, MlirValue x, MlirValue y) {
  const bool is_single = mlirTypeEqual(mlirValueGetType(x), a->f32);
  MlirValue wide_x = is_single ? approx_widen(a, x) : x, wide_y = is_single ? approx_widen(a, y) : y;
  MlirValue size = approx_abs(a, wide_x), divisor = approx_abs(a, wide_y);
  MlirValue zero = approx_f64(a, 0), infinity = approx_f64(a, INFINITY);
  MlirValue is_finite = approx_compare(a, "olt", size, infinity), divides = approx_compare(a, "ogt", divisor, zero);
  MlirValue is_defined = approx_int(a, "andi", is_finite, divides);
  MlirValue rest = divide(a, ir_select(a->b, is_defined, size, zero), ir_select(a->b, is_defined, divisor, infinity));
  rest = ir_select(a->b, is_defined, approx_copysign(a, rest, wide_x), approx_f64(a, NAN));
  return is_single ? approx_round(a, rest) : rest;
}
