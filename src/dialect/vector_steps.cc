// The C++ behind vector_steps.h.
#include "dialect/vector_steps.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Linalg/Transforms/Hoisting.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

static void populate(vector_step step, RewritePatternSet &patterns) {
  vector::VectorTransformsOptions options;
  options.setVectorTransformsOptions(vector::VectorContractLowering::OuterProduct);
  options.setVectorTransposeLowering(vector::VectorTransposeLowering::Shuffle16x16);
  switch (step) {
    case VECTOR_STEP_RECOGNIZE:
      vector::populateVectorReductionToContractPatterns(patterns);
      vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
      return;
    case VECTOR_STEP_VIEWS: memref::populateFoldMemRefAliasOpPatterns(patterns); return;
    case VECTOR_STEP_LOWER:
      vector::populateVectorContractLoweringPatterns(patterns, options);
      vector::populateVectorMultiReductionLoweringPatterns(patterns,
                                                           vector::VectorMultiReductionLowering::InnerReduction);
      vector::populateVectorBroadcastLoweringPatterns(patterns);
      vector::populateVectorTransposeLoweringPatterns(patterns, options);
      return;
    case VECTOR_STEP_UNIT_DIMS: vector::populateCastAwayVectorLeadingOneDimPatterns(patterns); return;
    case VECTOR_STEP_ROWS:
      vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
      populateVectorToSCFConversionPatterns(patterns, VectorTransferToSCFOptions().enableFullUnroll().setTargetRank(1));
      vector::populateVectorShapeCastLoweringPatterns(patterns);
      vector::populateVectorMaskOpLoweringPatterns(patterns);
      return;
    case VECTOR_STEP_COUNT: return;
  }
}

MlirFrozenRewritePatternSet vector_steps_collect(MlirContext context, vector_step step) {
  RewritePatternSet patterns(unwrap(context));
  populate(step, patterns);
  return {new FrozenRewritePatternSet(std::move(patterns))};
}

bool vector_steps_apply(MlirOperation op, MlirFrozenRewritePatternSet patterns, bool hasBranches) {
  GreedyRewriteConfig config;
  config.maxIterations = GreedyRewriteConfig::kNoLimit;
  config.enableRegionSimplification =
      hasBranches ? GreedySimplifyRegionLevel::Normal : GreedySimplifyRegionLevel::Disabled;
  return succeeded(
      applyPatternsAndFoldGreedily(unwrap(op), *static_cast<FrozenRewritePatternSet *>(patterns.ptr), config));
}

void vector_steps_hoist(MlirOperation op) { linalg::hoistRedundantVectorTransfers(unwrap(op)); }
