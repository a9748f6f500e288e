// Texts that are cut off or changed, for tests of readers that have to end within them.
#ifndef HEDDLE_TOOLS_MLIR_SPELLING_TESTING_H_
#define HEDDLE_TOOLS_MLIR_SPELLING_TESTING_H_

#include <stdlib.h>

#include "base/testing.h"

typedef void (*mlir_spelling_testing_reader)(str source, text *out);

static int mlir_spelling_testing_lines(str s) {
  int count = 0;
  for (size_t k = 0; k < s.size; k++) count += s.data[k] == '\n';
  return count;
}

// Nothing lies behind the last byte.
static void mlir_spelling_testing_read(mlir_spelling_testing_reader reader, const char *bytes, size_t size) {
  char *copy = malloc(size ? size : 1);
  memcpy(copy, bytes, size);
  text t = {0};
  reader((str){copy, size}, &t);
  text_free(&t);
  free(copy);
}

// `size`: with the 0 at its end.
static void mlir_spelling_testing_cut(mlir_spelling_testing_reader reader, const char *program, size_t size) {
  for (size_t end = 0; end < size; end++) mlir_spelling_testing_read(reader, program, end);
  for (size_t from = 0; from < size; from++) mlir_spelling_testing_read(reader, program + from, size - 1 - from);
}

// Each byte in turn becomes each of `bytes`.
static void mlir_spelling_testing_change(mlir_spelling_testing_reader reader, const char *program, size_t size,
                                         const char *bytes) {
  char *changed = malloc(size);
  memcpy(changed, program, size);
  for (size_t k = 0; k + 1 < size; k++) {
    for (const char *b = bytes; *b; b++) {
      changed[k] = *b;
      mlir_spelling_testing_read(reader, changed, size - 1);
    }
    changed[k] = program[k];
  }
  free(changed);
}

#endif
