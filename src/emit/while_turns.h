// What both ways to run the turns of a loop share.
#ifndef HEDDLE_EMIT_WHILE_TURNS_H_
#define HEDDLE_EMIT_WHILE_TURNS_H_

#include "emit/entry.h"

// Body `number` of the plan at the point; values as its arguments number them.
MlirValue *while_turns_call(const kernel_entry *e, ir_builder *b, int number, const MlirValue *values,
                            const index_vector *point);

// The counter in a turn.
MlirValue while_turns_counter(ir_builder *b, const hero_while *h, MlirValue turn);

// Stores the element of the turn's row at the point of `space`, which has as many elements as a row; returns the
// output.
MlirValue while_turns_store_row(const kernel_entry *e, ir_builder *b, int output, MlirValue turn, MlirValue value,
                                const shape *space, const index_vector *point, MlirValue tensor);

#endif
