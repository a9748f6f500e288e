// Blocks of a Vulkan device's memory and pieces of them, which the host sees, or beside which as much of the host's
// memory lies that copies go through (rt/vulkan_copies.h).
#ifndef HEDDLE_RT_VULKAN_MEMORY_H_
#define HEDDLE_RT_VULKAN_MEMORY_H_

#include "rt/vulkan_device.h"

typedef struct vulkan_room {
  VkDeviceMemory memory;
  VkBuffer buffer;
} vulkan_room;

typedef struct vulkan_block {
  vulkan_room room;  // what kernels use
  vulkan_room copy;  // what the host sees of it, where it does not see that; else none
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
  char *host;  // where the host has it, or its copy of it
  uint64_t address;
  VkBuffer buffer, copy;
  uint64_t offset;  // in both
} vulkan_piece;

// Sets up room for pieces of these sizes, each a piece of its own, aligned to 256; those of 0 bytes have no place.
// Where the device's memory lies apart from the host's (vulkan_device.is_apart) the pieces lie there and have copies,
// unless `for_host`: then the host sees them and kernels reach them. On failure nothing has to be released:
// HEDDLE_OUT_OF_MEMORY names the bytes that there was no room for.
heddle_status vulkan_memory_create(vulkan_device *d, bool for_host, int count, const int64_t *bytes,
                                   vulkan_piece *pieces, vulkan_memory *out);
void vulkan_memory_destroy(vulkan_memory *m);
// Gives the copies back, of which the pieces keep the addresses.
void vulkan_memory_drop_copies(vulkan_memory *m);

#endif
