// What kernels may ask for, as their modules say it (OpCapability), and what a device has of it.
#ifndef HEDDLE_RT_VULKAN_FEATURES_H_
#define HEDDLE_RT_VULKAN_FEATURES_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "prog/program.h"

typedef struct vulkan_features {
  bool int8, int16, int64, float64, storage8, storage16, int64_atomics, addresses;
  bool keeps_specials32, keeps_specials64;  // signed zeros, infinities and NaN of f32 and f64
  bool shuffles;                            // within subgroups, which are full where that is asked for
} vulkan_features;

// Takes away what HEDDLE_VULKAN_WITHOUT names, by commas: a device that lacks it runs what this one runs then.
// HEDDLE_INVALID for names that are none.
heddle_status vulkan_features_restrict(vulkan_features *f);

// Looks at the instructions in front of a module, those that say what it needs: *lack is what is missing of it, in
// words, or null. Fails with HEDDLE_INVALID if the image is no module.
heddle_status vulkan_features_check(const vulkan_features *f, const program_image *image, const char **lack);

// Whether the module asks which subgroup an invocation is in; of one that was checked.
bool vulkan_features_are_subgroups(const program_image *image);

#endif
