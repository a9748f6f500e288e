// Rewrites MLIR as it was written in 2020, when document 003 was, to today's spelling.
//
// Operations of the dialect std had no prefix (`constant`, `addf`, `load`), structured operations had their operands in
// parentheses and a number of inputs in place of `ins` and `outs`, and results on tensors came from nowhere.
#ifndef HEDDLE_TOOLS_MLIR_SPELLING_2020_H_
#define HEDDLE_TOOLS_MLIR_SPELLING_2020_H_

#include "base/str.h"

// Whether the text has a `func @…`, a `constant` or a structured operation as nobody writes them today.
bool mlir_spelling_2020_is(str source);

// The same program as it is written today, its lines where they were. What is no such text is left as it is: MLIR's
// parser says what is wrong with it.
void mlir_spelling_2020_read(str source, text *out);

#endif
