// MLIR's serializer does it, which dialect/spirv.h has a call for.
#include "lower/spirv_words.h"

#include <string.h>

#include "dialect/spirv.h"
#include "emit/ir_builder.h"

static void append(const uint32_t *words, size_t count, void *out) {
  text_append(out, (str){(const char *)words, count * sizeof *words});
}

heddle_status spirv_words_write(arena *a, MlirOperation module, str *out) {
  const ir_operations modules = ir_collect(a, module, "spirv.module");
  if (modules.size == 0) return status_error(HEDDLE_INTERNAL, "found no SPIR-V module");
  text words = {0};
  bool is_written = true;
  for (int k = 0; k < modules.size && is_written; k++) is_written = spirv_serialize(modules.data[k], append, &words);
  heddle_status s = ir_diagnostics(mlirOperationGetContext(module), HEDDLE_INTERNAL, "writing SPIR-V");
  if (status_is_ok(s) && !is_written) s = status_error(HEDDLE_INTERNAL, "SPIR-V was not written");
  if (status_is_ok(s)) *out = str_copy(a, text_view(&words));
  text_free(&words);
  return s;
}

static uint32_t word_at(str words, size_t number) {
  uint32_t word;
  memcpy(&word, words.data + number * sizeof word, sizeof word);
  return word;
}

// A module ends where another begins: no instruction looks like a module's first word, which would be operation 515.
str spirv_words_take(str *words) {
  enum { HEADER = 5, MAGIC = 0x07230203, LENGTH_SHIFT = 16 };
  const size_t count = words->size / sizeof(uint32_t);
  size_t at = HEADER;
  while (at < count && word_at(*words, at) != MAGIC) {
    const size_t length = word_at(*words, at) >> LENGTH_SHIFT;
    at += length ? length : 1;
  }
  const size_t bytes = at < count ? at * sizeof(uint32_t) : words->size;
  const str first = {words->data, bytes};
  *words = (str){words->data + bytes, words->size - bytes};
  return first;
}
