// Programs of MLIR as they were read, before HLO is made of them. Apart from import.h, since emit has an ir_ of its
// own.
#ifndef HEDDLE_IMPORT_IMPORT_IR_H_
#define HEDDLE_IMPORT_IMPORT_IR_H_

#include "import/import.h"
#include "import/ir.h"

// MLIR text (which may hold several modules, divided by `// -----`) or bytecode as it was read, before HLO is made of
// it.
heddle_status import_ir(arena *a, const char *file, str bytes, int *count, ir_module ***out);

typedef VEC(const ir_operation *) ir_function_list;

// The functions of a module that programs are made of, as import_all makes them: `entry`, or else main, or else every
// public one. HEDDLE_INVALID for a name that no function has.
heddle_status import_functions(arena *a, const ir_module *m, str entry, ir_function_list *out);

// One of them as HLO; `options` as for import_module.
heddle_status import_make(arena *a, const ir_module *m, const ir_operation *function, const import_options *options,
                          module **out);

// Whether a parameter of the function has dims that only arguments decide.
bool import_has_open_dims(const ir_operation *function);

#endif
