// What emitters of sweeps share (kernel/hero_details.h): calling bodies, what is given to them, combining, storing.
#ifndef HEDDLE_EMIT_SWEEPS_H_
#define HEDDLE_EMIT_SWEEPS_H_

#include "emit/entry.h"

// Tensors are the kernel's outputs, then the buffers, numbered through.
typedef struct sweep_emitter {
  kernel_entry *entry;
  const hero_reduction *plan;
  int tensor_count;
  MlirValue *tensors;  // as they are now
  MlirValue *inits;    // initial values of all reductions
  MlirValue *givens;   // by number of the given value: what is known of the row; null for what lies in a tensor
  int *places;         // by number of the given value: the tensor it lies in, or -1
} sweep_emitter;

// Allocates buffers for what is kept and (columns) for accumulators, and computes the initial values.
heddle_status sweeps_begin(sweep_emitter *s, kernel_entry *e, const hero_reduction *plan);

// How many of `count` things in all, of which a tile has `size`, the tile has: fewer in the last one.
MlirValue sweeps_in_tile(ir_builder *b, int64_t count, int64_t size, MlirValue tile);

// A point of the space, or of the kept dims alone.
typedef struct sweep_point {
  index_vector at;
  bool is_element;   // of the space
  MlirValue in_row;  // elements: number in the row, wanted by those that keep values in buffers
  MlirValue column;  // number in the tile, where accumulators lie in memory
} sweep_point;

// The results of a body at a point. What is kept is read from where it lies.
MlirValue *sweeps_call(sweep_emitter *s, ir_builder *b, int body, const sweep_point *point);

// Stores what of the results is to be stored, at the point.
void sweeps_store(sweep_emitter *s, ir_builder *b, const row_sweep *sweep, const MlirValue *results,
                  const sweep_point *point);

// The tensors that sweeps_store writes, as flags by tensor.
void sweeps_written(const sweep_emitter *s, const row_sweep *sweep, bool *written);

// The MLIR operation that combines values of a binary reducer; null where the reducer has to be called.
const char *sweeps_combiner(const sweep_reduction *r, int value);

// A value of the program as an accumulator (f32 for narrow floats that are summed up and the like), and back.
MlirValue sweeps_widen(ir_builder *b, const sweep_reduction *r, int value, MlirValue x);
MlirValue sweeps_narrow(ir_builder *b, const sweep_reduction *r, int value, MlirValue x);

// The accumulators after one more element.
void sweeps_combine(sweep_emitter *s, ir_builder *b, const sweep_reduction *r, const MlirValue *carried,
                    const MlirValue *x, MlirValue *next);

#endif
