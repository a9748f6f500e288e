// What custom calls mean that the interpreter knows by their target's name, for passes that replace them.
#ifndef HEDDLE_EVAL_CUSTOM_CALL_MEANING_H_
#define HEDDLE_EVAL_CUSTOM_CALL_MEANING_H_

#include "hlo/module.h"

// What the interpreter takes a custom call for: its operands as they are (EVAL_CUSTOM_CALL_OPERANDS), zeros
// (EVAL_CUSTOM_CALL_ZEROS), the elementwise operation *opcode (EVAL_CUSTOM_CALL_OPCODE) or something else.
typedef enum eval_custom_call_meaning {
  EVAL_CUSTOM_CALL_OTHER,
  EVAL_CUSTOM_CALL_OPERANDS,
  EVAL_CUSTOM_CALL_ZEROS,
  EVAL_CUSTOM_CALL_OPCODE,
} eval_custom_call_meaning;
eval_custom_call_meaning eval_custom_call_means(str target, hlo_opcode *opcode);

#endif
