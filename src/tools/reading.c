// Reads a program, writes it, and reads it again.
#include "tools/reading.h"

#include "import/import.h"
#include "import/import_ir.h"
#include "mlir/ir_compare.h"
#include "mlir/print.h"
#include "mlir/text.h"

static heddle_status check_module(arena *a, const ir_module *m) {
  ir_module **again;
  int count;
  text t = {0};
  mlir_print_module(&t, m, NULL);
  heddle_status s = mlir_text_read(a, "written", text_view(&t), &count, &again);
  text_free(&t);
  if (!status_is_ok(s)) return s;
  if (count != 1) return status_error(HEDDLE_INTERNAL, "a module written as text reads back as %d", count);
  return ir_compare(m, again[0], NULL);
}

heddle_status reading_check(arena *a, const char *file, str bytes) {
  ir_module **modules;
  int count;
  TRY(import_ir(a, file, bytes, &count, &modules));
  for (int i = 0; i < count; i++) TRY(status_context(check_module(a, modules[i]), "behind writing and reading again"));
  return status_ok();
}
