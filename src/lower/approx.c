// The layer that approximations are written in.
#include "lower/approx.h"

approx approx_begin(ir_builder *b, MlirValue x, bool fma, bool narrow) {
  MlirType type = mlirValueGetType(x);
  return (approx){
      .b = b,
      .f32 = ir_like(type, mlirF32TypeGet(b->context)),
      .i32 = ir_like(type, mlirIntegerTypeGet(b->context, 32)),
      .f64 = ir_like(type, mlirF64TypeGet(b->context)),
      .i64 = ir_like(type, mlirIntegerTypeGet(b->context, 64)),
      .fma = fma,
      .narrow = narrow,
  };
}

MlirValue approx_f32(approx *a, double v) { return ir_float(a->b, a->f32, v); }
MlirValue approx_f64(approx *a, double v) { return ir_float(a->b, a->f64, v); }
MlirValue approx_i32(approx *a, uint32_t v) { return ir_int(a->b, a->i32, (int32_t)v); }
MlirValue approx_i64(approx *a, uint64_t v) { return ir_int(a->b, a->i64, (int64_t)v); }
MlirValue approx_like(approx *a, MlirValue x, double v) { return ir_float(a->b, mlirValueGetType(x), v); }

MlirValue approx_add(approx *a, MlirValue x, MlirValue y) { return ir_binary(a->b, "arith.addf", x, y); }
MlirValue approx_sub(approx *a, MlirValue x, MlirValue y) { return ir_binary(a->b, "arith.subf", x, y); }
MlirValue approx_mul(approx *a, MlirValue x, MlirValue y) { return ir_binary(a->b, "arith.mulf", x, y); }
MlirValue approx_div(approx *a, MlirValue x, MlirValue y) { return ir_binary(a->b, "arith.divf", x, y); }

MlirValue approx_fma(approx *a, MlirValue x, MlirValue y, MlirValue z) {
  if (!a->fma) return approx_add(a, approx_mul(a, x, y), z);
  return ir_value(a->b, "math.fma", mlirValueGetType(x), 3, (MlirValue[]){x, y, z});
}

MlirValue approx_negate(approx *a, MlirValue x) { return ir_unary(a->b, "arith.negf", x); }
MlirValue approx_abs(approx *a, MlirValue x) { return ir_unary(a->b, "math.absf", x); }
MlirValue approx_sqrt(approx *a, MlirValue x) { return ir_unary(a->b, "math.sqrt", x); }
MlirValue approx_copysign(approx *a, MlirValue magnitude, MlirValue sign) {
  return ir_binary(a->b, "math.copysign", magnitude, sign);
}

MlirValue approx_int(approx *a, const char *op, MlirValue x, MlirValue y) {
  return ir_binary(a->b, arena_printf(a->b->arena, "arith.%s", op), x, y);
}

static bool is_single(approx *a, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  return mlirTypeEqual(type, a->f32) || mlirTypeEqual(type, a->i32);
}

MlirValue approx_bits(approx *a, MlirValue x) {
  return ir_cast(a->b, "arith.bitcast", is_single(a, x) ? a->i32 : a->i64, x);
}

MlirValue approx_float(approx *a, MlirValue bits) {
  return ir_cast(a->b, "arith.bitcast", is_single(a, bits) ? a->f32 : a->f64, bits);
}

MlirValue approx_widen(approx *a, MlirValue x) { return ir_cast(a->b, "arith.extf", a->f64, x); }
MlirValue approx_round(approx *a, MlirValue x) { return ir_cast(a->b, "arith.truncf", a->f32, x); }

MlirValue approx_compare(approx *a, const char *predicate, MlirValue x, MlirValue y) {
  return ir_cmpf(a->b, predicate, x, y);
}

MlirValue approx_polynomial(approx *a, MlirValue x, const double *coefficients, int count) {
  MlirValue sum = approx_like(a, x, coefficients[count - 1]);
  for (int i = count - 2; i >= 0; i--) sum = approx_fma(a, sum, x, approx_like(a, x, coefficients[i]));
  return sum;
}

// The comparisons are written so that one maxps or minps does each of them: those return their second operand on NaN.
MlirValue approx_at_least(approx *a, MlirValue x, double low) {
  MlirValue l = approx_like(a, x, low);
  return ir_select(a->b, approx_compare(a, "ogt", l, x), l, x);
}

MlirValue approx_clamp(approx *a, MlirValue x, double low, double high) {
  MlirValue h = approx_like(a, x, high);
  x = approx_at_least(a, x, low);
  return ir_select(a->b, approx_compare(a, "olt", h, x), h, x);
}
