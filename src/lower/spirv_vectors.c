// Lists of scalars, rearranged: no code comes of most of this.
#include "lower/spirv_vectors.h"

// --- constants

static MlirValue constant_scalar(spirv_code *c, MlirType type, MlirAttribute value) {
  if (mlirAttributeIsAFloat(value)) return spirv_build_float(&c->s, type, mlirFloatAttrGetValueDouble(value));
  if (mlirAttributeIsABool(value)) return spirv_build_bool(&c->s, mlirBoolAttrGetValue(value));
  if (ir_bit_width(type) == 1) return spirv_build_bool(&c->s, mlirIntegerAttrGetValueInt(value) != 0);
  return spirv_build_int(&c->s, type, mlirIntegerAttrGetValueInt(value));
}

static heddle_status constant(spirv_code *c, MlirOperation op) {
  spirv_types types = {0};
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  const MlirAttribute value = ir_get(op, "value");
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, types.size);
  const bool is_array = mlirAttributeIsAArray(value), is_dense = mlirAttributeIsADenseElements(value);
  if (is_dense && mlirShapedTypeGetRank(mlirAttributeGetType(value)) > 1 && !mlirDenseElementsAttrIsSplat(value))
    return status_error(HEDDLE_UNIMPLEMENTED, "a constant of %s",
                        ir_type_text(c->s.b.arena, mlirAttributeGetType(value)));
  for (int i = 0; i < types.size; i++) {
    MlirAttribute one = value;
    const uint64_t position = (uint64_t)i;
    if (is_array) one = mlirArrayAttrGetElement(value, i);
    else if (is_dense && mlirDenseElementsAttrIsSplat(value)) one = mlirDenseElementsAttrGetSplatValue(value);
    else if (is_dense) one = mlirElementsAttrGetValue(value, 1, (uint64_t *)&position);
    parts[i] = constant_scalar(c, types.data[i], one);
  }
  spirv_values_put(c, ir_result(op, 0), types.size, parts);
  return status_ok();
}

// Whatever it is, it is the same for everyone.
static heddle_status undefined(spirv_code *c, MlirOperation op) {
  spirv_types types = {0};
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, types.size);
  for (int i = 0; i < types.size; i++) parts[i] = spirv_build_zero(&c->s, types.data[i]);
  spirv_values_put(c, ir_result(op, 0), types.size, parts);
  return status_ok();
}

// --- all operands, one after the other, or one as often as it takes

static heddle_status join(spirv_code *c, MlirOperation op) {
  spirv_types types = {0};
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, types.size);
  int at = 0;
  for (int i = 0; at < types.size; i = (i + 1) % (int)mlirOperationGetNumOperands(op)) {
    const spirv_value *operand;
    TRY(spirv_values_operand(c, op, i, &operand));
    for (int k = 0; k < operand->count && at < types.size; k++) parts[at++] = operand->parts[k];
  }
  spirv_values_put(c, ir_result(op, 0), types.size, parts);
  return status_ok();
}

static heddle_status part(spirv_code *c, MlirOperation op, int64_t number) {
  const spirv_value *whole;
  TRY(spirv_values_operand(c, op, 0, &whole));
  spirv_values_put(c, ir_result(op, 0), 1, &whole->parts[number]);
  return status_ok();
}

static heddle_status real_part(spirv_code *c, MlirOperation op) { return part(c, op, 0); }
static heddle_status imaginary_part(spirv_code *c, MlirOperation op) { return part(c, op, 1); }

static heddle_status member(spirv_code *c, MlirOperation op) {
  return part(c, op, mlirDenseI64ArrayGetElement(ir_get(op, "position"), 0));
}

// --- elements of vectors

// Where the part of a vector that an operation names begins, or the operand that says so while the kernel runs.
typedef struct place {
  int64_t first;
  MlirValue dynamic;  // null if the place is known
} place;

