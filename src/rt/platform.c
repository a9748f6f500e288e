// The public call that says which devices there are (include/heddle/runtime.h).
#include "base/guard.h"
#include "heddle/runtime.h"
#include "rt/device_types.h"
#include "rt/text_copy.h"

typedef struct listing {
  const char *platform;
  char *out;
} listing;

static heddle_status list(void *argument) {
  listing *l = argument;
  target_kind platform;
  TRY(device_types_platform(l->platform, &platform));
  text made = {0};
  heddle_status s = device_types_list(platform, &made);
  if (status_is_ok(s)) s = text_copy_give(&made, &l->out);
  text_free(&made);
  return s;
}

heddle_status heddle_platform_devices(const char *platform, char **out) {
  if (!out) return status_error(HEDDLE_INVALID, "heddle_platform_devices: found null for the place of the text");
  *out = NULL;
  listing l = {.platform = platform};
  TRY(guard_run(list, NULL, &l));
  *out = l.out;
  return status_ok();
}
