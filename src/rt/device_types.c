#include "rt/device_types.h"

#include <strings.h>

#include "rt/vulkan_program.h"

const device_type *const device_types[TARGET_KIND_COUNT] = {[TARGET_VULKAN] = &vulkan_device_type};

static bool is_platform(target_kind kind) { return kind == TARGET_CPU || device_types[kind]; }

heddle_status device_types_platform(const char *name, target_kind *out) {
  for (int k = 0; name && k < TARGET_KIND_COUNT; k++) {
    if (!is_platform(k) || strcasecmp(name, target_kind_name(k)) != 0) continue;
    *out = k;
    return status_ok();
  }
  text known = {0};
  for (int k = 0; k < TARGET_KIND_COUNT; k++)
    if (is_platform(k)) text_printf(&known, "%s%s", known.size ? " or " : "", target_kind_name(k));
  heddle_status s =
      status_error(HEDDLE_INVALID, "found the platform \"%s\", wanted %s", name ? name : "(null)", text_cstr(&known));
  text_free(&known);
  return s;
}

heddle_status device_types_list(target_kind platform, text *out) {
  if (device_types[platform]) return device_types[platform]->list(out);
  text_puts(out, "cpu\n");
  return status_ok();
}
