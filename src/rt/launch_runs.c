#include "rt/launch_runs.h"

#include "base/vec.h"

static int length_at(int count, const thunk *thunks, int begin) {
  int end = begin;
  while (end < count && thunk_dispatch_launch(&thunks[end])) end++;
  return end - begin;
}

void launch_runs_make(arena *a, const run_context *context, int count, const thunk *thunks, launch_runs *out) {
  VEC(launch_run) runs = {0};
  for (int i = 0; i < count; i++) {
    const int length = length_at(count, thunks, i);
    if (length > 1) {
      device_launch *launches = arena_array(a, device_launch, length);
      for (int k = 0; k < length; k++) launches[k] = *thunk_dispatch_launch(&thunks[i + k]);
      vec_push(a, &runs, ((launch_run){i, length, (*context->run_count)++, launches}));
    }
    i += length;
  }
  *out = (launch_runs){runs.size, runs.data};
}
