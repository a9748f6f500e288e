// What must hold of an input that a reader has accepted, and of one that it has refused. Whatever does not hold ends
// the process with a line on standard error, which is how libFuzzer sees a finding.
#ifndef HEDDLE_FUZZ_ACCEPTED_H_
#define HEDDLE_FUZZ_ACCEPTED_H_

#include "hlo/module.h"
#include "lhlo/lhlo.h"
#include "mlir/ir.h"

// How far an accepted input is sent on, each including those before it.
typedef enum accepted_depth {
  ACCEPTED_PRINTED,   // through its own printer and reader
  ACCEPTED_THROUGH,   // through every other format and the passes
  ACCEPTED_COMPILED,  // through the compiler, which takes a hundred times as long as all else
} accepted_depth;

// Takes the status over. `shown` (may be null) is printed with what does not hold.
void accepted_demand(bool holds, const char *what, const text *shown);
void accepted_must(heddle_status s, const char *what, const text *shown);
// Whether it is OK; where it is not, it must be an error that does not speak of a bug of ours.
bool accepted_may(heddle_status s, const char *what, const text *shown);
// The same for a reader's answer: an error must say at which line and column (or byte, or field) it is.
bool accepted_read(heddle_status s, const char *file);

// The module verifies; it is the same behind its HLO text. Further: it is the same behind protos too, its StableHLO
// (where it has one) reads back, and if it is small the passes and the compiler take it or say why not.
void accepted_module(arena *a, const module *m, accepted_depth depth);
// One way to write modules and to read what was written.
typedef struct accepted_form {
  heddle_status (*read)(arena *a, const char *file, str input, module **out);
  heddle_status (*write)(text *out, const module *m);
  bool is_text;
} accepted_form;

// Whether `input` reads as a module; what does is written, read again, the same program, and checked as above.
bool accepted_copies(str input, const accepted_form *form, accepted_depth depth);

// Prints in both forms, which read back to an equal program. Further: its functions become HLO or are refused, and
// what they become is checked as above.
void accepted_ir(arena *a, ir_module *m, accepted_depth depth);
// Prints, and reads back to the same text. Further: it is compiled or refused.
void accepted_lhlo(arena *a, const lhlo_program *p, accepted_depth depth);

#endif
