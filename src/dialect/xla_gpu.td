// The xla_gpu dialect: loops over indexing maps, calls without side effects, shared memory, and reductions of a GPU's
// thread hierarchy. Rules (verifiers, canonicalization) are C functions, see hooks.h.
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def XlaGpuDialect : Dialect {
  let name = "xla_gpu";
  let cppNamespace = "::xla_gpu";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    ::xla_gpu_state *state = nullptr;
  }];
  let hasNonDefaultDestructor = 1;
}

def IndexingMapAttr : AttrDef<XlaGpuDialect, "IndexingMap"> {
  let mnemonic = "indexing_map";
  let summary = "which element belongs to which point; equal maps are equal attributes whatever their variables are called";
  let parameters = (ins StringRefParameter<"canonical text">:$key);
  let genStorageClass = 0;
  let storageClass = "IndexingMapAttrStorage";
  let storageNamespace = "detail";
  let genAccessors = 0;
  let hasCustomAssemblyFormat = 1;
}

def IndexedVectorType : TypeDef<XlaGpuDialect, "IndexedVector"> {
  let mnemonic = "indexed_vector";
  let summary = "a tensor whose elements are spread over threads as a map says";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "IndexingMapAttr":$map);
  let hasCustomAssemblyFormat = 1;
}

class XlaGpuOp<string mnemonic, list<Trait> traits = []> : Op<XlaGpuDialect, mnemonic, traits> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyInC(getOperation()); }
  }];
}

// An op whose results are named for the reader.
class NamedOp<string mnemonic, string resultName, list<Trait> traits = []>
    : XlaGpuOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>], traits)> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyInC(getOperation()); }
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      nameResults(getOperation(), setName, "}] # resultName # [{");
    }
  }];
}

class SameTypes<string from, string to> : TypesMatchWith<from # " and " # to # " have the same type", from, to, "$_self">;
class ElementOf<string tensor, string element>
    : TypesMatchWith<element # " has the element type of " # tensor, tensor, element, "::mlir::getElementTypeOrSelf($_self)">;

// MLIR's own constraint looks at the type of an optional operand even where there is none.
def PaddingIsElement : ElementOf<"operand", "padding"> {
  let predicate = CPred<"$_op.getNumOperands() == 1 || "
                        "::mlir::getElementTypeOrSelf($operand.getType()) == $padding.getType()">;
}

def AllocateSharedOp : NamedOp<"allocate_shared", "shmem"> {
  let summary = "a tensor in the memory that a block's threads share";
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def SyncThreadsOp : NamedOp<"sync_threads", "synced_tensor", [SameTypes<"operands", "results">]> {
  let summary = "the tensors after every thread of the block has written its part";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$operands attr-dict `:` type($operands)";
}

def ApplyIndexingOp : NamedOp<"apply_indexing", "", [Pure]> {
  let summary = "the map's results at a point; the operands are its dims, then its symbols";
  let arguments = (ins Variadic<Index>:$operands, IndexingMapAttr:$map);
  let results = (outs Variadic<Index>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
}

def LoopOp : XlaGpuOp<"loop", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames", "getAsmBlockArgumentNames"]>]> {
  let summary = "runs the body at every value of the map's range variables where dim bounds and constraints hold";
  let arguments = (ins Variadic<Index>:$dims, Variadic<AnyType>:$inits, IndexingMapAttr:$map);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
}

def YieldOp : XlaGpuOp<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["LoopOp", "AtomicRmwOp"]>]> {
  let summary = "the values of a body";
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ /* a body that yields nothing */ }]>];
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def PureCallOp : NamedOp<"pure_call", "pure_call", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call of a function without side effects";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
}

def AtomicRmwOp : NamedOp<"atomic_rmw", "atomic_rmw", [Pure, SameTypes<"input", "result">]> {
  let summary = "replaces an element by the body's value of it, undivided";
  let arguments = (ins AnyRankedTensor:$input, Variadic<Index>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input `[` $indices `]` `:` type($input) $body attr-dict";
  let hasCanonicalizer = 1;
}

def PredicatedInsertOp : XlaGpuOp<"predicated_insert", [
    Pure, SameTypes<"dest", "result">, ElementOf<"dest", "value">]> {
  let summary = "tensor.insert where the condition holds";
  let arguments = (ins AnyType:$value, AnyStaticShapeTensor:$dest, Variadic<Index>:$indices, I1:$condition);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value `into` $dest `[` $indices `]` `if` $condition attr-dict `:` type($dest)";
}

def PredicatedExtractOp : XlaGpuOp<"predicated_extract", [
    Pure, ElementOf<"source", "result">, ElementOf<"source", "fallback">]> {
  let summary = "tensor.extract where the condition holds, else the fallback";
  let arguments = (ins I1:$condition, AnyType:$fallback, AnyStaticShapeTensor:$source, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $indices `]` `if` $condition `else` $fallback attr-dict `:` type($source)";
}

def ShuffleReduceOp : XlaGpuOp<"shuffle_reduce", [
    Pure, SameTypes<"operands", "results">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "combines the values of a warp's lanes at distances N, N/2, ... 1";
  let arguments = (ins FlatSymbolRefAttr:$combiner, Variadic<AnyType>:$operands, I64Attr:$max_distance);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "`(` $operands `)` `to` $max_distance `combiner` `=` $combiner attr-dict `:` type($operands)";
}

def MaterializeOp : NamedOp<"materialize", "materialized", [
    Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the values of a function at a map's points, kept by the threads that made them";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<Index>:$indices, FlatSymbolRefAttr:$callee,
                       IndexingMapAttr:$map);
  let results = (outs IndexedVectorType:$result);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `at` $map `(` $indices `)` attr-dict `:` functional-type($inputs, results)
  }];
}

def InsertOp : XlaGpuOp<"insert", [Pure, SameTypes<"dest", "result">]> {
  let summary = "writes a spread-out vector's elements where the map sends their positions";
  let arguments = (ins IndexedVectorType:$source, AnyRankedTensor:$dest, Variadic<Index>:$indices, IndexingMapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `(` $indices `)` `into` $dest `at` $map attr-dict `:` type($source) `->` type($dest)
  }];
}

def ReduceOp : XlaGpuOp<"reduce", [
    Pure, SameVariadicOperandSize, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    TypesMatchWith<"inits have the inputs' element types", "inputs", "inits", "elementTypes($_self)">]> {
  let summary = "combines the elements along the given dimensions";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyType>:$inits, DenseI64ArrayAttr:$dimensions,
                       FlatSymbolRefAttr:$combiner);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `(` $inputs `)` `inits` `(` $inits `)` `dimensions` `=` $dimensions `combiner` `=` $combiner attr-dict
    `:` type($inputs) `to` type($results)
  }];
}

def ReindexOp : XlaGpuOp<"reindex", [Pure, PaddingIsElement]> {
  let summary = "the tensor seen through an output-to-input map, padding where the map's domain ends";
  let arguments = (ins AnyRankedTensor:$operand, Optional<AnyType>:$padding, IndexingMapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $operand `at` $map (`default` $padding^)? attr-dict `:` type($operand) `->` type($result)
  }];
}
