// That a dispatch region on buffers needs no memory but its bindings' and what a workgroup has.
//
// Whoever calls regions orders memory between them, and cannot know of more. So a region may name memory in these ways
// only: what a binding stands for (iree.placeholder), constants, a part or another view of memory that it may name, and
// buffers of known size, which together are no larger than what a workgroup has. Every operation that makes a memref is
// looked at; an unknown one is an error. So is what would be memory by another name: addresses, tensors, variables,
// vectors that no registers hold, buffers that a loop carries from one turn to the next (of which there would be as
// many as turns), a view of more than there is of a binding, and a binding that is only to be read as a place to write
// to.
#ifndef HEDDLE_TILE_MEMORY_PROOF_H_
#define HEDDLE_TILE_MEMORY_PROOF_H_

#include "emit/ir_builder.h"

// Makes the proof; *bytes is what the region's buffers come to. HEDDLE_UNIMPLEMENTED, with the place of the operation
// that it fails at.
heddle_status memory_proof_make(arena *a, MlirOperation function, int64_t *bytes);

// Whether the operation only reads the memory that is its operand of this number, or hands it on. What is not known may
// write.
bool memory_proof_only_reads(MlirOperation op, int operand);

// Of memory of this type; -1 if that is not known.
int64_t memory_proof_bytes(MlirType memory);

// The operations that make the region's buffers.
ir_operations memory_proof_buffers(arena *a, MlirOperation function);

// The outermost loop over workgroups (scf.forall) that the operation is in, or is; null if there is none. Such loops
// run one behind the other, and what they need can be the same memory.
MlirOperation memory_proof_workgroups(MlirOperation op);

#endif
