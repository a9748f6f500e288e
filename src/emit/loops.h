// The loops emitter makes kernels whose outputs have index spaces of their own.
#ifndef HEDDLE_EMIT_LOOPS_H_
#define HEDDLE_EMIT_LOOPS_H_

#include "emit/entry.h"

// See hero_entry.
heddle_status emit_loops_entry(kernel_emitter *k, const target_description *target);

// A group of outputs, as the hero's plans have it.
typedef struct output_group {
  int number;           // of the part, too
  const int *group_of;  // by output
  const int *value_of;  // by output: which of the group's values
} output_group;

// An entry_body, of an `output_group`: at an index of its space, stores the outputs' values.
heddle_status emit_output_group(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                const void *argument);

#endif
