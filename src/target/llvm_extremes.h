// Puts maxima and minima of narrow floats back into f32.
#ifndef HEDDLE_TARGET_LLVM_EXTREMES_H_
#define HEDDLE_TARGET_LLVM_EXTREMES_H_

#include <llvm-c/Core.h>

// Every call of llvm.maximum and llvm.minimum on half or bfloat (vectors too) becomes one on float between an extension
// and a truncation, which changes no result.
void llvm_widen_extremes(LLVMModuleRef module);

#endif
