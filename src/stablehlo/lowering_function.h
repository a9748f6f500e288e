// What lowering_function.c shares with the entry's lowering (stablehlo_to_hlo.c) and the table only.
#ifndef HEDDLE_STABLEHLO_LOWERING_FUNCTION_H_
#define HEDDLE_STABLEHLO_LOWERING_FUNCTION_H_

#include "stablehlo/lowering.h"

struct lowering_functions {
  str_map made;                      // `name(shapes)` -> computation
  VEC(const ir_operation *) active;  // being lowered, outermost first
  bool has_hints;                    // Shardy's, on single values: dropped
};

// HEDDLE_INVALID unless a value of shape `s` fits the declared type; `what` and `number` name it.
heddle_status lowering_check_type(lowering *l, const ir_operation *op, const char *what, int number, const ir_type *t,
                                  const shape *s);
const ir_block *lowering_function_body(const ir_operation *function);  // null unless it is one block
// Operations and root of l->computation, whose parameters are there.
heddle_status lowering_finish_function(lowering *l, const ir_block *body);

#endif
