// Programs of MLIR as they were read, before HLO is made of them. Apart from import.h, since emit has an ir_ of its
// own.
#ifndef HEDDLE_IMPORT_IMPORT_IR_H_
#define HEDDLE_IMPORT_IMPORT_IR_H_

#include "import/import.h"
#include "mlir/ir.h"

// MLIR text (which may hold several modules, divided by `// -----`) or bytecode as it was read, before HLO is made of
// it.
heddle_status import_ir(arena *a, const char *file, str bytes, int *count, ir_module ***out);

#endif
