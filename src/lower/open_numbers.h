// The numbers of a kernel in the LLVM dialect: read, to be compared with those that other sizes led to, and made
// elements of the table of sizes that the kernel is given (lower/open_bounds.c).
#ifndef HEDDLE_LOWER_OPEN_NUMBERS_H_
#define HEDDLE_LOWER_OPEN_NUMBERS_H_

#include <mlir-c/IR.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct open_numbers_constant {
  str text;        // of the value
  int lane_count;  // -1: no integers that a table could hold
  const int64_t *lanes;
} open_numbers_constant;

// A kernel, read: nothing in it points into MLIR.
typedef struct open_numbers_reading {
  str text;  // without the numbers
  int constant_count;
  open_numbers_constant *constants;  // in the order of the module
  int bound_count;
  const int64_t *bounds;  // of loops: the table's first numbers
} open_numbers_reading;

// Brings a module into the form that is read: to be done once, before it is read or cloned.
void open_numbers_prepare(arena *a, MlirOperation module);

// Reads the module and leaves it with zeros for its numbers: it is of no use after that.
void open_numbers_read(arena *a, MlirOperation module, open_numbers_reading *out);

// Makes constants elements of the table: constant k its number places[k] and, of a vector, those behind it; -1: it
// stays. Returns what hinders it, which ends "depends on a size …"; null if nothing does.
const char *open_numbers_replace(arena *a, MlirOperation module, const char *kernel, const int *places);

#endif
