// Blocks of a Vulkan device's memory, which the host sees, and pieces of them.
#ifndef HEDDLE_RT_VULKAN_MEMORY_H_
#define HEDDLE_RT_VULKAN_MEMORY_H_

#include "rt/vulkan_device.h"

typedef struct vulkan_block {
  VkDeviceMemory memory;
  VkBuffer buffer;
  char *host;
  uint64_t address;  // the device's
  uint64_t bytes, used;
} vulkan_block;

// Pieces share blocks, since a device has room for a few thousand blocks only.
typedef struct vulkan_memory {
  vulkan_device *device;
  vulkan_block *blocks;
  int count;
} vulkan_memory;

typedef struct vulkan_piece {
  char *host;
  uint64_t address;
} vulkan_piece;

// Sets up room for pieces of these sizes, each a piece of its own, aligned to 256; those of 0 bytes have no place. On
// failure nothing has to be released: HEDDLE_OUT_OF_MEMORY names the bytes that there was no room for.
heddle_status vulkan_memory_create(vulkan_device *d, int count, const int64_t *bytes, vulkan_piece *pieces,
                                   vulkan_memory *out);
void vulkan_memory_destroy(vulkan_memory *m);

#endif
