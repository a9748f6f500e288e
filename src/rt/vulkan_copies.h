// Copies between the memory of a Vulkan device that the host does not see and what the host has beside it.
#ifndef HEDDLE_RT_VULKAN_COPIES_H_
#define HEDDLE_RT_VULKAN_COPIES_H_

#include "rt/vulkan_memory.h"

typedef struct vulkan_copies {
  vulkan_device *device;  // null: there is nothing to copy
  VkCommandPool pool;
  VkCommandBuffer commands;
  VkFence fence;
  bool is_stuck;  // the device may still be copying
} vulkan_copies;

// On failure vulkan_copies_destroy releases what was made, as it does afterwards.
heddle_status vulkan_copies_create(vulkan_device *d, vulkan_copies *out);
void vulkan_copies_destroy(vulkan_copies *c);

// Between these two the bytes that were added are copied, behind all that has ended before.
heddle_status vulkan_copies_begin(vulkan_copies *c);
heddle_status vulkan_copies_end(vulkan_copies *c);  // waits for them
void vulkan_copies_add(const vulkan_copies *c, bool to_host, const vulkan_piece *p, int64_t offset, int64_t bytes);
heddle_status vulkan_copies_settle(vulkan_copies *c);  // waits for what may still be going on

#endif
