// MLIR text, pretty and generic, into ir.h's form.
#ifndef HEDDLE_MLIR_TEXT_H_
#define HEDDLE_MLIR_TEXT_H_

#include "mlir/ir.h"

// All modules of the text: one, or several divided by lines `// -----`. Functions outside any module get one around
// them. Errors carry file, line, column, the source line and a caret.
heddle_status mlir_text_read(arena *a, const char *file, str source, int *count, ir_module ***out);

#endif
