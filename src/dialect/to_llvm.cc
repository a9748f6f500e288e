// The C++ behind to_llvm.h.
#include "dialect/to_llvm.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

static LowerToLLVMOptions optionsOf(MLIRContext *context, int indexBits) {
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(indexBits);
  return options;
}

struct to_llvm {
  LLVMTypeConverter types;
  FrozenRewritePatternSet conversions, vectors;

  to_llvm(MLIRContext *context, int indexBits) : types(context, optionsOf(context, indexBits)) {
    RewritePatternSet patterns(context);
    populateComplexToLLVMConversionPatterns(types, patterns);
    vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
    vector::populateVectorTransferLoweringPatterns(patterns);
    populateVectorToLLVMMatrixConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns, /*reassociateFPReductions=*/false,
                                           /*force32BitVectorIndices=*/true);
    populateMathToLLVMConversionPatterns(types, patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    conversions = FrozenRewritePatternSet(std::move(patterns));

    // As convert-vector-to-llvm does first.
    RewritePatternSet lowerings(context);
    vector::populateVectorToVectorCanonicalizationPatterns(lowerings);
    vector::populateVectorBroadcastLoweringPatterns(lowerings);
    vector::populateVectorContractLoweringPatterns(lowerings, vector::VectorTransformsOptions());
    vector::populateVectorMaskOpLoweringPatterns(lowerings);
    vector::populateVectorShapeCastLoweringPatterns(lowerings);
    vector::populateVectorTransposeLoweringPatterns(lowerings, vector::VectorTransformsOptions());
    vector::populateVectorTransferLoweringPatterns(lowerings, /*maxTransferRank=*/1);
    vectors = FrozenRewritePatternSet(std::move(lowerings));
  }
};

to_llvm *to_llvm_create(MlirContext context, int indexBits) { return new to_llvm(unwrap(context), indexBits); }

void to_llvm_destroy(to_llvm *conversion) { delete conversion; }

bool to_llvm_prepare_vectors(const to_llvm *conversion, MlirOperation module) {
  return succeeded(applyPatternsAndFoldGreedily(unwrap(module), conversion->vectors));
}

bool to_llvm_convert(const to_llvm *conversion, MlirOperation module) {
  LLVMConversionTarget target(*unwrap(module)->getContext());
  return succeeded(applyPartialConversion(unwrap(module), target, conversion->conversions));
}