static heddle_status place_of(spirv_code *c, MlirOperation op, MlirType vector, int position_operand, place *out) {
  *out = (place){0};
  const bool is_old_form = ir_is(op, "vector.extractelement") || ir_is(op, "vector.insertelement");
  const MlirAttribute position = ir_get(op, "static_position");
  const intptr_t count = is_old_form ? 0 : mlirDenseArrayGetNumElements(position);
  bool is_dynamic = is_old_form;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(vector); d++) {
    const int64_t at = d < count ? mlirDenseI64ArrayGetElement(position, d) : 0;
    is_dynamic |= at == INT64_MIN;
    out->first = out->first * mlirShapedTypeGetDimSize(vector, d) + at;
  }
  if (!is_dynamic) return status_ok();
  if (mlirShapedTypeGetRank(vector) != 1)
    return status_error(HEDDLE_UNIMPLEMENTED, "an element of %s that only the run knows",
                        ir_type_text(c->s.b.arena, vector));
  const spirv_value *number;
  TRY(spirv_values_operand(c, op, position_operand, &number));
  out->dynamic = number->parts[0];
  return status_ok();
}

static MlirValue is_at(spirv_code *c, const place *at, int k) {
  return spirv_build_compare(&c->s, "spirv.IEqual", at->dynamic,
                             spirv_build_int(&c->s, mlirValueGetType(at->dynamic), k));
}

static heddle_status extract(spirv_code *c, MlirOperation op) {
  const spirv_value *vector;
  place at;
  spirv_types types = {0};
  TRY(spirv_values_operand(c, op, 0, &vector));
  TRY(place_of(c, op, mlirValueGetType(ir_operand(op, 0)), 1, &at));
  TRY(spirv_values_types(c, ir_result_type(op, 0), &types));
  if (!at.dynamic.ptr) {
    spirv_values_put(c, ir_result(op, 0), types.size, vector->parts + at.first);
    return status_ok();
  }
  MlirValue found = vector->parts[0];
  for (int k = 1; k < vector->count; k++) found = spirv_build_select(&c->s, is_at(c, &at, k), vector->parts[k], found);
  spirv_values_put(c, ir_result(op, 0), 1, &found);
  return status_ok();
}

static heddle_status insert(spirv_code *c, MlirOperation op) {
  const spirv_value *value, *vector;
  place at;
  TRY(spirv_values_operand(c, op, 0, &value));
  TRY(spirv_values_operand(c, op, 1, &vector));
  TRY(place_of(c, op, ir_result_type(op, 0), 2, &at));
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, vector->count);
  for (int k = 0; k < vector->count; k++) {
    const bool is_replaced = k >= at.first && k < at.first + value->count;
    if (at.dynamic.ptr) parts[k] = spirv_build_select(&c->s, is_at(c, &at, k), value->parts[0], vector->parts[k]);
    else parts[k] = is_replaced ? value->parts[k - at.first] : vector->parts[k];
  }
  spirv_values_put(c, ir_result(op, 0), vector->count, parts);
  return status_ok();
}

static heddle_status shuffle(spirv_code *c, MlirOperation op) {
  const spirv_value *x, *y;
  TRY(spirv_values_operand(c, op, 0, &x));
  TRY(spirv_values_operand(c, op, 1, &y));
  const MlirAttribute mask = ir_get(op, "mask");
  const int count = (int)mlirArrayAttrGetNumElements(mask);
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, count);
  for (int k = 0; k < count; k++) {
    const int64_t from = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(mask, k));
    parts[k] = from < x->count ? x->parts[from] : y->parts[from - x->count];
  }
  spirv_values_put(c, ir_result(op, 0), count, parts);
  return status_ok();
}

// --- the table

static const struct {
  const char *op;
  heddle_status (*translate)(spirv_code *c, MlirOperation op);
} rows[] = {
    {"arith.constant", constant},    {"complex.constant", constant},   {"llvm.mlir.undef", undefined},
    {"llvm.mlir.poison", undefined}, {"ub.poison", undefined},         {"vector.broadcast", join},
    {"vector.splat", join},          {"vector.from_elements", join},   {"complex.create", join},
    {"vector.shape_cast", join},     {"complex.re", real_part},        {"complex.im", imaginary_part},
    {"llvm.extractvalue", member},   {"vector.extract", extract},      {"vector.extractelement", extract},
    {"vector.insert", insert},       {"vector.insertelement", insert}, {"vector.shuffle", shuffle},
};

heddle_status spirv_vectors_translate(spirv_code *c, MlirOperation op, bool *known) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    *known = ir_is(op, rows[i].op);
    if (*known) return rows[i].translate(c, op);
  }
  return status_ok();
}
