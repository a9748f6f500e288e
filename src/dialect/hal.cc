// The C++ shell of the hal and iree dialects: what MLIR 19 takes from C++ only. Every decision is made in C (hooks.h).
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/shell.h"

#include "hal_dialect.h.inc"
#include "iree_dialect.h.inc"
#include "mhlo_dialect.h.inc"
#define GET_OP_CLASSES
#include "hal_ops.h.inc"
#define GET_OP_CLASSES
#include "iree_ops.h.inc"

static llvm::LogicalResult verifyBinding(mlir::Operation *op, mlir::SymbolRefAttr name,
                                         mlir::SymbolTableCollection &symbols) {
  // An interface that is not there is somebody else's.
  if (!symbols.lookupNearestSymbolFrom(op, name.getRootReference())) return mlir::success();
  Callback callback;
  char *error = nullptr;
  return shell_report(op, hooks_verify_use(wrap(op), wrap(symbols.lookupNearestSymbolFrom(op, name)), &error), error);
}

#include "hal_dialect.cc.inc"
#include "iree_dialect.cc.inc"
#include "mhlo_dialect.cc.inc"
#define GET_OP_CLASSES
#include "hal_ops.cc.inc"
#define GET_OP_CLASSES
#include "iree_ops.cc.inc"

void hal::HalDialect::initialize() {
  addOperations<ExecutableTargetOp, InterfaceOp, InterfaceBindingOp, InterfaceLoadTensorOp, InterfaceStoreTensorOp,
                InterfaceWorkgroupIdOp>();
}

void iree::IreeDialect::initialize() { addOperations<PlaceholderOp>(); }

void mhlo::MhloDialect::initialize() { allowUnknownOperations(); }

mlir::Attribute mhlo::MhloDialect::parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const {
  auto name = mlir::StringAttr::get(getContext(), getNamespace());
  return mlir::OpaqueAttr::get(name, parser.getFullSymbolSpec(), type ? type : mlir::NoneType::get(getContext()));
}

llvm::LogicalResult hal::InterfaceBindingOp::verify() {
  Callback callback;
  char *error = nullptr;
  return shell_report(*this, hooks_verify_binding(wrap(getOperation()), &error), error);
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Hal, hal, hal::HalDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Iree, iree, iree::IreeDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Mhlo, mhlo, mhlo::MhloDialect)
