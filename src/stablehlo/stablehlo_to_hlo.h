// Lowers StableHLO and CHLO, in ir.h's form, to HLO.
#ifndef HEDDLE_STABLEHLO_STABLEHLO_TO_HLO_H_
#define HEDDLE_STABLEHLO_STABLEHLO_TO_HLO_H_

#include "mlir/ir.h"
#include "stablehlo/import_options.h"

// One function of the module, and what it calls, as an HLO module. Shapes are found from the operands on the way, so
// that `?` dims are gone once the argument shapes are static (import_options); operands that say shapes are folded to
// constants. A function called with different shapes becomes several computations.
heddle_status stablehlo_to_hlo(arena *a, const ir_module *m, const ir_operation *function,
                               const import_options *options, module **out);

// The shape of the type, `s`, with the bounds of its `?` dims where it has any (#stablehlo.bounds), which are HLO's
// `<=N`; `s` itself if not.
const shape *stablehlo_bounded_shape(arena *a, const ir_type *t, const shape *s);

#endif
