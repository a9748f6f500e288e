// Rewrites MLIR as XLA has spelled it over the years to the spelling that this dialect reads, and back.
//
// In 2025 what is common to all of XLA's emitters moved from dialect xla_gpu to dialect xla; in 2024 index maps began
// as text without quotes.
#ifndef HEDDLE_TOOLS_MLIR_SPELLING_H_
#define HEDDLE_TOOLS_MLIR_SPELLING_H_

#include "base/str.h"

// The same program in this dialect's spelling, lines and (but for renamed words) columns as they were. *is_xla: whether
// dialect xla was used.
void mlir_spelling_read(str source, text *out, bool *is_xla);

// A printed program in the spelling of 2025.
void mlir_spelling_write(str printed, text *out);

#endif
