#include "tools/device_flags.h"

#include "prog/program.h"

heddle_status device_flags_check(int streams) {
  if (streams <= PROGRAM_MOST_STREAMS) return status_ok();
  return status_error(HEDDLE_INVALID, "--streams: found %d, wanted a whole number from 0 to %d", streams,
                      PROGRAM_MOST_STREAMS);
}

heddle_status device_flags_check_device(const char *device, platform on) {
  static const char *const without[] = {[PLATFORM_INTERPRETER] = "the interpreter",
                                        [PLATFORM_SIMULATOR] = "the simulator",
                                        [PLATFORM_CUDA] = "CUDA, which nothing here runs,"};
  const char *name = (size_t)on < sizeof without / sizeof *without ? without[on] : NULL;
  if (!device || !name) return status_ok();
  return status_error(HEDDLE_INVALID, "--device: found %s, but %s has no devices to choose from", device, name);
}
