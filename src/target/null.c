// A kernel arrives in the LLVM dialect, lowered for the machine that the description names, with the entry
// `void NAME(void *const *buffers, int64_t begin, int64_t end)`. A real target translates it here.
#include "target/null.h"

#include "emit/ir_builder.h"

heddle_status null_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                        kernel_image *out) {
  (void)target;
  (void)options;
  text printed = {0};
  mlirOperationPrint(module, ir_append, &printed);
  const str copy = str_copy(a, text_view(&printed));
  *out = (kernel_image){.format = IMAGE_MLIR, .data = copy.data, .size = copy.size};
  text_free(&printed);
  return status_ok();
}
