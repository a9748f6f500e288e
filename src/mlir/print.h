// Prints programs in ir.h's form as MLIR text that StableHLO's own tools read.
#ifndef HEDDLE_MLIR_PRINT_H_
#define HEDDLE_MLIR_PRINT_H_

#include "base/map.h"
#include "mlir/ir.h"

typedef struct mlir_print_options {
  bool generic;          // every operation as "name"(operands) <{attributes}> ({regions}) : type
  int64_t elide_above;   // elements of larger constants are left out (`dense_resource<__elided__>`); 0 = never
  bool locations;        // where operations came from, behind each: loc("name"("file":1:2))
  const ptr_map *names;  // ir_value: const char *, for arguments and lone results that are to have a name (without `%`)
  const char *prefix;    // of the names that others get, between `%` and a number; may be null
} mlir_print_options;

// `options` may be null. Text that mlir_text_read reads back to an equal module.
void mlir_print_module(text *out, const ir_module *m, const mlir_print_options *options);

// One operation in its generic form, without its results' names and without a line's end.
void mlir_print_operation(text *out, const ir_operation *op, const mlir_print_options *options);

#endif
