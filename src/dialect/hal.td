// The hal, iree and mhlo dialects: what stands around a dispatch region. A region's function takes no arguments; it reads its
// inputs from the bindings of an interface and writes its results to others. Rules are C functions (hal_verify.c).
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HalDialect : Dialect {
  let name = "hal";
  let cppNamespace = "::hal";
}

def IreeDialect : Dialect {
  let name = "iree";
  let cppNamespace = "::iree";
}

// The operations of MHLO are read and printed in their generic form; what they mean is known to src/tile.
def MhloDialect : Dialect {
  let name = "mhlo";
  let cppNamespace = "::mhlo";
  // Attributes are kept as they are written.
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
  }];
}

class InterfaceUser<Dialect dialect, string mnemonic, list<Trait> traits = []>
    : Op<dialect, mnemonic, !listconcat([DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verifySymbolUses(::mlir::SymbolTableCollection &symbols) {
      return verifyBinding(getOperation(), getBinding(), symbols);
    }
  }];
}

def ExecutableTargetOp : Op<HalDialect, "executable.target", [
    IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments, OpAsmOpInterface]> {
  let summary = "a module of dispatch regions, and for which devices it is";
  let arguments = (ins StrAttr:$backend);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$backend attr-dict-with-keyword $body";
  let extraClassDeclaration = [{ static ::llvm::StringRef getDefaultDialect() { return "builtin"; } }];
}

def InterfaceOp : Op<HalDialect, "interface", [
    IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments, SymbolTable, Symbol]> {
  let summary = "the buffers that a dispatch region is called with";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def InterfaceBindingOp : Op<HalDialect, "interface.binding", [Symbol, HasParent<"InterfaceOp">]> {
  let summary = "one buffer, and what may be done with it";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$set, I64Attr:$binding, StrAttr:$type, StrAttr:$access);
  let assemblyFormat = [{
    $sym_name `,` `set` `` `=` `` $set `,` `binding` `` `=` `` $binding `,` `type` `` `=` `` $type `,`
    `access` `` `=` `` $access attr-dict
  }];
  let hasVerifier = 1;
}

def InterfaceLoadTensorOp : InterfaceUser<HalDialect, "interface.load.tensor", [MemoryEffects<[MemRead]>]> {
  let summary = "what a binding holds from an offset in bytes on, as a tensor";
  let arguments = (ins SymbolRefAttr:$binding, Index:$offset);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$binding `,` `offset` `=` $offset attr-dict `:` type($result)";
}

def InterfaceStoreTensorOp : InterfaceUser<HalDialect, "interface.store.tensor", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tensor to a binding, from an offset in bytes on";
  let arguments = (ins AnyStaticShapeTensor:$operand, SymbolRefAttr:$binding, Index:$offset);
  let assemblyFormat = "$operand `,` $binding `,` `offset` `=` $offset attr-dict `:` type($operand)";
}

def InterfaceWorkgroupIdOp : Op<HalDialect, "interface.workgroup.id", [Pure]> {
  let summary = "which workgroup of the dispatch runs this";
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "`` `[` $dimension `]` attr-dict `:` type($result)";
}

def PlaceholderOp : InterfaceUser<IreeDialect, "placeholder", [Pure]> {
  let summary = "the memory that a binding stands for";
  let arguments = (ins StrAttr:$purpose, SymbolRefAttr:$binding);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`for` $purpose attr-dict `:` type($result)";
}
