// xla-widen-floats: arithmetic on floats narrower than 32 bits is done in f32.
//
// The HLO's types say where values are rounded, not where a processor can compute: x86 has no bf16 or f8 arithmetic,
// and LLVM's own promotion calls a function per element. Every arithmetic operation on a narrow type becomes
//
//   extend operands to f32, operate, truncate the result
//
// and with excess precision (the default, as XLA:GPU) a truncation made here that only feeds an extension vanishes with
// it, also through selects, branches and loop-carried values: a chain is widened where it is loaded and narrowed where
// it is stored. Truncations that the program itself asked for stay. In exact mode every rounding of the HLO stays.
//
// Single operations cannot be rewritten one after the other by a pattern, as the decision needs to know which
// truncations are ours; they carry the attribute xla.excess while the pass runs. A conversion from an integer that the
// narrow type cannot hold is a rounding of the program's, not one of ours. With excess precision functions of
// math get xla.narrow: whoever expands them may use an approximation that is accurate only to the narrow type.
#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

#define EXCESS "xla.excess"
#define NARROW "xla.narrow"

typedef struct widening {
  lower_context *c;
  ptr_map wide;  // narrow value -> its f32 form
} widening;

static bool is_narrow(MlirType t) {
  MlirType element = ir_is_vector(t) ? ir_element_type(t) : t;
  return mlirTypeIsAFloat(element) && ir_bit_width(element) < 32;
}
static MlirType wide_type(MlirType t) { return ir_like(t, mlirF32TypeGet(mlirTypeGetContext(t))); }

static bool starts_with(MlirOperation op, const char *prefix) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  size_t length = strlen(prefix);
  return name.length >= length && memcmp(name.data, prefix, length) == 0;
}

// --- what is widened

// Operations of arith that compute; select is among them because a chain may run through it.
static const char *const arithmetic[] = {
    "arith.addf",     "arith.subf",     "arith.mulf",    "arith.divf",    "arith.remf", "arith.negf",
    "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.cmpf", "arith.sitofp",
    "arith.uitofp",   "arith.fptosi",   "arith.fptoui",  "arith.select",  "vector.fma", "vector.reduction",
};

// What hardware does in bf16 and f16 itself, if it does any arithmetic there.
static const char *const native[] = {"arith.addf", "arith.subf", "arith.mulf", "arith.negf", "arith.cmpf"};

static bool is_one_of(MlirOperation op, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (ir_is(op, names[i])) return true;
  return false;
}

static bool touches_narrow(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (is_narrow(mlirValueGetType(ir_operand(op, (int)i)))) return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (is_narrow(ir_result_type(op, (int)i))) return true;
  return false;
}

static bool is_native(const lower_options *o, MlirOperation op) {
  if (!o->target.has_narrow_arithmetic || !is_one_of(op, native, sizeof native / sizeof *native)) return false;
  MlirType t = ir_element_type(mlirValueGetType(ir_operand(op, 0)));
  return (mlirTypeIsABF16(t) && o->target.has_bf16) || (mlirTypeIsAF16(t) && o->target.has_f16);
}

static bool computes(const lower_options *o, MlirOperation op) {
  bool known = starts_with(op, "math.") || is_one_of(op, arithmetic, sizeof arithmetic / sizeof *arithmetic);
  return known && touches_narrow(op) && !is_native(o, op);
}

static bool is_excess_truncation(MlirOperation op) {
  return !ir_is_null(op) && ir_is(op, "arith.truncf") && !mlirAttributeIsNull(ir_get(op, EXCESS));
}

// A select moves values; it is widened only in the middle of a chain, where it would otherwise force a rounding.
static bool select_is_in_chain(MlirOperation op) {
  return is_excess_truncation(ir_defining_op(ir_operand(op, 1))) ||
         is_excess_truncation(ir_defining_op(ir_operand(op, 2)));
}

// --- the two conversions

static bool has_negative_zero(MlirType t) {
  MlirType element = ir_element_type(t);
  return !mlirTypeIsAFloat8E4M3FNUZ(element) && !mlirTypeIsAFloat8E5M2FNUZ(element) &&
         !mlirTypeIsAFloat8E4M3B11FNUZ(element);
}

static MlirValue truncate(ir_builder *b, MlirType narrow, MlirValue wide) {
  MlirNamedAttribute excess = ir_named(b->context, EXCESS, mlirUnitAttrGet(b->context));
  return ir_value_with(b, "arith.truncf", narrow, 1, &wide, 1, &excess);
}

