// Emits the epilogue at one point of the hero's index space.
#include "emit/epilogue.h"

void emit_epilogue(kernel_entry *e, ir_builder *b, const kernel_epilogue *epilogue, int part, const index_vector *point,
                   const MlirValue *values, MlirValue *outputs) {
  const MlirValue *stored = emit_part(e->kernel, b, part, e->inputs, point, values);
  for (int n = 0; n < e->kernel->plan->output_count; n++)
    outputs[n] = emit_insert_at(b, stored[n], outputs[n], epilogue->maps[n], point);
}
