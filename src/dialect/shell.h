// What the C++ shells of our dialects share: how they call rules in C, and report what these find.
#ifndef HEDDLE_DIALECT_SHELL_H_
#define HEDDLE_DIALECT_SHELL_H_

#include <cstdlib>

#include "mlir/IR/Operation.h"

#include "dialect/hooks.h"

// Around each call of C.
struct Callback {
  int before = xla_gpu_enter_c();
  ~Callback() { xla_gpu_leave_c(before); }
};

inline llvm::LogicalResult shell_report(mlir::Operation *op, bool valid, char *error) {
  if (valid) return mlir::success();
  op->emitOpError(error);
  free(error);
  return mlir::failure();
}

#endif
