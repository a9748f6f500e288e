// The devices that this build can run programs on, beside the host.
#include "rt/device_type.h"

#include "rt/vulkan_program.h"

const device_type *const device_types[TARGET_KIND_COUNT] = {[TARGET_VULKAN] = &vulkan_device_type};
