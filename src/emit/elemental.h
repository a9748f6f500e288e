// Elemental emission: the value of one element of an instruction at given indices. Shared by the files
// emit/elemental*.c; others need only emit_functions.
#ifndef HEDDLE_EMIT_ELEMENTAL_H_
#define HEDDLE_EMIT_ELEMENTAL_H_

#include "emit/types.h"
#include "kernel/partition.h"

// The indices of one element. Vectors are compared by their values, so equal accesses share one load.
typedef struct index_vector {
  int count;
  const MlirValue *values;
} index_vector;

typedef struct kernel_emitter {
  MlirContext context;
  arena *arena;  // lives until the kernel is emitted
  const kernel_plan *plan;
  const partition *partition;
  ir_builder module_body;
  ptr_map inputs;  // parameter (of the kernel's computation or its bodies) that stands for a tensor -> its position
                   // among the arguments, plus one
} kernel_emitter;

typedef struct indexed_value {
  const index_vector *at;
  MlirValue *values;
  bool is_dead;  // was made in a region that has been left
  struct indexed_value *next;
} indexed_value;

// One function being emitted.
typedef struct function_emitter {
  kernel_emitter *kernel;
  const partition_function *function;
  int number;                 // of the function
  ir_builder b;               // where the next operation goes
  ir_values parameters;       // what stands for the computation's parameters: tensors, or scalars in a reducer
  ptr_map given;              // given instruction -> MlirValue[]
  ptr_map indices;            // instruction of this function -> index_vector
  ptr_map values;             // instruction of this function, or scalar constant -> MlirValue[]
  ptr_map accesses;           // leaf or root of another function -> indexed_value list
  VEC(indexed_value *) made;  // in the order they were made
} function_emitter;

// Emits every function of the partition into the module, behind the entry function.
heddle_status emit_functions(kernel_emitter *k);

// Calls a function of the partition: operands are the computation's parameters, then indices (none for a reducer of
// scalars). One value per result of the function, in k's arena.
MlirValue *emit_call(kernel_emitter *k, ir_builder *b, const partition_function *f, const MlirValue *parameters,
                     const index_vector *at, const char *attribute);

// Calls the kernel's part: `inputs` are the kernel's input tensors, `given` the values of what the part is given,
// tuples' elements one by one.
MlirValue *emit_part(kernel_emitter *k, ir_builder *b, int part, const MlirValue *inputs, const index_vector *at,
                     const MlirValue *given);

// --- for the op emitters

typedef heddle_status (*op_emitter)(function_emitter *e, const instruction *i, MlirValue *out);
// Straight-line arithmetic on scalars: x are the operands' values.
typedef MlirValue (*elementwise_emitter)(ir_builder *b, const instruction *i, const MlirValue *x);

// How one element class is emitted: a one-to-one MLIR op, or code. Both null: the class is not implemented.
typedef struct emit_choice {
  const char *op;
  elementwise_emitter fn;
} emit_choice;

typedef struct emit_op {
  emit_choice on_pred, on_signed, on_unsigned, on_float, on_complex;  // by the class of the first operand's elements
  op_emitter structural;                                              // instead of the above
} emit_op;

extern const emit_op emit_ops[HLO_OPCODE_COUNT];

// Whether the instruction's element is arithmetic on one element of each operand; then this is it. `values` are the
// operands' elements: scalars, or vectors of them.
bool emit_is_elementwise(const instruction *i);
MlirValue emit_elementwise(ir_builder *b, const instruction *i, const MlirValue *values);

const partition_operand *emit_operand_access(function_emitter *e, const instruction *i, int k);
// The value of operand k that i needs. The operand must be evaluated in i's own scope.
heddle_status emit_operand(function_emitter *e, const instruction *i, int k, MlirValue *out);
// For operands in a branch: first emit_provide for each of them, then emit_branch, then emit_value.
// Says at which indices operand k is wanted.
void emit_provide(function_emitter *e, const instruction *i, int k, const index_vector *at);
heddle_status emit_branch(function_emitter *e, const instruction *i, int branch);
heddle_status emit_value(function_emitter *e, const instruction *x, const index_vector *at, MlirValue **out);
// Enters a region: e->b moves to the block. Leaving forgets the values made since.
typedef struct region_mark {
  ir_builder outer;
  int made;
} region_mark;
region_mark emit_enter(function_emitter *e, MlirBlock block);
void emit_leave(function_emitter *e, region_mark mark);

const index_vector *emit_indices(function_emitter *e, const instruction *i);  // at which i is being emitted
const index_vector *emit_apply(function_emitter *e, const indexing_map *map, const index_vector *dims,
                               const MlirValue *symbols);
// i1 that i's indices lie where operand k's map is defined: its constraints and the dim bounds tighter than i's own
// dims. Null if that is everywhere. (The simplifier moves constraints on one variable into that variable's bounds.)
MlirValue emit_is_inside(function_emitter *e, const instruction *i, int k, const MlirValue *symbols);
heddle_status emit_refuse(function_emitter *e, const instruction *i, const char *why);

// The offset, an integer of type t, as an index within bounds; above, INT64_MAX is none.
MlirValue emit_clamped_index(ir_builder *b, MlirValue offset, dtype t, interval bounds);
// Whether the operand is an index that is limited where it is computed, so that no number here has to.
bool emit_is_limited(const instruction *i, int operand);

// Structural op emitters.
heddle_status emit_passthrough(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_get_tuple_element(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_map(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_concatenate(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_pad(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_dynamic_slice(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_dynamic_update_slice(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_gather(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_bitcast(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_bitcast_convert(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_reduce(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_reduce_window(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_convolution(function_emitter *e, const instruction *i, MlirValue *out);
heddle_status emit_dot(function_emitter *e, const instruction *i, MlirValue *out);

// sum + l * r, as dots and convolutions of elements of type t add up.
MlirValue emit_multiply_add(ir_builder *b, dtype t, MlirValue l, MlirValue r, MlirValue sum);

// Value conversion between element types, HLO's rules (saturating float to integer, NaN to 0, "is not zero" for pred).
MlirValue emit_convert(ir_builder *b, MlirValue x, dtype from, dtype to);

#endif
