// The interface of a kernel's dispatch region: @io, with a binding @sliceN for each slice of the kernel.
#ifndef HEDDLE_TILE_INTERFACE_H_
#define HEDDLE_TILE_INTERFACE_H_

#include "emit/ir_builder.h"
#include "kernel/kernel.h"

// hal.interface, private to the module.
void interface_build(ir_builder *b, const kernel_plan *k);
// The tensor that a slice holds, and a tensor to a slice; `offset` in bytes.
MlirValue interface_load(ir_builder *b, int slice, MlirType tensor, MlirValue offset);
void interface_store(ir_builder *b, int slice, MlirValue tensor, MlirValue offset);

#endif
