// C API of the hal, iree and mhlo dialects: dispatch regions behind interfaces.
#ifndef HEDDLE_DIALECT_HAL_H_
#define HEDDLE_DIALECT_HAL_H_

#include <mlir-c/IR.h>

// The handles (mlirDialectHandleRegisterDialect / LoadDialect) of the dialects.
MlirDialectHandle mlirGetDialectHandle__hal__(void);
MlirDialectHandle mlirGetDialectHandle__iree__(void);
MlirDialectHandle mlirGetDialectHandle__mhlo__(void);

#endif
