// Lowers xla_gpu.atomic_rmw to LLVM atomics.
#ifndef HEDDLE_LOWER_TENSOR_ATOMICS_H_
#define HEDDLE_LOWER_TENSOR_ATOMICS_H_

#include "lower/tensor_access.h"

// Builds, before `op` (an xla_gpu.atomic_rmw), the atomic update of element `index` of m: one instruction where the
// body is an operation that memory can do itself, else a loop around compare-and-exchange. The op itself stays.
heddle_status tensor_atomics_build(ir_builder *b, MlirOperation op, const tensor_memory *m, MlirValue index);

#endif
