// Prints signatures as text to read and as JSON for scripts.
#ifndef HEDDLE_TOOLS_SIGNATURE_PRINT_H_
#define HEDDLE_TOOLS_SIGNATURE_PRINT_H_

#include "tools/signature.h"

typedef struct signature_file {
  const char *path;
  const char *format;   // "HLO text", …
  const char *version;  // null if the format has none, or says none
} signature_file;

// `lists_operations`: a line for each opcode.
void signature_print_text(text *out, const signature_file *file, const signature *s, bool lists_operations);

// One object for the file, with a list of its programs. Sizes that are open are null.
void signature_print_json(text *out, const signature_file *file, int count, const signature *programs);

#endif
