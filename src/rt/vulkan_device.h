// The Vulkan devices of this process: each opened with the first program that needs it, closed with the last.
#ifndef HEDDLE_RT_VULKAN_DEVICE_H_
#define HEDDLE_RT_VULKAN_DEVICE_H_

#include <pthread.h>
#include <sys/types.h>

#include "base/str.h"
#include "rt/vulkan_driver.h"
#include "rt/vulkan_features.h"

// Whose pipelines a driver takes back.
typedef struct vulkan_identity {
  uint32_t vendor, device, driver;
  uint8_t cache[VK_UUID_SIZE];
} vulkan_identity;

enum { VULKAN_MOST_QUEUES = 4 };

// Submitting needs the queue alone.
typedef struct vulkan_queue {
  VkQueue queue;
  pthread_mutex_t lock;
} vulkan_queue;

typedef struct vulkan_device {
  vulkan_functions f;
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  uint32_t queue_family;
  int queue_count;
  vulkan_queue queues[VULKAN_MOST_QUEUES];
  bool has_timelines;         // semaphores that count, between queues and to the host
  bool has_predicates;        // commands that depend on what is in memory
  uint32_t memory_type;       // of what kernels use
  uint32_t host_memory_type;  // that the host sees, coherently
  bool is_apart;              // the host does not see the device's memory; else both are the same
  uint64_t largest_block;     // bytes of one allocation of memory
  uint32_t most_groups[3];    // of a dispatch
  uint32_t shared_bytes, most_invocations;
  uint32_t subgroup_size;  // invocations
  vulkan_features features;
  vulkan_identity identity;
  pid_t process;              // that opened it
  _Atomic bool is_abandoned;  // it was left while it may have been running
  char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
  char *asked;                // what it was opened as
  VkPhysicalDevice *devices;  // all that the driver shows
  int references;
  struct vulkan_device *next;  // that is open
} vulkan_device;

// Takes a reference to a device, which is opened if nobody has it: HEDDLE_DEVICE_FAILED where there is no driver or no
// device that can run what Heddle compiles, with what each of those there are lacks. `wanted`, or where that is null
// HEDDLE_VULKAN_DEVICE, names it by its number or a part of its name; else a discrete one is preferred to an integrated
// one, and that to software. HEDDLE_VULKAN_MEMORY ("shared", "apart") says which memory is used, whatever the device
// prefers, HEDDLE_VULKAN_WITHOUT what is not to be used of a device (vulkan_features_restrict). Thread-safe.
heddle_status vulkan_device_open(const char *wanted, vulkan_device **out);
void vulkan_device_close(vulkan_device *d);  // null is allowed

// Drivers have threads, locks and mapped memory, none of which a fork makes a second time. While a process has the
// device its children have none: all that this file gives them is HEDDLE_DEVICE_FAILED, and what they free of it they
// free without the driver. So do all once a device is abandoned: what it may still be writing to stays as it is.
bool vulkan_device_is_here(const vulkan_device *d);
heddle_status vulkan_device_check(const vulkan_device *d);  // HEDDLE_DEVICE_FAILED unless it is

// Submits to the queue of a stream.
heddle_status vulkan_device_submit(vulkan_device *d, int stream, const VkSubmitInfo *info, VkFence fence);

// A line for each device that the driver shows: number, name, version, and what keeps it from being used if anything
// does. Fails where there is no driver.
heddle_status vulkan_device_list(text *out);

#endif
