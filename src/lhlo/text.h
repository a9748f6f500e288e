// What the files that write and read LHLO's text share: lhlo_print.c, lhlo_raise.c, lhlo_parse*.c.
//
// The text, as one func.func @main:
//   arguments   parameters, then results ({lmhlo.result}, {lmhlo.donated = 0 : i64}), in order;
//               {lmhlo.layout = array<i64: 0, 1>} minor to major, where it is not row-major
//   "memref.global", "memref.get_global"   constants; their value is row-major, with {lmhlo.layout} in another order
//   "memref.alloc"                         the arena, in bytes
//   "memref.view"(arena, offset)           a slice of it
//   "lmhlo.view"(x) {offset = 0 : i64}     bytes of an argument or constant as another type
//   "lmhlo.fusion"(operands, results) {callee = @fused_0, segments = array<i64: 2, 1>, …}
//   "lmhlo.library"                        the same; the function holds one library operation
//   "lmhlo.dot_general", …                 a library operation with StableHLO's name and attributes
//   "lmhlo.add", …                         other operations of that form become a kernel each
//   "lmhlo.copy"(from, to)
//   "lmhlo.while"(elements, condition) ({…}, {…}) {trip_count = 5 : i64}
//   "lmhlo.case"(index, operands, results) ({…}, …) {segments = array<i64: 1, 2, 1>}
//   "lmhlo.call"(operands, results) ({…}) {segments = array<i64: 2, 1>}
// Written by hand, segments may be left out where the function or the operation says how many operands it reads, and so
// may lmhlo.terminator; a fusion may have its body in a region (lhlo_outline.c); memory may stand in MLIR's short forms
// (`memref.alloc() : memref<64xi8>`). Locations (`loc("jit(f)/add"("f.py":3:7))`) are the instructions' metadata.
// There is one private function of StableHLO operations for every different fusion.
#ifndef HEDDLE_LHLO_TEXT_H_
#define HEDDLE_LHLO_TEXT_H_

#include "lhlo/lhlo.h"
#include "mlir/ir.h"

// A function of StableHLO operations, in no block.
typedef struct lhlo_raised {
  ir_operation *function;  // named `main`
  ir_operation *single;    // its one operation, if that takes the arguments and makes the results, in order; else null
  int called_count;
  ir_operation **called;  // functions that it calls
} lhlo_raised;

// Arguments are the computation's parameters, results the leaves of its root. Functions that are called get the names
// part_N, counted by *parts. HEDDLE_UNIMPLEMENTED for what StableHLO cannot say.
heddle_status lhlo_raise_computation(arena *a, const module *m, const computation *c, int *parts, lhlo_raised *out);

// The same of a computation with nothing but `i` and the arrays it takes.
heddle_status lhlo_raise_instruction(arena *a, const instruction *i, int *parts, lhlo_raised *out);

// The bytes of a value, "memref<2xf32>".
const ir_type *lhlo_buffer_type(arena *a, const shape *s);

#endif
