// The routines that custom calls name.
#include <string.h>

#include "lib/call.h"
#include "lib/top_k.h"

static heddle_status top_k(const lib_call *call) {
  TRY(top_k_check(call));
  top_k_execute(call);
  return status_ok();
}

static int64_t top_k_room(const lib_call *call) {
  heddle_status s = top_k_check(call);
  const bool fits = status_is_ok(s);
  heddle_status_free(s);
  return fits ? top_k_scratch(call) : 0;
}

static const lib_routine routines[] = {
    {"TopK", top_k, top_k_room},
    {"mhlo.topk", top_k, top_k_room},
};

static bool is_named(const lib_routine *r, const char *name) {
  const size_t size = strlen(r->name);
  return r->name[size - 1] == '*' ? strncmp(name, r->name, size - 1) == 0 : strcmp(name, r->name) == 0;
}

const lib_routine *lib_find(const char *name) {
  for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
    if (is_named(&routines[k], name)) return &routines[k];
  return NULL;
}
