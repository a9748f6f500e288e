#include "rt/vulkan_features.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

// The numbers of SPIR-V's capabilities.
enum { SHADER = 1, SUBGROUPS = 61, SHUFFLES = 65 };

static const struct {
  uint32_t capability;
  size_t place;      // in vulkan_features
  const char *name;  // in HEDDLE_VULKAN_WITHOUT; null: no kernel can do without
  const char *what;
} known[] = {
    {10, offsetof(vulkan_features, float64), "float64", "floats of 64 bits"},
    {11, offsetof(vulkan_features, int64), NULL, "integers of 64 bits"},
    {12, offsetof(vulkan_features, int64_atomics), "int64-atomics", "atomic operations on 64 bits"},
    {22, offsetof(vulkan_features, int16), "int16", "integers of 16 bits"},
    {39, offsetof(vulkan_features, int8), "int8", "integers of 8 bits"},
    {SUBGROUPS, offsetof(vulkan_features, shuffles), "subgroups", "full subgroups"},
    {SHUFFLES, offsetof(vulkan_features, shuffles), "subgroups", "exchanges within subgroups"},
    {4433, offsetof(vulkan_features, storage16), "storage16", "memory of 16-bit elements"},
    {4448, offsetof(vulkan_features, storage8), "storage8", "memory of 8-bit elements"},
    {4466, offsetof(vulkan_features, keeps_specials32), NULL, "signed zeros, infinities and NaN that are kept"},
    {5347, offsetof(vulkan_features, addresses), NULL, "addresses of buffers"},
};

enum { KNOWN_COUNT = sizeof known / sizeof *known };

static heddle_status take_away(vulkan_features *f, str name) {
  for (int k = 0; k < KNOWN_COUNT; k++) {
    if (!known[k].name || !str_is(name, known[k].name)) continue;
    *(bool *)((char *)f + known[k].place) = false;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID,
                      "HEDDLE_VULKAN_WITHOUT: found " STR_FMT
                      ", wanted float64, int64-atomics, int16, int8, subgroups, storage16 or storage8",
                      STR_ARG(name));
}

heddle_status vulkan_features_restrict(vulkan_features *f) {
  const char *names = getenv("HEDDLE_VULKAN_WITHOUT");
  while (names && *names) {
    const size_t length = strcspn(names, ",");
    TRY(take_away(f, (str){names, length}));
    names += length + (names[length] == ',');
  }
  return status_ok();
}

static const char *lack_of(const vulkan_features *f, uint32_t capability) {
  if (capability == SHADER) return NULL;  // every device has it
  for (int k = 0; k < KNOWN_COUNT; k++)
    if (known[k].capability == capability)
      return *(const bool *)((const char *)f + known[k].place) ? NULL : known[k].what;
  return "a capability that is not known";
}

// The first words of a module, then instructions, the length of each in its upper half.
enum { HEADER = 5, MAGIC = 0x07230203, CAPABILITY = 17 };

static bool is_module(const program_image *image) {
  const uint32_t *words = image->data;
  return words && image->size % sizeof *words == 0 && image->size / sizeof *words >= HEADER &&
         (uintptr_t)words % sizeof *words == 0 && words[0] == MAGIC;
}

// The next capability from `*at` on; false: there is none more. Any number may be one.
static bool next_capability(const program_image *image, size_t *at, uint32_t *capability) {
  const uint32_t *words = image->data;
  if (*at + 1 >= image->size / sizeof *words || (words[*at] & 0xffff) != CAPABILITY) return false;
  *capability = words[*at + 1];
  *at += 2;
  return true;
}

heddle_status vulkan_features_check(const vulkan_features *f, const program_image *image, const char **lack) {
  *lack = NULL;
  if (!is_module(image)) return status_error(HEDDLE_INVALID, "its image is no SPIR-V");
  size_t at = HEADER;
  for (uint32_t capability; !*lack && next_capability(image, &at, &capability);) *lack = lack_of(f, capability);
  return status_ok();
}

bool vulkan_features_are_subgroups(const program_image *image) {
  size_t at = HEADER;
  for (uint32_t capability; next_capability(image, &at, &capability);)
    if (capability == SUBGROUPS) return true;
  return false;
}
