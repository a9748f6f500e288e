// Programs into HLO, whatever they are written in.
#ifndef HEDDLE_IMPORT_IMPORT_H_
#define HEDDLE_IMPORT_IMPORT_H_

#include "hlo/module.h"

typedef enum import_format {
  IMPORT_HLO_TEXT,
  IMPORT_MLIR_TEXT,      // StableHLO and CHLO
  IMPORT_MLIR_BYTECODE,  // VHLO, as jax.export writes it
  IMPORT_HLO_PROTO,      // HloModuleProto, HloProto or HloSnapshot, binary
  IMPORT_HLO_PBTXT,      // the same as text
  IMPORT_FORMAT_COUNT
} import_format;

const char *import_format_name(import_format f);  // "HLO text", "StableHLO text", ...
import_format import_sniff(str bytes);            // by looking; anything unknown counts as HLO text

typedef struct import_options {
  // Argument shapes for entry parameters with `?` dims, by parameter; null or a null entry: as declared.
  const shape *const *argument_shapes;
  // Argument values, by parameter; may be null, as may be an entry. Needed only where a shape depends on a value; such
  // a parameter keeps its place and is checked against the value when the program runs.
  literal *const *arguments;
  int argument_count;
  str entry;  // function to make the entry of; empty: main, or the only public one
} import_options;

// Reads one program. `file` names it in errors. The module is complete and verified; it lives in `a`. `options` may be
// null. Errors: HEDDLE_INVALID for malformed input with its place; HEDDLE_UNIMPLEMENTED for what HLO cannot say; a
// program with `?` dims and no argument shapes is refused with the parameter's name.
heddle_status import_module(arena *a, const char *file, str bytes, const import_options *options, module **out);

// Every program of the file: StableHLO text may hold several, divided by `// -----`, and a module without a main
// function holds one per function. In other formats there is one.
heddle_status import_all(arena *a, const char *file, str bytes, const import_options *options, int *count,
                         module ***out);

#endif
