// Reads programs in a format that the user names.
#ifndef HEDDLE_TOOLS_MODULE_FORMAT_H_
#define HEDDLE_TOOLS_MODULE_FORMAT_H_

#include "hlo/module.h"

// Arguments that came with a program (a snapshot's), or none.
typedef struct given_arguments {
  int count;
  literal **values;
} given_arguments;

// What --format may be, for help texts.
#define MODULE_FORMATS "hlo, pb, pbtxt, stablehlo, mlir, mhlo; auto (the default) looks"

// HEDDLE_INVALID for what the flag --`flag` cannot be.
heddle_status module_format_check(const char *flag, const char *format);

// `format` is one of MODULE_FORMATS. A program in another format than the one asked for is an error of the latter.
// `given` may be null.
heddle_status module_format_read(arena *a, const char *path, str bytes, const char *format, given_arguments *given,
                                 module **out);

#endif
