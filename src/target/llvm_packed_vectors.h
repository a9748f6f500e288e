// Vectors of i2, i4 and bytes for machines that have no registers for them.
#ifndef HEDDLE_TARGET_LLVM_PACKED_VECTORS_H_
#define HEDDLE_TARGET_LLVM_PACKED_VECTORS_H_

#include <llvm-c/Core.h>

#include "base/arena.h"

// Elements of loaded and of cast vectors of i2 and i4, read one by one at known places, are shifted out of words
// instead. Vectors of more than four bytes are loaded and stored as vectors of words. Comes behind all passes: LLVM
// would undo it.
void llvm_open_packed_vectors(arena *scratch, LLVMModuleRef module);

#endif
