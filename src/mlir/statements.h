// Single operations of a text whose other operations are not StableHLO's.
#ifndef HEDDLE_MLIR_STATEMENTS_H_
#define HEDDLE_MLIR_STATEMENTS_H_

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

typedef struct mlir_statements mlir_statements;

// A reader in `a`, which what it reads lives in as well. `file` is what errors call the text; both have to stay.
mlir_statements *mlir_statements_open(arena *a, const char *file, str source);

// Reads the operation whose name stands at `at`, in whatever form it has, and appends its generic form, which uses the
// values that others define by their names in the text. What it names itself, in regions, is `%<prefix>0` and so on.
// *end: behind the operation. MHLO's names become StableHLO's, as mlir_text_read has them. HEDDLE_INVALID, with line
// and column, for what is no such operation, or whose regions, in a form that is not generic, use values from outside.
// To be called no more after an error.
heddle_status mlir_statements_generic(mlir_statements *s, size_t at, const char *prefix, text *out, size_t *end);

#endif
