// Vulkan's loader, opened when the first program needs it, and the functions that are used. The only file that includes
// Khronos's headers; nothing is linked.
#ifndef HEDDLE_RT_VULKAN_DRIVER_H_
#define HEDDLE_RT_VULKAN_DRIVER_H_

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "base/status.h"

// Functions that take no handle, an instance, a device; each list begins with what gives it back.
#define VULKAN_GLOBAL_FUNCTIONS(X) X(EnumerateInstanceVersion) X(CreateInstance)
#define VULKAN_INSTANCE_FUNCTIONS(X)    \
  X(DestroyInstance)                    \
  X(EnumeratePhysicalDevices)           \
  X(GetPhysicalDeviceProperties2)       \
  X(EnumerateDeviceExtensionProperties) \
  X(GetPhysicalDeviceFeatures2)         \
  X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceQueueFamilyProperties) X(CreateDevice) X(GetDeviceProcAddr)
#define VULKAN_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                 \
  X(GetDeviceQueue)                \
  X(CreateBuffer)                  \
  X(GetBufferMemoryRequirements)   \
  X(AllocateMemory)                \
  X(BindBufferMemory)              \
  X(MapMemory)                     \
  X(CreateShaderModule)            \
  X(CreatePipelineLayout)          \
  X(CreatePipelineCache)           \
  X(GetPipelineCacheData)          \
  X(DestroyPipelineCache)          \
  X(CreateComputePipelines)        \
  X(CreateCommandPool)             \
  X(AllocateCommandBuffers)        \
  X(CreateFence)                   \
  X(BeginCommandBuffer)            \
  X(CmdBindPipeline)               \
  X(CmdPushConstants)              \
  X(CmdPipelineBarrier)            \
  X(CmdDispatch)                   \
  X(CmdCopyBuffer)                 \
  X(EndCommandBuffer)              \
  X(QueueSubmit)                   \
  X(WaitForFences)                 \
  X(ResetFences)                   \
  X(DestroyFence)                  \
  X(CreateSemaphore)               \
  X(DestroySemaphore)              \
  X(DestroyCommandPool)            \
  X(DestroyPipeline) X(DestroyPipelineLayout) X(DestroyShaderModule) X(DestroyBuffer) X(FreeMemory)

#define VULKAN_MEMBER(name) PFN_vk##name name;
typedef struct vulkan_functions {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
  VULKAN_GLOBAL_FUNCTIONS(VULKAN_MEMBER)
  VULKAN_INSTANCE_FUNCTIONS(VULKAN_MEMBER)
  VULKAN_DEVICE_FUNCTIONS(VULKAN_MEMBER)
  // By the names of extensions before Vulkan 1.2.
  PFN_vkGetBufferDeviceAddress GetBufferDeviceAddress;
  PFN_vkWaitSemaphores WaitSemaphores;  // null where there are no timelines
  // Null where the device has no predicates (VK_EXT_conditional_rendering).
  PFN_vkCmdBeginConditionalRenderingEXT CmdBeginConditionalRenderingEXT;
  PFN_vkCmdEndConditionalRenderingEXT CmdEndConditionalRenderingEXT;
} vulkan_functions;
#undef VULKAN_MEMBER

// Opens the loader, once for the process: HEDDLE_DEVICE_FAILED where there is none.
heddle_status vulkan_driver_open(vulkan_functions *out);
// The functions of an instance and of a device, once there are these.
heddle_status vulkan_driver_instance_functions(vulkan_functions *f, VkInstance instance);
heddle_status vulkan_driver_device_functions(vulkan_functions *f, VkDevice device);

// What a call of `function` returned: HEDDLE_OUT_OF_MEMORY where memory was lacking, HEDDLE_DEVICE_FAILED for all else
// that is no success.
heddle_status vulkan_driver_status(VkResult result, const char *function);

// Loads functions from elsewhere than libvulkan.so.1, for tests: a driver that fails when it is told to. Null: the
// loader. Called while no device is open.
void vulkan_driver_replace(PFN_vkGetInstanceProcAddr functions);

#define VULKAN_TRY(call, name) TRY(vulkan_driver_status(call, "vk" #name))

#endif
