// The concatenate emitter makes a loop for each operand.
#ifndef HEDDLE_EMIT_CONCATENATE_H_
#define HEDDLE_EMIT_CONCATENATE_H_

#include "emit/entry.h"

// See hero_entry.
heddle_status emit_concatenate_entry(kernel_emitter *k, const target_description *target);

// An operand of a concatenate, as the hero's plans have it.
typedef struct concatenated {
  const shape *space;
  int dim;
  int64_t offset;  // along `dim`
  int part;        // of the kernel, that gives it
  const kernel_epilogue *epilogue;
} concatenated;

// An entry_body, of a `concatenated`: at an index of the operand, what consumers make of the element.
heddle_status emit_concatenated(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                const void *argument);

#endif
