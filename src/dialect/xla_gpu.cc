// The C++ shell of the dialect: what MLIR 19 takes from C++ only. Every decision is made in C (hooks.h).
#include <new>

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "dialect/shell.h"

#include "xla_gpu_dialect.h.inc"

namespace xla_gpu::detail {
struct IndexingMapAttrStorage : mlir::AttributeStorage {
  using KeyTy = llvm::StringRef;
  explicit IndexingMapAttrStorage(llvm::StringRef key) : key(key) {}
  bool operator==(const KeyTy &other) const { return key == other; }
  static IndexingMapAttrStorage *construct(mlir::AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<IndexingMapAttrStorage>()) IndexingMapAttrStorage(allocator.copyInto(key));
  }
  llvm::StringRef key;
  xla_gpu_map_slot slot = {};
};
}  // namespace xla_gpu::detail

#define GET_ATTRDEF_CLASSES
#include "xla_gpu_attributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "xla_gpu_types.h.inc"
#define GET_OP_CLASSES
#include "xla_gpu_ops.h.inc"

using namespace mlir;

// --- shared by the generated code

static LogicalResult verifyInC(Operation *op) {
  Callback callback;
  char *error = nullptr;
  return shell_report(op, xla_gpu_verify(wrap(op), &error), error);
}

static LogicalResult verifyCallee(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  Callback callback;
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  char *error = nullptr;
  return shell_report(op, xla_gpu_verify_callee(wrap(op), wrap(callee.getOperation()), &error), error);
}

static void nameResults(Operation *op, OpAsmSetValueNameFn setName, llvm::StringRef name) {
  if (op->getNumResults() > 0 && !name.empty()) setName(op->getResult(0), name);
}

static SmallVector<Type> elementTypes(TypeRange tensors) {
  return llvm::map_to_vector(tensors, [](Type type) { return getElementTypeOrSelf(type); });
}

namespace {
// Runs a canonicalization written in C.
struct PatternInC : RewritePattern {
  PatternInC(llvm::StringRef name, xla_gpu_rewrite rewrite, MLIRContext *context)
      : RewritePattern(name, /*benefit=*/1, context), rewrite(rewrite) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Callback callback;
    MlirRewriterBase handle = {static_cast<RewriterBase *>(&rewriter)};
    return success(rewrite(handle, wrap(op)));
  }
  xla_gpu_rewrite rewrite;
};

struct AsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (!isa<xla_gpu::IndexingMapAttr>(attribute)) return AliasResult::NoAlias;
    os << "map";
    return AliasResult::FinalAlias;
  }
};
}  // namespace

#include "xla_gpu_dialect.cc.inc"
#define GET_ATTRDEF_CLASSES
#include "xla_gpu_attributes.cc.inc"
#define GET_TYPEDEF_CLASSES
#include "xla_gpu_types.cc.inc"
#define GET_OP_CLASSES
#include "xla_gpu_ops.cc.inc"

namespace xla_gpu {

void XlaGpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "xla_gpu_ops.cc.inc"
      >();
  addAttributes<IndexingMapAttr>();
  addTypes<IndexedVectorType>();
  addInterfaces<AsmInterface>();
  Callback callback;
  state = xla_gpu_state_create();
}

XlaGpuDialect::~XlaGpuDialect() { xla_gpu_state_destroy(state); }

// --- the attribute and the type

Attribute IndexingMapAttr::parse(AsmParser &parser, Type) {
  std::string all, part;
  if (parser.parseLess() || parser.parseString(&all)) return {};
  while (succeeded(parser.parseOptionalString(&part))) all += part;
  auto where = parser.getCurrentLocation();
  if (parser.parseGreater()) return {};
  Callback callback;
  char *error = nullptr;
  MlirAttribute made = xla_gpu_map_from_text(wrap(parser.getContext()), wrap(StringRef(all)), &error);
  if (!made.ptr) parser.emitError(where, error);
  free(error);
  return unwrap(made);
}

void IndexingMapAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << (getImpl()->slot.spelling ? StringRef(getImpl()->slot.spelling) : getImpl()->key) << "\">";
}

