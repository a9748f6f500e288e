// Lowers xla_gpu.atomic_rmw to LLVM atomics.
#ifndef HEDDLE_LOWER_TENSOR_ATOMICS_H_
#define HEDDLE_LOWER_TENSOR_ATOMICS_H_

#include "base/target.h"
#include "lower/tensor_access.h"

// Builds, before `op` (an xla_gpu.atomic_rmw), the atomic update of element `index` of m: one instruction where the
// body is an operation that memory can do itself, else a loop around compare-and-exchange. The op itself stays.
// HEDDLE_UNIMPLEMENTED for elements of more than 64 bits, unless the body adds complex numbers or overwrites.
heddle_status tensor_atomics_build(ir_builder *b, MlirOperation op, const tensor_memory *m, MlirValue index,
                                   const target_description *target);

#endif
