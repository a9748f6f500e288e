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

bool codegen_emit(LLVMTargetMachineRef tm, LLVMModuleRef module, LLVMCodeGenFileType type,
                  bool (*leavesOut)(const char *, size_t), LLVMMemoryBufferRef *out) {
  SmallVector<char, 0> code;
  raw_svector_ostream stream(code);
  ChoosyPassManager passes;
  passes.leavesOut = leavesOut;
  auto kind = type == LLVMAssemblyFile ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
  if (reinterpret_cast<TargetMachine *>(tm)->addPassesToEmitFile(passes, stream, nullptr, kind)) return false;
  passes.run(*unwrap(module));
  *out = LLVMCreateMemoryBufferWithMemoryRangeCopy(code.data(), code.size(), "");
  return true;
}
