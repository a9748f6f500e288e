// The public call that puts the caller's allocator in the host's place.
#include "heddle/allocator.h"

#include "base/host.h"
#include "base/sized_struct.h"

heddle_status heddle_set_allocator(const heddle_allocator *allocator) {
  heddle_allocator wanted;
  TRY(sized_struct_take("heddle_allocator", allocator, &wanted, sizeof wanted));
  if (!wanted.allocate || !wanted.release)
    return status_error(HEDDLE_INVALID, "heddle_set_allocator: found null for a function");
  if (host_choose(&(host_source){wanted.allocate, wanted.release, wanted.user})) return status_ok();
  return status_error(HEDDLE_INVALID,
                      "heddle_set_allocator: memory was taken before, which has to go back to where it came from");
}
