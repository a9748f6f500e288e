// What a Vulkan driver has made of a program's kernels, kept on disk (base/kernel_cache.h) for the next process that
// loads the same kernels on the same device with the same driver.
#ifndef HEDDLE_RT_VULKAN_CACHE_H_
#define HEDDLE_RT_VULKAN_CACHE_H_

#include "base/kernel_cache.h"
#include "prog/program.h"
#include "rt/vulkan_device.h"

typedef struct vulkan_cache {
  VkPipelineCache pipelines;  // null: nothing is kept
  kernel_cache_key key;
  bool is_known;  // it was filled with what was kept
} vulkan_cache;

// Whatever goes wrong is no error: pipelines are made without. What is kept is handed to the driver only if its
// checksum is right and it says that it is of this device and driver.
void vulkan_cache_open(vulkan_device *d, const program *p, vulkan_cache *out);
// Keeps what the driver has made in the meantime, if the program was loaded, and lets go of the rest.
void vulkan_cache_close(vulkan_device *d, vulkan_cache *c, bool keeps);

#endif
