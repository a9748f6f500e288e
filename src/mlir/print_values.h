// Types, attributes, names and numbers as MLIR text.
#ifndef HEDDLE_MLIR_PRINT_VALUES_H_
#define HEDDLE_MLIR_PRINT_VALUES_H_

#include "mlir/ir.h"

const char *mlir_scalar_name(dtype t);  // "i32", "complex<f32>"; "none" for what MLIR has no scalar type for
void mlir_print_type(text *out, const ir_type *t);
void mlir_print_attribute(text *out, const ir_attribute *x);
void mlir_print_elements(text *out, const ir_attribute *x, int64_t elide_above);  // of IR_ATTR_ELEMENTS
void mlir_print_number(text *out, double value);                                  // a finite number's shortest digits
void mlir_print_name(text *out, str name);                      // of an attribute: quoted if it must be
void mlir_print_struct_body(text *out, const ir_attribute *x);  // `<a = 1, b = [0, 1]>`
void mlir_print_string(text *out, str s);                       // "..." with MLIR's escapes
void mlir_print_symbol(text *out, str name);                    // @name, @"a name", @a::@b
// `[b, 0, f]x[0, i, o]->[b, 0, f]` of a #stablehlo.conv; false, with nothing printed, if its dims are no permutation.
bool mlir_print_convolution(text *out, const ir_attribute *x);

#endif
