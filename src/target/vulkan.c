// A kernel arrives as a module of the SPIR-V dialect: only its words are to be written.
#include "target/vulkan.h"

#include "lower/spirv_words.h"

heddle_status vulkan_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                          kernel_image *out) {
  (void)target;
  (void)options;
  str words;
  TRY(spirv_words_write(a, module, &words));
  *out = (kernel_image){.format = IMAGE_SPIRV, .data = words.data, .size = words.size};
  return status_ok();
}
