#include "rt/vulkan_wait.h"

#include <time.h>

heddle_status vulkan_wait(VkResult (*wait)(const void *), const void *argument, const char *function, bool *is_stuck) {
  enum { TRIES = 10, FIRST_NANOSECONDS = 1000000 };
  VkResult result = VK_SUCCESS;
  for (int k = 0; k < TRIES; k++) {
    result = wait(argument);
    *is_stuck = result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST;
    if (!*is_stuck) break;
    (void)nanosleep(&(struct timespec){.tv_nsec = FIRST_NANOSECONDS << (k < 8 ? k : 8)}, NULL);
  }
  return vulkan_driver_status(result, function);
}

typedef struct fence_wait {
  const vulkan_device *device;
  VkFence fence;
} fence_wait;

static VkResult wait_for_fence(const void *argument) {
  const fence_wait *w = argument;
  return w->device->f.WaitForFences(w->device->device, 1, &w->fence, VK_TRUE, UINT64_MAX);
}

heddle_status vulkan_wait_for_fence(const vulkan_device *d, VkFence fence, bool *is_stuck) {
  return vulkan_wait(wait_for_fence, &(fence_wait){d, fence}, "vkWaitForFences", is_stuck);
}

heddle_status vulkan_wait_for_commands(vulkan_device *d, const VkCommandBuffer *commands, VkFence fence,
                                       bool *is_stuck) {
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = commands};
  VULKAN_TRY(d->f.ResetFences(d->device, 1, &fence), ResetFences);
  TRY(vulkan_device_submit(d, 0, &info, fence));
  return vulkan_wait_for_fence(d, fence, is_stuck);
}
