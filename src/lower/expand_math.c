// xla-expand-math: functions of the math dialect become arithmetic, or calls of a scalar library function.
//
// f32 and most of f64, scalar or vector: the approximations of approx.h and approx_wide.h, inline, because a call per
// element costs 5 to 70 times a vector's share. The rest of f64: the C library, lane by
// lane. NVIDIA with libdevice: its functions for both, which the compiler inlines. Narrower types have been widened
// before. What LLVM has an instruction for (fma, sqrt, floor, …) stays for the conversion to LLVM.
#include "emit/ir_builder.h"
#include "lower/approx_wide.h"
#include "lower/llvm_build.h"
#include "lower/passes.h"

typedef MlirValue unary(approx *a, MlirValue x);
typedef MlirValue binary(approx *a, MlirValue x, MlirValue y);

typedef struct function {
  const char *op;
  const char *name;  // C library: name for f64; libdevice: __nv_name and __nv_namef
  unary *unary, *wide_unary;
  binary *binary, *wide_binary;  // of functions of two arguments
  bool is_bare;                  // of f64: only where there is no C library
} function;

#define UNARY(name) {"math." #name, #name, .unary = approx_##name}
#define WIDE_UNARY(name) {"math." #name, #name, .unary = approx_##name, .wide_unary = approx_wide_##name}

#define BARE_UNARY(name) \
  {"math." #name, #name, .unary = approx_##name, .wide_unary = approx_wide_##name, .is_bare = true}

static const function functions[] = {
    WIDE_UNARY(exp),
    UNARY(exp2),
    WIDE_UNARY(expm1),
    WIDE_UNARY(log),
    WIDE_UNARY(log1p),
    UNARY(log2),
    UNARY(log10),
    WIDE_UNARY(cbrt),
    WIDE_UNARY(sin),
    WIDE_UNARY(cos),
    WIDE_UNARY(tan),
    WIDE_UNARY(asin),
    WIDE_UNARY(acos),
    WIDE_UNARY(atan),
    WIDE_UNARY(sinh),
    WIDE_UNARY(cosh),
    WIDE_UNARY(tanh),
    WIDE_UNARY(asinh),
    WIDE_UNARY(acosh),
    WIDE_UNARY(atanh),
    BARE_UNARY(erf),
    {"math.powf", "pow", .binary = approx_pow, .wide_binary = approx_wide_pow, .is_bare = true},
    {"math.atan2", "atan2", .binary = approx_atan2, .wide_binary = approx_wide_atan2},
};

// --- the pass

static MlirValue build_calls(ir_builder *b, MlirOperation module, const char *callee, MlirOperation op) {
  const int arity = (int)mlirOperationGetNumOperands(op);
  MlirValue operands[2] = {ir_operand(op, 0)};
  if (arity == 2) operands[1] = ir_operand(op, 1);
  return llvm_build_call_lanes(b, module, callee, arity, operands);
}

// The code of a function for one type; null: there is none.
typedef struct inline_form {
  unary *unary;
  binary *binary;
} inline_form;

static inline_form find_form(const function *f, MlirType element, bool has_libm) {
  if (mlirTypeIsAF32(element)) return (inline_form){f->unary, f->binary};
  if (!mlirTypeIsAF64(element) || (f->is_bare && has_libm)) return (inline_form){0};
  return (inline_form){f->wide_unary, f->wide_binary};
}

static MlirValue approximate(const lower_options *o, ir_builder *b, inline_form form, MlirOperation op) {
  MlirValue x = ir_operand(op, 0);
  approx a = approx_begin(b, x, o->target.has_fma, !mlirAttributeIsNull(ir_get(op, "xla.narrow")));
  a.has_libm = o->target.has_libm;
  return form.unary ? form.unary(&a, x) : form.binary(&a, x, ir_operand(op, 1));
}

static heddle_status expand(lower_context *c, MlirOperation module, const function *f, MlirOperation op) {
  MlirType element = ir_element_type(ir_result_type(op, 0));
  bool single = mlirTypeIsAF32(element), wide = mlirTypeIsAF64(element);
  const bool has_libm = c->options->target.has_libm, libdevice = !has_libm && c->options->use_libdevice;
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue result;
  const inline_form form = find_form(f, element, has_libm);
  if ((form.unary || form.binary) && !libdevice) {
    result = approximate(c->options, &b, form, op);
  } else if ((single || wide) && (libdevice || has_libm)) {
    const char *callee = libdevice ? arena_printf(c->scratch, "__nv_%s%s", f->name, single ? "f" : "") : f->name;
    result = build_calls(&b, module, callee, op);
  } else if (wide) {
    return status_error(HEDDLE_UNIMPLEMENTED, "%s of f64 on a GPU without libdevice", f->op);
  } else {
    return status_error(HEDDLE_INTERNAL, "%s of %s: widen-floats has to run first", f->op,
                        ir_type_text(c->scratch, element));
  }
  ir_replace(op, &result);
  return status_ok();
}

// 1/sqrt(x) is two instructions on every target and as accurate as their roundings.
static void expand_rsqrt(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue x = ir_operand(op, 0);
  MlirValue one = ir_float(&b, mlirValueGetType(x), 1);
  MlirValue result = ir_binary(&b, "arith.divf", one, ir_unary(&b, "math.sqrt", x));
  ir_replace(op, &result);
}

// For NVIDIA LLVM computes a remainder as x - trunc(x / y) y, which is wrong for large quotients. On a CPU it calls
// fmod, and nothing has to be done.
static void expand_remainder(lower_context *c, MlirOperation module, MlirOperation op) {
  MlirType element = ir_element_type(ir_result_type(op, 0));
  if (!mlirTypeIsAF32(element) && !mlirTypeIsAF64(element)) return;
  ir_builder b = ir_builder_before(op, c->scratch);
  const char *callee = mlirTypeIsAF32(element) ? "__nv_fmodf" : "__nv_fmod";
  MlirValue x = ir_operand(op, 0), result;
  if (c->options->use_libdevice) {
    result = build_calls(&b, module, callee, op);
  } else {
    approx a = approx_begin(&b, x, c->options->target.has_fma, false);
    result = approx_remainder(&a, x, ir_operand(op, 1));
  }
  ir_replace(op, &result);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    ir_operations ops = ir_collect(c->scratch, module, functions[k].op);
    for (int i = 0; i < ops.size; i++) TRY(expand(c, module, &functions[k], ops.data[i]));
  }
  ir_operations roots = ir_collect(c->scratch, module, "math.rsqrt");
  for (int i = 0; i < roots.size; i++) expand_rsqrt(c, roots.data[i]);
  ir_operations remainders = {0};
  if (!c->options->target.has_libm) remainders = ir_collect(c->scratch, module, "arith.remf");
  for (int i = 0; i < remainders.size; i++) expand_remainder(c, module, remainders.data[i]);
  return status_ok();
}

const pass lower_expand_math = {
    .name = "xla-expand-math",
    .summary = "tanh, exp, log, … as inline arithmetic, or library calls (rare ones of f64, libdevice)",
    .order_reason =
        "behind canonicalize, which folds functions of constants, and before floats narrower than 32 bits go",
    .use = PASS_NEEDED,
    .run = run,
};
