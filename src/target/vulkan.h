// Code for Vulkan: modules of the SPIR-V dialect as the words that a driver takes.
#ifndef HEDDLE_TARGET_VULKAN_H_
#define HEDDLE_TARGET_VULKAN_H_

#include "target/code.h"

// The image of one kernel: a module with one entry point, under the kernel's name. The same module gives the same
// bytes.
heddle_status vulkan_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                          kernel_image *out);

#endif
