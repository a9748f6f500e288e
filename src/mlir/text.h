// Reads MLIR text, in pretty and in generic form, into ir.h's form.
#ifndef HEDDLE_MLIR_TEXT_H_
#define HEDDLE_MLIR_TEXT_H_

#include "mlir/ir.h"

// What constants that repeat one element take in all, at the most: a few letters can stand for any number of bytes.
enum { MLIR_MOST_SPLAT_BYTES = INT32_MAX };

// Whether the text is one type or one attribute and nothing else, so that it can stand where MLIR text has one.
bool mlir_text_is_type(str text);
bool mlir_text_is_attribute(str text);

// All modules of the text: one, or several divided by lines `// -----`. Functions outside any module get one around
// them. Errors carry file, line, column, the source line and a caret.
heddle_status mlir_text_read(arena *a, const char *file, str source, int *count, ir_module ***out);

#endif
