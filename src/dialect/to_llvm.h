// Several dialects to LLVM's in one conversion, which has no C API: a thin call, no decisions.
#ifndef HEDDLE_DIALECT_TO_LLVM_H_
#define HEDDLE_DIALECT_TO_LLVM_H_

#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct to_llvm to_llvm;

// MLIR's patterns that convert arith, cf, complex, func, math and vector, collected once for a context, which outlives
// them. index_bits: the width of `index`.
to_llvm *to_llvm_create(MlirContext context, int index_bits);
void to_llvm_destroy(to_llvm *conversion);

// Converts a module, all dialects at once: operations are visited, and made again, once instead of once for each
// dialect. What has no pattern stays. False, with diagnostics, if an operation could not be converted.
bool to_llvm_convert(const to_llvm *conversion, MlirOperation module);

// Vector operations to those that to_llvm_convert has patterns for, which it needs where there are any. False if their
// rewriting does not end.
bool to_llvm_prepare_vectors(const to_llvm *conversion, MlirOperation module);

#ifdef __cplusplus
}
#endif

#endif
