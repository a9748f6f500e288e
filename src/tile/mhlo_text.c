// HLO to StableHLO's text, and its names to MHLO's: where both have an operation it is the same one.
#include "tile/mhlo_text.h"

#include "mlir/print.h"
#include "stablehlo/hlo_to_stablehlo.h"

// What stands in front of names and attributes is replaced, outside of strings that begin elsewhere.
void mhlo_text_rename(str from, text *out) {
  static const char *const old[] = {"\"stablehlo.", "\"chlo.", "#stablehlo", "#chlo", "!stablehlo"};
  static const char *const made[] = {"\"mhlo.", "\"mhlo.", "#mhlo", "#mhlo", "!mhlo"};
  for (size_t at = 0; at < from.size;) {
    size_t k = 0;
    while (k < sizeof old / sizeof *old && !str_starts_with((str){from.data + at, from.size - at}, old[k])) k++;
    if (k < sizeof old / sizeof *old) {
      text_puts(out, made[k]);
      at += strlen(old[k]);
    } else {
      text_putc(out, from.data[at++]);
    }
  }
}

heddle_status mhlo_text_write(arena *a, const computation *c, text *out) {
  module *copy = module_clone(a, c->module);
  copy->entry = module_find_computation(copy, c->name);
  ir_module *converted = NULL;
  TRY(hlo_to_stablehlo(a, copy, &converted));
  text t = {0};
  mlir_print_module(&t, converted, &(mlir_print_options){.generic = true});
  mhlo_text_rename(text_view(&t), out);
  text_free(&t);
  return status_ok();
}
