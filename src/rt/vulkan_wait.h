// Waiting for a Vulkan device in such a way that it is known afterwards whether it has ended.
#ifndef HEDDLE_RT_VULKAN_WAIT_H_
#define HEDDLE_RT_VULKAN_WAIT_H_

#include "rt/vulkan_device.h"

// Calls `wait` until it succeeds. Drivers that lack memory when they are asked to wait are asked again, for about a
// second, since what they would say is needed: memory that the device may still write cannot be given back. A device
// that is lost writes no more. *is_stuck: it may still be running.
heddle_status vulkan_wait(VkResult (*wait)(const void *), const void *argument, const char *function, bool *is_stuck);

// The same for a fence.
heddle_status vulkan_wait_for_fence(const vulkan_device *d, VkFence fence, bool *is_stuck);

// Submits the commands to the device's first queue and waits for their end by the fence, which need not be reset.
heddle_status vulkan_wait_for_commands(vulkan_device *d, const VkCommandBuffer *commands, VkFence fence,
                                       bool *is_stuck);

#endif