Type IndexedVectorType::parse(AsmParser &parser) {
  SmallVector<int64_t, 4> shape;
  Type element;
  IndexingMapAttr map;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(map) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, element, map);
}

void IndexedVectorType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape()) printer << size << "x";
  printer << getElementType() << ", " << getMap() << ">";
}

// --- apply_indexing: `#map(dims)[symbols]`

ParseResult ApplyIndexingOp::parse(OpAsmParser &parser, OperationState &result) {
  IndexingMapAttr map;
  SmallVector<OpAsmParser::UnresolvedOperand, 8> operands;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseAttribute(map, "map", result.attributes) ||
      parser.parseOperandList(operands, OpAsmParser::Delimiter::OptionalParen) ||
      parser.parseOperandList(operands, OpAsmParser::Delimiter::OptionalSquare) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.resolveOperands(operands, index, result.operands))
    return failure();
  result.addTypes(SmallVector<Type>(xla_gpu_map_result_count(wrap(map)), index));
  return success();
}

void ApplyIndexingOp::print(OpAsmPrinter &printer) {
  size_t dims = std::min<size_t>(xla_gpu_map_dim_count(wrap(getMap())), getNumOperands());
  printer << " " << getMap();
  if (dims > 0) printer << "(" << getOperands().take_front(dims) << ")";
  if (dims < getNumOperands()) printer << "[" << getOperands().drop_front(dims) << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"map"});
}

void ApplyIndexingOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(std::make_unique<PatternInC>(getOperationName(), xla_gpu_canonicalize_apply_indexing, context));
}

// --- loop: `(dims)[ivs] -> (map results) in #map iter_args(iter = init) -> (types) { body }`

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand, 4> dims, inits;
  SmallVector<OpAsmParser::Argument, 8> arguments, points, iters;
  IndexingMapAttr map;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseOperandList(dims, OpAsmParser::Delimiter::Paren) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Square) || parser.parseArrow() ||
      parser.parseArgumentList(points, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parser.parseAttribute(map, "map", result.attributes) || parser.parseKeyword("iter_args") ||
      parser.parseAssignmentList(iters, inits))
    return failure();
  arguments.append(points);
  for (auto &argument : arguments) argument.type = index;
  auto where = parser.getCurrentLocation();
  if (parser.parseArrowTypeList(result.types)) return failure();
  if (result.types.size() != iters.size())
    return parser.emitError(where, "mismatch in number of loop-carried values and defined values");
  for (auto [iter, type] : llvm::zip(iters, result.types)) iter.type = type;
  arguments.append(iters);
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments)) return failure();
  LoopOp::ensureTerminator(*body, parser.getBuilder(), result.location);
  result.getOrAddProperties<LoopOp::Properties>().operandSegmentSizes = {int32_t(dims.size()), int32_t(inits.size())};
  return failure(parser.parseOptionalAttrDict(result.attributes) ||
                 parser.resolveOperands(dims, index, result.operands) ||
                 parser.resolveOperands(inits, result.types, where, result.operands));
}

void LoopOp::print(OpAsmPrinter &printer) {
  size_t ranges = xla_gpu_map_range_count(wrap(getMap()));
  auto arguments = getBody().getArguments();
  printer << " (" << getDims() << ")[";
  llvm::interleaveComma(arguments.take_front(ranges), printer);
  printer << "] -> (";
  auto rest = arguments.drop_front(ranges);
  llvm::interleaveComma(rest.drop_back(getInits().size()), printer);
  printer << ") in " << getMap() << " iter_args(";
  llvm::interleaveComma(llvm::zip(rest.take_back(getInits().size()), getInits()), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
  printer << ") -> (" << getResultTypes() << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"map", "operandSegmentSizes"});
}

void LoopOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameResults(getOperation(), setName, "xla_loop"); }

void LoopOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  size_t ranges = xla_gpu_map_range_count(wrap(getMap()));
  auto arguments = region.getArguments();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (i < ranges) {
      StringRef name = unwrap(xla_gpu_map_range_name(wrap(getMap()), i));
      setName(argument, name.empty() ? "s" + std::to_string(i) : name.str());
    } else if (i < arguments.size() - getInits().size()) {
      setName(argument, "dim" + std::to_string(i - ranges));
    } else {
      setName(argument, "iter");
    }
  }
}

void LoopOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(std::make_unique<PatternInC>(getOperationName(), xla_gpu_canonicalize_loop, context));
}

void AtomicRmwOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(std::make_unique<PatternInC>(getOperationName(), xla_gpu_canonicalize_atomic_rmw, context));
}

// --- functions named by operations

LogicalResult PureCallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCalleeAttr(), symbols);
}
LogicalResult ShuffleReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCombinerAttr(), symbols);
}
LogicalResult MaterializeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCalleeAttr(), symbols);
}
LogicalResult ReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCombinerAttr(), symbols);
}

}  // namespace xla_gpu

// --- C++ for C

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(XlaGpu, xla_gpu, xla_gpu::XlaGpuDialect)

extern "C" {

xla_gpu_state *xla_gpu_context_state(MlirContext context) {
  return unwrap(context)->getOrLoadDialect<xla_gpu::XlaGpuDialect>()->state;
}

MlirAttribute xla_gpu_attribute_for_key(MlirContext context, MlirStringRef key) {
  return wrap(xla_gpu::IndexingMapAttr::get(unwrap(context), unwrap(key)));
}

xla_gpu_map_slot *xla_gpu_attribute_slot(MlirAttribute attribute) {
  auto map = llvm::dyn_cast_or_null<xla_gpu::IndexingMapAttr>(unwrap(attribute));
  auto *storage = map ? static_cast<xla_gpu::detail::IndexingMapAttrStorage *>(map.getImpl()) : nullptr;
  return storage ? &storage->slot : nullptr;
}

bool xla_gpu_indexed_vector(MlirType type, intptr_t *rank, const int64_t **shape, MlirType *element,
                            MlirAttribute *map) {
  auto vector = llvm::dyn_cast<xla_gpu::IndexedVectorType>(unwrap(type));
  if (!vector) return false;
  *rank = vector.getShape().size();
  *shape = vector.getShape().data();
  *element = wrap(vector.getElementType());
  *map = wrap(vector.getMap());
  return true;
}

MlirFrozenRewritePatternSet xla_gpu_canonicalizations(MlirContext c, int count, const char *const *dialects) {
  MLIRContext *context = unwrap(c);
  auto isWanted = [&](Dialect *dialect) {
    return count < 0 || llvm::is_contained(ArrayRef(dialects, count), dialect->getNamespace());
  };
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    if (isWanted(dialect)) dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isWanted(&op.getDialect())) op.getCanonicalizationPatterns(patterns, context);
  return {new FrozenRewritePatternSet(std::move(patterns))};
}

void xla_gpu_canonicalize(MlirOperation op, MlirFrozenRewritePatternSet patterns, bool has_branches,
                          bool is_walked_once) {
  GreedyRewriteConfig config;
  if (is_walked_once) config.maxIterations = 1;
  config.useTopDownTraversal = true;
  config.enableRegionSimplification =
      has_branches ? GreedySimplifyRegionLevel::Normal : GreedySimplifyRegionLevel::Disabled;
  // Canonicalization is best effort: a fixpoint that is not reached is no failure.
  (void)applyPatternsAndFoldGreedily(unwrap(op), *static_cast<FrozenRewritePatternSet *>(patterns.ptr), config);
}

size_t xla_gpu_operation_hash(MlirOperation op) {
  return OperationEquivalence::computeHash(unwrap(op), OperationEquivalence::ignoreHashValue,
                                           OperationEquivalence::ignoreHashValue,
                                           OperationEquivalence::IgnoreLocations);
}

// --- memory

static std::new_handler otherHandler;

static void noMemory() {
  xla_gpu_no_memory();
  if (!otherHandler) std::__throw_bad_alloc();
  otherHandler();
}

void xla_gpu_watch_memory() {
  otherHandler = std::set_new_handler(noMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { noMemory(), std::__throw_bad_alloc(); });
}

}  // extern "C"
