// xla-round-in-place: f32 -> bf16 -> f32 becomes a rounding of the f32's own bits.
//
// With every rounding of the HLO kept (--exact), a chain of bf16 operations goes down to bf16 and back to f32 between
// any two of them. Done as two conversions, each step packs a vector to half its width and unpacks it again, which
// costs more than the arithmetic. Rounded in place, the value never leaves its register: five integer operations.
//
// The usual guard, that a NaN must not be rounded up into infinity, is left out where the NaNs that can arrive have an
// empty lower half. Hardware makes NaNs of two kinds only: the default one and an operand's, made quiet; so the
// property passes through arithmetic on values that have it, as all widened bf16 values do.
#include "base/map.h"
#include "emit/narrow_floats.h"
#include "lower/passes.h"

typedef struct rounding {
  arena *arena;
  ptr_map clean;    // values whose NaNs have an empty lower half; the entry's value does not matter
  ptr_map rounded;  // truncf -> the rounded f32, as a value's pointer
} rounding;

static bool is_f32(MlirType t) { return mlirTypeIsAF32(ir_element_type(t)); }
static bool is_bf16(MlirType t) { return mlirTypeIsABF16(ir_element_type(t)); }

static bool keeps_nan(const rounding *r, MlirValue v) { return ptr_map_has(&r->clean, v.ptr); }
static void mark_clean(rounding *r, MlirValue v) { ptr_map_put(r->arena, &r->clean, v.ptr, NULL); }

// Operations whose NaN results are the default NaN or one of the operands' (of f32; a select's condition does not
// count).
static bool passes_nans_through(MlirOperation op) {
  static const char *const names[] = {"arith.addf",     "arith.subf",     "arith.mulf", "arith.divf",  "arith.negf",
                                      "arith.maximumf", "arith.minimumf", "math.fma",   "arith.select"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ir_is(op, names[i])) return true;
  return false;
}

// A constant that is no NaN carries none; NaN constants are rare enough to take the guard.
static bool is_number(MlirOperation op) {
  MlirAttribute value = ir_get(op, "value");
  if (mlirAttributeIsAElements(value)) {
    if (!mlirDenseElementsAttrIsSplat(value)) return false;
    value = mlirDenseElementsAttrGetSplatValue(value);
  }
  return mlirAttributeIsAFloat(value) && !__builtin_isnan(mlirFloatAttrGetValueDouble(value));
}

static void classify(rounding *r, MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1 || !is_f32(ir_result_type(op, 0))) return;
  bool clean = ir_is(op, "arith.constant") && is_number(op);
  if (ir_is(op, "arith.extf")) clean = is_bf16(mlirValueGetType(ir_operand(op, 0)));
  if (passes_nans_through(op)) {
    clean = true;
    for (int i = 0; i < (int)mlirOperationGetNumOperands(op); i++)
      clean = clean && (keeps_nan(r, ir_operand(op, i)) || !is_f32(mlirValueGetType(ir_operand(op, i))));
  }
  if (clean) mark_clean(r, ir_result(op, 0));
}

static bool is_candidate(MlirOperation op) {
  if (!ir_is(op, "arith.extf") || !is_f32(ir_result_type(op, 0))) return false;
  MlirOperation source = ir_defining_op(ir_operand(op, 0));
  return !ir_is_null(source) && ir_is(source, "arith.truncf") && is_bf16(ir_result_type(source, 0)) &&
         is_f32(mlirValueGetType(ir_operand(source, 0)));
}

static void record(rounding *r, MlirOperation truncation, MlirValue rounded) {
  ptr_map_put(r->arena, &r->rounded, truncation.ptr, (void *)rounded.ptr);
  mark_clean(r, rounded);
}

static void round_one(rounding *r, MlirOperation extension) {
  MlirOperation truncation = ir_defining_op(ir_operand(extension, 0));
  MlirValue value = {ptr_map_get(&r->rounded, truncation.ptr)};
  if (mlirValueIsNull(value)) {
    ir_builder b = ir_builder_before(truncation, r->arena);
    MlirValue x = ir_operand(truncation, 0);
    value = narrow_floats_round_bf16(&b, x, keeps_nan(r, x));
    record(r, truncation, value);
  }
  ir_replace(extension, &value);
}

// A truncation on its own needs no guard either where NaNs cannot be lost.
static void round_for_store(rounding *r, MlirOperation truncation) {
  MlirValue x = ir_operand(truncation, 0);
  if (!is_bf16(ir_result_type(truncation, 0)) || !is_f32(mlirValueGetType(x)) || !keeps_nan(r, x)) return;
  ir_builder b = ir_builder_before(truncation, r->arena);
  record(r, truncation, narrow_floats_round_bf16(&b, x, true));
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  if (c->options->target.has_bf16) return status_ok();
  rounding r = {.arena = c->scratch};
  // Definitions before uses, so that what an operand is has been decided when its user is met.
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) {
    if (ir_is(ops.data[i], "arith.truncf")) round_for_store(&r, ops.data[i]);
    else if (is_candidate(ops.data[i])) round_one(&r, ops.data[i]);
    else classify(&r, ops.data[i]);
  }
  // Stores of a value that was also used wide take the rounded one.
  for (int i = 0; i < r.rounded.capacity; i++) {
    if (!r.rounded.slots[i].used) continue;
    MlirOperation truncation = {(void *)r.rounded.slots[i].key};
    ir_builder b = ir_builder_before(truncation, c->scratch);
    MlirValue narrow =
        narrow_floats_upper_half(&b, ir_result_type(truncation, 0), (MlirValue){r.rounded.slots[i].value});
    ir_replace(truncation, &narrow);
  }
  return status_ok();
}

const pass lower_round_in_place = {
    .name = "xla-round-in-place",
    .summary = "f32 to bf16 and back becomes a rounding of the f32's bits",
    .order_reason = "before the conversions that it looks for are expanded",
    .use = PASS_IMPROVES,
    .run = run,
};
