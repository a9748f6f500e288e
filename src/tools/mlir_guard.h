// What MLIR 19's parser does not survive is refused before it reads it.
#ifndef HEDDLE_TOOLS_MLIR_GUARD_H_
#define HEDDLE_TOOLS_MLIR_GUARD_H_

#include "base/status.h"
#include "base/str.h"

// HEDDLE_INVALID, with line and column, for an scf.forall whose region ends with another terminator than its own, for
// iterator types that are none, for numbers in an array of single bits, and for an operation whose own region defines
// one of its operands. All else MLIR's parser takes or refuses.
heddle_status mlir_guard_check(str source);

#endif