// The constant as f32, or null if v is none.
static MlirValue widen_constant(ir_builder *b, MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  if (ir_is_null(op) || !ir_is(op, "arith.constant")) return (MlirValue){0};
  MlirAttribute value = ir_get(op, "value");
  if (mlirAttributeIsADenseElements(value)) {
    if (!mlirDenseElementsAttrIsSplat(value)) return (MlirValue){0};
    value = mlirDenseElementsAttrGetSplatValue(value);
  }
  if (!mlirAttributeIsAFloat(value)) return (MlirValue){0};
  return ir_float(b, wide_type(mlirValueGetType(v)), mlirFloatAttrGetValueDouble(value));
}

static ir_builder builder_behind(widening *w, MlirValue v) {
  if (!mlirValueIsABlockArgument(v)) return ir_builder_after(ir_defining_op(v), w->c->scratch);
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  ir_builder b = ir_builder_at_end(w->c->context, block, w->c->scratch);
  b.before = mlirBlockGetFirstOperation(block);
  return b;
}

// One extension per value, right behind it, where it serves every use.
static MlirValue widen(widening *w, MlirValue v) {
  if (!is_narrow(mlirValueGetType(v))) return v;
  const void *known = ptr_map_get(&w->wide, v.ptr);
  if (known) return (MlirValue){known};
  MlirOperation op = ir_defining_op(v);
  MlirValue wide;
  if (!w->c->options->exact && is_excess_truncation(op)) {
    wide = ir_operand(op, 0);
    // A number that the narrow type lacks, and that others tell from its like: zero added to it has no sign.
    ir_builder b = builder_behind(w, v);
    if (!has_negative_zero(mlirValueGetType(v)))
      wide = ir_binary(&b, "arith.addf", wide, ir_float(&b, mlirValueGetType(wide), 0));
  } else {
    ir_builder b = builder_behind(w, v);
    wide = widen_constant(&b, v);
    if (!wide.ptr) wide = ir_cast(&b, "arith.extf", wide_type(mlirValueGetType(v)), v);
  }
  ptr_map_put(w->c->scratch, &w->wide, v.ptr, (void *)wide.ptr);
  return wide;
}

static MlirValue truncate_for_good(ir_builder *b, MlirType narrow, MlirValue wide) {
  return ir_cast(b, "arith.truncf", narrow, wide);
}

static void replace_by_truncation(widening *w, MlirOperation after, MlirValue old, MlirType narrow, MlirValue wide) {
  ir_builder b = ir_builder_after(after, w->c->scratch);
  MlirValue narrowed = truncate(&b, narrow, wide);
  ir_replace_value(old, narrowed);
  mlirOperationSetOperand(ir_defining_op(narrowed), 0, wide);
}

// --- conversions from integers

static bool is_from_integer(MlirOperation op) { return ir_is(op, "arith.sitofp") || ir_is(op, "arith.uitofp"); }

// Digits of the significand, the leading one included.
static int significant_bits(MlirType narrow) {
  if (mlirTypeIsABF16(narrow)) return 8;
  if (mlirTypeIsAF16(narrow)) return 11;
  return mlirTypeIsAFloat8E5M2(narrow) || mlirTypeIsAFloat8E5M2FNUZ(narrow) ? 3 : 4;
}

// Whether the type holds every such integer; the least of a signed type is a power of two. All these types reach beyond
// 2^4, bf16 and f16 beyond 2^11.
static bool holds_all(MlirOperation op, MlirType narrow) {
  int width = ir_bit_width(ir_element_type(mlirValueGetType(ir_operand(op, 0))));
  return width - ir_is(op, "arith.sitofp") <= significant_bits(ir_element_type(narrow));
}

// The program's own rounding, which stays. Integers that f32 does not hold exactly are converted to f64, so that the
// result is rounded once.
static void widen_from_integer(widening *w, MlirOperation op) {
  MlirValue result = ir_result(op, 0);
  MlirType narrow = mlirValueGetType(result), wide = wide_type(narrow);
  if (ir_bit_width(ir_element_type(mlirValueGetType(ir_operand(op, 0)))) > 24)
    wide = ir_like(narrow, mlirF64TypeGet(mlirTypeGetContext(narrow)));
  mlirValueSetType(result, wide);
  ir_builder b = ir_builder_after(op, w->c->scratch);
  MlirValue narrowed = truncate_for_good(&b, narrow, result);
  ir_replace_value(result, narrowed);
  mlirOperationSetOperand(ir_defining_op(narrowed), 0, result);
}

// --- operations

static void widen_operation(widening *w, MlirOperation op) {
  if (is_from_integer(op) && !holds_all(op, ir_result_type(op, 0))) {
    widen_from_integer(w, op);
    return;
  }
  if (ir_is(op, "arith.select") && (w->c->options->exact || !select_is_in_chain(op))) return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(op, i, widen(w, ir_operand(op, (int)i)));
  if (starts_with(op, "math.") && !w->c->options->exact) ir_set(op, NARROW, mlirUnitAttrGet(w->c->context));
  MlirValue result = ir_result(op, 0);
  MlirType narrow = mlirValueGetType(result);
  if (!is_narrow(narrow)) return;
  mlirValueSetType(result, wide_type(narrow));
  replace_by_truncation(w, op, result, narrow, result);
}

