// A computation as a function of MHLO operations, in MLIR's generic form.
#ifndef HEDDLE_TILE_MHLO_TEXT_H_
#define HEDDLE_TILE_MHLO_TEXT_H_

#include "hlo/module.h"

// `func.func @main`, a parameter for each of the computation's and a result for each leaf of its root. Text that MLIR
// reads once the dialect mhlo is loaded. HEDDLE_UNIMPLEMENTED, with the instruction's place, for what StableHLO has no
// operation for.
heddle_status mhlo_text_write(arena *a, const computation *c, text *out);

// Appends StableHLO's generic text with MHLO's names in front of operations, attributes and types.
void mhlo_text_rename(str from, text *out);

#endif
