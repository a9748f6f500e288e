// How elements of flat tensors lie in memory, and the loads and stores that follow from it.
//
//   type            in memory
//   i1              one byte, 0 or 1; any other value reads as true
//   i2, i4          packed into bytes, the lowest bits hold the element with the lowest index
//   f8*             one byte (LLVM has no such types)
//   complex<T>      T real, T imaginary
//   index           i64
//   everything else itself
#ifndef HEDDLE_LOWER_TENSOR_ACCESS_H_
#define HEDDLE_LOWER_TENSOR_ACCESS_H_

#include "emit/ir_builder.h"

// The memory behind a tensor value.
typedef struct tensor_memory {
  MlirValue pointer;
  MlirType element;  // the tensor's element type
  int64_t element_count;
  int alignment;  // of the first element, in bytes; at least the stored type's own
  int address_space;
  bool invariant;          // nobody writes it while the kernel runs
  int stream_alignment;    // bytes; vectors that are aligned so are written past the caches. 0: none are
  bool shared_by_threads;  // a byte of it may be written by several threads at once (GPU)
  int index_bits;          // of the integers that count elements
} tensor_memory;

// The type one array slot has in memory (a complex number takes two slots, two or four small integers share one).
MlirType tensor_access_stored_type(MlirType element);
int tensor_access_bytes(MlirType stored);      // size of a stored type
int tensor_access_per_byte(MlirType element);  // 4 for i2, 2 for i4, else 1
// Array slots that `count` elements take.
int64_t tensor_access_slots(MlirType element, int64_t count);

MlirValue tensor_access_load(ir_builder *b, const tensor_memory *m, MlirValue index);
void tensor_access_store(ir_builder *b, const tensor_memory *m, MlirValue value, MlirValue index);

// `vector` elements from `index` on. mask is null or a vector of i1, with lanes that are off reading as `padding`.
// Packed elements that do not fill whole bytes go one by one; under a mask they are an error.
heddle_status tensor_access_load_vector(ir_builder *b, const tensor_memory *m, MlirType vector, MlirValue index,
                                        MlirValue mask, MlirValue padding, MlirValue *out);
heddle_status tensor_access_store_vector(ir_builder *b, const tensor_memory *m, MlirValue vector, MlirValue index,
                                         MlirValue mask);

// The vector of these elements, of which `lanes` is overwritten. Packed elements are put together as bytes: LLVM makes
// narrower and wider vectors of the pieces, and ends the process over some of those of i2 and i4.
MlirValue tensor_access_gather(ir_builder *b, MlirType vector, MlirValue *lanes);

// Address of the stored slot that holds element `index` of the tensor, and for packed elements the number of bits that
// it is shifted up by (an i8; otherwise null).
MlirValue tensor_access_address(ir_builder *b, const tensor_memory *m, MlirValue index, MlirValue *shift);

// Of an element of less than 32 bits: the address of the 32-bit word that holds it, and the number of bits that it is
// shifted up by there (an i32). Where threads share memory, words are what they change at once.
MlirValue tensor_access_word(ir_builder *b, const tensor_memory *m, MlirValue index, MlirValue *shift);

// Between an element as the program sees it and its stored form; scalars and vectors; not for complex or packed
// elements.
MlirValue tensor_access_to_stored(ir_builder *b, MlirValue value);
MlirValue tensor_access_from_stored(ir_builder *b, MlirType value_type, MlirValue stored);

#endif
