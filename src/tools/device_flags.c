#include "tools/device_flags.h"

#include "prog/program.h"

heddle_status device_flags_check(int streams) {
  if (streams <= PROGRAM_MOST_STREAMS) return status_ok();
  return status_error(HEDDLE_INVALID, "--streams: found %d, wanted a whole number from 0 to %d", streams,
                      PROGRAM_MOST_STREAMS);
}
