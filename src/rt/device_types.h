// The kinds of devices that this build can run programs on, beside the host.
#ifndef HEDDLE_RT_DEVICE_TYPES_H_
#define HEDDLE_RT_DEVICE_TYPES_H_

#include "rt/device_type.h"

extern const device_type *const device_types[TARGET_KIND_COUNT];  // null: the host

// What a caller calls a platform that programs can run on: "cpu", "vulkan"; case does not matter. HEDDLE_INVALID, with
// the names there are, for others and for null.
heddle_status device_types_platform(const char *name, target_kind *out);
// A line for each device of the platform: HEDDLE_DEVICE_FAILED, with the reason, where there is none.
heddle_status device_types_list(target_kind platform, text *out);

#endif
