// The interface of a dispatch region: of a kernel's @io, with a binding @sliceN for each slice of the kernel.
#ifndef HEDDLE_TILE_INTERFACE_H_
#define HEDDLE_TILE_INTERFACE_H_

#include "emit/ir_builder.h"
#include "kernel/kernel.h"

// What a binding is called, and what is done with it.
typedef struct interface_binding {
  str name;
  bool is_read, is_written;
} interface_binding;

// hal.interface, private to the module, with so many bindings of one set, in this order.
void interface_make(ir_builder *b, str name, int count, const interface_binding *bindings);
// That of a kernel: @io, a binding for each slice.
void interface_build(ir_builder *b, const kernel_plan *k);
// The tensor that a slice holds, and a tensor to a slice; `offset` in bytes.
MlirValue interface_load(ir_builder *b, int slice, MlirType tensor, MlirValue offset);
void interface_store(ir_builder *b, int slice, MlirValue tensor, MlirValue offset);

#endif
