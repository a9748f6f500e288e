// C API of the xla_gpu dialect and of the few MLIR services that the C API of MLIR 19 lacks.
#ifndef HEDDLE_DIALECT_XLA_GPU_H_
#define HEDDLE_DIALECT_XLA_GPU_H_

#include <mlir-c/IR.h>
#include <mlir-c/Rewrite.h>

#include "index/indexing_map.h"

// The handle (mlirDialectHandleRegisterDialect / LoadDialect) of the dialect.
MlirDialectHandle mlirGetDialectHandle__xla_gpu__(void);

// The attribute #xla_gpu.indexing_map<"...">, uniqued by its canonical text: maps that differ in the names of their
// variables only are one attribute, printed with the names of whoever made it first. The map is copied into the
// context.
MlirAttribute xla_gpu_indexing_map_attribute(MlirContext context, const indexing_map *map);
bool xla_gpu_is_indexing_map(MlirAttribute attribute);
// The parsed map; lives as long as the context.
const indexing_map *xla_gpu_indexing_map(MlirAttribute attribute);

// Parts of a !xla_gpu.indexed_vector type; false if the type is another. Memory belongs to the context.
bool xla_gpu_indexed_vector(MlirType type, intptr_t *rank, const int64_t **shape, MlirType *element,
                            MlirAttribute *map);

// What the context has of Heddle's.
struct arena *xla_gpu_memory(MlirContext context);
// One pointer per context for the owner of the context (ir_context_create); null at first.
void **xla_gpu_context_slot(MlirContext context);

// The canonicalizations of the operations of some dialects, or of all loaded dialects (count < 0). To be destroyed with
// mlirFrozenRewritePatternSetDestroy before the context is.
MlirFrozenRewritePatternSet xla_gpu_canonicalizations(MlirContext context, int count, const char *const *dialects);
// What MLIR's canonicalize does, with patterns collected before. Where no operation branches, has no region more than
// one block, and blocks and their arguments need not be looked at. Walked once, a kernel's operations are visited again
// where something changes near them; otherwise until a walk finds nothing.
void xla_gpu_canonicalize(MlirOperation op, MlirFrozenRewritePatternSet patterns, bool has_branches,
                          bool is_walked_once);

// From now on C++ code without memory, LLVM's and everyone's in the process, ends what this thread's guard watches
// (base/guard.h); on other threads all is as before. Once.
void xla_gpu_watch_memory(void);

// Of the operation's name, attributes and result types; not of its operands and regions. Differs between processes.
size_t xla_gpu_operation_hash(MlirOperation op);

#endif
