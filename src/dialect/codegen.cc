// The C++ behind codegen.h: a pass manager that does not take every pass it is given.
#include "dialect/codegen.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

struct ChoosyPassManager : legacy::PassManager {
  bool (*leavesOut)(const char *, size_t);

  void add(Pass *pass) override {
    StringRef name = pass->getPassName();
    if (leavesOut(name.data(), name.size())) delete pass;
    else legacy::PassManager::add(pass);
  }
};

}  // namespace

// Members are destroyed from the last to the first: the passes before what they write to.
struct codegen {
  SmallVector<char, 0> code;
  raw_svector_ostream stream{code};
  ChoosyPassManager passes;
};

codegen *codegen_create(LLVMTargetMachineRef tm, LLVMCodeGenFileType type, bool (*leavesOut)(const char *, size_t)) {
  auto *c = new codegen;
  c->passes.leavesOut = leavesOut;
  auto kind = type == LLVMAssemblyFile ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
  if (!reinterpret_cast<TargetMachine *>(tm)->addPassesToEmitFile(c->passes, c->stream, nullptr, kind)) return c;
  delete c;
  return nullptr;
}

LLVMMemoryBufferRef codegen_run(codegen *c, LLVMModuleRef module) {
  c->code.clear();
  c->passes.run(*unwrap(module));
  return LLVMCreateMemoryBufferWithMemoryRangeCopy(c->code.data(), c->code.size(), "");
}

void codegen_destroy(codegen *c) { delete c; }
