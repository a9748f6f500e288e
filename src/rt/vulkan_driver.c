// The loader stays open as long as the process lives, as drivers have threads of their own.
#include "rt/vulkan_driver.h"

#include <dlfcn.h>
#include <string.h>

#include "base/lock.h"

static lock opening = LOCK_INITIALIZER;
static PFN_vkGetInstanceProcAddr opened, replacement;

void vulkan_driver_replace(PFN_vkGetInstanceProcAddr functions) { replacement = functions; }

static heddle_status open_loader(PFN_vkGetInstanceProcAddr *out) {
  static const char file[] = "libvulkan.so.1";
  if (!opened) {
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle) opened = (PFN_vkGetInstanceProcAddr)dlsym(handle, "vkGetInstanceProcAddr");
    const char *why = opened ? NULL : dlerror();
    if (!opened)
      return status_error(HEDDLE_DEVICE_FAILED, "Vulkan is needed, and %s cannot be loaded: %s", file,
                          why ? why : "the system does not say why");
  }
  *out = opened;
  return status_ok();
}

static heddle_status lacks(const char *name) {
  return status_error(HEDDLE_DEVICE_FAILED, "the Vulkan driver lacks %s", name);
}

typedef struct wanted {
  const char *name;
  size_t member;  // of vulkan_functions
} wanted;

#define WANTED(name) {"vk" #name, offsetof(vulkan_functions, name)},
static const wanted global_functions[] = {VULKAN_GLOBAL_FUNCTIONS(WANTED)};
static const wanted instance_functions[] = {VULKAN_INSTANCE_FUNCTIONS(WANTED)};
static const wanted device_functions[] = {VULKAN_DEVICE_FUNCTIONS(WANTED)};
#undef WANTED

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

// Of a device if there is one, else of an instance, which may be null.
static PFN_vkVoidFunction find(const vulkan_functions *f, VkInstance instance, VkDevice device, const char *name) {
  return device ? f->GetDeviceProcAddr(device, name) : f->GetInstanceProcAddr(instance, name);
}

static heddle_status fill(vulkan_functions *f, VkInstance instance, VkDevice device, int count, const wanted *list) {
  for (int k = 0; k < count; k++) {
    const PFN_vkVoidFunction found = find(f, instance, device, list[k].name);
    if (!found) return lacks(list[k].name);
    memcpy((char *)f + list[k].member, &found, sizeof found);
  }
  return status_ok();
}

heddle_status vulkan_driver_open(vulkan_functions *f) {
  *f = (vulkan_functions){.GetInstanceProcAddr = replacement};
  heddle_status s = status_ok();
  if (!replacement) {
    lock_take(&opening);
    s = open_loader(&f->GetInstanceProcAddr);
    lock_give(&opening);
  }
  TRY(s);
  return fill(f, NULL, NULL, COUNT(global_functions), global_functions);
}

heddle_status vulkan_driver_instance_functions(vulkan_functions *f, VkInstance instance) {
  return fill(f, instance, NULL, COUNT(instance_functions), instance_functions);
}

static PFN_vkVoidFunction find_either(const vulkan_functions *f, VkDevice device, const char *name, const char *khr) {
  const PFN_vkVoidFunction found = f->GetDeviceProcAddr(device, name);
  return found ? found : f->GetDeviceProcAddr(device, khr);
}

heddle_status vulkan_driver_device_functions(vulkan_functions *f, VkDevice device) {
  TRY(fill(f, NULL, device, COUNT(device_functions), device_functions));
  f->GetBufferDeviceAddress = (PFN_vkGetBufferDeviceAddress)(void *)find_either(f, device, "vkGetBufferDeviceAddress",
                                                                                "vkGetBufferDeviceAddressKHR");
  f->WaitSemaphores = (PFN_vkWaitSemaphores)(void *)find_either(f, device, "vkWaitSemaphores", "vkWaitSemaphoresKHR");
  f->CmdBeginConditionalRenderingEXT =
      (PFN_vkCmdBeginConditionalRenderingEXT)(void *)f->GetDeviceProcAddr(device, "vkCmdBeginConditionalRenderingEXT");
  f->CmdEndConditionalRenderingEXT =
      (PFN_vkCmdEndConditionalRenderingEXT)(void *)f->GetDeviceProcAddr(device, "vkCmdEndConditionalRenderingEXT");
  return f->GetBufferDeviceAddress ? status_ok() : lacks("vkGetBufferDeviceAddress");
}

heddle_status vulkan_driver_status(VkResult result, const char *function) {
  static const struct {
    VkResult result;
    const char *text;
  } known[] = {
      {VK_ERROR_OUT_OF_HOST_MEMORY, "out of host memory"},
      {VK_ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory"},
      {VK_ERROR_INITIALIZATION_FAILED, "initialization failed"},
      {VK_ERROR_DEVICE_LOST, "the device was lost"},
      {VK_ERROR_MEMORY_MAP_FAILED, "memory could not be mapped"},
      {VK_ERROR_LAYER_NOT_PRESENT, "a layer is not there"},
      {VK_ERROR_EXTENSION_NOT_PRESENT, "an extension is not there"},
      {VK_ERROR_FEATURE_NOT_PRESENT, "a feature is not there"},
      {VK_ERROR_INCOMPATIBLE_DRIVER, "there is no driver, or none that knows this version"},
      {VK_ERROR_TOO_MANY_OBJECTS, "too many objects"},
      {VK_TIMEOUT, "took too long"},
  };
  if (result >= 0 && result != VK_TIMEOUT) return status_ok();
  const bool lacks_memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const heddle_code code = lacks_memory ? HEDDLE_OUT_OF_MEMORY : HEDDLE_DEVICE_FAILED;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].result == result) return status_error(code, "%s: %s", function, known[k].text);
  return status_error(code, "%s failed with result %d", function, (int)result);
}
