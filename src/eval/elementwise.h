// The elementwise operations on blocks in compute types: one table per class of the first operand.
#ifndef HEDDLE_EVAL_ELEMENTWISE_H_
#define HEDDLE_EVAL_ELEMENTWISE_H_

#include "eval/compute.h"
#include "hlo/module.h"

// What a kernel may ask besides its operands.
typedef struct elementwise_call {
  const instruction *instruction;
  dtype operand;  // element type of the first operand
  dtype result;
} elementwise_call;

// out[k] = op(in[0][k], …) for k < count, not yet rounded to the result's type.
typedef void (*elementwise_kernel)(const elementwise_call *call, int64_t count, void *out, const void *const *in);

enum { ELEMENTWISE_MAX_OPERANDS = 3 };

// Indexed by opcode; an empty slot means that the class lacks the operation. Pred counts as an integer.
extern const elementwise_kernel elementwise_integer[HLO_OPCODE_COUNT];
extern const elementwise_kernel elementwise_float[HLO_OPCODE_COUNT];
extern const elementwise_kernel elementwise_complex[HLO_OPCODE_COUNT];

// Null if there is none.
elementwise_kernel elementwise_find(hlo_opcode op, dtype first_operand);
elementwise_call elementwise_call_of(const instruction *i);

// elementwise_convert.c: `convert` from each class. Floats saturate when the result is an integer, NaN becomes 0; what
// becomes a pred is "not zero".
void elementwise_convert_integer(const elementwise_call *call, int64_t count, void *out, const void *const *in);
void elementwise_convert_float(const elementwise_call *call, int64_t count, void *out, const void *const *in);
void elementwise_convert_complex(const elementwise_call *call, int64_t count, void *out, const void *const *in);
// reduce-precision.
void elementwise_reduce_precision(const elementwise_call *call, int64_t count, void *out, const void *const *in);

#endif
