// libFuzzer target: any text gives modules or an error; what was read prints, and the print reads again.
//
// Splats are kept small: their text is no measure of the memory they take.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/mlir_parser.h"
#include "import/mlir_print.h"

enum { LONGEST_INPUT = 1 << 16, SPLAT_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_print(arena *a, const ir_module *m, bool is_generic) {
  text printed = {0};
  ir_module **again;
  int count;
  mlir_print_options options = {.generic = is_generic};
  mlir_print_module(&printed, m, &options);
  heddle_status status = mlir_parser_run(a, "printed", text_view(&printed), INT32_MAX, &count, &again);
  if (!status_is_ok(status)) {
    fprintf(stderr, "%s\n---\n%s", heddle_status_message(status), text_cstr(&printed));
    abort();
  }
  text_free(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > LONGEST_INPUT) return 0;
  arena *a = arena_create();
  ir_module **modules;
  int count;
  heddle_status status = mlir_parser_run(a, "fuzz", (str){(const char *)data, size}, SPLAT_BYTES, &count, &modules);
  for (int i = 0; status_is_ok(status) && i < count; i++) {
    check_print(a, modules[i], true);
    check_print(a, modules[i], false);
  }
  heddle_status_free(status);
  arena_destroy(a);
  return 0;
}
