// xla-cpu-expand-division: quotients and remainders of integer vectors become divisions of floats.
//
// No CPU divides vectors of integers: LLVM would take every lane out, divide it and put it back. A quotient of numbers
// below 2^16 in f32, or of such below 2^32 in f64, cannot round up to the next integer: it lies at least 1 / y below
// one, which is more than half a unit in its last place. So what is left of the point is the integer quotient.
// Constant divisors stay: LLVM multiplies for them. The emitters have replaced divisors for which there is no quotient
// (emit/elementwise.c).
#include "emit/ir_builder.h"
#include "lower/passes.h"

#define TWO_52 0x1p52
#define TWO_52_BITS 0x4330000000000000

typedef struct division {
  ir_builder *b;
  MlirType integer, computed, real;  // of the operands, of quotients and products, of the division
  bool is_signed, is_wide;
} division;

static division division_of(ir_builder *b, MlirType type, bool is_signed) {
  const bool is_wide = ir_bit_width(ir_element_type(type)) > 16;
  MlirType real = is_wide ? mlirF64TypeGet(b->context) : mlirF32TypeGet(b->context);
  return (division){.b = b,
                    .integer = type,
                    .computed = ir_like(type, mlirIntegerTypeGet(b->context, 32)),
                    .real = ir_like(type, real),
                    .is_signed = is_signed,
                    .is_wide = is_wide};
}

static MlirType wide_bits(const division *d) { return ir_like(d->real, mlirIntegerTypeGet(d->b->context, 64)); }

static MlirValue widened(const division *d, MlirValue x) {
  if (mlirTypeEqual(d->integer, d->computed)) return x;
  return ir_cast(d->b, d->is_signed ? "arith.extsi" : "arith.extui", d->computed, x);
}

// Numbers below 2^32 are the low bits of 2^52 and more: machines convert signed ones only.
static MlirValue to_real(const division *d, MlirValue x) {
  if (d->is_signed || !d->is_wide) return ir_cast(d->b, "arith.sitofp", d->real, x);
  MlirType bits = wide_bits(d);
  MlirValue low = ir_cast(d->b, "arith.extui", bits, x);
  MlirValue placed = ir_binary(d->b, "arith.ori", low, ir_int(d->b, bits, TWO_52_BITS));
  placed = ir_cast(d->b, "arith.bitcast", d->real, placed);
  return ir_binary(d->b, "arith.subf", placed, ir_float(d->b, d->real, TWO_52));
}

static MlirValue to_integer(const division *d, MlirValue q) {
  if (d->is_signed || !d->is_wide) return ir_cast(d->b, "arith.fptosi", d->computed, q);
  MlirValue whole = ir_unary(d->b, "math.floor", q);
  MlirValue placed = ir_binary(d->b, "arith.addf", whole, ir_float(d->b, d->real, TWO_52));
  placed = ir_cast(d->b, "arith.bitcast", wide_bits(d), placed);
  return ir_cast(d->b, "arith.trunci", d->computed, placed);
}

static MlirValue divide(const division *d, MlirValue x, MlirValue y, bool is_remainder) {
  x = widened(d, x);
  y = widened(d, y);
  MlirValue top = to_real(d, x);
  MlirValue result = to_integer(d, ir_binary(d->b, "arith.divf", top, to_real(d, y)));
  if (is_remainder) result = ir_binary(d->b, "arith.subi", x, ir_binary(d->b, "arith.muli", result, y));
  if (mlirTypeEqual(d->integer, d->computed)) return result;
  return ir_cast(d->b, "arith.trunci", d->integer, result);
}

static bool is_constant(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  return !ir_is_null(op) && ir_is(op, "arith.constant");
}

// 0 or 1, as what a condition was widened to is.
static bool is_bit(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  return !ir_is_null(op) && ir_is(op, "arith.extui") &&
         ir_bit_width(ir_element_type(mlirValueGetType(ir_operand(op, 0)))) == 1;
}

static void expand(lower_context *c, MlirOperation op, bool is_signed, bool is_remainder) {
  MlirType type = ir_result_type(op, 0);
  MlirValue x = ir_operand(op, 0), y = ir_operand(op, 1);
  if (!ir_is_vector(type) || !mlirTypeIsAInteger(ir_element_type(type)) || is_constant(y)) return;
  if (ir_bit_width(ir_element_type(type)) > 32) return;
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue result;
  if (!is_signed && is_bit(x)) {
    MlirValue zero = ir_int(&b, type, 0), by_one = ir_cmpi(&b, "eq", y, ir_int(&b, type, 1));
    result = is_remainder ? ir_select(&b, by_one, zero, x) : ir_select(&b, by_one, x, zero);
  } else {
    const division d = division_of(&b, type, is_signed);
    result = divide(&d, x, y, is_remainder);
  }
  ir_replace(op, &result);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  static const struct {
    const char *op;
    bool is_signed, is_remainder;
  } kinds[] = {{"arith.divsi", true, false},
               {"arith.divui", false, false},
               {"arith.remsi", true, true},
               {"arith.remui", false, true}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    ir_operations ops = ir_collect(c->scratch, module, kinds[k].op);
    for (int i = 0; i < ops.size; i++) expand(c, ops.data[i], kinds[k].is_signed, kinds[k].is_remainder);
  }
  return status_ok();
}

const pass lower_expand_division = {
    .name = "xla-cpu-expand-division",
    .summary = "quotients and remainders of integer vectors as divisions of floats",
    .order_reason = "behind canonicalize, which folds divisions of constants",
    .use = PASS_IMPROVES,
    .run = run,
};
