// What the readers of older and other spellings of MLIR share.
#ifndef HEDDLE_TOOLS_MLIR_SPELLING_LINES_H_
#define HEDDLE_TOOLS_MLIR_SPELLING_LINES_H_

#include "base/str.h"

// Appends the ends of lines that `taken`, a form in the source, has more than its new spelling, which is what `out` has
// from `from` on: so lines stay where they are.
void mlir_spelling_lines_keep(str taken, text *out, size_t from);

#endif
