// Says to LLVM which accesses of a kernel never meet.
#ifndef HEDDLE_TARGET_LLVM_ALIAS_SCOPES_H_
#define HEDDLE_TARGET_LLVM_ALIAS_SCOPES_H_

#include <llvm-c/Core.h>

#include "base/arena.h"

// In each function all of whose pointers are noalias: every argument that is written gets an alias scope. Its own
// accesses carry it as `!alias.scope`, all others as `!noalias`.
void llvm_scope_accesses(arena *scratch, LLVMModuleRef module);

#endif
