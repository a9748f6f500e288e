// The pretty text forms of StableHLO, CHLO, check and interpreter operations, one table for reading and printing.
#ifndef HEDDLE_MLIR_ASSEMBLY_H_
#define HEDDLE_MLIR_ASSEMBLY_H_

#include "mlir/ir.h"

// How the printer hands out what only it knows: names of values, and regions with their indentation.
typedef struct assembly_printer {
  text *out;
  void *context;
  void (*value)(void *context, const ir_value *v);                      // %0, %arg1, %2#1
  void (*region)(void *context, const ir_region *r, bool with_header);  // `{ ... }`, with or without ^bb0(...) header
  // Gives the arguments of the region's first block their names before it is printed: new ones, or those that the
  // arguments of `as` have.
  void (*name)(void *context, const ir_region *r, const ir_region *as);
  void (*attribute)(void *context, const ir_attribute *x);
} assembly_printer;

// Prints what stands behind the operation's name in its pretty form and returns true; false, with nothing printed, if
// the operation has none or does not fit it (the caller then uses the generic form).
bool assembly_print(const assembly_printer *p, const ir_operation *op);

#endif
