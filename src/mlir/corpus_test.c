// Every MLIR text of the conformance corpus (../shared/corpus beside the source tree, where it exists) reads, and
// prints in both forms to a text that reads the same.
#include "hlo/corpus_testing.h"

#include "base/file.h"
#include "mlir/ir_compare.h"
#include "mlir/print.h"
#include "mlir/text.h"

static heddle_status read_text(arena *a, str source, int *count, ir_module ***modules) {
  return mlir_text_read(a, "printed", source, count, modules);
}

static heddle_status check_print(arena *a, const ir_module *m, bool generic) {
  text out = {0};
  ir_module **again;
  int count;
  mlir_print_module(&out, m, &(mlir_print_options){.generic = generic});
  heddle_status status = read_text(a, text_view(&out), &count, &again);
  if (status_is_ok(status)) status = ir_compare(m, again[0], NULL);
  text_free(&out);
  return status;
}

static heddle_status check_mlir(arena *a, const char *path) {
  str source;
  ir_module **modules;
  int count;
  TRY(file_read(a, path, &source));
  TRY(mlir_text_read(a, path, source, &count, &modules));
  for (int k = 0; k < 2 * count; k++) TRY(check_print(a, modules[k / 2], k % 2 != 0));
  return status_ok();
}

int main(void) { return corpus_run(".mlir", check_mlir); }
