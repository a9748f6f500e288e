// Values of the source and the scalars that stand for them.
#include "lower/spirv_values.h"

#include <mlir-c/Dialect/LLVM.h>

static bool is_struct(MlirType t) { return mlirTypeIsALLVMStructType(t); }

static bool is_pointer(MlirType t) { return mlirTypeIsALLVMPointerType(t); }

heddle_status spirv_values_types(spirv_code *c, MlirType type, spirv_types *out) {
  arena *a = c->s.b.arena;
  if (mlirTypeIsAComplex(type)) {
    for (int part = 0; part < 2; part++) TRY(spirv_values_types(c, mlirComplexTypeGetElementType(type), out));
    return status_ok();
  }
  if (is_struct(type)) {
    for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++)
      TRY(spirv_values_types(c, mlirLLVMStructTypeGetElementType(type, i), out));
    return status_ok();
  }
  if (ir_is_vector(type)) {
    const int64_t count = ir_element_count(type);
    for (int64_t i = 0; i < count; i++) TRY(spirv_values_types(c, ir_element_type(type), out));
    return status_ok();
  }
  const MlirType scalar = is_pointer(type) ? spirv_build_int_type(&c->s, 64) : spirv_build_type(&c->s, type);
  if (mlirTypeIsNull(scalar))
    return status_error(HEDDLE_UNIMPLEMENTED, "%s has no form in SPIR-V", ir_type_text(a, type));
  vec_push(a, out, scalar);
  return status_ok();
}

heddle_status spirv_values_find(spirv_code *c, MlirValue v, const spirv_value **out) {
  *out = ptr_map_get(&c->values, v.ptr);
  if (*out) return status_ok();
  return status_error(HEDDLE_INTERNAL, "a value of %s that nothing stands for in SPIR-V",
                      ir_type_text(c->s.b.arena, mlirValueGetType(v)));
}

heddle_status spirv_values_operand(spirv_code *c, MlirOperation op, int number, const spirv_value **out) {
  return spirv_values_find(c, ir_operand(op, number), out);
}

void spirv_values_put(spirv_code *c, MlirValue v, int count, const MlirValue *parts) {
  arena *a = c->s.b.arena;
  spirv_value *made = arena_new(a, spirv_value);
  *made = (spirv_value){.count = count, .parts = arena_array(a, MlirValue, count)};
  for (int i = 0; i < count; i++) made->parts[i] = parts[i];
  ptr_map_put(a, &c->values, v.ptr, made);
}

void spirv_values_put_pointer(spirv_code *c, MlirValue v, const spirv_array *array, MlirValue part) {
  spirv_values_put(c, v, 1, &part);
  ((spirv_value *)ptr_map_get(&c->values, v.ptr))->array = array;
}

heddle_status spirv_values_variables(spirv_code *c, MlirType type, spirv_value *out) {
  spirv_types types = {0};
  TRY(spirv_values_types(c, type, &types));
  *out = (spirv_value){.count = types.size, .parts = arena_array(c->s.b.arena, MlirValue, types.size)};
  for (int i = 0; i < types.size; i++)
    out->parts[i] = spirv_build_variable(&c->s, types.data[i], mlirAttributeGetNull());
  return status_ok();
}
