// MLIR's serializer does it, which dialect/spirv.h has a call for.
#include "lower/spirv_words.h"

#include "dialect/spirv.h"
#include "emit/ir_builder.h"

static void append(const uint32_t *words, size_t count, void *out) {
  text_append(out, (str){(const char *)words, count * sizeof *words});
}

heddle_status spirv_words_write(arena *a, MlirOperation module, str *out) {
  const ir_operations modules = ir_collect(a, module, "spirv.module");
  if (modules.size != 1) return status_error(HEDDLE_INTERNAL, "found %d SPIR-V modules, wanted one", modules.size);
  text words = {0};
  const bool is_written = spirv_serialize(modules.data[0], append, &words);
  heddle_status s = ir_diagnostics(mlirOperationGetContext(module), HEDDLE_INTERNAL, "writing SPIR-V");
  if (status_is_ok(s) && !is_written) s = status_error(HEDDLE_INTERNAL, "SPIR-V was not written");
  if (status_is_ok(s)) *out = str_copy(a, text_view(&words));
  text_free(&words);
  return s;
}
