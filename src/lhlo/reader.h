// What the files that read LHLO's text share: lhlo_parse*.c only.
#ifndef HEDDLE_LHLO_READER_H_
#define HEDDLE_LHLO_READER_H_

#include "lhlo/kernel_sharing.h"
#include "lhlo/text.h"

// A function that operations call, as HLO.
typedef struct lhlo_function {
  const ir_operation *operation;
  module *lowered;  // null until asked for; the function is its entry
} lhlo_function;

typedef VEC(lhlo_allocation) lhlo_allocation_list;

typedef struct lhlo_reader {
  arena *arena;
  const ir_module *source;
  lhlo_program *program;
  module *shell;           // holds the program's interface, and what control flow is named after
  str_map functions;       // lhlo_function *
  str_map globals;         // const ir_operation *, of constants
  str_map global_numbers;  // allocation, plus one
  lhlo_allocation_list allocations;
  int64_t expansion_left;  // bytes that constants which repeat one element may still take
  const char **receivers;  // of each parameter: the result that it is donated to, else null; null if none is donated
  ptr_map slices;          // ir_value: lhlo_slice *
  ptr_map offsets;         // ir_value: const ir_attribute *, of arith.constant
  kernel_sharing kernels;
  ptr_map sources;  // lhlo_op: const ir_operation *
} lhlo_reader;

// Operations of a block, in order. lhlo_parse_ops.c
heddle_status lhlo_read_ops(lhlo_reader *r, const ir_block *block, lhlo_body *out);

// Allocations and views. *is_one: the operation is neither.
heddle_status lhlo_read_view(lhlo_reader *r, const ir_operation *op, bool *is_one);

// HLO of a function of tensors that stands in no module.
heddle_status lhlo_lower_tensors(lhlo_reader *r, const ir_operation *function, module **out);
// HLO of a function, and of a single operation that stands for a library's. lhlo_lower.c
heddle_status lhlo_lower_function(lhlo_reader *r, lhlo_function *f);
// Whether `lmhlo.NAME` stands for an operation of StableHLO or CHLO, of which a library may have it.
bool lhlo_is_library_operation(lhlo_reader *r, const ir_operation *op);
heddle_status lhlo_lower_operation(lhlo_reader *r, const ir_operation *op, int operand_count,
                                   const lhlo_slice *operands, int result_count, const lhlo_slice *results,
                                   module **out);
// Whether the module's entry holds an operation that a library has.
bool lhlo_has_library(const module *m);
// A fusion with its body in a region that loads tensors from memory and stores some: the same as a call, with the
// memory that it loads from and then the memory that it stores to as operands, and the body as HLO. lhlo_outline.c
heddle_status lhlo_outline_fusion(lhlo_reader *r, const ir_operation *op, ir_operation **called, module **out);
// The one library operation of the module's entry, which takes the entry's parameters and makes its results.
heddle_status lhlo_find_library(lhlo_reader *r, module *m, const ir_operation *op, instruction **out);
// A fusion that calls the module's entry, in a computation of its own.
instruction *lhlo_make_fusion(lhlo_reader *r, module *m, const ir_operation *op, fusion_kind kind);
// Gives the instruction the operation's location and name; without one, that of the function it calls or of what it
// does.
void lhlo_name_source(lhlo_reader *r, const ir_operation *op, instruction *i);

// Whether everything that is read was written before, in whatever way control flow goes. lhlo_parse_check.c
heddle_status lhlo_check_written(lhlo_reader *r);

#endif
