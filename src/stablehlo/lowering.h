// One StableHLO function on its way to HLO, as the lowerings of single operations see it. Internal to import.
//
// A lowering gets its operands as HLO instructions and leaves its results as HLO instructions; shapes come from the
// instructions, never from the declared (maybe dynamic, maybe quantized) types. Quantized values are instructions of
// the storage type.
#ifndef HEDDLE_STABLEHLO_LOWERING_H_
#define HEDDLE_STABLEHLO_LOWERING_H_

#include "base/map.h"
#include "hlo/module.h"
#include "mlir/ir.h"
#include "stablehlo/import_options.h"

enum { LOWERING_MAX_DEPTH = 250 };

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
  bool folds;                            // the module has operations whose operands say shapes
  int depth;                             // of regions and calls around this place
} lowering;

// `operands` has op->operand_count instructions; `results` takes op->result_count.
typedef heddle_status (*lowering_fn)(lowering *l, const ir_operation *op, instruction *const *operands,
                                     instruction **results);
// Indexed by ir_opcode; an empty slot is refused by name.
extern const lowering_fn lowerings[IR_OP_COUNT];
// What calls a slot: refuses empty ones, hands operations on quantized types to lower_quantized (quantized.c), and
// checks the results against the declared types.
heddle_status lowering_apply(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results);

// HEDDLE_UNIMPLEMENTED (valid, but HLO cannot say it) and HEDDLE_INVALID (the program is wrong) at the operation's
// place: `stablehlo.add: ...`.
heddle_status lowering_refuse(const ir_operation *op, const char *format, ...) __attribute__((format(printf, 2, 3)));
heddle_status lowering_invalid(const ir_operation *op, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Reading attributes of the operation. A missing list is empty; one that is there must be a list of integers.
heddle_status lowering_ints(lowering *l, const ir_operation *op, const char *name, int_list *out);
heddle_status lowering_field_ints(lowering *l, const ir_operation *op, const ir_attribute *of, const char *name,
                                  int_list *out);  // of a STRUCT or DICTIONARY; `of` may be null
// A list of just that size; if the attribute is missing, `missing` that often.
heddle_status lowering_ints_of(lowering *l, const ir_operation *op, const char *name, int size, int64_t missing,
                               int_list *out);
heddle_status lowering_int(const ir_operation *op, const char *name, int64_t missing,
                           int64_t *out);  // unit counts as 1
heddle_status lowering_needed_int(const ir_operation *op, const char *name, int64_t *out);
int64_t lowering_field_int(const ir_attribute *of, const char *name, int64_t missing);
str lowering_word(const ir_operation *op, const char *name);  // of an ENUM, STRING or SYMBOL; empty if there is none
// Its place in a list of words that ends with null; `missing` if the attribute is not there and `missing` is not
// negative.
heddle_status lowering_word_index(const ir_operation *op, const char *name, const char *const *words, int missing,
                                  int *out);

// The value of an instruction that depends on constants (and on argument values given in the options) only;
// HEDDLE_INVALID, naming `what`, if it depends on anything else.
heddle_status lowering_fold(lowering *l, instruction *i, const char *what, literal **out);
heddle_status lowering_fold_ints(lowering *l, instruction *i, const char *what, const int64_t **values, int *count);

// Whether lowering_fold would succeed; the value if so, else null.
literal *lowering_try_fold(lowering *l, instruction *i);

// What windows move over.
typedef struct open_windows {
  int count;
  instruction **operands;  // changed
  const int64_t *dims;     // of the operands, by dim of the window; null: the same
} open_windows;

// Cuts the operands such that a window's steps along open dims fill them, before the operation is made; nothing where
// no size is open (lowering_windows.c).
heddle_status lowering_open_windows(lowering *l, const open_windows *o, window *w);

// Functions and blocks (lowering_function.c).
// Every function's body becomes one computation per list of argument shapes (and of the folded arguments' values, where
// the module has operations whose operands say shapes).
heddle_status lowering_function(lowering *l, const ir_operation *op, str callee, int count,
                                instruction *const *arguments, computation **out);
// The operations of a block up to its terminator, whose operands are returned.
heddle_status lowering_block(lowering *l, const ir_block *b, int *count, instruction ***returned);
// The instruction of a value; HEDDLE_INVALID if there is none (yet).
heddle_status lowering_value(lowering *l, const ir_operation *op, const ir_value *v, instruction **out);
// A scope inside `l` with an empty computation of its own. HEDDLE_UNIMPLEMENTED below LOWERING_MAX_DEPTH.
heddle_status lowering_enter(lowering *l, lowering *inner, str name);
// What an instruction that stands for several results gives: itself if it is one, its tuple's elements otherwise (none
// if it has not as many; lowering_apply reports that).
void lowering_results(lowering *l, instruction *i, int count, instruction **results);
str lowering_name(arena *a, str name);  // with what HLO names may not have replaced by `_`

// Regions (lowering_region.c). What a region uses from around it, each once, in order of use. Values that are HLO
// constants are left out: lowering_region makes them anew inside.
heddle_status lowering_captures(lowering *l, const ir_region *r, int *count, const ir_value ***out);

// A region as a computation of its own: parameters from the block's arguments, with the given shapes, then from the
// captured values, which the caller passes. A region that uses anything else from around it is an error.
typedef struct region_request {
  const ir_region *region;
  int argument_count;
  const shape *const *shapes;
  int captured_count;
  const ir_value *const *captured;
  bool as_tuple;          // one parameter, a tuple of all of these
  bool tuple_root;        // the root is a tuple even if there is one result
  bool returns_captured;  // they follow the results in the root
  const char *name;       // "region"
} region_request;
heddle_status lowering_region(lowering *l, const region_request *request, computation **out);
// The body of a reduction and the like: parameters are scalars of the given types, nothing is captured but what folds
// to a constant.
heddle_status lowering_body(lowering *l, const ir_operation *op, int region, int count, const dtype *types,
                            computation **out);

#endif
