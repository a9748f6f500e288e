// Tells whether two programs in ir.h's form are the same.
#ifndef HEDDLE_MLIR_IR_COMPARE_H_
#define HEDDLE_MLIR_IR_COMPARE_H_

#include "mlir/ir.h"

// Whether an attribute says no more than its absence would.
typedef bool (*ir_is_default_fn)(ir_opcode op, str name, const ir_attribute *x);

// OK, or HEDDLE_INVALID with the first difference and the operation it is at. Names of values and locations do not
// count, nor does the order of attributes or fields, nor how a list of integers is written, nor attributes that
// `is_default` (may be null) calls so.
heddle_status ir_compare(const ir_module *l, const ir_module *r, ir_is_default_fn is_default);

#endif
