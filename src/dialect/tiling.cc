// The C++ behind tiling.h.
#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "dialect/tiling.h"

using namespace mlir;

bool tiling_is_structured(MlirOperation operation) {
  auto op = llvm::dyn_cast<linalg::LinalgOp>(unwrap(operation));
  return op && op.getNumLoops() <= TILING_MAX_LOOPS;
}

int tiling_loops(MlirOperation operation, int64_t tripCounts[TILING_MAX_LOOPS], bool isReduction[TILING_MAX_LOOPS]) {
  if (!tiling_is_structured(operation)) return -1;
  auto op = llvm::cast<linalg::LinalgOp>(unwrap(operation));
  SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  for (size_t k = 0; k < ranges.size(); k++) {
    tripCounts[k] = ShapedType::isDynamic(ranges[k]) ? -1 : ranges[k];
    isReduction[k] = types[k] == utils::IteratorType::reduction;
  }
  return ranges.size();
}

MlirAffineMap tiling_map(MlirOperation operation, int operand) {
  auto op = llvm::dyn_cast<linalg::LinalgOp>(unwrap(operation));
  if (!op) return {nullptr};
  return wrap(op.getMatchingIndexingMap(&op->getOpOperand(operand)));
}

int tiling_output(MlirOperation operation, int result) {
  auto op = llvm::cast<linalg::LinalgOp>(unwrap(operation));
  return op.getDpsInitOperand(result)->getOperandNumber();
}

static scf::SCFTilingOptions optionsOf(MLIRContext *context, const tiling_request *request) {
  SmallVector<OpFoldResult> sizes;
  Builder builder(context);
  for (int k = 0; k < request->count; k++) sizes.push_back(builder.getIndexAttr(request->sizes[k]));
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  if (request->is_forall) options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  return options;
}

static MlirOperation tileAlone(IRRewriter &rewriter, TilingInterface op, const scf::SCFTilingOptions &options,
                               MlirOperation *loop) {
  auto tiled = scf::tileUsingSCF(rewriter, op, options);
  if (failed(tiled)) return {nullptr};
  rewriter.replaceOp(op, tiled->replacements);
  if (!tiled->loops.empty()) *loop = wrap(tiled->loops.back().getOperation());
  return wrap(tiled->tiledOps.back());
}

static MlirOperation tileAndFuse(IRRewriter &rewriter, TilingInterface op, const scf::SCFTilingOptions &options,
                                 const char *kept, MlirOperation *loop) {
  scf::SCFTileAndFuseOptions fusing;
  fusing.setTilingOptions(options);
  if (kept)
    fusing.setFusionControlFn([kept](tensor::ExtractSliceOp, OpResult producer, bool) {
      return std::make_tuple(!producer.getOwner()->hasAttr(kept), false);
    });
  auto tiled = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, op, fusing);
  if (failed(tiled)) return {nullptr};
  SmallVector<Value> replacements;
  for (Value result : op->getResults()) replacements.push_back(tiled->replacements[result]);
  rewriter.replaceOp(op, replacements);
  if (!tiled->loops.empty()) *loop = wrap(tiled->loops.back().getOperation());
  return wrap(tiled->tiledAndFusedOps.front());
}

MlirOperation tiling_tile(MlirOperation operation, const tiling_request *request, MlirOperation *loop) {
  *loop = {nullptr};
  auto op = llvm::dyn_cast<TilingInterface>(unwrap(operation));
  if (!op) return {nullptr};
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options = optionsOf(op->getContext(), request);
  return request->fuses ? tileAndFuse(rewriter, op, options, request->kept, loop)
                        : tileAlone(rewriter, op, options, loop);
}

bool tiling_fuse_elementwise(MlirOperation root, bool (*may)(MlirOperation producer, MlirOperation consumer)) {
  Operation *op = unwrap(root);
  MLIRContext *context = op->getContext();
  RewritePatternSet patterns(context);
  linalg::ControlFusionFn control = [may](OpOperand *operand) {
    Operation *producer = operand->get().getDefiningOp();
    return producer && producer->hasOneUse() && may(wrap(producer), wrap(operand->getOwner()));
  };
  linalg::populateElementwiseOpsFusionPatterns(patterns, control);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, control);
  linalg::populateConstantFoldLinalgOperations(patterns, control);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  GreedyRewriteConfig topDown;
  topDown.useTopDownTraversal = true;
  return succeeded(applyPatternsAndFoldGreedily(op, std::move(patterns), topDown));
}

MlirOperation tiling_fuse(MlirOperation operation) {
  auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(unwrap(operation));
  if (!slice || !slice.getSource().getDefiningOp<TilingInterface>()) return {nullptr};
  IRRewriter rewriter(slice.getContext());
  rewriter.setInsertionPoint(slice);
  auto tiled = tensor::replaceExtractSliceWithTiledProducer(rewriter, slice, llvm::cast<OpResult>(slice.getSource()));
  if (failed(tiled)) return {nullptr};
  rewriter.replaceOp(slice, tiled->tiledValues[0]);
  return wrap(tiled->tiledOps.back());
}

bool tiling_vectorize(MlirOperation operation) {
  Operation *op = unwrap(operation);
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  return succeeded(linalg::vectorize(rewriter, op));
}

bool tiling_peel(MlirOperation operation) {
  auto loop = llvm::dyn_cast<scf::ForOp>(unwrap(operation));
  scf::ForOp rest;
  if (!loop) return false;
  IRRewriter rewriter(loop.getContext());
  return succeeded(scf::peelForLoopAndSimplifyBounds(rewriter, loop, rest));
}
