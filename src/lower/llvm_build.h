// Operations of the LLVM dialect that several passes build: addresses, loads and stores, globals, calls.
#ifndef HEDDLE_LOWER_LLVM_BUILD_H_
#define HEDDLE_LOWER_LLVM_BUILD_H_

#include "emit/ir_builder.h"

MlirType llvm_build_pointer_type(MlirContext c, int address_space);

// base + index * sizeof(element), inbounds. A constant index that fits into 31 bits is folded into the address.
MlirValue llvm_build_address(ir_builder *b, MlirValue base, MlirType element, MlirValue index);

// base + index * sizeof(element), wherever that is: on the way to an address, or between two. index: an i64.
MlirValue llvm_build_step(ir_builder *b, MlirValue base, MlirType element, MlirValue index);
MlirValue llvm_build_fixed_step(ir_builder *b, MlirValue base, MlirType element, int64_t index);

// What MLIR's lowering of memory makes of a memref of that rank (allocated and aligned pointer, offset, sizes,
// strides), and the aligned pointer of such a value.
MlirType llvm_build_descriptor_type(ir_builder *b, int rank);
MlirValue llvm_build_descriptor_pointer(ir_builder *b, MlirValue descriptor);

// alignment in bytes; invariant: nobody writes this memory while the kernel runs.
MlirValue llvm_build_load(ir_builder *b, MlirType type, MlirValue address, int alignment, bool invariant);
void llvm_build_store(ir_builder *b, MlirValue value, MlirValue address, int alignment);
// Past the caches: for memory that is not read again soon. Aligned vectors only.
void llvm_build_streaming_store(ir_builder *b, MlirValue value, MlirValue address, int alignment);

// Masked forms: lanes that are off read as `otherwise` and are not written. mask: vector of i1.
MlirValue llvm_build_masked_load(ir_builder *b, MlirValue address, MlirValue mask, MlirValue otherwise, int alignment);
void llvm_build_masked_store(ir_builder *b, MlirValue value, MlirValue address, MlirValue mask, int alignment);

// Atomic read-modify-write; kind as LLVM's dialect spells it: "add", "_and", "_or", "xchg", "max", "umin", "fadd", …
// Returns the old value.
MlirValue llvm_build_atomic(ir_builder *b, const char *kind, MlirValue address, MlirValue value);

// Of memory that several threads change at once, naturally aligned.
MlirValue llvm_build_atomic_load(ir_builder *b, MlirType type, MlirValue address);
void llvm_build_atomic_store(ir_builder *b, MlirValue value, MlirValue address);
// Stores the integer `desired` if memory holds `expected`; returns what it held, and in *done whether it was stored.
MlirValue llvm_build_exchange(ir_builder *b, MlirValue address, MlirValue expected, MlirValue desired, MlirValue *done);

// A global variable `name` at the start of the module. value null: uninitialised (shared memory).
typedef struct llvm_build_global {
  const char *name;
  MlirType type;  // an LLVM type
  MlirAttribute value;
  int address_space;
  int alignment;
  bool constant;
} llvm_build_global;
void llvm_build_global_variable(MlirOperation module, llvm_build_global global, arena *a);
MlirValue llvm_build_address_of(ir_builder *b, const char *global, int address_space);

// Calls an external function (T, …) -> T of equal scalar types, declaring it in the module on first use.
MlirValue llvm_build_call(ir_builder *b, MlirOperation module, const char *callee, MlirType result, int count,
                          const MlirValue *arguments);

// The same for vectors: a call for each lane. Scalars are one lane.
MlirValue llvm_build_call_lanes(ir_builder *b, MlirOperation module, const char *callee, int count,
                                const MlirValue *arguments);

#endif
