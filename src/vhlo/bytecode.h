// Reads MLIR bytecode of the VHLO dialect (as jax.export and PJRT clients write it) into ir.h's form, without MLIR.
#ifndef HEDDLE_VHLO_BYTECODE_H_
#define HEDDLE_VHLO_BYTECODE_H_

#include "mlir/ir.h"

bool bytecode_is(str bytes);  // starts with the magic number
// VHLO 0.9 to 1.17 (bytecode versions 0 to 6); others are refused by number. Every read is checked against the end of
// the input; errors name the byte offset. The module does not point into `bytes`.
heddle_status bytecode_read(arena *a, const char *file, str bytes, ir_module **out);
// What the file's head says: the version of MLIR's container, and who wrote it ("StableHLO_v1.9.0"), a view of `bytes`.
heddle_status bytecode_head(arena *a, const char *file, str bytes, int *version, str *producer);

#endif
