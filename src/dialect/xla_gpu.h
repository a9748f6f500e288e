// C API of the xla_gpu dialect and of the few MLIR services that the C API of MLIR 19 lacks.
#ifndef HEDDLE_DIALECT_XLA_GPU_H_
#define HEDDLE_DIALECT_XLA_GPU_H_

#include <mlir-c/IR.h>

#include "index/indexing_map.h"

#ifdef __cplusplus
extern "C" {
#endif

// The handle (mlirDialectHandleRegisterDialect / LoadDialect) of the dialect.
MlirDialectHandle mlirGetDialectHandle__xla_gpu__(void);

// The attribute #xla_gpu.indexing_map<"...">, uniqued by its canonical text. The map is copied into the context.
MlirAttribute xla_gpu_indexing_map_attribute(MlirContext context, const indexing_map *map);
bool xla_gpu_is_indexing_map(MlirAttribute attribute);
// The parsed map; lives as long as the context.
const indexing_map *xla_gpu_indexing_map(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif
#endif
