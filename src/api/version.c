// Features of the library that a program runs with (include/heddle/version.h).
#include "heddle/version.h"

#include <string.h>

// What somebody may ask for before they rely on it; new rows go anywhere.
static const char *const features[] = {
    "compile",
    "run",
    "cancellation",
    "custom-calls",
    "allocator",
    "progress",
    "stage-text",
    "profile",
    "devices",
    "dynamic-results",
    "target:cpu",
    "target:vulkan",
    "platform",
    "format:hlo",
    "format:hlo-proto",
    "format:stablehlo",
    "format:stablehlo-bytecode",
    "format:saved",
    "format:mhlo",
    "format:lhlo",
};

enum { FEATURE_COUNT = sizeof features / sizeof *features };

const char *heddle_feature(int number) { return number >= 0 && number < FEATURE_COUNT ? features[number] : NULL; }

bool heddle_has_feature(const char *name) {
  for (int i = 0; name && i < FEATURE_COUNT; i++)
    if (strcmp(name, features[i]) == 0) return true;
  return false;
}
