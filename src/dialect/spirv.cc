// The C++ behind spirv.h.
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"

#include "dialect/spirv.h"

bool spirv_serialize(MlirOperation operation, void (*append)(const uint32_t *, size_t, void *), void *argument) {
  auto module = llvm::dyn_cast<mlir::spirv::ModuleOp>(unwrap(operation));
  llvm::SmallVector<uint32_t, 0> words;
  if (!module || mlir::failed(mlir::spirv::serialize(module, words))) return false;
  append(words.data(), words.size(), argument);
  return true;
}
