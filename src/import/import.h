// Reads programs into HLO, in whatever format they are written.
#ifndef HEDDLE_IMPORT_IMPORT_H_
#define HEDDLE_IMPORT_IMPORT_H_

#include "stablehlo/import_options.h"

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

bool import_is_mlir(import_format f);

// Reads one program. `file` names it in errors. The module is complete and verified; it lives in `a`. `options` may be
// null. Errors: HEDDLE_INVALID for malformed input with its location; HEDDLE_UNIMPLEMENTED for what HLO cannot say; a
// program with `?` dims and no argument shapes is refused with the parameter's name.
heddle_status import_module(arena *a, const char *file, str bytes, const import_options *options, module **out);

// Every program of the file: StableHLO text may hold several, divided by `// -----`, and a module without a main
// function holds one for each public function. In other formats there is one.
heddle_status import_all(arena *a, const char *file, str bytes, const import_options *options, int *count,
                         module ***out);

// import_module of a file's contents; "-" is standard input.
heddle_status import_file(arena *a, const char *path, const import_options *options, module **out);

#endif
