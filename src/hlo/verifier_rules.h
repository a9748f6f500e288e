// What the files of the verifier share: verifier*.c only.
#ifndef HEDDLE_HLO_VERIFIER_RULES_H_
#define HEDDLE_HLO_VERIFIER_RULES_H_

#include "hlo/module.h"

// HEDDLE_INVALID at the instruction: `dot: ...`.
#define VERIFY_ERROR(i, format, ...) \
  status_at(HEDDLE_INVALID, (i)->where, "%s: " format, hlo_op_text((i)->opcode), ##__VA_ARGS__)

// The computations an instruction calls: as many as its opcode wants, with the signatures it wants. `a` holds the
// shapes of messages.                                                             verifier_calls.c
heddle_status verifier_check_calls(arena *a, const instruction *i);
// Values of attributes that shape inference does not look at.              verifier_attributes.c
heddle_status verifier_check_attributes(arena *a, const instruction *i);
// Shapes of operations whose result is given, not inferred.                verifier_library.c
heddle_status verifier_check_library_op(arena *a, const instruction *i);

// How many computations an opcode's row requires, by its attributes.
int verifier_required_computations(hlo_opcode op);
// And how many it may call at most; INT32_MAX if any number.
int verifier_allowed_computations(hlo_opcode op);

#endif
