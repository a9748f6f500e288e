// Programs on a Vulkan device. Several frames of a program may run at the same time.
#ifndef HEDDLE_RT_VULKAN_PROGRAM_H_
#define HEDDLE_RT_VULKAN_PROGRAM_H_

#include "rt/device_type.h"
#include "rt/vulkan_kernels.h"
#include "rt/vulkan_memory.h"

// Addresses of buffers that a kernel takes as push constants; more of them lie in memory, of which the address is
// pushed.
enum { VULKAN_PUSHED_MOST = 16 };

typedef struct vulkan_kernel {
  VkShaderModule module;
  VkPipeline pipeline;
  uint32_t groups[3];
} vulkan_kernel;

typedef struct vulkan_program {
  vulkan_device *device;
  const program *program;
  VkPipelineLayout layout;
  vulkan_kernel *kernels;                  // of the program; those of the host stay empty
  bool has_predicates;                     // the program may use them and the device has them
  vulkan_kernel own[VULKAN_KERNEL_COUNT];  // then
  vulkan_memory constants;
  vulkan_piece *pieces;  // by allocation; of constants and numbers alone
} vulkan_program;

// Room for the program's constants, or for all of its other allocations; pieces[i] is that of allocation i.
heddle_status vulkan_program_place(vulkan_device *d, const program *p, bool constants, vulkan_piece *pieces,
                                   vulkan_memory *out);

device_abilities vulkan_program_abilities(const void *loaded);  // as device_type.abilities

extern const device_type vulkan_device_type;

#endif
