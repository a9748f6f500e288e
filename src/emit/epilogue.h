// Emits what consumers make of a hero's value, and stores it.
#ifndef HEDDLE_EMIT_EPILOGUE_H_
#define HEDDLE_EMIT_EPILOGUE_H_

#include "emit/entry.h"

// Calls the epilogue (part number `part`) at the point of the heroes' index space with their values, and stores all
// outputs: `outputs` becomes the tensors after that.
void emit_epilogue(kernel_entry *e, ir_builder *b, const kernel_epilogue *epilogue, int part, const index_vector *point,
                   const MlirValue *values, MlirValue *outputs);

#endif
