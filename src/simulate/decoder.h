// What the files that decode LLVM IR share: types as scalars, values as slots.
#ifndef HEDDLE_SIMULATE_DECODER_H_
#define HEDDLE_SIMULATE_DECODER_H_

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/map.h"
#include "simulate/code.h"

typedef struct decoder {
  arena *arena;
  LLVMModuleRef module;
  LLVMTargetDataRef layout;
  sim_code *code;
  ptr_map variables;  // global variable -> sim_variable
  ptr_map functions;  // function -> its number + 1
  ptr_map constants;  // constant -> sim_operand, of all functions
  VEC(uint64_t) constant_bits;
  int64_t stack_bytes;  // of a thread, for all functions together
  // Of the function at hand.
  ptr_map values;  // value -> sim_operand
  ptr_map blocks;  // block -> its number + 1
  int slot_count;
} decoder;

// --- types

// Of a scalar type; HEDDLE_UNIMPLEMENTED for others and for integers of more than 128 bits.
heddle_status decoder_scalar(LLVMTypeRef type, sim_scalar *out);
// A vector's element, or the type itself.
LLVMTypeRef decoder_element(LLVMTypeRef type);
int decoder_element_count(LLVMTypeRef type);  // 1 for what is no vector
heddle_status decoder_slots(LLVMTypeRef type, int *out);
// The slots that come before element `number` of a vector, structure or array.
heddle_status decoder_slots_before(LLVMTypeRef type, unsigned number, int *out);

// --- values

// Where the value lies: slots of the frame, or constants.
heddle_status decoder_value(decoder *d, LLVMValueRef value, sim_operand *out);
// A slot for the value, unless it has some.
heddle_status decoder_give_slots(decoder *d, LLVMValueRef value, sim_operand *out);
void decoder_place(decoder *d, LLVMValueRef value, sim_operand at);
int64_t decoder_constant_int(LLVMValueRef value, bool *is_constant);

// --- instructions

// Appends what the instruction does to `ops`, if it does anything. Phis are the edges' matter.
heddle_status decoder_instruction(decoder *d, LLVMValueRef instruction, sim_ops *ops);
heddle_status decoder_call(decoder *d, LLVMValueRef instruction, sim_ops *ops);
heddle_status decoder_memory(decoder *d, LLVMValueRef instruction, sim_ops *ops);
heddle_status decoder_refuse(LLVMValueRef instruction, const char *why);
// An operation with the instruction's operands and, unless it has none, slots for its result.
heddle_status decoder_operation(decoder *d, LLVMValueRef instruction, int operand_count, sim_op *out);
// The instruction computes `f` of its operands' scalars, one after the other.
heddle_status decoder_compute(decoder *d, LLVMValueRef instruction, int operand_count, sim_compute f, sim_op *out);
const char *decoder_text(decoder *d, LLVMValueRef instruction);

#endif
