// What the emitters of row and column reductions share (kernel/hero_details.h): they call the bodies of the passes,
// hand them the values carried over from earlier passes, combine elements into accumulators, and store results.
#ifndef HEDDLE_EMIT_ROW_PASSES_H_
#define HEDDLE_EMIT_ROW_PASSES_H_

#include "emit/entry.h"

// Tensors are the kernel's outputs, then the buffers, numbered through.
typedef struct row_pass_emitter {
  kernel_entry *entry;
  const hero_reduction *plan;
  int tensor_count;
  MlirValue *tensors;  // as they are now
  MlirValue *inits;    // initial values of all reductions
  MlirValue *carried;  // by number of the carried value: what is known of the row; null for what lies in a tensor
  int *tensor_of;      // by number of the carried value: the tensor it lies in, or -1
} row_pass_emitter;

// Allocates buffers for what is kept and (columns) for accumulators, and computes the initial values.
heddle_status row_passes_begin(row_pass_emitter *s, kernel_entry *e, const hero_reduction *plan);

// How many of `count` things in all, of which a tile has `size`, the tile has: fewer in the last one.
MlirValue row_passes_in_tile(ir_builder *b, int64_t count, int64_t size, MlirValue tile);

// A point of the space, or of the kept dims alone.
typedef struct row_point {
  index_vector at;
  bool is_element;   // of the space
  MlirValue in_row;  // elements: number in the row, wanted by those that keep values in buffers
  MlirValue column;  // number in the tile, where accumulators lie in memory
} row_point;

// The results of a body at a point. What is kept is read from where it lies.
MlirValue *row_passes_call(row_pass_emitter *s, ir_builder *b, int body, const row_point *point);

// Stores what of the results is to be stored, at the point.
void row_passes_store(row_pass_emitter *s, ir_builder *b, const row_pass *pass, const MlirValue *results,
                      const row_point *point);

// The tensors that row_passes_store writes, as flags by tensor.
void row_passes_written(const row_pass_emitter *s, const row_pass *pass, bool *written);

// The MLIR operation that combines values of a binary reducer; null where the reducer has to be called.
const char *row_passes_combiner(const row_reduction *r, int value);

// A value of the program as an accumulator (f32 for narrow floats that are summed up and the like), and back.
MlirValue row_passes_to_accumulator(ir_builder *b, const row_reduction *r, int value, MlirValue x);
MlirValue row_passes_from_accumulator(ir_builder *b, const row_reduction *r, int value, MlirValue x);

// The accumulators after one more element.
void row_passes_combine(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *carried,
                        const MlirValue *x, MlirValue *next);

// Two partial results as one; of pairs that a reducer picks from, either may be the one that comes first.
void row_passes_meet(row_pass_emitter *s, ir_builder *b, const row_reduction *r, const MlirValue *x, const MlirValue *y,
                     MlirValue *out);

#endif
