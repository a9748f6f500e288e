// What stands in a SPIR-V module for the values of a kernel in arith, vector, complex and the LLVM dialect.
//
// Every value is a list of scalars: a vector's elements, a complex number's parts, a struct's members. Vectors of more
// than four elements exist for kernels of other machines only, and scalars need no further rule for any of them.
#ifndef HEDDLE_LOWER_SPIRV_VALUES_H_
#define HEDDLE_LOWER_SPIRV_VALUES_H_

#include "lower/launch.h"
#include "lower/spirv_build.h"

// An array that is no buffer: memory of the workgroup or of an invocation, or a constant.
typedef struct spirv_array {
  MlirType element;  // as it is stored
  int bits;          // of an element in the source; where it is stored in a wider one, the upper bits say nothing
  MlirType type;     // of the array
  const char *storage_class;
  MlirValue constant;  // pointer to an invocation's array or a constant's copy; null: the workgroup's, with a name
  const char *name;
} spirv_array;

typedef struct spirv_value {
  int count;
  MlirValue *parts;
  // Of a pointer: null, and the part is an address; or the array in which the part is the number of an element.
  const spirv_array *array;
} spirv_value;

typedef struct spirv_code {
  spirv_build s;
  lower_context *context;
  MlirOperation source;     // builtin.module, whose functions are translated
  MlirOperation function;   // the one at hand
  launch launch;            // of it
  ptr_map steps;            // of a turn, by loop of the source (lower/spirv_turns.h)
  ptr_map values;           // spirv_value by value of the source
  str_map arrays;           // spirv_array by name of the source's global, of the function at hand
  int64_t workgroup_bytes;  // of all arrays of the workgroup
} spirv_code;

// Types of the scalars that stand for a value of this type. Fails with HEDDLE_UNIMPLEMENTED for types without any.
typedef VEC(MlirType) spirv_types;
heddle_status spirv_values_types(spirv_code *c, MlirType type, spirv_types *out);

// What stands for a value; an internal error where nothing does.
heddle_status spirv_values_find(spirv_code *c, MlirValue v, const spirv_value **out);
heddle_status spirv_values_operand(spirv_code *c, MlirOperation op, int number, const spirv_value **out);
// `parts` are copied.
void spirv_values_put(spirv_code *c, MlirValue v, int count, const MlirValue *parts);
void spirv_values_put_pointer(spirv_code *c, MlirValue v, const spirv_array *array, MlirValue part);

// A variable of the function for each scalar of a value of this type, its pointers.
heddle_status spirv_values_variables(spirv_code *c, MlirType type, spirv_value *out);

#endif