// The program's own extension of a value that is still known in f32: to f64, to f32, or from f8 to bf16 or f16, to
// which the program then rounds.
static void shortcut_extension(widening *w, MlirOperation op) {
  MlirValue source = ir_operand(op, 0);
  if (!is_excess_truncation(ir_defining_op(source))) return;
  MlirValue known = widen(w, source);
  MlirType wanted = ir_result_type(op, 0);
  if (!is_narrow(wanted) && !mlirTypeEqual(wanted, mlirValueGetType(known))) {
    mlirOperationSetOperand(op, 0, known);
    return;
  }
  if (is_narrow(wanted)) {
    ir_builder b = ir_builder_before(op, w->c->scratch);
    known = truncate_for_good(&b, wanted, known);
  }
  ir_replace(op, &known);
}

// --- values that branches and loops carry

// Results of a branch stay wide when both sides compute them.
static void widen_if(widening *w, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = ir_result(op, (int)i);
    MlirType narrow = mlirValueGetType(result);
    if (!is_narrow(narrow)) continue;
    MlirOperation yields[] = {ir_terminator(ir_body(op, 0)), ir_terminator(ir_body(op, 1))};
    if (!is_excess_truncation(ir_defining_op(ir_operand(yields[0], (int)i))) &&
        !is_excess_truncation(ir_defining_op(ir_operand(yields[1], (int)i))))
      continue;
    for (int k = 0; k < 2; k++) mlirOperationSetOperand(yields[k], i, widen(w, ir_operand(yields[k], (int)i)));
    mlirValueSetType(result, wide_type(narrow));
    replace_by_truncation(w, op, result, narrow, result);
  }
}

// Before the body is rewritten: what a loop carries in a narrow type is carried in f32. An accumulator of a reduction
// in bf16 would otherwise be rounded in every step.
static void widen_for(widening *w, MlirOperation op) {
  MlirBlock body = ir_body(op, 0);
  MlirOperation yield = ir_terminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue carried = mlirBlockGetArgument(body, i + 1), result = ir_result(op, (int)i);
    MlirType narrow = mlirValueGetType(result), wide = wide_type(narrow);
    MlirOperation step = ir_defining_op(ir_operand(yield, (int)i));
    // Vectors that only collect lanes to be stored hold no running value.
    if (!is_narrow(narrow) || ir_is_null(step) || starts_with(step, "vector.")) continue;
    mlirOperationSetOperand(op, i + 3, widen(w, ir_operand(op, (int)i + 3)));
    ir_builder at_yield = ir_builder_before(yield, w->c->scratch);
    mlirOperationSetOperand(yield, i, ir_cast(&at_yield, "arith.extf", wide, ir_operand(yield, (int)i)));
    mlirBlockArgumentSetType(carried, wide);
    replace_by_truncation(w, op, result, narrow, result);
    mlirValueSetType(result, wide);
    ir_builder inside = builder_behind(w, carried);
    MlirValue narrowed = truncate(&inside, narrow, carried);
    ir_replace_value(carried, narrowed);
    mlirOperationSetOperand(ir_defining_op(narrowed), 0, carried);
  }
}

// --- the pass

static void remove_marks(widening *w, MlirOperation module) {
  ir_operations truncations = ir_collect(w->c->scratch, module, "arith.truncf");
  for (int i = truncations.size - 1; i >= 0; i--) {
    MlirOperation op = truncations.data[i];
    if (!is_excess_truncation(op)) continue;
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(ir_result(op, 0)))) ir_erase(op);
    else ir_unset(op, EXCESS);
  }
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  widening w = {.c = c};
  bool excess = !c->options->exact;
  ir_operations loops = ir_collect(c->scratch, module, "scf.for");
  if (excess)
    for (int i = 0; i < loops.size; i++) widen_for(&w, loops.data[i]);
  // Operands before users, inner regions before their owner.
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) {
    MlirOperation op = ops.data[i];
    if (excess && ir_is(op, "arith.extf")) shortcut_extension(&w, op);
    else if (excess && ir_is(op, "scf.if") && mlirOperationGetNumResults(op) > 0) widen_if(&w, op);
    else if (computes(c->options, op)) widen_operation(&w, op);
  }
  remove_marks(&w, module);
  return status_ok();
}

const pass lower_widen_floats = {
    .name = "xla-widen-floats",
    .summary = "arithmetic on bf16, f16 and f8 is done in f32",
    .order_reason = "on the CPU before the vectorizer, which counts bits; on GPUs before math is expanded",
    .use = PASS_NEEDED,
    .run = run,
};
