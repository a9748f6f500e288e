// HLO to StableHLO (ir.h's form), for `heddle convert --to=stablehlo`.
#ifndef HEDDLE_STABLEHLO_HLO_TO_STABLEHLO_H_
#define HEDDLE_STABLEHLO_HLO_TO_STABLEHLO_H_

#include "hlo/module.h"
#include "mlir/ir.h"

// HEDDLE_UNIMPLEMENTED, with the instruction's location, for what StableHLO has no operation for. Fusions and calls
// become functions; opcodes without a StableHLO operation are written as CHLO (erf, top_k, ...) or decomposed.
heddle_status hlo_to_stablehlo(arena *a, const module *m, ir_module **out);

#endif
