// InstCombine moves extensions behind llvm.maximum and llvm.minimum, and so makes of what was written in f32 a maximum
// of halves. LLVM 19 expands vectors of those into a comparison that takes NaN for zero: the maximum of NaN and 0 comes
// out as 0. (The expansion is also many times longer than f32's, which x86 has instructions for.)
#include "target/llvm_extremes.h"

#include <stdbool.h>
#include <string.h>

static bool is_extreme(LLVMValueRef function) {
  static const char *const names[] = {"llvm.maximum", "llvm.minimum"};
  const unsigned id = LLVMGetIntrinsicID(function);
  for (size_t k = 0; id && k < sizeof names / sizeof *names; k++)
    if (LLVMLookupIntrinsicID(names[k], strlen(names[k])) == id) return true;
  return false;
}

// The same shape of float, or null if `type` is not one of narrow floats.
static LLVMTypeRef widened(LLVMTypeRef type) {
  const bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  const LLVMTypeKind element = LLVMGetTypeKind(is_vector ? LLVMGetElementType(type) : type);
  if (element != LLVMHalfTypeKind && element != LLVMBFloatTypeKind) return NULL;
  LLVMTypeRef wide = LLVMFloatTypeInContext(LLVMGetTypeContext(type));
  return is_vector ? LLVMVectorType(wide, LLVMGetVectorSize(type)) : wide;
}

static void widen(LLVMModuleRef module, LLVMBuilderRef builder, LLVMValueRef call, LLVMTypeRef wide) {
  const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(call));
  LLVMValueRef extreme = LLVMGetIntrinsicDeclaration(module, id, &wide, 1), operands[2];
  LLVMPositionBuilderBefore(builder, call);
  for (unsigned k = 0; k < 2; k++) operands[k] = LLVMBuildFPExt(builder, LLVMGetOperand(call, k), wide, "");
  LLVMValueRef result = LLVMBuildCall2(builder, LLVMGlobalGetValueType(extreme), extreme, operands, 2, "");
  LLVMReplaceAllUsesWith(call, LLVMBuildFPTrunc(builder, result, LLVMTypeOf(call), ""));
  LLVMInstructionEraseFromParent(call);
}

void llvm_widen_extremes(LLVMModuleRef module) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  // Declarations made on the way are appended, and are of float.
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    LLVMTypeRef wide = is_extreme(f) ? widened(LLVMGetReturnType(LLVMGlobalGetValueType(f))) : NULL;
    for (LLVMUseRef use = wide ? LLVMGetFirstUse(f) : NULL; use; use = LLVMGetFirstUse(f))
      widen(module, builder, LLVMGetUser(use), wide);
  }
  LLVMDisposeBuilder(builder);
}
