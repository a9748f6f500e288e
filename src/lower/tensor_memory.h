// Where the tensors of a module live: the memory behind every tensor value, once functions take pointers.
#ifndef HEDDLE_LOWER_TENSOR_MEMORY_H_
#define HEDDLE_LOWER_TENSOR_MEMORY_H_

#include "base/map.h"
#include "lower/pass.h"
#include "lower/tensor_access.h"

typedef struct tensor_origins {
  lower_context *context;
  MlirOperation module;
  int index_bits;           // of element numbers: 32 where every array allows it
  ptr_map argument_tensor;  // function argument, now a pointer -> its tensor type
  ptr_map constant_global;  // constant's attribute -> name of its global
  ptr_map shared_global;    // allocation -> name of its global; cpu: its pointer
  int constant_count;
  int shared_count;
} tensor_origins;

// Function arguments become pointers; element numbers get their width.
void tensor_origins_begin(tensor_origins *o, lower_context *c, MlirOperation module);

// Memory of a tensor value at the builder, found by following the value through inserts and loops to an argument, a
// constant or a shared allocation. `element` is the element type of the access.
heddle_status tensor_origins_memory(tensor_origins *o, ir_builder *b, MlirValue tensor, MlirType element,
                                    tensor_memory *out);

// The pointer type that replaces the tensor type of a value that stays (an iteration argument, a result).
heddle_status tensor_origins_pointer_type(tensor_origins *o, MlirValue tensor, MlirType *out);

#endif
