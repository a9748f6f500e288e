// Programs on a Vulkan device. Several frames of a program may launch at the same time.
#ifndef HEDDLE_RT_VULKAN_PROGRAM_H_
#define HEDDLE_RT_VULKAN_PROGRAM_H_

#include "rt/device_type.h"

extern const device_type vulkan_device_type;

#endif
