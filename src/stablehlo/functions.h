// The programs of an MLIR module: its functions, each of which becomes an HLO module.
#ifndef HEDDLE_STABLEHLO_FUNCTIONS_H_
#define HEDDLE_STABLEHLO_FUNCTIONS_H_

#include "mlir/ir.h"
#include "stablehlo/import_options.h"

typedef VEC(const ir_operation *) stablehlo_function_list;

// The function to make a program of: `name`, or if that is empty main, or the only public one. HEDDLE_INVALID for a
// name that no function with a body has, and where several could be meant.
heddle_status stablehlo_entry(arena *a, const ir_module *m, str name, const ir_operation **out);

// The functions that programs are made of: `entry`, or else main, or else every public one. HEDDLE_INVALID for a name
// that no function has.
heddle_status stablehlo_functions(arena *a, const ir_module *m, str entry, stablehlo_function_list *out);

// One of them as HLO (stablehlo_to_hlo), after its arguments were asked for where it has open dims; `options` may be
// null.
heddle_status stablehlo_program(arena *a, const ir_module *m, const ir_operation *function,
                                const import_options *options, module **out);

// Whether a parameter of the function has dims that only arguments decide.
bool stablehlo_has_open_dims(const ir_operation *function);

#endif
