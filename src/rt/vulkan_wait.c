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
