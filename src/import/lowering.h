// One StableHLO function on its way to HLO, as the lowerings of single operations see it. Internal to import.
//
// A lowering gets its operands as HLO instructions and leaves its results as HLO instructions; shapes come from the
// instructions, never from the declared (maybe dynamic, maybe quantized) types. Quantized values are instructions of
// the storage type.
#ifndef HEDDLE_IMPORT_LOWERING_H_
#define HEDDLE_IMPORT_LOWERING_H_

#include "base/map.h"
#include "hlo/module.h"
#include "import/import.h"
#include "import/ir.h"

typedef struct lowering {
  arena *arena;
  const ir_module *source;
  const import_options *options;
  module *module;
  computation *computation;              // where instructions are added
  const ir_operation *op;                // being lowered: its place and location go into every instruction made
  struct lowering_functions *functions;  // internal to lowering_function.c
  ptr_map *values;                       // ir_value -> instruction, of the region being lowered
  ptr_map *folded;                       // instruction -> literal, of lowering_fold
  const ir_operation *described;         // the operation that `metadata` was made for
  str metadata;                          // of `op`, as HLO text; empty if its location says nothing
  int depth;                             // of regions and calls around this place
} lowering;

// `operands` has op->operand_count instructions; `results` takes op->result_count.
typedef heddle_status (*lowering_fn)(lowering *l, const ir_operation *op, instruction *const *operands,
                                     instruction **results);
// Indexed by ir_op; an empty slot is refused by name.
extern const lowering_fn lowerings[IR_OP_COUNT];
// What calls a slot: refuses empty ones, hands operations on quantized types to lower_quantized (quantized.c), and
// checks the results against the declared types.
heddle_status lowering_apply(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results);

// HEDDLE_UNIMPLEMENTED (valid, but HLO cannot say it) and HEDDLE_INVALID (the program is wrong) at the operation's
// place: `stablehlo.add: ...`.
heddle_status lowering_refuse(const ir_operation *op, const char *format, ...) __attribute__((format(printf, 2, 3)));
heddle_status lowering_invalid(const ir_operation *op, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Building HLO (lowering_build.c). Shapes of elementwise operations are those of the operands (with the opcode's shape
// rule); scalars given as literals are broadcast where `like` is no scalar. All return the new instruction; none fails
// for operands of matching shapes.
instruction *build_add(lowering *l, hlo_opcode opcode, const shape *s, int count, instruction *const *operands);
instruction *build_unary(lowering *l, hlo_opcode opcode, instruction *x);
instruction *build_binary(lowering *l, hlo_opcode opcode, instruction *x, instruction *y);
instruction *build_select(lowering *l, instruction *p, instruction *on_true, instruction *on_false);
instruction *build_compare(lowering *l, instruction *x, instruction *y, comparison_direction direction);
instruction *build_convert(lowering *l, instruction *x, dtype to);  // x itself if it is of that type
instruction *build_constant(lowering *l, literal *value);
instruction *build_scalar(lowering *l, dtype t, double value);               // a rank-0 constant
instruction *build_like(lowering *l, instruction *like, double value);       // a constant of like's dtype and shape
instruction *build_like_int(lowering *l, instruction *like, int64_t value);  // exact for 64-bit integers
instruction *build_broadcast(lowering *l, instruction *x, const shape *s, int count, const int64_t *dimensions);
instruction *build_reshape(lowering *l, instruction *x, int rank, const int64_t *dims);
instruction *build_tuple(lowering *l, int count, instruction *const *elements);
instruction *build_element(lowering *l, instruction *tuple, int index);                    // get-tuple-element
void build_dimensions(lowering *l, instruction *i, int count, const int64_t *dimensions);  // sets `dimensions`; copies
// For operations whose attributes decide the shape: shape_infer's answer becomes the instruction's shape.
heddle_status build_infer(lowering *l, instruction *i);

// The value of an instruction that depends on constants (and on argument values given in the options) only;
// HEDDLE_INVALID, naming `what`, if it depends on anything else.
heddle_status lowering_fold(lowering *l, instruction *i, const char *what, literal **out);
heddle_status lowering_fold_ints(lowering *l, instruction *i, const char *what, const int64_t **values, int *count);

// A region as a computation of its own: parameters from the block's arguments, with the given shapes. Values from
// around it that it uses are returned in *captured (ir_values, in order of use), as additional parameters behind the
// arguments; the caller passes them. With `as_tuple` there is one parameter, a tuple of all of these. Results: one
// instruction, or a tuple if there are several or `tuple_root`.
typedef struct lowered_region {
  computation *computation;
  int captured_count;
  const ir_value **captured;
} lowered_region;
heddle_status lowering_region(lowering *l, const ir_region *r, int argument_count, const shape *const *shapes,
                              bool as_tuple, bool tuple_root, lowered_region *out);
// lowering_captures: what a region uses from around it, without lowering it.
heddle_status lowering_captures(lowering *l, const ir_region *r, int *count, const ir_value ***out);

#endif
