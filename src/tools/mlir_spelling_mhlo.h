// Rewrites MHLO's own forms (`mhlo.add %a, %b : tensor<4xf32>`) to the generic one, in which regions hold them.
#ifndef HEDDLE_TOOLS_MLIR_SPELLING_MHLO_H_
#define HEDDLE_TOOLS_MLIR_SPELLING_MHLO_H_

#include "base/status.h"
#include "base/str.h"

// Appends the text with its lines where they were. HEDDLE_INVALID, with line and column, for an operation that is none
// of MHLO's, or is in none of its forms. `file` is what the error calls the text.
heddle_status mlir_spelling_mhlo_read(const char *file, str source, text *out);

#endif
