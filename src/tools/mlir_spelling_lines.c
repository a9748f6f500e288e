// Errors of MLIR's parser tell lines of the text that it is given.
#include "tools/mlir_spelling_lines.h"

void mlir_spelling_lines_keep(str taken, text *out, size_t from) {
  int lines = 0;
  for (size_t k = 0; k < taken.size; k++) lines += taken.data[k] == '\n';
  for (size_t k = from; k < out->size; k++) lines -= out->data[k] == '\n';
  for (; lines > 0; lines--) text_putc(out, '\n');
}
