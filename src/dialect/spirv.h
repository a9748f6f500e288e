// MLIR's writer of SPIR-V, which has no C API.
#ifndef HEDDLE_DIALECT_SPIRV_H_
#define HEDDLE_DIALECT_SPIRV_H_

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

// Hands the words of a spirv.module to `append`, symbols with their names. False, with a diagnostic, if it has no form.
bool spirv_serialize(MlirOperation module, void (*append)(const uint32_t *words, size_t count, void *argument),
                     void *argument);

#ifdef __cplusplus
}
#endif
#endif
