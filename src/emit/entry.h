// The entry function of a kernel, whoever fills it: its arguments and their attributes, launch ids, loops over maps.
#ifndef HEDDLE_EMIT_ENTRY_H_
#define HEDDLE_EMIT_ENTRY_H_

#include "emit/elemental.h"

typedef struct kernel_entry {
  kernel_emitter *kernel;
  const target_description *target;
  ir_builder b;        // where the body goes on
  MlirValue *inputs;   // tensors, by input of the plan
  int carried;         // tensors that loops and branches carry: the outputs, then what emit_entry_allocate made
  MlirValue *outputs;  // the carried tensors as they are now: each loop gives new ones
  ir_values ids;       // launch ids; cpu: the tile number; gpu: thread, block x, block y if there are two
} kernel_entry;

// Makes the entry function at the end of k->module_body. HEDDLE_UNIMPLEMENTED for buffers of types that MLIR lacks.
heddle_status emit_entry_begin(kernel_emitter *k, const target_description *target, kernel_entry *out);
// A tensor of the tile's own, of one dim, to be carried from now on; returns its number among the carried ones.
int emit_entry_allocate(kernel_entry *e, MlirType element, int64_t size);
// The same, of the shape's type.
int emit_entry_allocate_array(kernel_entry *e, const shape *s);

// A barrier of the block's threads: what they wrote to the carried tensors from number `first` on is seen by all.
void emit_entry_sync(kernel_entry *e, int first);

// The attribute xla.range of an index below `count`.
MlirAttribute emit_entry_range(MlirContext c, int64_t count);

// Returns the outputs.
void emit_entry_end(kernel_entry *e);

// The body of a loop over a map, or of a branch: at `point` (the map's results), with the carried tensors in
// `outputs`, which it replaces by what it leaves behind. `b` inserts into the body.
typedef heddle_status (*entry_body)(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                    const void *argument);

// An xla_gpu.loop over `map`, whose range variables are the first arguments of the body's block, carrying all of
// e->outputs; e->outputs becomes its results. `outputs` of the body are as many.
heddle_status emit_entry_loop(kernel_entry *e, const indexing_map *map, const MlirValue *dims, entry_body body,
                              const void *argument);

// The same, carrying only those tensors that the body changes (by number); the others it finds in `outputs` as they
// are.
heddle_status emit_entry_loop_changing(kernel_entry *e, const indexing_map *map, const MlirValue *dims,
                                       const bool *changes, entry_body body, const void *argument);

// emit_entry_loop inside of a body: at `b`, carrying that body's `outputs`.
heddle_status emit_entry_inner_loop(const kernel_entry *e, ir_builder *b, MlirValue *outputs, const indexing_map *map,
                                    const MlirValue *dims, entry_body body, const void *argument);

heddle_status emit_entry_inner_loop_changing(const kernel_entry *e, ir_builder *b, MlirValue *outputs,
                                             const indexing_map *map, const MlirValue *dims, const bool *changes,
                                             entry_body body, const void *argument);

// The body where the i1 `condition` holds, at `point`; elsewhere `outputs` stay as they are.
heddle_status emit_entry_branch(const kernel_entry *e, ir_builder *b, MlirValue *outputs, MlirValue condition,
                                entry_body body, const index_vector *point, const void *argument);

// tensor.insert and tensor.extract of one element.
MlirValue emit_insert(ir_builder *b, MlirValue value, MlirValue tensor, int count, const MlirValue *indices);
// The same where the map leads from the point; null: at the point itself.
MlirValue emit_insert_at(ir_builder *b, MlirValue value, MlirValue tensor, const indexing_map *map,
                         const index_vector *point);
MlirValue emit_extract(ir_builder *b, MlirValue tensor, int count, const MlirValue *indices);

#endif
